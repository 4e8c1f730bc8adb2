//! A red run, told by cause: few lines for many drills, one list of all, a run folder of bounded size.

use crate::scratch::Scratch;

/// A scenario that the reference monitor fails on every platform: a port is disabled, and no event may come.
pub(crate) const UNFAIR: &str = "\
scenario: a port is disabled and nobody may say so
why: no monitor passes it
platforms: all
let: { victim: { nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 2s
    do: [ { disable: victim } ]
    expect: [ { nothing: victim } ]
until: 5s
";

/// The run of that scenario on every platform, in memory.
pub(crate) const WORDS: [&str; 4] = ["run", "./port", "--arm", "memory"];

fn unfair() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    scratch
}

#[test]
fn many_drills_of_a_few_causes_are_told_in_a_few_blocks_of_20_lines() {
    let scratch = unfair();
    let ran = scratch.run(&WORDS);
    assert_eq!(ran.code, 100, "{ran}");
    let failed = scratch.text("nicdrill.out/failed.txt");
    assert!(failed.lines().count() >= 20, "{failed}");
    let blocks: Vec<&str> = ran.out.split("FAIL  ").skip(1).collect();
    assert!((1..=12).contains(&blocks.len()), "{ran}");
    for block in &blocks {
        let last = block.lines().position(|line| line.starts_with("  id: "));
        assert!(last.is_some_and(|last| last < 20), "{block}");
        assert!(block.contains("  first: port/unfair@"), "{block}");
        assert!(
            block.contains("  repeat it: nicdrill run ./port port/unfair@"),
            "{block}"
        );
    }
    assert!(ran.out.lines().count() <= 100, "{ran}");
}

#[test]
fn every_finding_of_a_run_is_in_its_groups_and_in_its_list() {
    let scratch = unfair();
    let mut words = WORDS.to_vec();
    words.extend(["--report", "json=run.json"]);
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 100, "{ran}");
    let json: serde_json::Value = serde_json::from_str(&scratch.text("run.json")).unwrap();
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let drills = list(&json["drills"]);
    let findings: usize = drills
        .iter()
        .map(|drill| list(&drill["findings"]).len())
        .sum();
    let groups = list(&json["groups"]);
    let grouped: u64 = groups
        .iter()
        .filter_map(|group| group["findings"].as_u64())
        .sum();
    assert_eq!(grouped, findings as u64);
    let failed = scratch.text("nicdrill.out/failed.txt");
    for group in &groups {
        let cause = group["cause"].as_str().unwrap();
        let lines = failed
            .lines()
            .filter(|line| line.ends_with(&format!(" {cause}")));
        assert_eq!(lines.count(), list(&group["drills"]).len(), "{cause}");
    }
}

#[test]
fn with_v_each_drill_is_told() {
    let scratch = unfair();
    let mut words = WORDS.to_vec();
    words.extend(["-v", "--platform", "h100-oci"]);
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out
            .contains("FAIL  port/unfair@h100-oci  (memory: failed)"),
        "{ran}"
    );
}

#[test]
fn only_the_first_drills_of_each_cause_leave_artifacts_and_the_run_says_so() {
    let scratch = unfair();
    let ran = scratch.run(&WORDS);
    assert!(ran.out.contains("left no artifacts"), "{ran}");
    let kept = std::fs::read_dir(scratch.path("nicdrill.out/drills/port")).unwrap();
    assert!(kept.count() < 20, "{ran}");
    let mut words = WORDS.to_vec();
    words.push("--keep");
    let ran = scratch.run(&words);
    assert!(!ran.out.contains("left no artifacts"), "{ran}");
}
