//! `nicdrill fit`: interviews a monitor as a process, and writes a descriptor that a run reads.

use crate::scratch::{Scratch, can_play_processes};

/// A wrong monitor, started by its descriptor.
const LOSES_EVENTS: &str = include_str!("../../../docs/loses-events.yaml");

#[test]
fn an_interview_writes_a_descriptor_under_which_a_lost_event_is_found() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("mine.yaml", LOSES_EVENTS);
    let ran = scratch.run(&["fit", "mine.yaml", "--out", "found.yaml"]);
    assert_eq!(ran.code, 0, "{ran}");
    let last = "\nsuspect: connector: connector/absent@";
    assert!(ran.err.contains(last), "{ran}");
    let found = scratch.text("found.yaml");
    assert!(
        found.contains("    # suspect: connector/refused@"),
        "{found}"
    );
    assert!(found.contains("\n    connector: usual\n"), "{found}");
    assert!(
        found.contains("\n# [[known]]\n# id = \"connector/*#"),
        "{found}"
    );
    assert!(!found.contains("like: reference"), "{found}");
    let ran = scratch.run(&["fit", "mine.yaml"]);
    assert_eq!(ran.out, found, "the same monitor, the same text");
    let drills = [
        "port/cable-pulled@h100-oci",
        "connector/refused-then-accepted@h100-oci",
    ];
    let ran = scratch.run(&["run", "--monitor", "found.yaml", drills[0], drills[1]]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(ran.out.contains("1 passed, 1 failed"), "{ran}");
}

#[test]
fn a_file_is_overwritten_only_by_force() {
    let scratch = Scratch::new();
    scratch.file("found.yaml", "mine\n");
    let ran = scratch.run(&["fit", "reference", "--out", "found.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("`found.yaml` already exists"), "{ran}");
    assert_eq!(scratch.text("found.yaml"), "mine\n");
}

#[test]
fn a_monitor_that_cannot_be_drilled_ends_the_interview_as_it_ends_a_run() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = scratch.run(&["fit", "/bin/true"]);
    assert_eq!(ran.code, 101, "{ran}");
    assert!(ran.err.contains("STOP"), "{ran}");
    assert!(ran.err.contains("ended by itself"), "{ran}");
}
