//! `nicdrill suite check`: the lines of a suite that assert nothing, by name.

use crate::scratch::Scratch;

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

#[test]
fn lines_that_can_fail_are_silent() {
    let scratch = suite(
        "  - { at: 5s, do: [ { disable: victim } ], expect: [ { this_poll: [ { fatal: victim } ] } ] }\n",
    );
    let ran = scratch.run(&["suite", "check", "suite", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains("asserts nothing"), "{ran}");
}

#[test]
fn a_line_that_holds_whatever_happens_is_named() {
    let scratch = suite(
        "  - { at: 5s, do: [ { disable: victim } ], expect: [ { this_poll: [ { fatal: victim } ] }, { reads: victim/state, times: at least 0, from: 5s, to: 6s } ] }\n",
    );
    let ran = scratch.run(&["suite", "check", "suite", "--arm", "memory"]);
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
    let ran = scratch.run(&["suite", "check", "suite", "--arm", "memory"]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out.contains("shows nothing: it is red as it is"),
        "{ran}"
    );
}

/// Every expectation of the shipped scenarios is altered, and each alteration is red, or equivalent for a reason.
#[test]
fn every_line_of_the_shipped_suite_can_fail() {
    let scratch = Scratch::new();
    let ran = scratch.run(&["suite", "check", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
}
