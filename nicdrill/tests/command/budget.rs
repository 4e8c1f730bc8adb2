//! `--budget`: which drills come first, and what is said of those that are not reached.

use crate::{
    groups::UNFAIR,
    scratch::{Ran, Scratch},
};

const QUIET: &str = "scenario: a baseline\nwhy: a test\nplatforms: all\ntimeline:\n  - at: 0s\n    expect: [ { this_poll: baseline } ]\nuntil: 2s\n";

/// A suite in which `b` fails, in the order of the names.
fn suite() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("port/a.yaml", QUIET);
    scratch.file("port/b.yaml", UNFAIR);
    scratch.file("port/c.yaml", QUIET);
    scratch
}

fn run(scratch: &Scratch, more: &[&str]) -> Ran {
    let words = ["run", "./port", "--filter", "*@h100-oci", "--arm", "memory"];
    scratch.run(&[&words[..], more].concat())
}

/// The scenarios in the order in which the run plans them.
fn planned(scratch: &Scratch) -> Vec<String> {
    let plan = scratch.text("nicdrill.out/run.json");
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let drills = plan["drills"].as_array().unwrap().iter();
    let names = drills.map(|planned| planned["drill"].as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn what_failed_comes_first_then_what_changed_since_it_was_last_drilled() {
    let scratch = suite();
    run(&scratch, &[]);
    let in_order = ["port/a@h100-oci", "port/b@h100-oci", "port/c@h100-oci"];
    assert_eq!(planned(&scratch), in_order);
    // A file that is written again as it was has not changed.
    scratch.file("port/a.yaml", QUIET);
    scratch.file("port/c.yaml", &QUIET.replace("a test", "another test"));
    let ran = run(&scratch, &["--budget", "1h"]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(!ran.err.contains("not reached"), "{ran}");
    let by_value = ["port/b@h100-oci", "port/c@h100-oci", "port/a@h100-oci"];
    assert_eq!(planned(&scratch), by_value);
    run(&scratch, &["--budget", "1h"]);
    let failed_alone = ["port/b@h100-oci", "port/a@h100-oci", "port/c@h100-oci"];
    assert_eq!(planned(&scratch), failed_alone);
}

/// No drill begins within a nanosecond.
#[test]
fn a_run_that_reaches_no_drill_has_judged_nothing() {
    let scratch = suite();
    run(&scratch, &[]);
    scratch.file("port/c.yaml", &QUIET.replace("a test", "another test"));
    let ran = run(&scratch, &["--budget", "1ns"]);
    assert_eq!(ran.code, 4, "{ran}");
    let note = "NOTE  3 drills not reached within the budget of 1ns";
    assert!(ran.err.contains(note), "{ran}");
    assert!(ran.out.contains("3 not reached"), "{ran}");
    // Nobody has drilled the failure and the change yet.
    run(&scratch, &["--budget", "1h"]);
    let by_value = ["port/b@h100-oci", "port/c@h100-oci", "port/a@h100-oci"];
    assert_eq!(planned(&scratch), by_value);
}

#[test]
fn a_budget_is_refused_for_shards_and_repeats() {
    for more in [["--shard", "1/2"], ["--repeat", "2"]] {
        let ran = run(&suite(), &[&["--budget", "1s"][..], &more].concat());
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains("cannot be used with"), "{ran}");
    }
}
