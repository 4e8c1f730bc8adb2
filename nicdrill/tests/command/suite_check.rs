//! `nicdrill suite check`: the lines of a suite that assert nothing, by name.

use rstest::rstest;

use crate::scratch::{Ran, Scratch};

/// A suite of one's own with one scenario.
fn suite(timeline: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.file(
        "suite/scenarios/port/mine.yaml",
        &format!(
            "scenario: a test\nwhy: a test\nplatforms: all\nlet: {{ victim: {{ nth: 1 }} }}\ntimeline:\n{timeline}until: 12s\n"
        ),
    );
    scratch
}

/// Checks a suite of one's own in memory.
fn check(scratch: &Scratch, more: &[&str]) -> Ran {
    let words = ["suite", "check", "suite", "--arm", "memory"];
    scratch.run(&[&words[..], more].concat())
}

#[test]
fn lines_that_can_fail_are_silent() {
    let scratch = suite(
        "  - { at: 5s, do: [ { disable: victim } ], expect: [ { this_poll: [ { fatal: victim } ] } ] }\n",
    );
    let ran = check(&scratch, &[]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains("asserts nothing"), "{ran}");
}

#[test]
fn a_line_that_holds_whatever_happens_is_named() {
    let scratch = suite(
        "  - { at: 5s, do: [ { disable: victim } ], expect: [ { this_poll: [ { fatal: victim } ] }, { reads: victim/state, times: at least 0, from: 5s, to: 6s } ] }\n",
    );
    let ran = check(&scratch, &[]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(ran.out.contains("reads: victim/state"), "{ran}");
    assert!(
        ran.out.contains("asserts nothing: it allows any number"),
        "{ran}"
    );
}

#[test]
fn a_drill_that_is_red_shows_nothing() {
    let scratch = suite(
        "  - { at: 5s, do: [ { disable: victim } ], expect: [ { this_poll: [ { nonfatal: victim } ] } ] }\n",
    );
    let ran = check(&scratch, &[]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out.contains("shows nothing: it is red as it is"),
        "{ran}"
    );
    // One line tells of all platforms on which it is.
    let told = |ran: &Ran| ran.out.matches("shows nothing: ").count();
    assert_eq!(told(&ran), 1, "{ran}");
    let (_, more) = ran
        .out
        .split_once("; so do ")
        .expect("it is red on several");
    let more: usize = more.split(' ').next().unwrap().parse().unwrap();
    // What is red was played.
    let last = ran.out.lines().last().unwrap_or_default();
    let played = last.strip_prefix("1 scenario, ");
    let played: usize = played.unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(played > more, "{ran}");
    let each = check(&scratch, &["-v"]);
    assert_eq!(told(&each), more + 1, "{each}");
}

/// Every expectation of the shipped scenarios is altered, and each alteration is red, or equivalent for a reason.
#[test]
fn every_line_of_the_shipped_suite_can_fail() {
    let scratch = Scratch::new();
    let ran = scratch.run(&["suite", "check", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
}

/// The victim goes down at 5 s, and what is expected of it; `more` are the lines under examination.
fn with_line(more: &str) -> Scratch {
    suite(&format!(
        "  - {{ at: 5s, do: [ {{ disable: victim }} ], expect: [ {{ this_poll: [ {{ fatal: victim }} ] }}, {more} ] }}\n",
    ))
}

#[rstest]
#[case::a_text_that_every_line_has("{ log: \" … \" }", "every line contains this")]
#[case::no_event_at_any_edge("{ each: victim, say: [ ], times: 1 }", "no event at any edge")]
#[case::a_counter_that_is_misspelt(
    "{ condition: counters, of: victim, counter: link_downd, stands: false }",
    "did you mean `link_downed`?"
)]
#[case::a_counter_of_an_event_that_may_be_missing(
    "{ nonfatal: victim, counter: symbol_eror, times: [ 0, 2 ] }",
    "did you mean `symbol_error`?"
)]
fn a_line_that_can_never_fail_is_refused_when_it_is_read(#[case] line: &str, #[case] says: &str) {
    let scratch = with_line(line);
    for words in [
        &["suite", "check", "suite", "--arm", "memory"][..],
        &["run", "suite", "--arm", "memory"],
    ] {
        let ran = scratch.run(words);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains("mine.yaml:6:"), "{ran}");
        assert!(ran.err.contains(says), "{ran}");
    }
}

#[rstest]
#[case::a_metric("{ metric: nic_health_monitor_sent, is: absent }", "metric")]
#[case::a_label(
    "{ metric: nic_health_monitor_health_events_sent_total, labels: { check: NoSuchCheck }, is: absent }",
    "no check has the name that its label states"
)]
#[case::a_file(
    "{ reads: victim/no_such_file, times: [ 0, 3 ] }",
    "nobody reads this file"
)]
#[case::a_check(
    "{ nonfatal: victim, check: NoSuchCheck, times: [ 0, 3 ] }",
    "no check has this name"
)]
fn what_does_not_exist_asserts_nothing(#[case] line: &str, #[case] says: &str) {
    let scratch = with_line(line);
    let ran = check(&scratch, &["--platform", "h100-oci"]);
    assert_eq!(ran.code, 100, "{ran}");
    let asserts_nothing = ran
        .out
        .lines()
        .find(|line| line.contains("asserts nothing"));
    assert!(
        asserts_nothing.is_some_and(|line| line.contains(says)),
        "{ran}"
    );
}

#[test]
fn a_line_that_fits_no_platform_is_never_judged() {
    let line = "{ only: ethernet, nothing: victim, from: 8s, to: 10s }";
    let scratch = with_line(line);
    scratch.file(
        "suite/scenarios/port/mine.yaml",
        &scratch.text("suite/scenarios/port/mine.yaml").replace(
            "platforms: all",
            "platforms: { with: { only_layer: infiniband } }",
        ),
    );
    let ran = check(&scratch, &[]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out
            .contains("never judged: fits none of the platforms "),
        "{ran}"
    );
    assert!(ran.out.contains("1 scenario, "), "{ran}");
}

/// A line about another platform than the selected ones is told, and is no fault of the suite.
#[test]
fn a_line_that_fits_another_platform_is_told() {
    let scratch = with_line("{ only: ethernet, nothing: victim, from: 8s, to: 10s }");
    let ran = check(&scratch, &["--platform", "dgx-h100"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.out
            .contains("never judged: fits none of the platforms `dgx-h100`"),
        "{ran}"
    );
    assert!(ran.out.contains("it fits "), "{ran}");
}
