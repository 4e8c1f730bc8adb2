//! How much a run tells: `--quiet`, and the slowest drills.

use crate::{
    groups::UNFAIR,
    scratch::{Ran, Scratch},
};

fn run(scratch: &Scratch, more: &[&str]) -> Ran {
    let words = ["run", "./port", "port/unfair@h100-oci", "--arm", "memory"];
    scratch.run(&[&words[..], more].concat())
}

fn unfair() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    scratch
}

#[test]
fn a_quiet_red_run_tells_its_failures_and_the_totals() {
    let ran = run(&unfair(), &["--quiet"]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(ran.out.starts_with("FAIL  "), "{ran}");
    assert!(ran.out.contains(": 0 passed, 1 failed"), "{ran}");
}

#[test]
fn a_quiet_green_run_tells_the_totals_alone() {
    let scratch = unfair();
    let known = "[[known]]\nid = \"port/unfair#*\"\nreason = \"by design\"\n";
    scratch.file("known.toml", known);
    let ran = run(&scratch, &["-q"]);
    assert_eq!(ran.code, 0, "{ran}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3, "{ran}");
    assert!(lines[0].starts_with("no monitor was named"), "{ran}");
    assert!(lines[1].starts_with("1 drill of `reference`: "), "{ran}");
    assert_eq!(ran.err, "", "{ran}");
}

#[test]
fn the_slowest_drills_are_told_and_are_in_the_results() {
    let scratch = unfair();
    let ran = run(&scratch, &["--slowest", "3", "--report", "json=run.json"]);
    let (_, slowest) = ran
        .out
        .split_once("slowest 1 drill:\n")
        .expect("they are told");
    let line = slowest.lines().next().unwrap_or_default();
    assert!(line.ends_with(" s  port/unfair@h100-oci"), "{ran}");
    let json: serde_json::Value = serde_json::from_str(&scratch.text("run.json")).unwrap();
    let first = &json["wall"]["slowest"][0];
    assert_eq!(first["drill"], "port/unfair@h100-oci", "{json}");
    assert!(first["ms"].is_u64(), "{json}");
}

/// A story whose machine there is none of is green for ever.
#[test]
fn a_scenario_of_ones_own_without_a_drill_is_told_by_its_name_and_reason() {
    let scratch = unfair();
    let dead = UNFAIR.replace("all", "{ with: { compute_cards: \">= 500\" } }");
    scratch.file("port/dead.yaml", &dead);
    scratch.file("port/far.yaml", &UNFAIR.replace("nth: 1", "nth: 99"));
    let words = ["run", "./port", "--arm", "memory"];
    let on_two = ["--platform", "h100-oci,dgx-a100"];
    let ran = scratch.run(&[&words[..], &on_two].concat());
    assert_eq!(ran.code, 100, "{ran}");
    let told = "NOTE  2 scenarios have no drill:\n  port/dead: `compute_cards: >= 500` is asked for, which the world has not, in ";
    assert!(ran.out.contains(told), "{ran}");
    let far =
        "\n  port/far: handle `victim` (nth: 99) needs 99 ports, which the world has not, in ";
    assert!(ran.out.contains(far), "{ran}");
    // In each shard too, whichever drills it has.
    let ran = scratch.run(&[&words[..], &on_two, &["--shard", "1/2"]].concat());
    assert!(ran.out.contains(told), "{ran}");
    let ran = scratch.run(&[&words[..], &["port/dead"]].concat());
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.err.contains("NOTE  1 scenario has no drill:"), "{ran}");
    // What is built in need not fit what is asked for.
    let ran = scratch.run(&["run", "device", "--platform", "dgx-a100", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains(" no drill"), "{ran}");
}
