//! A run as JUnit XML: one test suite for each arm, one test case for each drill in it.
//!
//! What makes a run red without a finding is an error, and a drill that was not reached a skipped test case. What JUnit
//! cannot express is in properties: pairs that are not applicable, and how much of an arm was run. The format is defined by `junit.xsd` in this crate's folder.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use terms::Arm;

use crate::{
    ArmCount, ArmReport, ArmStatus, DrillReport, Finding, FindingKind, JudgedBy, PlannedDrill,
    Repository, RunReport, Style, as_output, drill_block, repository::RepositoryPlace,
    run_fault::RunFault, summary_line,
};

/// A run that could not be written as XML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run cannot be written as JUnit XML: {cause}")]
pub struct JUnitError {
    /// The XML writer's error.
    pub cause: String,
}

/// The run as JUnit XML. A test case whose scenario is in the repository has its `file`, and the `line` of its first
/// finding.
///
/// # Errors
/// If the XML writer fails; no text of a drill is known to cause that.
pub fn junit(run: &RunReport, repository: &Repository) -> Result<String, JUnitError> {
    let mut report = Report::new("nicdrill");
    if let Some(ms) = run.wall.ms() {
        report.set_time(Duration::from_millis(ms));
    }
    let arms = [
        (Arm::Memory, run.summary.memory),
        (Arm::Process, run.summary.process),
    ];
    // An arm in which nothing was to be played has no suite.
    let asked = arms.into_iter().filter(|(_, count)| count.planned > 0);
    report.add_test_suites(asked.map(|(arm, count)| suite(run, arm, count, repository)));
    let text = report.to_string().map_err(|error| JUnitError {
        cause: error.to_string(),
    })?;
    // XML 1.0 allows no control characters but three, and no noncharacters (clause 2.2, `Char`).
    Ok(as_output(&text))
}

fn suite(run: &RunReport, arm: Arm, count: ArmCount, repository: &Repository) -> TestSuite {
    let mut suite = TestSuite::new(format!("{arm} arm"));
    suite.add_property(Property::new("monitor", run.plan.monitor.as_str()));
    suite.add_property(Property::new(
        format!("{arm} arm"),
        format!("{} of {} run", count.run, count.planned),
    ));
    suite.add_property(Property::new(
        "not applicable",
        run.summary.not_applicable.to_string(),
    ));
    for (name, value) in judged(run) {
        suite.add_property(Property::new(name, value));
    }
    suite.set_system_out(summary_line(run, Style::default(), true));
    // What is about the run is told once: in its first suite, or where the monitor was probed.
    let is_first = arm == Arm::Memory || run.summary.memory.planned == 0;
    for fault in RunFault::all(run) {
        let is_here = match fault.name.as_str() {
            RunFault::PROBE => arm == Arm::Process,
            _ => is_first,
        };
        if is_here {
            suite.add_test_case(of_run(run, &fault));
        }
    }
    for drill in &run.drills {
        for in_arm in drill.arms.iter().filter(|report| report.arm == arm) {
            suite.add_test_case(case(drill, in_arm, repository));
        }
    }
    let left = run.not_reached();
    for planned in left.filter(|planned| planned.arms.contains(&arm)) {
        suite.add_test_case(not_reached(planned));
    }
    suite
}

/// How much of the run was judged, by what, and the reasons of what was not, as properties.
fn judged(run: &RunReport) -> Vec<(String, String)> {
    let judged = &run.summary.judged;
    let by = match &run.plan.judged_by {
        JudgedBy::Promises => "promises".to_owned(),
        JudgedBy::Laws { .. } => "laws".to_owned(),
        JudgedBy::Documents => "documents".to_owned(),
        JudgedBy::Needs { file } => format!("needs of {file}"),
    };
    let count = format!(
        "{} of {} ({} %)",
        judged.judged,
        judged.expectations(),
        judged.percent()
    );
    let mut rows = vec![
        ("judged by".to_owned(), by),
        ("expectations judged".to_owned(), count),
    ];
    for (name, reasons) in [
        ("not judged", &judged.not_judged),
        ("judged but for", &judged.parts),
    ] {
        let of_it = reasons.iter();
        rows.extend(of_it.map(|(reason, count)| (format!("{name}: {reason}"), count.to_string())));
    }
    rows
}

/// What makes the run red and is no finding of a drill: a report without a failure would look like a success.
fn of_run(run: &RunReport, fault: &RunFault) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let message = match fault.name.as_str() {
        RunFault::PROBE | RunFault::RUN => fault.text.clone(),
        _ => format!("{}: {}", fault.title, fault.text),
    };
    status
        .set_type(fault.code.to_string())
        .set_message(message.as_str());
    let mut case = TestCase::new(fault.name.as_str(), status);
    case.set_classname(run.plan.monitor.as_str());
    case
}

/// A drill that was planned and not reached. It is neither green nor red; why the run ended is a test case of its own.
fn not_reached(planned: &PlannedDrill) -> TestCase {
    let mut status = TestCaseStatus::skipped();
    status.set_message("not reached: the run ended before");
    let mut case = TestCase::new(planned.drill.scenario.as_str(), status);
    case.set_classname(planned.drill.world.as_str());
    case
}

fn case(drill: &DrillReport, in_arm: &ArmReport, repository: &Repository) -> TestCase {
    let of_arm: Vec<&Finding> = drill
        .findings
        .iter()
        .filter(|finding| finding.arm.is_none_or(|arm| arm == in_arm.arm))
        .collect();
    let status = match &in_arm.status {
        ArmStatus::Passed => TestCaseStatus::success(),
        ArmStatus::Skipped { reason } => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(reason.as_str());
            status
        }
        // JUnit has no known failures; a skipped case is neither green nor red.
        ArmStatus::Failed
            if !of_arm.is_empty() && of_arm.iter().all(|finding| finding.excuse.is_some()) =>
        {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("known: {}", headline(of_arm[0])));
            status
        }
        ArmStatus::Failed => {
            let kind = if of_arm.iter().any(|finding| is_error(finding.kind)) {
                NonSuccessKind::Error
            } else {
                NonSuccessKind::Failure
            };
            let mut status = TestCaseStatus::non_success(kind);
            if let Some(first) = of_arm.first() {
                status.set_type(first.words());
                status.set_message(headline(first));
            }
            status.set_description(drill_block(drill, Style::default()));
            status
        }
    };
    let mut case = TestCase::new(drill.drill.scenario.as_str(), status);
    case.set_classname(drill.drill.world.as_str());
    let lines = of_arm.iter().filter_map(|finding| finding.line.as_ref());
    let mut places = lines.filter_map(|line| repository.place(&line.place));
    let of_scenario = repository.place(&drill.file);
    let is_in_scenario = |place: &RepositoryPlace<'_>| {
        let scenario = of_scenario.as_ref();
        scenario.is_some_and(|scenario| scenario.path == place.path)
    };
    // A line of another file, such as a golden trace, is none of the scenario's.
    if let Some(place) = places.find(is_in_scenario).or(of_scenario) {
        case.extra.insert("file".into(), place.path.into());
        let line = place.line.to_string();
        case.extra.insert("line".into(), line.into());
    }
    if let (Some(ms), false) = (
        drill.wall.ms(),
        matches!(in_arm.status, ArmStatus::Skipped { .. }),
    ) {
        case.set_time(Duration::from_millis(ms));
    }
    case
}

/// JUnit distinguishes errors (the test could not run) from failures (it ran and found a failure).
fn is_error(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::Stage | FindingKind::Fault)
}

fn headline(finding: &Finding) -> String {
    let what = finding
        .expected
        .first()
        .or(finding.came.first())
        .map_or("", String::as_str);
    let headline = format!("{}: {what}", finding.words());
    match &finding.line {
        None => headline,
        Some(line) => format!("{}: {headline}", line.place),
    }
}
