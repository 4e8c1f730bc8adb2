//! The HTML report as markup: what stands in it, and that no text of a monitor or a file becomes part of it.

use std::collections::BTreeMap;

use reports::{
    ArmReport, ArmStatus, ComparedMonitor, Comparison, DrillName, DrillReport, ExitCode, Finding,
    FindingKind, HtmlReport, Judged, Lane, LaneOf, Lanes, Mark, MarkKind, RunReport, Stretch,
    VerdictReport, Wall, comparison_html,
};
use terms::{Arm, ReportVerdict};

/// What a hostile monitor could say, or a file of scenarios have for a name.
const HOSTILE: &str = "</title></pre></style></script><script>alert(1)</script><img src=x onerror='alert(2)'>\" onfocus=\"alert(3)";

fn arm(status: ArmStatus) -> ArmReport {
    ArmReport {
        arm: Arm::Memory,
        status,
        polls: 3,
        events: 1,
    }
}

fn drill(name: &str, findings: Vec<Finding>) -> DrillReport {
    let status = match findings.is_empty() {
        true => ArmStatus::Passed,
        false => ArmStatus::Failed,
    };
    let arms = vec![arm(status)];
    DrillReport {
        drill: name.parse().unwrap(),
        outcome: DrillReport::outcome_of(&arms, &findings),
        arms,
        findings,
        verdicts: Vec::new(),
        judged: Judged::default(),
        file: "port/cable-pulled.yaml".to_owned(),
        repeat: format!("nicdrill run {name}"),
        show: format!("nicdrill show {name}"),
        wall: Wall::default(),
    }
}

fn report(drills: Vec<DrillReport>) -> RunReport {
    let mut run = RunReport {
        drills,
        exit_code: Some(ExitCode::JudgedWrongly),
        ..RunReport::default()
    };
    run.plan.monitor = "lines".to_owned();
    run.summary = run.counted();
    run
}

fn lanes(text: &str) -> Lanes {
    Lanes {
        arm: Some(Arm::Memory),
        times_ms: vec![0, 1000, 2000],
        lanes: vec![Lane {
            of: LaneOf::Port,
            name: text.to_owned(),
            stretches: vec![Stretch {
                from: 0,
                to: 2,
                is_well: false,
                text: text.to_owned(),
            }],
            marks: vec![
                Mark {
                    tick: 1,
                    since: Some(0),
                    kind: MarkKind::Missed,
                    text: text.to_owned(),
                },
                Mark {
                    tick: 2,
                    since: None,
                    kind: MarkKind::Read,
                    text: "3 reads".to_owned(),
                },
            ],
        }],
        quiet_ports: 7,
    }
}

fn page(run: &RunReport, lanes: &BTreeMap<DrillName, Vec<Lanes>>) -> String {
    HtmlReport { run, lanes }.page()
}

#[test]
fn no_text_of_a_monitor_or_a_file_becomes_markup() {
    let mut hostile = drill(
        "port/cut@h100-oci",
        vec![Finding::plain(FindingKind::Unexpected, None, HOSTILE)],
    );
    hostile.drill.scenario = HOSTILE.to_owned();
    hostile.drill.world = HOSTILE.to_owned();
    (hostile.file, hostile.repeat, hostile.show) =
        (HOSTILE.to_owned(), HOSTILE.to_owned(), HOSTILE.to_owned());
    hostile.verdicts.push(VerdictReport {
        workload: HOSTILE.to_owned(),
        verdict: ReportVerdict::UnderReport,
        lead_ms: None,
    });
    hostile.judged.leave_out(HOSTILE);
    let name = hostile.drill.clone();
    let mut run = report(vec![hostile]);
    run.plan.monitor = HOSTILE.to_owned();
    run.plan.asked = vec![HOSTILE.to_owned()];
    let lanes = BTreeMap::from([(name.clone(), vec![lanes(HOSTILE)])]);
    let compared = Comparison {
        needs: HOSTILE.to_owned(),
        drills: vec![name],
        monitors: vec![ComparedMonitor {
            name: HOSTILE.to_owned(),
            not_played: Some(HOSTILE.to_owned()),
            left_out: BTreeMap::from([(HOSTILE.to_owned(), 2)]),
            ..ComparedMonitor::default()
        }],
        ..Comparison::default()
    };
    for page in [page(&run, &lanes), comparison_html(&compared)] {
        assert!(page.contains("&lt;script&gt;alert(1)"), "it is told");
        assert_eq!(page.matches("<script").count(), 1, "the page's own");
        assert!(!page.contains("<img"), "{page}");
        // A quote inside an attribute would end it.
        assert!(!page.contains("\" onfocus=\""), "{page}");
    }
}

/// What a reader has to find: the cause, its first drill, the picture, the way back by a link, and the command.
#[test]
fn a_failed_drill_is_told_with_its_picture_under_a_link() {
    let wrong = Finding::plain(FindingKind::Missing, Some(Arm::Memory), "nothing");
    let run = report(vec![
        drill("port/cut@h100-oci", vec![wrong]),
        drill("start/baseline@h100-oci", Vec::new()),
    ]);
    let failed = run.drills[0].drill.clone();
    let drawn = BTreeMap::from([(failed, vec![lanes("mlx5_0/1")])]);
    let page = page(&run, &drawn);
    for text in [
        "<h1>1 of 2 drills failed</h1>",
        "What is wrong: 1 cause",
        "href=\"#drill=port/cut@h100-oci\"",
        "id=\"drill=port/cut@h100-oci\"",
        "data-copy=\"nicdrill run port/cut@h100-oci\"",
        "<svg class=\"lanes\"",
        "<line class=\"read\"",
        "aria-label=\"Timeline of port/cut@h100-oci, memory arm\"",
        "7 ports</",
    ] {
        let text = text.strip_suffix("</").unwrap_or(text);
        assert!(page.contains(text), "{text}:\n{page}");
    }
    assert!(
        !page.contains("id=\"drill=start/baseline@h100-oci\""),
        "a passed drill has a cell alone"
    );
}

#[test]
fn a_page_asks_for_no_other_file() {
    let page = page(&report(Vec::new()), &BTreeMap::new());
    assert!(!page.contains("http"), "{page}");
    assert!(!page.contains(" src="), "{page}");
}

/// Five megabytes are what a green run may weigh; the suite has fewer than 4,000 drills.
#[test]
fn a_green_run_of_4000_drills_is_small() {
    let drills = (0..4000).map(|at| {
        drill(
            &format!(
                "family/a-scenario-with-a-name-{}@platform-{}",
                at / 40,
                at % 40
            ),
            Vec::new(),
        )
    });
    let mut run = report(drills.collect());
    run.exit_code = Some(ExitCode::Success);
    let page = page(&run, &BTreeMap::new());
    assert!(page.len() < 500_000, "{} bytes", page.len());
}
