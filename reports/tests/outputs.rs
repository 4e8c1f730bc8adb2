//! One run in every format: the terminal's texts, JSON, and JUnit (parsed again, and validated
//! against our XSD).

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a test may start xmllint and hand it a file; the room itself may not"
)]

use std::{fs, path::Path, process::Command};

use reports::{
    ArmReport, ArmStatus, Cause, CauseKind, ClauseCoverage, ClauseStatus, Coverage, Defence,
    DrillName, DrillReport, ExcusesReport, ExitCode, Finding, FindingKind, Judged, JudgedBy,
    ProbeOutcome, Read, Repository, RunEvent, RunPlan, RunReport, ScenarioCoverage, SourceCoverage,
    StoryLine, Style, Wall, coverage_page, drill_block, event_line, junit, not_judged_page,
    results, summary_line,
};
use serde_json::Value;
use terms::Arm;

fn name(scenario: &str) -> DrillName {
    DrillName {
        scenario: scenario.to_owned(),
        world: "h100-oci:vfs".to_owned(),
    }
}

fn arm(arm: Arm, status: ArmStatus) -> ArmReport {
    let played = u64::from(!matches!(status, ArmStatus::Skipped { .. }));
    ArmReport {
        arm,
        status,
        polls: 30 * played,
        events: 4 * played,
    }
}

fn drill(scenario: &str, arms: Vec<ArmReport>, findings: Vec<Finding>) -> DrillReport {
    DrillReport {
        drill: name(scenario),
        outcome: DrillReport::outcome_of(&arms, &findings),
        arms,
        findings,
        verdicts: Vec::new(),
        judged: Judged::default(),
        file: "port/cable-pulled.yaml".to_owned(),
        show: "nicdrill show".to_owned(),
        repeat: format!("nicdrill run {scenario} --platform h100-oci:vfs"),
        wall: Wall::default().with("ms", 41),
    }
}

fn missing() -> Finding {
    Finding {
        kind: FindingKind::Missing,
        cause: Cause::of(CauseKind::Missed),
        times: 1,
        excuse: None,
        arm: Some(Arm::Process),
        node: None,
        line: Some(StoryLine {
            place: "port/cable-pulled.yaml:14:9".to_owned(),
            text: "- { fatal: victim, within: 1 poll }".to_owned(),
        }),
        tick: Some(11),
        before: Vec::new(),
        expected: vec![
            "fatal of `mlx5_3` port 1 by InfiniBandStateCheck, once, in polls 10 to 11".to_owned(),
        ],
        came: vec!["poll 13: fatal of `mlx5_3` port 1 <state DOWN & \"more\">".to_owned()],
        reads: vec![
            Read {
                poll: 10,
                text: "read class/infiniband/mlx5_3/ports/1/state `1: DOWN`".to_owned(),
            },
            Read {
                poll: 11,
                text: "read class/infiniband/mlx5_3/ports/1/state EIO".to_owned(),
            },
        ],
    }
}

/// A run of three drills: passed without its process arm, failed, and skipped.
fn events() -> Vec<RunEvent> {
    let skipped = || ArmStatus::Skipped {
        reason: "/dev/fuse cannot be opened".to_owned(),
    };
    let plan = RunPlan {
        monitor: "reference".to_owned(),
        descriptor: None,
        judged_by: JudgedBy::Promises,
        loses_events: false,
        shard: None,
        asked: vec!["port".to_owned()],
        again: vec!["--monitor".to_owned(), "reference".to_owned()],
        drills: ["start/baseline", "port/cable-pulled", "host/metrics"]
            .map(|scenario| reports::PlannedDrill {
                drill: name(scenario),
                arms: vec![Arm::Memory, Arm::Process],
            })
            .to_vec(),
        not_applicable: vec![reports::NotApplicable {
            drill: name("roce/flap"),
            reason: "the platform has no Ethernet port".to_owned(),
        }],
        wall: Wall::default().with("pid", 4711),
    };
    let mut passed = drill(
        "start/baseline",
        vec![
            arm(Arm::Memory, ArmStatus::Passed),
            arm(Arm::Process, skipped()),
        ],
        Vec::new(),
    );
    let differ = Finding {
        tick: Some(7),
        ..Finding::plain(
            FindingKind::ArmsDiffer,
            None,
            "arms differ at poll 7: reads",
        )
    };
    for _ in 0..4 {
        passed.judged.judge();
    }
    passed.judged.leave_out("no `/healthz`");
    passed.judged.leave_out_part("messages of its own");
    let mut failed = drill(
        "port/cable-pulled",
        vec![
            arm(Arm::Memory, ArmStatus::Passed),
            arm(Arm::Process, ArmStatus::Failed),
        ],
        vec![missing(), differ],
    );
    for _ in 0..2 {
        failed.judged.leave_out("no promise about `card`");
    }
    let nowhere = drill(
        "host/metrics",
        vec![arm(Arm::Process, skipped())],
        Vec::new(),
    );
    let mut events = vec![
        RunEvent::RunStarted(plan),
        RunEvent::DrillPassed(passed),
        RunEvent::DrillFailed(failed),
        RunEvent::DrillSkipped(nowhere),
    ];
    let mut so_far = RunReport::default();
    events.iter().for_each(|event| so_far.take(event));
    events.push(RunEvent::RunEnded {
        summary: so_far.counted(),
        exit_code: ExitCode::JudgedWrongly,
        wall: Wall::default().with("ms", 1234),
    });
    events
}

fn run() -> RunReport {
    let mut run = RunReport::default();
    events().iter().for_each(|event| run.take(event));
    run
}

#[test]
fn a_failure_is_one_readable_block_that_ends_with_the_command_that_repeats_it() {
    let rendered: Vec<String> = events()
        .iter()
        .filter_map(|event| event_line(event, Style::default()))
        .collect();
    insta::assert_snapshot!(rendered.join("\n"), @r#"
    FAIL  port/cable-pulled@h100-oci:vfs  (memory: passed; process: failed)
      expected, and did not come (process arm, poll 11)
        port/cable-pulled.yaml:14:9
          | - { fatal: victim, within: 1 poll }
        expected  fatal of `mlx5_3` port 1 by InfiniBandStateCheck, once, in polls 10 to 11
        came      poll 13: fatal of `mlx5_3` port 1 <state DOWN & "more">
        reads     poll 10: read class/infiniband/mlx5_3/ports/1/state `1: DOWN`
                  poll 11: read class/infiniband/mlx5_3/ports/1/state EIO
      the arms differ (poll 7)
        came      arms differ at poll 7: reads
      repeat it: nicdrill run port/cable-pulled --platform h100-oci:vfs
    "#);
}

#[test]
fn the_last_line_counts_everything_and_tells_an_arm_that_did_not_run() {
    insta::assert_snapshot!(
        summary_line(&run(), Style::default(), false),
        @"
    3 drills of `reference`: 1 passed, 1 failed, 1 skipped; memory arm: 2 of 3 run; process arm: 1 of 3 run (/dev/fuse cannot be opened); 3 drills in both; 1 more pair of scenario and platform does not fit (`nicdrill list --drills` tells why); 1.2 s
    judged 4 of 7 expectations (57 %); `--not-judged` tells why not all
    "
    );
}

/// Whoever named no monitor reads first whose was drilled.
#[test]
fn the_first_line_of_the_summary_says_that_nicdrills_own_monitor_was_drilled() {
    let told = |run: &RunReport| {
        let text = summary_line(run, Style::default(), false);
        text.lines().next().unwrap_or_default().to_owned()
    };
    let mut run = run();
    assert!(told(&run).starts_with("3 drills of `reference`: "));
    run.plan.again.clear();
    assert_eq!(
        told(&run),
        "no monitor was named, so nicdrill's own was drilled, `reference`: `--monitor FILE` drills yours"
    );
}

#[test]
fn a_run_of_a_monitor_that_promises_no_delivery_says_so() {
    let mut run = run();
    run.plan.loses_events = true;
    let lines = summary_line(&run, Style::default(), false);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(
        lines[1],
        "the monitor promises no delivery: an event whose call fails is lost"
    );
    assert_eq!(lines.len(), 3);
}

#[test]
fn what_was_not_judged_is_told_by_reason_with_its_first_drill() {
    assert_eq!(
        not_judged_page(&run(), Style::default()),
        "  count  not judged               first drill\n      \
         2  no promise about `card`  port/cable-pulled@h100-oci:vfs\n      \
         1  no `/healthz`            start/baseline@h100-oci:vfs\n  \
         count  judged but for       first drill\n      \
         1  messages of its own  start/baseline@h100-oci:vfs\n"
    );
    let whole = RunReport::default();
    assert_eq!(
        not_judged_page(&whole, Style::default()),
        "every expectation was judged as a whole\n"
    );
}

#[test]
fn json_and_junit_say_how_much_was_judged_and_by_what() {
    let mut run = run();
    run.plan.judged_by = JudgedBy::Needs {
        file: "needs.yaml".to_owned(),
    };
    let json: Value = serde_json::from_str(&results(&run)).unwrap();
    assert_eq!(json["plan"]["judged_by"]["by"], "needs");
    assert_eq!(json["summary"]["judged"]["judged"], 4);
    let not_judged = &json["summary"]["judged"]["not_judged"];
    assert_eq!(not_judged["no promise about `card`"], 2);
    let text = junit(&run, &Repository::default()).unwrap();
    for (name, value) in [
        ("judged by", "needs of needs.yaml"),
        ("expectations judged", "4 of 7 (57 %)"),
        ("not judged: no promise about `card`", "2"),
        ("judged but for: messages of its own", "1"),
    ] {
        let property = format!(r#"<property name="{name}" value="{value}"/>"#);
        assert!(text.contains(&property), "{property}\n{text}");
    }
    let events: Vec<String> = events()
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    assert!(
        events[4].contains(r#""judged":{"judged":4,"not_judged":{"#),
        "{}",
        events[4]
    );
}

#[test]
fn a_probe_that_fails_says_why_and_with_which_code_the_run_ends() {
    let event = RunEvent::Probe {
        monitor: "true".to_owned(),
        outcome: ProbeOutcome::Failed {
            reason: "it ended with exit code 0 before its first poll".to_owned(),
            exit_code: ExitCode::CrashedOrHung,
        },
        wall: Wall::default(),
    };
    insta::assert_snapshot!(event_line(&event, Style::default()).unwrap(), @"
    STOP  the monitor `true` cannot be drilled: it ended with exit code 0 before its first poll
          (101: a monitor crashed or hung)
    ");
}

/// That a signal ended the probe says nothing about the monitor.
#[test]
fn a_probe_that_was_interrupted_has_the_code_of_the_signal() {
    let mut run = run();
    run.drills.clear();
    run.exit_code = Some(ExitCode::Terminated);
    let outcome = ProbeOutcome::Failed {
        reason: "interrupted before the first drill".to_owned(),
        exit_code: ExitCode::Terminated,
    };
    let event = RunEvent::Probe {
        monitor: "mine".to_owned(),
        outcome: outcome.clone(),
        wall: Wall::default(),
    };
    assert_eq!(
        event_line(&event, Style::default()).unwrap(),
        "STOP  the monitor `mine` was not drilled: interrupted before the first drill\n      \
         (143: SIGTERM asked for an early end; what was judged until then is reported)\n"
    );
    run.probe = Some(outcome);
    assert_eq!(counts(&run), [(3, 0, 3), (4, 1, 3)]);
}

/// A monitor that was probed, and one of whose polls took this long.
fn probed(poll_ms: u64) -> RunEvent {
    RunEvent::Probe {
        monitor: "slow".to_owned(),
        outcome: ProbeOutcome::READY,
        wall: Wall::default().with("poll_ms", poll_ms),
    }
}

#[test]
fn a_monitor_that_polls_seldom_is_noted_with_what_a_drill_takes() {
    insta::assert_snapshot!(event_line(&probed(996), Style::default()).unwrap(), @"
    NOTE  a poll of the monitor takes 1.0 s of real time, and a drill of 50 polls 50 s: shorten its interval by
          `command`, `env` or `config` of its descriptor
    ");
    assert!(event_line(&probed(200), Style::default()).is_some());
}

#[test]
fn a_descriptor_that_seems_wrong_is_noted_with_what_to_write() {
    let mut event = probed(0);
    let RunEvent::Probe { outcome, .. } = &mut event else {
        unreachable!("it was probed")
    };
    *outcome = ProbeOutcome::Ready {
        advice: Some("its descriptor makes 1 a poll: write `listings_per_poll: 2`".to_owned()),
    };
    insta::assert_snapshot!(event_line(&event, Style::default()).unwrap(), @"NOTE  the monitor: its descriptor makes 1 a poll: write `listings_per_poll: 2`");
}

#[test]
fn a_monitor_that_polls_often_is_not_noted() {
    assert_eq!(event_line(&probed(199), Style::default()), None);
    assert_eq!(event_line(&probed(0), Style::default()), None);
}

#[test]
fn colours_change_no_word() {
    let plain = |text: &str| {
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            plain += before;
            rest = after.split_once('m').expect("a colour ends with m").1;
        }
        plain + rest
    };
    for drill in &run().drills {
        let coloured = drill_block(drill, Style { color: true });
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(plain(&coloured), drill_block(drill, Style::default()));
    }
}

#[test]
fn json_carries_its_version_and_puts_what_differs_into_wall_alone() {
    fn without_wall(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.remove("wall");
                members.values_mut().for_each(without_wall);
            }
            Value::Array(items) => items.iter_mut().for_each(without_wall),
            _ => {}
        }
    }
    let mut json: Value = serde_json::from_str(&results(&run())).unwrap();
    assert_eq!(json["results_version"], 3);
    assert_eq!(json["exit_code"], 100);
    assert_eq!(json["drills"][1]["findings"][0]["kind"], "missing");
    assert_eq!(json["drills"][1]["wall"]["ms"], 41);
    without_wall(&mut json);
    let mut later = run();
    later.wall = later.wall.with("ms", 99);
    later.plan.wall = later.plan.wall.with("pid", 1);
    let mut later: Value = serde_json::from_str(&results(&later)).unwrap();
    without_wall(&mut later);
    assert_eq!(json, later);
}

#[test]
fn every_event_is_one_line_of_json_that_names_its_kind() {
    let kinds: Vec<Value> = events()
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .inspect(|line| assert!(!line.contains('\n')))
        .map(|line| serde_json::from_str::<Value>(&line).unwrap()["event"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            "run-started",
            "drill-passed",
            "drill-failed",
            "drill-skipped",
            "run-ended"
        ]
    );
}

#[test]
fn junit_is_read_back_with_every_drill_of_every_arm() {
    let text = junit(&run(), &Repository::default()).unwrap();
    let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
    let suites: Vec<(&str, usize, usize, usize)> = report
        .test_suites
        .iter()
        .map(|suite| {
            (
                suite.name.as_str(),
                suite.tests,
                suite.failures,
                suite.skipped,
            )
        })
        .collect();
    assert_eq!(suites, [("memory arm", 2, 0, 0), ("process arm", 3, 1, 2)]);
    assert!(
        text.contains(r#"<property name="process arm" value="1 of 3 run"/>"#),
        "{text}"
    );
    assert!(text.contains("nicdrill run port/cable-pulled"), "{text}");
}

#[test]
fn a_probe_that_stopped_the_run_is_an_error_in_junit() {
    let mut run = run();
    run.probe = Some(ProbeOutcome::Failed {
        reason: "it hangs".to_owned(),
        exit_code: ExitCode::CrashedOrHung,
    });
    let report =
        quick_junit::Report::deserialize_from_str(&junit(&run, &Repository::default()).unwrap())
            .unwrap();
    assert_eq!(report.errors, 1);
}

/// The counts of tests, errors and skipped test cases of each suite.
fn counts(run: &RunReport) -> Vec<(usize, usize, usize)> {
    let text = junit(run, &Repository::default()).unwrap();
    let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
    let suites = report.test_suites.iter();
    let suites = suites.map(|suite| (suite.tests, suite.errors, suite.skipped));
    suites.collect()
}

/// What passed until then would look like a green run.
#[test]
fn a_run_that_ended_early_is_an_error_in_junit_and_what_it_did_not_reach_is_skipped() {
    let mut run = run();
    run.drills.truncate(1);
    run.exit_code = Some(ExitCode::Interrupted);
    assert_eq!(counts(&run), [(4, 1, 2), (3, 0, 3)]);
    let text = junit(&run, &Repository::default()).unwrap();
    let left =
        "; of 3 drills 2 not reached: port/cable-pulled@h100-oci:vfs, host/metrics@h100-oci:vfs";
    assert!(text.contains(left), "{text}");
    // A budget that is used up is no failure.
    run.exit_code = Some(ExitCode::Success);
    assert_eq!(counts(&run), [(3, 0, 2), (3, 0, 3)]);
}

#[test]
fn a_red_run_without_a_finding_is_an_error_in_junit() {
    let mut run = run();
    run.drills.remove(1);
    run.plan.drills.remove(1);
    run.exit_code = Some(ExitCode::StageNotSet);
    assert_eq!(counts(&run), [(2, 1, 0), (2, 0, 2)]);
    run.exit_code = Some(ExitCode::JudgedWrongly);
    run.excuses = Some(ExcusesReport {
        expired: vec!["known.toml:1: port/a#missed (seen)".to_owned()],
        ..ExcusesReport::default()
    });
    let text = junit(&run, &Repository::default()).unwrap();
    let told = "message=\"known deviation: the entry has expired: port/a#missed (seen)\"";
    assert!(text.contains(told), "{text}");
}

/// Without xmllint the test is skipped with a message; under `CI` it is required.
#[test]
fn junit_has_the_form_of_our_xsd_by_the_judgement_of_xmllint() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("junit.xsd");
    let judged = |text: &str| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("junit.xml");
        fs::write(&file, text).unwrap();
        Command::new("xmllint")
            .args(["--noout", "--schema"])
            .arg(&schema)
            .arg(&file)
            .output()
    };
    let text = junit(&run(), &Repository::default()).unwrap();
    match judged(&text) {
        Ok(output) => {
            let reported = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{reported}\n{text}");
        }
        Err(error) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "xmllint is needed under CI: {error}"
            );
            println!("skipped: xmllint cannot be started ({error})");
            return;
        }
    }
    let broken = text.replace("classname=", "class=");
    assert!(
        !judged(&broken).unwrap().status.success(),
        "the form refuses nothing"
    );
}

fn clause(id: &str, scenarios: Vec<ScenarioCoverage>, tests: &[&str]) -> ClauseCoverage {
    ClauseCoverage {
        id: id.to_owned(),
        says: "What it says.".to_owned(),
        decided: Vec::new(),
        deferred: None,
        status: ClauseStatus::Uncovered,
        scenarios,
        tests: tests.iter().map(|&test| test.to_owned()).collect(),
        defence: Defence::of(Vec::new(), None, false),
    }
    .with_status()
}

#[test]
fn a_coverage_names_each_clause_and_what_is_uncovered() {
    let played = |passed, failed, not_applicable| ScenarioCoverage {
        scenario: "port/cable-pulled".to_owned(),
        passed,
        failed,
        skipped: 0,
        not_applicable,
    };
    let deferred = ClauseCoverage {
        deferred: Some("cluster".to_owned()),
        ..clause("lsd/6.2/four-minutes", Vec::new(), &[])
    };
    let by = ["deaf", "lost-healthy"].map(str::to_owned).to_vec();
    let source = SourceCoverage {
        prefix: "lsd".to_owned(),
        source: "Link State Detection".to_owned(),
        clauses: vec![
            ClauseCoverage {
                defence: Defence::of(by, None, false),
                ..clause(
                    "lsd/3.2/down-is-fatal",
                    vec![played(18, 0, 2), played(3, 0, 0)],
                    &[],
                )
            },
            ClauseCoverage {
                defence: Defence::of(Vec::new(), Some("it is a definition"), false),
                ..clause(
                    "lsd/3.4/otherwise-unhealthy",
                    vec![played(17, 1, 0)],
                    &["checks::a"],
                )
            },
            deferred.with_status(),
            clause("lsd/8.4/vf-down", vec![played(0, 0, 20)], &[]),
            ClauseCoverage {
                defence: Defence::of(Vec::new(), None, true),
                ..clause(
                    "lsd/9.1/gid-count",
                    Vec::new(),
                    &["checks::a", "monitor::b"],
                )
            },
            clause("lsd/10.1/no-efa", Vec::new(), &[]),
        ],
    };
    let page = coverage_page(&Coverage::of(vec![source], true), Style::default());
    assert_eq!(
        page,
        "\
Link State Detection
  covered    lsd/3.2/down-is-fatal        2 scenarios: 21 passed, 2 not applicable; defended: deaf, lost-healthy
  FAILED     lsd/3.4/otherwise-unhealthy  1 scenario: 17 passed, 1 failed; 1 test; unbreakable: it is a definition
  deferred   lsd/6.2/four-minutes         belongs to: cluster
  not run    lsd/8.4/vf-down              1 scenario: 0 passed, 20 not applicable; undefended: no wrong monitor breaks exactly this
  covered    lsd/9.1/gid-count            2 tests; undefended: tests alone cover it, and no wrong monitor reaches them
  UNCOVERED  lsd/10.1/no-efa              undefended: no wrong monitor breaks exactly this
FAILED: lsd/3.4/otherwise-unhealthy: What it says.
not run: lsd/8.4/vf-down: What it says.
UNCOVERED: lsd/10.1/no-efa: What it says.
6 clauses: 2 covered (1 by tests alone), 1 failed, 1 not run, 1 uncovered, 1 deferred
1 defended, 3 undefended, 1 unbreakable
"
    );
}
