//! Laws hold for a monitor that promises nothing.

use judge::judge;
use observe::{Descriptor, Recording};
use rstest::rstest;

use crate::{alarms::TWO_CASE, wire::monitor};

/// The drill in which all that was said of the port that heals first, in poll 20, comes in this poll.
fn taken_back_in(poll: usize) -> Recording {
    let mut recording = TWO_CASE.recording.clone();
    for tick in 20..30 {
        let mut calls = std::mem::take(&mut monitor(&mut recording, tick, "node-a").calls);
        monitor(&mut recording, poll, "node-a")
            .calls
            .append(&mut calls);
    }
    recording
}

/// The other port heals in poll 30.
#[rstest]
#[case::in_order(24, 0)]
#[case::in_the_poll_before_the_other(29, 0)]
#[case::after_the_other(38, 1)]
fn what_heals_first_is_not_taken_back_last(#[case] poll: usize, #[case] findings: usize) {
    let (story, truth) = (&TWO_CASE.story, &TWO_CASE.truth);
    let judged = judge(
        story,
        truth,
        &taken_back_in(poll),
        &Descriptor::of_program("m"),
    );
    let found: Vec<&str> = judged
        .findings
        .iter()
        .flat_map(|finding| &finding.expected)
        .map(String::as_str)
        .collect();
    assert_eq!(found.len(), findings, "{found:?}");
    assert!(found.iter().all(|it| it.contains("is taken back by poll")));
}
