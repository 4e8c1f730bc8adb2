//! Moments at reads that a monitor does not make.

use observe::promises::{Named, Row};
use scenarios::{FileMoment, FileOp, FilePlace, FileRef, Step, StepMoment};

use super::*;

/// A story with a step at a read of `phys_state`, whose moment never came, and the reads of the first poll.
fn waiting(reads: &[&str]) -> (Case, Recording) {
    let mut case = expecting([(What::Polls(3), 0, 2)]);
    let About::Port(slot) = ib_port(1) else {
        unreachable!("it is a port")
    };
    let place = FilePlace {
        file: "read/example.yaml".to_owned(),
        line: 7,
        column: 5,
    };
    case.story.steps = vec![Step {
        at: simfs::SimTime::from_secs(1),
        place,
        text: "disable: victim".to_owned(),
        moment: Some(StepMoment {
            after: None,
            before: Some(FileMoment {
                op: FileOp::Read,
                file: FileRef::Port(slot, "phys_state".to_owned()),
                nth: 1,
            }),
            call: None,
        }),
        actions: Vec::new(),
    }];
    let mut recording = polls(3);
    recording.missed_moments = vec!["read/example.yaml:7:5: disable: victim".to_owned()];
    let lines: Vec<std::sync::Arc<str>> = reads.iter().map(|line| (*line).into()).collect();
    instance(&mut recording, 0).reads = lines.into();
    (case, recording)
}

const STATE: &str = "read sys/class/infiniband/mlx5_0/ports/1/state: 10";
const PHYS_STATE: &str = "read sys/class/infiniband/mlx5_0/ports/1/phys_state: 10";

/// docs/monitor.md, "Promises": a monitor is held to what it promises.
#[test]
fn a_monitor_that_never_makes_the_read_of_a_moment_is_not_judged_there() {
    let (mut case, recording) = waiting(&[STATE]);
    for kind in [Named::LinkErrorRecovery, Named::OddState] {
        case.descriptor.promises.rows.remove(&kind.into());
    }
    assert_eq!(found(&case, &recording), []);
    let counted = judged(&case, &recording);
    let reason = "the story goes on at a read of `phys_state`, which it never makes";
    assert_eq!(
        (counted.judged, counted.not_judged),
        (0, reasons([(reason, 1)]))
    );
}

/// Also where only one of the two kinds is silent.
#[test]
fn who_promises_what_only_a_file_tells_has_to_read_it() {
    let (mut case, recording) = waiting(&[STATE]);
    let rows = &mut case.descriptor.promises.rows;
    rows.insert(Named::LinkErrorRecovery.into(), Row::Usual);
    rows.insert(Named::OddState.into(), Row::Silent);
    let findings = found(&case, &recording);
    let [finding] = &findings[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!(finding.kind, FindingKind::MissedMoment);
    assert_eq!(
        finding.came[0],
        "no poll of the drill has a read of `phys_state`"
    );
    assert!(
        finding.came[1].starts_with("the row `link_error_recovery` "),
        "{finding:#?}"
    );
}

/// A moment that does not come is told where the monitor reads the file in another poll, or its reads are not known.
#[rstest]
#[case::in_another_poll(&[STATE, PHYS_STATE])]
#[case::of_another_port(&["read sys/class/infiniband/mlx5_1/ports/1/phys_state: EIO"])]
#[case::unknown(&[])]
fn a_read_that_is_made_at_another_time_is_missed(#[case] reads: &[&str]) {
    let (mut case, recording) = waiting(reads);
    case.descriptor.promises.rows.clear();
    let findings = found(&case, &recording);
    let [finding] = &findings[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!(
        (finding.kind, &finding.came[..]),
        (FindingKind::MissedMoment, &[] as &[String])
    );
}
