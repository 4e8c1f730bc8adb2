//! What GitHub and GitLab are told of a run.

use serde_json::Value;

use crate::{
    groups::{UNFAIR, WORDS},
    scratch::{Ran, Scratch},
};

/// A repository with a suite of its own in the folder `drills`.
fn repository() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("drills/port/unfair.yaml", UNFAIR);
    scratch
}

/// Runs it there, with the repository as the workspace of GitHub Actions.
fn run(scratch: &Scratch, report: &str) -> Ran {
    let words = WORDS.join(" ");
    scratch.shell(&format!(
        "export GITHUB_WORKSPACE=$PWD GITHUB_STEP_SUMMARY=$PWD/summary.md; \
         cd drills && $NICDRILL {words} port/unfair@h100-oci --report {report}"
    ))
}

/// Line 10 of the scenario is that of its expectation `nothing`.
#[test]
fn github_shows_each_cause_at_its_line_in_the_repository() {
    let scratch = repository();
    let ran = run(&scratch, "github");
    assert_eq!(ran.code, 100, "{ran}");
    let commands: Vec<&str> = ran.out.lines().filter(|l| l.starts_with("::")).collect();
    let place = "::error file=drills/port/unfair.yaml,line=10,col=";
    assert!(!commands.is_empty(), "{ran}");
    for command in commands {
        assert!(command.starts_with(place), "{ran}");
        assert!(command.contains(",title="), "{ran}");
        assert!(command.contains("first: port/unfair@h100-oci%0A"), "{ran}");
        assert!(command.contains("repeat it: nicdrill run ./port "), "{ran}");
    }
}

#[test]
fn the_step_summary_of_github_is_appended_to() {
    let scratch = repository();
    scratch.file("summary.md", "# Mine\n");
    let ran = run(&scratch, "github=annotations.txt");
    assert!(!ran.out.contains("::error"), "{ran}");
    let annotations = scratch.text("drills/annotations.txt");
    assert!(annotations.starts_with("::error "), "{annotations}");
    run(&scratch, "github=annotations.txt");
    let summary = scratch.text("summary.md");
    assert!(summary.starts_with("# Mine\n## ❌ nicdrill: "), "{summary}");
    assert_eq!(summary.matches("\n### Findings\n").count(), 2, "{summary}");
    assert!(summary.contains("| failed | 1 |"), "{summary}");
}

#[test]
fn a_known_finding_is_a_notice_of_github() {
    let scratch = repository();
    let known = "[[known]]\nid = \"port/unfair#*\"\nreason = \"by design\"\n";
    scratch.file("drills/known.toml", known);
    let ran = run(&scratch, "github");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains("::error"), "{ran}");
    let notice = "::notice file=drills/port/unfair.yaml,line=10,";
    assert!(ran.out.contains(notice), "{ran}");
    assert!(ran.out.contains("title=known%3A "), "{ran}");
}

#[test]
fn an_issue_of_gitlab_has_a_place_and_the_same_fingerprint_in_each_run() {
    let scratch = repository();
    let mut texts = Vec::new();
    for _ in 0..2 {
        let ran = run(&scratch, "gitlab=quality.json");
        assert_eq!(ran.code, 100, "{ran}");
        texts.push(scratch.text("drills/quality.json"));
    }
    assert_eq!(texts[0], texts[1]);
    let issues: Value = serde_json::from_str(&texts[0]).unwrap();
    let issues = issues.as_array().unwrap();
    assert!(!issues.is_empty());
    for issue in issues {
        let fingerprint = issue["fingerprint"].as_str().unwrap();
        assert!(fingerprint.starts_with("port/unfair#"), "{issue}");
        assert_eq!(issue["location"]["path"], "drills/port/unfair.yaml");
        assert_eq!(issue["location"]["lines"]["begin"], 10);
        let severities = ["info", "minor", "major", "critical", "blocker"];
        let severity = issue["severity"].as_str().unwrap();
        assert!(severities.contains(&severity), "{issue}");
        assert!(issue["check_name"].is_string(), "{issue}");
        assert!(issue["description"].is_string(), "{issue}");
    }
}

#[test]
fn a_test_case_of_junit_has_its_file_and_the_line_of_its_finding() {
    let scratch = repository();
    run(&scratch, "junit=run.xml");
    let text = scratch.text("drills/run.xml");
    assert!(text.contains("file=\"drills/port/unfair.yaml\""), "{text}");
    assert!(text.contains("line=\"10\""), "{text}");
}

/// A file here that has the name of a built-in scenario's.
#[test]
fn a_built_in_scenario_has_no_file_in_the_repository() {
    let scratch = Scratch::new();
    scratch.file("start/baseline.yaml", "");
    let ran = scratch.run(&[
        "run",
        "start/baseline@h100-oci",
        "--arm",
        "memory",
        "--report",
        "junit=run.xml",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!scratch.text("run.xml").contains(" file="), "{ran}");
}
