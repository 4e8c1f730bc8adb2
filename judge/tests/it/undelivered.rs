//! A demanded event that the connector refused before its time: it was right, and it had to be sent again.

use judge::{Judgement, judge};
use observe::Recording;
use reports::{CauseKind, Finding, FindingKind};

use crate::{
    promises::{Case, promising},
    wire::calls,
};

/// The event is found in tick 6 and refused; it is demanded in tick 9, whose call is accepted.
const REFUSED: &str = "
scenario: a port goes down while the connector refuses
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 5s
    do: [ { connector: refuse } ]
  - at: 6s
    do: [ { disable: victim } ]
  - at: 9s
    do: [ { connector: accept } ]
    expect: [ { this_poll: [ { fatal: victim, stamped: '>= 9s' } ] } ]
until: 14s
";

/// The drill of a monitor that sends the event once.
fn sent_once(case: &Case) -> Recording {
    let mut once = case.recording.clone();
    let mut wires = calls(&mut once);
    let fatal = wires
        .iter_mut()
        .filter(|call| call.events.iter().any(|event| event.is_fatal));
    for call in fatal.skip(1) {
        call.events.retain(|event| !event.is_fatal);
    }
    drop(wires);
    once
}

fn judged(case: &Case, recording: &Recording, promises: &str) -> Judgement {
    judge(&case.story, &case.truth, recording, &promising(promises))
}

/// What is found of the demanded event.
fn of_the_event(judgement: &Judgement) -> Option<&Finding> {
    let mut findings = judgement.findings.iter();
    findings.find(|finding| finding.kind == FindingKind::Missing)
}

#[test]
fn an_event_refused_before_its_time_was_not_sent_again() {
    let case = Case::played(REFUSED);
    assert_eq!(judged(&case, &case.recording, "{}").findings, []);
    let judgement = judged(&case, &sent_once(&case), "{}");
    let finding = of_the_event(&judgement).expect("it is missing");
    assert_eq!(finding.cause.kind, CauseKind::NotDelivered);
    assert!(
        finding.came[0].starts_with("poll 6: fatal NIC=mlx5_0")
            && finding.came[0].contains("UNAVAILABLE"),
        "{finding:#?}"
    );
}

#[test]
fn a_monitor_that_said_something_else_since_does_not_say_it() {
    let case = Case::played(REFUSED);
    let mut recording = sent_once(&case);
    let mut wires = calls(&mut recording);
    let clear = wires.last().expect("the fault was cleared").events[0].clone();
    assert!(clear.is_healthy);
    // The call of tick 7; its first is the baseline.
    wires[2].events.push(clear);
    drop(wires);
    let judgement = judged(&case, &recording, "{}");
    let finding = of_the_event(&judgement).expect("it is missing");
    assert_eq!(finding.cause.kind, CauseKind::Missed);
}

#[test]
fn a_monitor_that_promises_to_lose_it_is_not_judged_by_it() {
    let case = Case::played(REFUSED);
    let judgement = judged(&case, &sent_once(&case), "lost_publish: lost");
    assert_eq!(of_the_event(&judgement), None);
    assert_eq!(
        judged(&case, &sent_once(&case), "{}")
            .judged
            .not_judged
            .len(),
        0
    );
}
