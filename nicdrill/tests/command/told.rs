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
