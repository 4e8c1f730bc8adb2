//! Which failed drills leave their artifacts in the run folder: the first of each cause, up to a limit,
//! so that a run in which everything fails leaves a folder of bounded size.

use std::collections::BTreeMap;

use reports::{Cause, DrillReport};

use crate::run_folder::Artifact;

/// How many drills of each cause leave artifacts. Chosen: enough to see what they have in common.
const OF_EACH_CAUSE: usize = 3;

/// How many drills leave artifacts at all. Chosen. Half of them may be second and third drills of a cause, so
/// that there is room for causes that come late.
const AT_MOST: usize = 60;

/// After how many bytes no further drill leaves artifacts: 64 MiB; after half of them, none but the first of a
/// cause. Chosen: the reads of most drills are below 3 MiB, those of the longest 30 MiB.
const BYTES_MAX: usize = 64 << 20;

/// Counts the drills whose artifacts were kept.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    of_cause: BTreeMap<Cause, usize>,
    kept: usize,
    bytes: usize,
    /// How many were not kept.
    pub(super) not_kept: u64,
}

impl Keeping {
    /// Whether this failed drill leaves its artifacts; drills are asked for in order.
    pub(super) fn admits(&mut self, drill: &DrillReport) -> bool {
        let findings = drill.findings.iter();
        let mut causes: Vec<Cause> = findings.map(|finding| finding.cause).collect();
        causes.sort_unstable();
        causes.dedup();
        let kept = causes.iter().map(|cause| self.of_cause.get(cause));
        let fewest = kept.map(|kept| kept.copied().unwrap_or_default()).min();
        let fewest = fewest.unwrap_or_default();
        let share = if fewest == 0 { 1 } else { 2 };
        let has_room = self.kept < AT_MOST / share && self.bytes < BYTES_MAX / share;
        if fewest >= OF_EACH_CAUSE || !has_room {
            self.not_kept += 1;
            return false;
        }
        self.kept += 1;
        for cause in causes {
            *self.of_cause.entry(cause).or_default() += 1;
        }
        true
    }

    /// Counts the bytes of a drill that was kept.
    pub(super) fn weigh(&mut self, artifacts: &[Artifact]) {
        self.bytes += artifacts.iter().map(|one| one.bytes.len()).sum::<usize>();
    }
}

#[cfg(test)]
mod tests {
    use reports::{CauseAction, CauseKind, Finding, FindingKind, Judged, Outcome, Wall};

    use super::*;

    fn failed(kinds: &[CauseKind]) -> DrillReport {
        let causes: Vec<Cause> = kinds.iter().map(|kind| Cause::of(*kind)).collect();
        failed_by(&causes)
    }

    fn failed_by(causes: &[Cause]) -> DrillReport {
        let finding = |cause: &Cause| Finding {
            cause: *cause,
            ..Finding::of(FindingKind::Missing)
        };
        DrillReport {
            drill: "port/cut@p".parse().unwrap(),
            outcome: Outcome::Failed,
            arms: Vec::new(),
            findings: causes.iter().map(finding).collect(),
            verdicts: Vec::new(),
            judged: Judged::default(),
            file: "port/cable-pulled.yaml".to_owned(),
            show: "nicdrill show".to_owned(),
            repeat: String::new(),
            wall: Wall::default(),
        }
    }

    #[test]
    fn the_first_three_drills_of_each_cause_are_kept_although_another_cause_came_before() {
        let mut keeping = Keeping::default();
        let late = failed(&[CauseKind::Late]);
        let kept: Vec<bool> = (0..5).map(|_| keeping.admits(&late)).collect();
        assert_eq!(kept, [true, true, true, false, false]);
        assert!(keeping.admits(&failed(&[CauseKind::Late, CauseKind::Missed])));
        assert_eq!(keeping.not_kept, 2);
    }

    #[test]
    fn after_32_mib_only_the_first_drill_of_a_cause_is_kept_and_after_64_none() {
        let mut keeping = Keeping::default();
        assert!(keeping.admits(&failed(&[CauseKind::Late])));
        let name = "process-reads.txt".to_owned();
        let bytes = vec![0; BYTES_MAX / 2];
        let half = Artifact { name, bytes };
        keeping.weigh(std::slice::from_ref(&half));
        assert!(!keeping.admits(&failed(&[CauseKind::Late])));
        assert!(keeping.admits(&failed(&[CauseKind::Missed])));
        keeping.weigh(&[half]);
        assert!(!keeping.admits(&failed(&[CauseKind::Early])));
    }

    /// As many causes as a run can have.
    #[test]
    fn no_more_than_the_limit_is_kept_however_many_causes_there_are() {
        let mut keeping = Keeping::default();
        let actions = CauseAction::ALL.iter();
        let causes = actions.flat_map(|action| {
            CauseKind::ALL.iter().map(|kind| Cause {
                action: Some(*action),
                ..Cause::of(*kind)
            })
        });
        let all: Vec<DrillReport> = causes.map(|cause| failed_by(&[cause])).collect();
        let kept = all.iter().filter(|drill| keeping.admits(drill)).count();
        assert_eq!(kept, AT_MOST);
        assert_eq!(keeping.not_kept, (all.len() - AT_MOST) as u64);
    }

    /// Half of the places are left to causes that have none.
    #[test]
    fn second_drills_of_causes_leave_room_for_the_first_of_others() {
        let mut keeping = Keeping::default();
        let (early, late) = CauseKind::ALL.split_at(20);
        let early = early.iter().cycle().take(60);
        let kept = early.filter(|kind| keeping.admits(&failed(&[**kind])));
        assert_eq!(kept.count(), AT_MOST / 2);
        assert!(late.iter().all(|kind| keeping.admits(&failed(&[*kind]))));
    }
}
