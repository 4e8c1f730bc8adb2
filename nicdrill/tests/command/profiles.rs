//! Profiles of `nicdrill.toml`: a job's flags under a name.

use rstest::rstest;

use crate::{groups::UNFAIR, scratch::Scratch};

/// A folder whose profile `ci` drills one platform in memory.
fn with_profile() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    scratch.file(
        "nicdrill.toml",
        "monitor = \"reference\"\nscenarios = [\"port\"]\n\n[profile.ci]\narm = \"memory\"\nfull = true\n\
         keep = false\nfilter = \"port/unfair@h100-oci\"\nreport = [\"json=run.json\", \"github\"]\njobs = 1\n",
    );
    scratch
}

#[test]
fn a_profile_has_the_flags_of_a_run() {
    let scratch = with_profile();
    let ran = scratch.run(&["run", "--profile", "ci"]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(ran.out.contains("::error "), "{ran}");
    let json = scratch.text("run.json");
    assert!(json.contains("unfair@h100-oci"), "{json}");
    assert!(!json.contains("\"process\": 1"), "{json}");
    assert_eq!(scratch.text("nicdrill.out/failed.txt").lines().count(), 1);
}

#[test]
fn the_command_line_takes_precedence_over_a_profile() {
    let scratch = with_profile();
    let words = ["run", "--report", "json=b.json", "--profile=ci"];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(!ran.out.contains("::error "), "{ran}");
    assert!(!scratch.path("run.json").exists());
    assert!(scratch.path("b.json").exists());
}

/// The shards say what they were asked for, not only the profile's name: they may be joined elsewhere.
#[test]
fn shards_of_a_profile_are_joined_without_it() {
    let scratch = with_profile();
    let run = ["run", "--profile", "ci", "--filter", "port/*"];
    scratch.run(&[&run[..], &["--out", "whole"]].concat());
    for shard in ["1/2", "2/2"] {
        let out = format!("shards/{}", &shard[..1]);
        scratch.run(&[&run[..], &["--shard", shard, "--out", &out]].concat());
    }
    scratch.file("nicdrill.toml", "scenarios = [\"port\"]\n");
    let merged = scratch.run(&["report", "merge", "shards", "--out", "merged"]);
    assert_eq!(merged.code, 100, "{merged}");
    let failed = scratch.text("merged/failed.txt");
    assert!(failed.lines().count() > 1, "{failed}");
    assert_eq!(failed, scratch.text("whole/failed.txt"));
}

#[rstest]
#[case("cl", "nicdrill.toml has no profile `cl`\nhint: did you mean `ci`?")]
#[case(
    "nightly",
    "nicdrill.toml has no profile `nightly`\nhint: its profiles: ci"
)]
fn an_unknown_profile_is_refused_with_the_nearest_name(#[case] name: &str, #[case] told: &str) {
    let ran = with_profile().run(&["run", "--profile", name]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains(told), "{ran}");
}

#[test]
fn a_mistake_in_a_profile_is_refused_by_every_command_that_reads_the_file() {
    let scratch = Scratch::new();
    scratch.file("nicdrill.toml", "[profile.ci]\njobs = 1\nbudged = 3\n");
    let ran = scratch.run(&["list"]);
    assert_eq!(ran.code, 2, "{ran}");
    let told = "nicdrill.toml:3:1: unknown key `budged`";
    assert!(ran.err.contains(told), "{ran}");
}
