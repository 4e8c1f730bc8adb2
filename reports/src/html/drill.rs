//! The drills of a run that have something to show: findings, verdicts on workloads, and the picture of each arm.

use std::collections::BTreeMap;

use maud::{Markup, html};
use terms::ReportVerdict;

use super::{anchor, command};
use crate::{
    ArmStatus, DrillName, DrillReport, Lanes, MarkKind, Outcome, RunReport, Style, counted,
    lanes::lanes_svg, terminal::failure_lines,
};

pub(super) fn drills(run: &RunReport, lanes: &BTreeMap<DrillName, Vec<Lanes>>) -> Markup {
    let told = run.drills.iter();
    let told = told.filter(|it| !it.findings.is_empty() || lanes.contains_key(&it.drill));
    let mut told: Vec<&DrillReport> = told.collect();
    // The sort is stable: failed ones first, else in the order of the run.
    told.sort_by_key(|drill| drill.outcome != Outcome::Failed);
    if told.is_empty() {
        return Markup::default();
    }
    html! {
        section {
            h2 { "Drills: " (counted(told.len() as u64, "drill")) }
            (legend())
            @for drill in told {
                @let lanes = lanes.get(&drill.drill).map_or(&[][..], Vec::as_slice);
                (block(drill, lanes))
            }
        }
    }
}

/// What the signs of the pictures mean.
fn legend() -> Markup {
    html! {
        details.legend {
            summary { "Legend" }
            ul {
                li { span.stretch.well { } " the subject is well" }
                li { span.stretch.unwell { } " it is not" }
                @for kind in MarkKind::ALL {
                    li { span class=(format!("sign {}", kind.class())) { (kind.sign()) } " " (kind.words()) }
                }
            }
            p { "Time goes from left to right. Point at a sign to read it; what happened is also in the list below each picture." }
        }
    }
}

fn block(drill: &DrillReport, lanes: &[Lanes]) -> Markup {
    let (word, class) = match drill.outcome {
        Outcome::Passed => ("passed", "good"),
        Outcome::Known => ("known", "odd"),
        Outcome::Failed => ("failed", "bad"),
        Outcome::Skipped => ("skipped", "odd"),
    };
    html! {
        details.drill id=(anchor(&drill.drill)) {
            summary {
                span class=(format!("word {class}")) { (word) }
                " "
                span.headline { (drill.drill) }
                @if !drill.findings.is_empty() {
                    " " span.extent { (counted(drill.findings.len() as u64, "finding")) }
                }
            }
            p {
                @for (at, arm) in drill.arms.iter().enumerate() {
                    @if at > 0 { "; " }
                    (arm.arm) " arm: "
                    @match &arm.status {
                        ArmStatus::Passed => "passed",
                        ArmStatus::Failed => "failed",
                        ArmStatus::Skipped { reason } => { "skipped, " (reason) }
                    }
                }
                "; " code { (drill.file) }
            }
            p { "Repeat it: " (command(&drill.repeat)) }
            p { "In full: " (command(&drill.show)) }
            @for finding in &drill.findings {
                pre.finding tabindex="0" {
                    @if let Some(line) = &finding.line { (line.place) "\n" }
                    (failure_lines(finding, Style::default()).join("\n"))
                }
            }
            @for verdict in &drill.verdicts {
                p {
                    "Workload " b { (verdict.workload) } ": "
                    (match verdict.verdict {
                        ReportVerdict::Agreement => "the monitor was right",
                        ReportVerdict::OverReport => "reported fatal, and it did not fail",
                        ReportVerdict::UnderReport => "it failed, and the monitor was silent",
                    })
                    @if let Some(ms) = verdict.lead_ms { "; reported " (ms) " ms before it failed" }
                }
            }
            @for lane in lanes { (picture(drill, lane)) }
            @if lanes.is_empty() {
                p.hint { "There is no picture of it in this report: " (command(&format!("{} --lanes", drill.show))) }
            }
        }
    }
}

/// The picture of an arm, and the same as text.
fn picture(drill: &DrillReport, lanes: &Lanes) -> Markup {
    let arm = lanes
        .arm
        .map_or_else(String::new, |arm| format!(", {arm} arm"));
    let name = format!("Timeline of {}{arm}", drill.drill);
    let mut marks: Vec<(u64, String, MarkKind, &str)> = Vec::new();
    for lane in &lanes.lanes {
        let told = lane.marks.iter().filter(|mark| mark.kind != MarkKind::Read);
        marks.extend(told.map(|mark| (mark.tick, lane.to_string(), mark.kind, &*mark.text)));
    }
    marks.sort_by_key(|(tick, ..)| *tick);
    html! {
        h3 { "Timeline" (arm) }
        div.scroll tabindex="0" role="region" aria-label=(name) { (lanes_svg(lanes, &name)) }
        @if lanes.quiet_ports > 0 {
            p.hint { (counted(lanes.quiet_ports as u64, "port")) " without a row: nothing happened to them." }
        }
        details {
            summary { "As text" }
            div.scroll tabindex="0" role="region" aria-label=(format!("{name}, as text")) {
                table {
                    thead { tr { th scope="col" { "When" } th scope="col" { "Where" } th scope="col" { "What" } } }
                    tbody {
                        @for (tick, lane, kind, text) in &marks {
                            tr {
                                td { (lanes.time(*tick)) }
                                td { (lane) }
                                td { span class=(format!("sign {}", kind.class())) aria-hidden="true" { (kind.sign()) } " " (kind.words()) ": " (text) }
                            }
                        }
                    }
                }
            }
        }
    }
}
