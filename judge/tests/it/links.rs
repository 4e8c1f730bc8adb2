//! A `link` expectation holds exactly for what both ends of the link show.

use director::Trees;
use judge::judge;
use memory::play_in_memory;
use platforms::{NodeName, Platforms};
use rstest::rstest;

use crate::wire::reference;

/// Plays a bounce by the switch at 10 s with this expectation, and compares the failure: the
/// expected and the actual text, or none if it holds.
fn check(line: &str, rendered: Option<[&str; 2]>) {
    let text = format!(
        "scenario: a switch bounces a port\nwhy: an example\nlet: {{ victim: {{ nth: 1 }} }}\ntimeline:\n  \
         - at: 10s\n    do: [ {{ take_down: victim, why: fm_bounce, end: there }} ]\n    expect:\n      \
         - this_poll: [ {{ fatal: victim }} ]\n      - next_poll: [ {{ healthy: victim }} ]\n      \
         - {{ link: victim, {line} }}\nuntil: 15s\n"
    );
    let scenario =
        scenarios::read("link/example.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let platforms = Platforms::shipped();
    let platform = platforms.get("h100-oci").expect("the platform ships");
    let story = scenario
        .in_world(&NodeName::from("node-a"), platform)
        .unwrap_or_else(|unfit| panic!("{unfit}"));
    let played = play_in_memory(&story, &reference(), None, &mut Trees::default());
    let result = judge(&story, &played.truth, &played.recording, &reference());
    let findings: Vec<[String; 2]> = result
        .findings
        .iter()
        .map(|finding| [finding.expected.join("; "), finding.came.join("; ")])
        .collect();
    match (rendered, &findings[..]) {
        (None, []) => {}
        (Some([wanted, came]), [[expected, seen]]) => {
            assert!(expected.contains(wanted), "{expected}");
            assert!(seen.contains(came), "{seen}");
        }
        _ => panic!("{findings:#?}"),
    }
}

const SEEN: &str = "poll 10: here (0 None, 39 FM Bounce), offline: None, log: []; \
                    there (39 FM Bounce, 0 None), offline: None, log: []";

#[rstest]
#[case::both_pairs("here: [ 0, 39 ], there: [ fm_bounce, none ], exactly_at: 10s")]
#[case::one_end("there: [ 39, 0 ], exactly_at: 10s")]
#[case::all_of_an_end("here: { pair: [ 0, 39 ], offline: none, log: [] }, exactly_at: 10s")]
#[case::in_one_poll_of_several("here: [ 0, 39 ], between: [ 8s, 12s ]")]
#[case::the_log("here: { log: [ [ 0, 39 ] ] }, there: { log: [ [ 39, 0 ] ] }, exactly_at: 12s")]
fn a_link_is_as_it_is_shown(#[case] line: &str) {
    check(line, None);
}

#[rstest]
#[case::the_other_way_round(
    "here: [ 39, 0 ], exactly_at: 10s",
    "here (39 FM Bounce, 0 None); there anything"
)]
#[case::one_end_wrong(
    "here: [ 0, 39 ], there: [ 0, 39 ], exactly_at: 10s",
    "there (0 None, 39 FM Bounce)"
)]
#[case::unavailable("there: unavailable, exactly_at: 10s", "there unavailable")]
#[case::offline(
    "here: { offline: power_policy }, exactly_at: 10s",
    "offline: Power Policy"
)]
#[case::a_log_before_its_time(
    "there: { log: [ [ 39, 0 ] ] }, exactly_at: 10s",
    "log: [(39 FM Bounce, 0 None)]"
)]
fn a_link_that_is_otherwise_is_told(#[case] line: &str, #[case] wanted: &str) {
    check(line, Some([wanted, SEEN]));
}

#[test]
fn a_link_is_judged_in_the_polls_meant_only() {
    let before = "poll 9: here (0 None, 0 None)";
    check(
        "here: [ 0, 39 ], exactly_at: 9s",
        Some(["(0 None, 39 FM Bounce)", before]),
    );
}

#[test]
fn each_end_alone_is_not_both_at_once() {
    // Neither poll shows both: the log of 11 s and the pair of 10 s.
    check(
        "here: { pair: [ 0, 39 ], log: [ [ 0, 39 ] ] }, between: [ 10s, 11s ]",
        Some([
            "log: [(0 None, 39 FM Bounce)]",
            "poll 11: here (0 None, 0 None)",
        ]),
    );
}
