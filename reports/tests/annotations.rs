//! What GitHub and GitLab are told of a run: how many annotations, and where each is placed.

use reports::{
    Cause, CauseKind, DrillName, DrillReport, Excuse, ExitCode, Finding, FindingKind, Judged,
    Outcome, PlannedDrill, ProbeOutcome, Repository, RunReport, StoryLine, Wall, github_commands,
    gitlab,
};
use serde_json::Value;
use terms::{Arm, EventField};

/// A drill with a finding of this kind, at line 14 of its scenario.
fn drill(nth: usize, kind: CauseKind) -> DrillReport {
    let file = format!("port/s{nth}.yaml");
    let findings = vec![Finding {
        cause: Cause::of(kind),
        line: Some(StoryLine {
            place: format!("{file}:14:9"),
            text: "fatal: victim".to_owned(),
        }),
        ..Finding::plain(FindingKind::Missing, None, "poll 3: 50 % of it, twice")
    }];
    DrillReport {
        drill: DrillName {
            scenario: format!("port/s{nth}"),
            world: "p".to_owned(),
        },
        outcome: DrillReport::outcome_of(&[], &findings),
        arms: Vec::new(),
        findings,
        verdicts: Vec::new(),
        judged: Judged::default(),
        file,
        repeat: "nicdrill run".to_owned(),
        show: "nicdrill show".to_owned(),
        wall: Wall::default(),
    }
}

fn run(drills: Vec<DrillReport>) -> RunReport {
    RunReport {
        drills,
        exit_code: Some(ExitCode::JudgedWrongly),
        ..RunReport::default()
    }
}

fn repository(names: &[&str]) -> Repository {
    let paths = names.iter();
    let paths = paths.map(|name| ((*name).to_owned(), format!("drills/{name}")));
    Repository {
        paths: paths.collect(),
    }
}

#[test]
fn an_annotation_is_at_the_line_of_the_first_finding() {
    let run = run(vec![drill(1, CauseKind::Missed)]);
    let text = github_commands(&run, &repository(&["port/s1.yaml"]), "out");
    assert_eq!(text.lines().count(), 1, "{text}");
    let place = "::error file=drills/port/s1.yaml,line=14,col=9,title=";
    assert!(text.starts_with(place), "{text}");
    assert!(text.contains("50 %25 of it, twice"), "{text}");
}

/// GitHub Docs, "Workflow commands": without a file, an annotation is of the workflow's own.
#[test]
fn a_finding_in_a_built_in_scenario_has_no_file() {
    let run = run(vec![drill(1, CauseKind::Missed)]);
    let text = github_commands(&run, &Repository::default(), "out");
    assert!(text.starts_with("::error title="), "{text}");
}

#[test]
fn ten_causes_are_shown_and_the_further_ones_are_counted() {
    let drills = CauseKind::ALL[..12].iter().enumerate();
    let run = run(drills.map(|(nth, kind)| drill(nth, *kind)).collect());
    let text = github_commands(&run, &Repository::default(), "out");
    assert_eq!(text.matches("::error ").count(), 10, "{text}");
    let notices: Vec<&str> = text
        .lines()
        .filter(|l| l.starts_with("::notice "))
        .collect();
    assert_eq!(
        notices,
        [
            "::notice title=2 further causes in 2 drills::GitHub shows 10 errors of a step; all are in out/failed.txt"
        ]
    );
}

#[test]
fn a_known_finding_is_a_notice_and_no_error() {
    let mut known = drill(1, CauseKind::Missed);
    known.findings[0].excuse = Some(Excuse::InBaseline);
    let run = RunReport {
        exit_code: Some(ExitCode::Success),
        ..run(vec![known])
    };
    let text = github_commands(&run, &Repository::default(), "out");
    assert!(text.starts_with("::notice title=known%3A "), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_monitor_that_cannot_be_drilled_is_an_error_at_its_descriptor() {
    let mut run = run(Vec::new());
    run.plan.monitor = "mine".to_owned();
    run.plan.descriptor = Some("mine.yaml".to_owned());
    run.probe = Some(ProbeOutcome::Failed {
        reason: "it hangs".to_owned(),
        exit_code: ExitCode::CrashedOrHung,
    });
    assert_eq!(
        github_commands(&run, &repository(&["mine.yaml"]), "out"),
        "::error file=drills/mine.yaml,line=1,title=the monitor `mine` cannot be drilled::it hangs\n"
    );
}

#[test]
fn a_red_run_without_a_finding_says_its_exit_code() {
    let text = github_commands(&run(Vec::new()), &Repository::default(), "out");
    assert!(text.contains("ended with exit code 100::"), "{text}");
    let green = RunReport {
        exit_code: Some(ExitCode::Success),
        ..run(Vec::new())
    };
    assert_eq!(github_commands(&green, &Repository::default(), "out"), "");
}

/// GitLab Docs, "Code Quality report format": the path may not be empty.
#[test]
fn an_issue_of_a_built_in_scenario_is_at_the_descriptor_or_else_has_the_scenarios_name() {
    let mut run = run(vec![drill(1, CauseKind::Missed)]);
    let place = |run: &RunReport, names: &[&str]| {
        let issues: Value = serde_json::from_str(&gitlab(run, &repository(names))).unwrap();
        let location = &issues[0]["location"];
        let path = location["path"].as_str().unwrap().to_owned();
        (path, location["lines"]["begin"].as_u64().unwrap())
    };
    assert_eq!(place(&run, &[]), ("port/s1.yaml".to_owned(), 14));
    run.plan.descriptor = Some("mine.yaml".to_owned());
    let at_descriptor = ("drills/mine.yaml".to_owned(), 1);
    assert_eq!(place(&run, &["mine.yaml"]), at_descriptor);
    let in_scenario = ("drills/port/s1.yaml".to_owned(), 14);
    assert_eq!(place(&run, &["mine.yaml", "port/s1.yaml"]), in_scenario);
}

#[test]
fn drills_of_a_scenario_with_one_cause_are_one_issue_and_a_green_run_has_none() {
    let mut other = drill(1, CauseKind::Missed);
    other.drill.world = "q".to_owned();
    let run = run(vec![drill(1, CauseKind::Missed), other]);
    let issues: Value = serde_json::from_str(&gitlab(&run, &Repository::default())).unwrap();
    assert_eq!(issues.as_array().unwrap().len(), 1);
    let description = issues[0]["description"].as_str().unwrap();
    assert!(description.ends_with(": port/s1 on p, q"), "{description}");
    assert_eq!(issues[0]["severity"], "critical");
    assert_eq!(
        gitlab(&RunReport::default(), &Repository::default()),
        "[]\n"
    );
}

/// Nobody hears of an event that does not come, is lost, is less than it should be or names something else.
#[test]
fn an_event_that_nobody_hears_of_as_it_is_is_critical() {
    let severity = |kind, field| {
        let mut drill = drill(1, kind);
        drill.findings[0].cause.field = field;
        let issues: Value =
            serde_json::from_str(&gitlab(&run(vec![drill]), &Repository::default())).unwrap();
        issues[0]["severity"].as_str().unwrap().to_owned()
    };
    for (kind, field, expected) in [
        (CauseKind::Missed, None, "critical"),
        (CauseKind::NotDelivered, None, "critical"),
        // An alarm that is judged by intervals.
        (CauseKind::Differs, None, "critical"),
        (CauseKind::Differs, Some(EventField::Severity), "critical"),
        (CauseKind::Differs, Some(EventField::Entities), "critical"),
        (CauseKind::Differs, Some(EventField::Message), "major"),
        (CauseKind::Late, None, "major"),
        (CauseKind::Unexpected, None, "major"),
    ] {
        assert_eq!(severity(kind, field), expected, "{kind:?} {field:?}");
    }
}

/// A run of three drills that ended early after its first, which passed.
fn interrupted() -> RunReport {
    let planned = |nth: usize| PlannedDrill {
        drill: drill(nth, CauseKind::Missed).drill,
        arms: vec![Arm::Memory],
    };
    let mut first = drill(1, CauseKind::Missed);
    first.findings.clear();
    first.outcome = Outcome::Passed;
    let mut run = run(vec![first]);
    run.plan.monitor = "mine".to_owned();
    run.plan.drills = (1..=3).map(planned).collect();
    run.exit_code = Some(ExitCode::Interrupted);
    run
}

#[test]
fn a_run_that_ended_early_is_an_error_and_an_issue_whatever_it_found() {
    let run = interrupted();
    let left = "; of 3 drills 2 not reached: port/s2@p, port/s3@p";
    let text = github_commands(&run, &Repository::default(), "out");
    let first = "::error title=nicdrill ended with exit code 130::";
    assert!(text.starts_with(first) && text.contains(left), "{text}");
    let issues: Value = serde_json::from_str(&gitlab(&run, &Repository::default())).unwrap();
    assert_eq!(issues.as_array().unwrap().len(), 1);
    assert_eq!(issues[0]["fingerprint"], "run#130");
    assert_eq!(issues[0]["severity"], "blocker");
    assert_eq!(issues[0]["location"]["path"], "mine");
    let description = issues[0]["description"].as_str().unwrap();
    assert!(description.ends_with(left), "{description}");
    // Ten causes do not take its place.
    let causes = CauseKind::ALL[..12].iter().enumerate();
    let found = causes.map(|(nth, kind)| drill(nth, *kind)).collect();
    let run = RunReport {
        drills: found,
        ..run
    };
    let text = github_commands(&run, &Repository::default(), "out");
    assert!(text.starts_with(first), "{text}");
    assert_eq!(text.matches("::error ").count(), 10, "{text}");
    assert!(
        text.contains("::notice title=3 further causes in 3 drills"),
        "{text}"
    );
}

#[test]
fn a_probe_that_failed_is_an_issue_at_the_descriptor() {
    let mut run = run(Vec::new());
    run.plan.descriptor = Some("mine.yaml".to_owned());
    run.probe = Some(ProbeOutcome::Failed {
        reason: "it hangs".to_owned(),
        exit_code: ExitCode::CrashedOrHung,
    });
    let issues: Value = serde_json::from_str(&gitlab(&run, &repository(&["mine.yaml"]))).unwrap();
    assert_eq!(issues.as_array().unwrap().len(), 1);
    assert_eq!(issues[0]["check_name"], "probe");
    assert_eq!(issues[0]["location"]["path"], "drills/mine.yaml");
}
