//! Which failed drills leave their artifacts in the run folder: the first of each cause, up to a limit,
//! so that a run in which everything fails leaves a folder of bounded size.

use std::collections::BTreeMap;

use reports::{Cause, DrillReport};

use crate::run_folder::Artifact;

/// How many drills of each cause leave artifacts. Chosen: enough to see what they have in common.
const OF_EACH_CAUSE: usize = 3;

/// How many drills leave artifacts at all. Chosen.
const AT_MOST: usize = 60;

/// After how many bytes no further drill leaves artifacts: 64 MiB. Chosen: the reads of one drill may be
/// 8 MiB.
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
        let has_room = causes.is_empty()
            || causes.iter().any(|cause| {
                self.of_cause
                    .get(cause)
                    .is_none_or(|kept| *kept < OF_EACH_CAUSE)
            });
        if !has_room || self.kept >= AT_MOST || self.bytes >= BYTES_MAX {
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
    use reports::{CauseKind, Finding, FindingKind, Outcome, Wall};

    use super::*;

    fn failed(kinds: &[CauseKind]) -> DrillReport {
        let finding = |kind: &CauseKind| Finding {
            cause: Cause::of(*kind),
            ..Finding::of(FindingKind::Missing)
        };
        DrillReport {
            drill: "port/cut@p".parse().unwrap(),
            outcome: Outcome::Failed,
            arms: Vec::new(),
            findings: kinds.iter().map(finding).collect(),
            verdicts: Vec::new(),
            not_judged: 0,
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
    fn after_64_mib_no_further_drill_is_kept() {
        let mut keeping = Keeping::default();
        assert!(keeping.admits(&failed(&[CauseKind::Late])));
        let name = "process-reads.txt".to_owned();
        let bytes = vec![0; BYTES_MAX];
        keeping.weigh(&[Artifact { name, bytes }]);
        assert!(!keeping.admits(&failed(&[CauseKind::Missed])));
    }

    #[test]
    fn no_more_than_the_limit_is_kept_however_many_causes_there_are() {
        let mut keeping = Keeping::default();
        let kinds = CauseKind::ALL.iter().cycle().take(500);
        let kept = kinds.filter(|kind| keeping.admits(&failed(&[**kind])));
        assert_eq!(kept.count(), AT_MOST);
        assert_eq!(keeping.not_kept, 500 - AT_MOST as u64);
    }
}
