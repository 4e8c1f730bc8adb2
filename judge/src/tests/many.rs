//! Many findings of one drill.

use super::*;

/// At most a hundred findings, in order of time.
#[test]
fn a_monitor_that_is_wrong_in_everything_does_not_fill_a_disk() {
    let mut case = expecting((0..150).map(|nth| (What::Polls(9), 149 - nth, 149 - nth)));
    case.descriptor.clock = ClockKind::File;
    let ticks: Vec<_> = found(&case, &polls(150))
        .iter()
        .map(|finding| finding.tick)
        .collect();
    assert_eq!(ticks, (0..100).map(Some).collect::<Vec<_>>());
}

/// A finding of another cause is kept, however many of one cause came before it.
#[test]
fn the_cap_hides_no_cause() {
    let last = (What::Calls { count: 9 }, 149, 149);
    let case = expecting((0..150).map(|nth| (What::Polls(9), nth, nth)).chain([last]));
    let findings = found(&case, &polls(150));
    assert_eq!(findings.len(), 100);
    assert_eq!(findings[99].cause.kind, CauseKind::Calls);
}

/// Its first place is told, with the number of all.
#[test]
fn a_breach_of_every_event_is_one_finding_with_its_number() {
    let mut recording = polls(4);
    for tick in 1..4 {
        say(&mut recording, tick, event(IB, port("mlx5_0", "1")), true);
    }
    let case = expecting([]);
    let judged = judge(&case.story, &case.truth, &recording, &case.descriptor);
    let breaches: Vec<(String, u64, Option<u64>)> = judged
        .findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Contract)
        .map(|finding| (finding.cause.to_string(), finding.times, finding.tick))
        .collect();
    let fields: BTreeSet<&String> = breaches.iter().map(|(cause, ..)| cause).collect();
    assert_eq!(fields.len(), breaches.len(), "{breaches:?}");
    let agent = ("contract.agent".to_owned(), 3, Some(1));
    assert!(breaches.contains(&agent), "{breaches:?}");
}
