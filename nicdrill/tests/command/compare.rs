//! `nicdrill compare`: monitors of several protocols in the same drills, as a table and as JSON.

use serde_json::Value;

use crate::scratch::{Ran, Scratch, can_play_processes};

/// A wrong monitor, started by its descriptor.
const LOSES_EVENTS: &str = include_str!("../../../docs/loses-events.yaml");

/// Drills in which a cable is pulled, and in which a call is refused.
const DRILLS: [&str; 2] = [
    "port/cable-pulled@h100-oci",
    "connector/refused-then-accepted@h100-oci",
];

/// A folder with a monitor that only writes lines, as `init` writes it.
fn with_lines() -> Scratch {
    let scratch = Scratch::new();
    let ran = scratch.run(&["init", "--lang", "bash", "lines"]);
    assert_eq!(ran.code, 0, "{ran}");
    scratch
}

fn compared(scratch: &Scratch, more: &[&str]) -> (Ran, Value) {
    let mut words = vec!["compare", "--json", "table.json"];
    words.extend(more);
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    let json = serde_json::from_str(&scratch.text("table.json")).expect("it is JSON");
    (ran, json)
}

#[test]
fn monitors_of_two_protocols_stand_side_by_side() {
    if !can_play_processes() {
        return;
    }
    let scratch = with_lines();
    let monitors = ["reference", "lines/monitor.yaml"];
    let (ran, json) = compared(&scratch, &[monitors[0], monitors[1], DRILLS[0]]);
    assert!(
        ran.out.contains("1 drill, judged by needs of example"),
        "{ran}"
    );
    let of = |at: usize| &json["monitors"][at];
    assert_eq!(of(0)["speaks"], "platform-connector");
    assert_eq!(of(1)["speaks"], "lines");
    for at in 0..2 {
        let disabled = &of(at)["faults"]["disabled"];
        assert_eq!(disabled["in_time"], disabled["faults"], "{ran}");
        assert_eq!(disabled["noticed_after_ms"]["least"], 0, "{ran}");
        assert_eq!(disabled["cleared_never"], 0, "{ran}");
    }
    let (again, _) = compared(&scratch, &[monitors[0], monitors[1], DRILLS[0]]);
    assert_eq!(again.out, ran.out, "the same monitors, the same table");
}

#[test]
fn an_event_that_is_lost_is_a_fault_that_is_not_noticed() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("loses.yaml", LOSES_EVENTS);
    scratch.file(
        "needs.yaml",
        "needs_version: 1\nkinds: { disabled: { noticed: within 2s } }\n",
    );
    let needs = ["--needs", "needs.yaml", "--mix", "example"];
    let (ran, json) = compared(
        &scratch,
        &[&["reference", "loses.yaml", DRILLS[1]][..], &needs].concat(),
    );
    let missed = |at: usize| {
        let kinds = json["monitors"][at]["faults"].as_object().expect("kinds");
        let never = kinds.values().filter_map(|kind| kind["never"].as_u64());
        never.sum::<u64>()
    };
    assert_eq!(missed(0), 0, "{ran}");
    assert!(missed(1) > 0, "{ran}");
    assert!(
        ran.out.contains("per 1,000 nodes and month, by example"),
        "{ran}"
    );
    let weighted = |at: usize| json["monitors"][at]["weighted"]["missed_faults"]["value"].as_f64();
    assert!(weighted(0) < weighted(1), "{ran}");
}

#[test]
fn a_monitor_that_cannot_be_played_does_not_stop_the_others() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = scratch.run(&["compare", "/bin/true", "reference", DRILLS[0]]);
    assert_eq!(ran.code, 101, "{ran}");
    assert!(ran.out.contains("\nSTOP  "), "{ran}");
    assert!(ran.out.contains("ended by itself"), "{ran}");
    assert!(ran.out.contains("disabled"), "{ran}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_hint() {
    let scratch = Scratch::new();
    scratch.file(
        "m.yaml",
        "mix_version: 1\nper_1000_nodes_and_month: { slw: 2 }\n",
    );
    let check = |words: &[&str], code: i32, says: &str| {
        let ran = scratch.run(words);
        assert_eq!(ran.code, code, "{ran}");
        assert!(ran.err.contains(says), "{ran}");
    };
    check(&["compare", "port"], 2, "`port` is no monitor");
    check(&["compare", "reference", "prt"], 2, "prt");
    check(
        &["compare", "reference", "--mix", "m.yaml"],
        2,
        "m.yaml:2:29: unknown word `slw`",
    );
    check(
        &["compare", "reference", "--needs", "none.yaml"],
        2,
        "none.yaml",
    );
}
