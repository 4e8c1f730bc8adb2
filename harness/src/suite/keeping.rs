//! Which failed drills leave their artifacts in the run folder: the first of each cause, up to a limit,
//! so that a run in which everything fails leaves a folder of bounded size. Where every drill leaves them, the reads, which
//! are most of it, are bounded by bytes.

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

/// After how many bytes in a run folder drills leave no reads any more: 256 MiB. Chosen: the reads of the whole suite in
/// both arms are less, and a browser's or an archive's limit is not far.
const READS_UNTIL: usize = 256 << 20;

/// The most bytes of one file of reads: 8 MiB, of which the middle is left out. Chosen: a story of an hour has more.
const READS_OF_ONE: usize = 8 << 20;

/// How many passed drills are drawn, where all are kept. Chosen: a page of a few megabytes.
const DRAWN: usize = 60;

/// Counts the drills whose artifacts were kept.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    of_cause: BTreeMap<Cause, usize>,
    kept: usize,
    bytes: usize,
    /// How many passed drills were drawn.
    drawn: usize,
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

    /// Whether one more passed drill is drawn.
    pub(super) fn draws_a_passed_one(&mut self) -> bool {
        self.drawn += 1;
        self.drawn <= DRAWN
    }

    /// Bounds the reads among a drill's artifacts.
    pub(super) fn thin(&self, artifacts: &mut [Artifact]) {
        let is_full = self.bytes > READS_UNTIL;
        let reads = artifacts.iter_mut();
        for one in reads.filter(|one| one.name.ends_with("-reads.txt")) {
            if is_full {
                let text = format!(
                    "left out, since the run had kept {} MiB: `nicdrill show DRILL --reads` prints them\n",
                    READS_UNTIL >> 20
                );
                one.bytes = text.into_bytes();
            } else if one.bytes.len() > READS_OF_ONE {
                one.bytes = without_the_middle(&one.bytes, READS_OF_ONE);
            }
        }
    }

    /// Counts the bytes of a drill that was kept.
    pub(super) fn weigh(&mut self, artifacts: &[Artifact]) {
        self.bytes += artifacts.iter().map(|one| one.bytes.len()).sum::<usize>();
    }
}

/// A text of lines with at most so many bytes, whose first and last lines are those of this one.
fn without_the_middle(text: &[u8], most: usize) -> Vec<u8> {
    let is_end = |byte: &u8| *byte == b'\n';
    let head = &text[..most / 2];
    let head = head
        .iter()
        .rposition(is_end)
        .map_or(&head[..0], |end| &head[..=end]);
    let tail = &text[text.len() - most / 2..];
    let tail = tail
        .iter()
        .position(is_end)
        .map_or(&tail[..0], |end| &tail[end + 1..]);
    let left_out = &text[head.len()..text.len() - tail.len()];
    let lines = left_out.iter().filter(|byte| is_end(byte)).count();
    let between =
        format!("… {lines} lines are left out; `nicdrill show DRILL --reads` prints them\n");
    [head, between.as_bytes(), tail].concat()
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

    /// Whatever a run keeps, its reads end at a limit; the first and last reads of a long drill are there.
    #[test]
    fn reads_are_bounded_by_drill_and_by_run() {
        let reads = |bytes: Vec<u8>| {
            let name = "process-reads.txt".to_owned();
            vec![Artifact { name, bytes }]
        };
        let mut keeping = Keeping::default();
        let line = b"poll 7: read sys/class/infiniband/mlx5_0/ports/1/state: 10 bytes\n";
        let mut long = reads([b"first\n".as_slice(), &line.repeat(200_000), b"last\n"].concat());
        keeping.thin(&mut long);
        let kept = String::from_utf8(long[0].bytes.clone()).unwrap();
        assert!(kept.len() < READS_OF_ONE + 100 && kept.lines().count() > 100_000);
        assert!(kept.starts_with("first\n") && kept.ends_with("last\n"));
        let left_out = kept.lines().find(|line| line.starts_with('…')).unwrap();
        let left_out: usize = left_out.split(' ').nth(1).unwrap().parse().unwrap();
        assert_eq!(kept.lines().count() - 1 + left_out, 200_002);
        let mut short = reads(b"first\n".to_vec());
        keeping.thin(&mut short);
        assert_eq!(short[0].bytes, b"first\n");
        keeping.bytes = READS_UNTIL + 1;
        keeping.thin(&mut short);
        assert!(short[0].bytes.starts_with(b"left out"));
        assert_eq!(
            (0..100).filter(|_| keeping.draws_a_passed_one()).count(),
            DRAWN
        );
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
