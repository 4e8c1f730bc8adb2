//! What is repeated, merged or compared is of the monitor that was drilled: nicdrill's own stands in for none.

use std::fs;

use rstest::rstest;

use crate::{
    groups::{UNFAIR, WORDS},
    scratch::{Scratch, reference_descriptor},
};

const DRILL: &str = "port/cable-pulled@h100-oci";

/// A folder whose run failed in one drill that nicdrill's own monitor passes, with this plan.
fn failed(plan: Option<&str>) -> Scratch {
    let scratch = Scratch::new();
    scratch.file("f/.nicdrill-run", "the folder of a run of nicdrill\n");
    scratch.file("f/failed.txt", &format!("{DRILL} missed\n"));
    if let Some(plan) = plan {
        scratch.file("f/run.json", plan);
    }
    scratch
}

#[rstest]
#[case::absent(None, "f/run.json` does not tell which monitor was drilled")]
#[case::cut_short(Some("{\"monitor\":\"mine\",\"again\":[\"--mon"), "it is damaged")]
#[case::of_another_form(Some("{\"monitor\":\"mine\",\"again\":{}}"), "it is damaged")]
#[case::without_its_file(
    Some("{\"monitor\":\"mine\"}"),
    "the run in `f` drilled `mine`, and does not tell from which file"
)]
fn what_failed_is_not_repeated_with_another_monitor(
    #[case] plan: Option<&str>,
    #[case] told: &str,
) {
    let scratch = failed(plan);
    for command in ["run", "list"] {
        let ran = scratch.run(&[command, "--failed", "--arm", "memory", "--out", "f"]);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains(told), "{ran}");
        assert!(ran.err.contains("--monitor FILE"), "{ran}");
    }
    let named = ["--monitor", "reference", "--out", "f"];
    let ran = scratch.run(&[&["run", "--failed", "--arm", "memory"], &named[..]].concat());
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("1 drill of `reference`"), "{ran}");
}

/// Otherwise what is left of the list passes, and that is green.
#[test]
fn a_part_of_what_failed_is_not_repeated_for_the_whole() {
    let scratch = failed(None);
    let two = format!("{DRILL} missed\nown/gone@h100-oci missed\n");
    scratch.file("f/failed.txt", &two);
    let words = ["run", "--failed", "--arm", "memory", "--out", "f"];
    let named = [&words[..], &["--monitor", "reference"]].concat();
    let ran = scratch.run(&named);
    assert_eq!(ran.code, 2, "{ran}");
    let told = "`own/gone@h100-oci` failed in the run before, and there is no scenario `own/gone`";
    assert!(ran.err.contains(told), "{ran}");
}

#[test]
fn shards_are_not_merged_as_those_of_another_monitor() {
    let scratch = Scratch::new();
    let mine = reference_descriptor().replacen("name: reference", "name: mine", 1);
    scratch.file("mine.yaml", &mine);
    scratch.file("nicdrill.toml", "monitor = \"mine.yaml\"\n");
    for (shard, out) in [("1/2", "shards/1"), ("2/2", "shards/2")] {
        let words = ["run", "port", "--platform", "h100-oci", "--arm", "memory"];
        let place = ["--shard", shard, "--out", out];
        let ran = scratch.run(&[&words[..], &place].concat());
        assert!(ran.out.contains("of `mine` (mine.yaml)"), "{ran}");
    }
    let merge = ["report", "merge", "shards", "--out", "merged"];
    let settings = scratch.path("nicdrill.toml");
    fs::rename(&settings, scratch.path("elsewhere.toml")).expect("a file");
    let ran = scratch.run(&merge);
    assert_eq!(ran.code, 2, "{ran}");
    let told =
        "the shards drilled `mine` (mine.yaml), and here the same words stand for `reference`";
    assert!(ran.err.contains(told), "{ran}");
    assert!(!scratch.path("merged").exists(), "{ran}");
    fs::rename(scratch.path("elsewhere.toml"), settings).expect("a file");
    let ran = scratch.run(&merge);
    assert!([0, 4, 100].contains(&ran.code), "{ran}");
    assert!(ran.out.contains("of `mine` (mine.yaml)"), "{ran}");
}

#[test]
fn a_baseline_tells_its_monitor_or_is_refused() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    let ran = scratch.run(&[&WORDS[..], &["--out", "before"]].concat());
    assert_eq!(ran.code, 100, "{ran}");
    let words = [&WORDS[..], &["--baseline", "before"]].concat();
    let plan = scratch.text("before/run.json");
    let other = plan.replacen("\"monitor\":\"reference\"", "\"monitor\":\"other\"", 1);
    assert_ne!(plan, other);
    scratch.file("before/run.json", &other);
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    let told = "NOTE  the baseline in `before` is of `other`, and `reference` is drilled";
    assert!(ran.err.contains(told), "{ran}");
    fs::remove_file(scratch.path("before/run.json")).expect("a plan");
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 2, "{ran}");
    let told = "before/run.json` does not tell which monitor was drilled";
    assert!(ran.err.contains(told), "{ran}");
}
