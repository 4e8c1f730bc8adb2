//! `--report github` and `--report gitlab`: what the hosts of code show beside the lines of a scenario.

use serde_json::Value;

use crate::{groups::UNFAIR, scratch::Scratch};

/// A folder that is a repository, with a scenario whose expectation no monitor can meet.
fn repository() -> Scratch {
    let scratch = Scratch::new();
    scratch.file(".git/HEAD", "ref: refs/heads/main\n");
    scratch.file("drills/port/unfair.yaml", UNFAIR);
    scratch
}

const RUN: [&str; 4] = ["run", "drills/port", "--arm", "memory"];

#[test]
fn github_shows_a_finding_at_its_line_and_a_summary_of_the_step() {
    let scratch = repository();
    let summary = scratch.path("summary.md");
    let env = [
        ("GITHUB_STEP_SUMMARY", summary.to_str().expect("a path")),
        (
            "GITHUB_WORKSPACE",
            scratch.path("").to_str().expect("a path"),
        ),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    let env: Vec<(&str, &str)> = env
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let ran = scratch.run_with(&[&RUN[..], &["--report", "github"]].concat(), &env);
    assert_eq!(ran.code, 100, "{ran}");
    let commands: Vec<&str> = ran
        .out
        .lines()
        .filter(|line| line.starts_with("::"))
        .collect();
    assert!(!commands.is_empty(), "{ran}");
    for command in commands {
        assert!(
            command.starts_with("::error file=drills/port/unfair.yaml,line="),
            "{command}"
        );
    }
    let text = scratch.text("summary.md");
    assert!(text.contains("### Findings"), "{text}");
    assert!(text.contains("drills/port/unfair.yaml:"), "{text}");
}

#[test]
fn gitlab_gets_an_issue_with_a_stable_fingerprint_for_each_finding() {
    let scratch = repository();
    let issues = || -> Vec<Value> {
        let ran = scratch.run(&[&RUN[..], &["--report", "gitlab=quality.json"]].concat());
        assert_eq!(ran.code, 100, "{ran}");
        serde_json::from_str(&scratch.text("quality.json")).expect("JSON")
    };
    let first = issues();
    assert!(!first.is_empty());
    for issue in &first {
        assert_eq!(issue["location"]["path"], "drills/port/unfair.yaml");
        assert!(
            issue["location"]["lines"]["begin"].as_u64() > Some(0),
            "{issue}"
        );
        assert!(!issue["fingerprint"].as_str().expect("a text").is_empty());
    }
    assert_eq!(first, issues());
}

/// A finding in a scenario that is built in has no file in the repository.
#[test]
fn junit_has_file_and_line_of_a_scenario_of_the_repository() {
    let scratch = repository();
    scratch.run(&[&RUN[..], &["--report", "junit=own.xml"]].concat());
    assert!(
        scratch
            .text("own.xml")
            .contains("file=\"drills/port/unfair.yaml\" line=\"")
    );
    let built_in = [
        "run",
        "port/cable-pulled",
        "--arm",
        "memory",
        "--report",
        "junit=its.xml",
    ];
    scratch.run(&built_in);
    assert!(!scratch.text("its.xml").contains("file="));
}

#[test]
fn a_run_without_findings_says_nothing_to_its_host() {
    let scratch = Scratch::new();
    let words = [
        "run",
        "port/cable-pulled",
        "--arm",
        "memory",
        "--report",
        "github,gitlab=q.json",
    ];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains("::"), "{ran}");
    assert_eq!(scratch.text("q.json").trim(), "[]");
}

#[test]
fn a_report_without_its_file_is_refused() {
    let scratch = Scratch::new();
    for asked in ["gitlab", "junit", "github=", "paper=x"] {
        let ran = scratch.run(&["run", "port", "--report", asked]);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains("`gitlab=FILE`"), "{ran}");
    }
}
