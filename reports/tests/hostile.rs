//! One hostile text in every place of a run, through every report: each is read strictly, nothing in it does anything to a
//! terminal or a CI runner, and it has a bound.

use std::collections::BTreeMap;

use reports::{
    ArmReport, ArmStatus, DrillReport, Excuse, ExcusesReport, ExitCode, Finding, FindingKind,
    GITHUB_SUMMARY_MAX, HtmlReport, Judged, JudgedBy, Lane, LaneOf, Lanes, Mark, MarkKind,
    NotApplicable, PlannedDrill, ProbeOutcome, Read, Repository, RunEvent, RunReport, StoryLine,
    Stretch, Style, VerdictReport, Wall, drill_block, event_line, github_commands, github_summary,
    gitlab, groups_page, judged_line, junit, lanes_page, not_judged_page, results, summary_line,
};
use serde_json::Value;
use terms::{Arm, ReportVerdict};

/// What a monitor could say, or a file have as a text.
const HOSTILE: &str = "a\u{fffe}\u{1b}[31m\r\n \t::error file=x::forged\n##[error]forged\u{202e}\u{7f}]]></failure></pre><script>";

/// Whether every character can be seen, by a rule of this test's own.
fn check_seen(what: &str, text: &str) {
    for char in text.chars() {
        let is_hidden = char.is_control() && char != '\n'
            || ('\u{202a}'..='\u{202e}').contains(&char)
            || u32::from(char) & 0xfffe == 0xfffe;
        assert!(!is_hidden, "{what} has {char:?}:\n{text:?}");
    }
    assert!(!text.contains("##["), "{what}:\n{text}");
}

/// The same, of a text that a CI runner reads line by line.
fn check_told(what: &str, text: &str) {
    check_seen(what, text);
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::"), "{what}: {line}");
    }
}

fn hostile() -> String {
    HOSTILE.to_owned()
}

fn finding(excuse: Option<Excuse>) -> Finding {
    Finding {
        excuse,
        arm: Some(Arm::Process),
        node: Some(hostile()),
        line: Some(StoryLine {
            place: format!("{HOSTILE}/port/a.yaml:3:5"),
            text: hostile(),
        }),
        tick: Some(3),
        before: vec![hostile()],
        expected: vec![hostile()],
        came: vec![hostile(), hostile()],
        reads: vec![Read {
            poll: 3,
            text: hostile(),
        }],
        ..Finding::of(FindingKind::Missing)
    }
}

fn drill(name: &str, findings: Vec<Finding>) -> DrillReport {
    let mut judged = Judged::default();
    judged.judge();
    let line = StoryLine {
        place: hostile(),
        text: hostile(),
    };
    judged.leave_out_line(line, HOSTILE);
    judged.leave_out_part(HOSTILE);
    let arms = vec![
        ArmReport {
            arm: Arm::Memory,
            status: ArmStatus::Skipped { reason: hostile() },
            polls: 0,
            events: 0,
        },
        ArmReport {
            arm: Arm::Process,
            status: ArmStatus::Failed,
            polls: 7,
            events: 1,
        },
    ];
    DrillReport {
        drill: name.parse().expect("a name"),
        outcome: DrillReport::outcome_of(&arms, &findings),
        arms,
        findings,
        verdicts: vec![VerdictReport {
            workload: hostile(),
            verdict: ReportVerdict::OverReport,
            lead_ms: None,
        }],
        judged,
        file: format!("{HOSTILE}/port/a.yaml"),
        repeat: format!("nicdrill run {HOSTILE}"),
        show: format!("nicdrill show {HOSTILE}"),
        wall: Wall::default(),
    }
}

fn run() -> RunReport {
    let known = Excuse::Known { reason: hostile() };
    let drills = vec![
        drill("port/a@p", vec![finding(None)]),
        drill("port/b@p", vec![finding(Some(known))]),
    ];
    let mut run = RunReport {
        drills,
        probe: Some(ProbeOutcome::Failed {
            reason: hostile(),
            exit_code: ExitCode::CrashedOrHung,
        }),
        excuses: Some(ExcusesReport {
            known: vec![hostile()],
            no_longer: vec![hostile()],
            expired: vec![hostile()],
            ..ExcusesReport::default()
        }),
        exit_code: Some(ExitCode::JudgedWrongly),
        ..RunReport::default()
    };
    run.plan.monitor = hostile();
    run.plan.descriptor = Some(hostile());
    run.plan.asked = vec![hostile()];
    run.plan.judged_by = JudgedBy::Needs { file: hostile() };
    run.plan.not_applicable = vec![NotApplicable {
        drill: "port/c@p".parse().expect("a name"),
        reason: hostile(),
    }];
    let arms = vec![Arm::Memory, Arm::Process];
    run.plan.drills = run
        .drills
        .iter()
        .map(|drill| PlannedDrill {
            drill: drill.drill.clone(),
            arms: arms.clone(),
        })
        .collect();
    run.summary = run.counted();
    run.summary.process_skipped = Some(hostile());
    run
}

fn lanes() -> Lanes {
    Lanes {
        arm: Some(Arm::Process),
        times_ms: vec![0, 1000],
        lanes: vec![Lane {
            of: LaneOf::Monitor,
            name: hostile(),
            stretches: vec![Stretch {
                from: 0,
                to: 1,
                is_well: false,
                text: hostile(),
            }],
            marks: vec![Mark {
                tick: 1,
                since: None,
                kind: MarkKind::Fatal,
                text: hostile(),
            }],
        }],
        quiet_ports: 0,
    }
}

#[test]
fn a_terminal_gets_nothing_that_it_obeys() {
    let run = run();
    let plain = Style::default();
    let mut pages = vec![
        groups_page(&run, HOSTILE, plain),
        summary_line(&run, plain, false),
        not_judged_page(&run, plain),
        judged_line(&run.summary, &run.plan.judged_by),
        lanes_page(&lanes(), 100, plain),
    ];
    pages.extend(run.excuses.iter().map(|excuses| excuses.page(HOSTILE)));
    pages.extend(run.drills.iter().map(|drill| drill_block(drill, plain)));
    let stopped = RunEvent::Probe {
        monitor: hostile(),
        outcome: run.probe.clone().expect("it has one"),
        wall: Wall::default(),
    };
    pages.extend(event_line(&stopped, plain));
    for page in pages {
        assert!(page.contains("forged"), "{page}");
        check_told("the terminal", &plain.safe(&page));
    }
    let coloured = Style { color: true };
    let block = coloured.safe(&drill_block(&run.drills[0].clone().shown(), coloured));
    let dressed = ["\u{1b}[1;31m", "\u{1b}[1m", "\u{1b}[0m"];
    let undressed = dressed
        .iter()
        .fold(block.clone(), |text, dress| text.replace(dress, ""));
    assert_ne!(block, undressed);
    check_told("the terminal in colours", &undressed);
}

#[test]
fn json_is_read_with_every_text_as_it_was() {
    let run = run();
    let text = results(&run);
    check_told("json", &text);
    let read: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(read["drills"][0]["findings"][0]["came"][0], HOSTILE);
    assert_eq!(read["plan"]["monitor"], HOSTILE);
    assert_eq!(read["plan"]["not_applicable"][0]["reason"], HOSTILE);
}

#[test]
fn gitlab_gets_json_that_it_reads() {
    let text = gitlab(&run(), &Repository::default());
    check_told("gitlab", &text);
    let read: Value = serde_json::from_str(&text).expect("JSON");
    let issues = read.as_array().expect("a list");
    // Of two findings, the probe, and two entries.
    assert_eq!(issues.len(), 5);
    for issue in issues {
        assert!(issue["location"]["path"].is_string(), "{issue}");
        assert!(issue["location"]["lines"]["begin"].is_u64(), "{issue}");
    }
}

/// `Char` of XML 1.0, clause 2.2.
#[test]
fn junit_has_only_characters_of_xml_and_is_read() {
    let text = junit(&run(), &Repository::default()).expect("XML");
    check_told("junit", &text);
    for char in text.chars() {
        let is_char = matches!(
            char,
            '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}'
        );
        assert!(is_char, "{char:?}");
    }
    let report = quick_junit::Report::deserialize_from_str(&text).expect("JUnit");
    assert_eq!(report.test_suites.len(), 2);
    assert!(text.contains("forged"), "{text}");
}

#[test]
fn every_line_for_github_is_one_command_of_ours() {
    let text = github_commands(&run(), &Repository::default(), HOSTILE);
    check_seen("github", &text);
    assert!(text.lines().count() >= 4, "{text}");
    for line in text.lines() {
        let command = line.strip_prefix("::").expect("a command");
        let (head, data) = command.split_once("::").expect("its data");
        let (level, properties) = head.split_once(' ').expect("its properties");
        assert!(["error", "notice"].contains(&level), "{line}");
        for property in properties.split(',') {
            let (name, _) = property.split_once('=').expect("a property");
            assert!(["file", "line", "col", "title"].contains(&name), "{line}");
        }
        // A newline is one again where the annotation is shown.
        for shown in data.split("%0A") {
            assert!(!shown.trim_start().starts_with("::"), "{line}");
        }
    }
}

#[test]
fn a_step_summary_has_no_row_of_anybody_else() {
    let text = github_summary(&run(), GITHUB_SUMMARY_MAX);
    check_told("the summary", &text);
    let rows = text.lines().filter(|line| line.starts_with('|'));
    assert!(rows.clone().count() > 10, "{text}");
    for row in rows {
        assert!(row.ends_with('|'), "{row}");
    }
}

#[test]
fn a_page_has_no_script_of_anybody_else() {
    let run = run();
    let name = run.drills[0].drill.clone();
    let lanes = BTreeMap::from([(name, vec![lanes()])]);
    let report = HtmlReport {
        run: &run,
        lanes: &lanes,
    };
    let page = report.page();
    check_told("the page", &page);
    assert_eq!(page.matches("<script>").count(), 1);
    assert_eq!(page.matches("</pre>").count(), page.matches("<pre").count());
}

/// Where a monitor says two lines, a finding has one.
#[test]
fn a_newline_of_a_foreign_text_begins_no_line_in_any_output() {
    let forged = || "said\nforged: nothing was wrong".to_owned();
    let finding = Finding {
        node: Some(forged()),
        line: Some(StoryLine {
            place: "port/a.yaml:3:5".to_owned(),
            text: "- fatal: victim".to_owned(),
        }),
        reads: vec![Read {
            poll: 3,
            text: forged(),
        }],
        before: vec![forged()],
        expected: vec![forged()],
        came: vec![forged()],
        ..finding(None)
    };
    let mut run = run();
    run.drills = vec![DrillReport {
        judged: Judged::default(),
        verdicts: Vec::new(),
        ..drill("port/a@p", vec![finding]).shown()
    }];
    run.probe = None;
    run.excuses = None;
    let here = Repository::default();
    let outputs = [
        ("a block", drill_block(&run.drills[0], Style::default())),
        ("groups", groups_page(&run, "here", Style::default())),
        ("json", results(&run)),
        ("junit", junit(&run, &here).expect("XML")),
        ("gitlab", gitlab(&run, &here)),
        (
            "github",
            github_commands(&run, &here, "here").replace("%0A", "\n"),
        ),
        ("the summary", github_summary(&run, GITHUB_SUMMARY_MAX)),
    ];
    for (what, text) in outputs {
        for line in text.lines() {
            let begins = line.trim_start_matches([' ', '|', '>']);
            assert!(!begins.starts_with("forged"), "{what}:\n{text}");
        }
    }
    let block = drill_block(&run.drills[0], Style::default());
    assert!(
        block.contains(r"said\nforged: nothing was wrong"),
        "{block}"
    );
}

/// What nicdrill says of itself is its own, with a hint in a line.
#[test]
fn a_hint_of_a_stage_that_could_not_be_set_has_its_line() {
    let finding = Finding {
        came: vec!["it cannot be mounted\nhint: run as root".to_owned()],
        ..Finding::of(FindingKind::Stage)
    };
    let shown = drill("port/a@p", vec![finding]).shown();
    assert_eq!(shown.findings[0].came[0].lines().count(), 2);
}

/// What is told once is told in the same way by whoever merges it.
#[test]
fn what_is_shown_is_shown_as_it_is() {
    for drill in run().drills {
        let shown = drill.shown();
        assert_eq!(shown.clone().shown(), shown);
        let text = serde_json::to_string(&shown.findings).expect("JSON");
        check_seen("a shown finding", &text);
    }
    assert_eq!(lanes().shown().shown(), lanes().shown());
}

#[test]
fn one_drill_with_long_lines_makes_no_long_page() {
    let long = "x".repeat(20_000);
    let mut wrong = Vec::new();
    for tick in 0..200 {
        wrong.push(Finding {
            tick: Some(tick),
            came: vec![long.clone(); 20],
            expected: vec![long.clone()],
            reads: vec![
                Read {
                    poll: tick,
                    text: long.clone()
                };
                30
            ],
            ..Finding::of(FindingKind::Unexpected)
        });
    }
    let marks = (0..200).map(|tick| Mark {
        tick,
        since: None,
        kind: MarkKind::Fatal,
        text: long.clone(),
    });
    let lanes = Lanes {
        times_ms: (0..200).collect(),
        lanes: vec![Lane {
            of: LaneOf::Monitor,
            name: String::new(),
            stretches: Vec::new(),
            marks: marks.collect(),
        }],
        ..Lanes::default()
    };
    let mut run = run();
    run.drills = vec![drill("port/a@p", wrong).shown()];
    let name = run.drills[0].drill.clone();
    let lanes = BTreeMap::from([(name, vec![lanes.shown()])]);
    let page = HtmlReport {
        run: &run,
        lanes: &lanes,
    }
    .page();
    // 200 findings of 33 lines, and 200 marks that stand in the picture and in the list.
    assert!(page.len() < 20 << 20, "{}", page.len());
    assert!(page.contains(" of 20000 bytes left out)"));
}
