//! The head of the HTML report: what was drilled, with what result, and what was not judged.

use maud::{Markup, html};
use terms::Arm;

use crate::{
    ExitCode, ProbeOutcome, RunReport, Style, counted, judged_line, summary_line,
    terminal::not_drilled,
};

/// The result in a few words.
pub(super) fn verdict(run: &RunReport) -> String {
    let summary = &run.summary;
    match (run.exit_code, summary.failed) {
        (Some(ExitCode::Success), _) => format!("{} passed", counted(summary.passed, "drill")),
        (_, 0) => match run.exit_code {
            Some(code) => code.meaning().to_owned(),
            None => "the run has not ended".to_owned(),
        },
        (_, failed) => format!("{failed} of {} failed", counted(summary.drills, "drill")),
    }
}

pub(super) fn summary(run: &RunReport) -> Markup {
    let is_green = run.exit_code == Some(ExitCode::Success);
    let summary = &run.summary;
    let counts = [
        ("passed", summary.passed, ""),
        ("failed", summary.failed, "bad"),
        ("known", summary.known, "odd"),
        ("skipped", summary.skipped, "odd"),
        ("not reached", summary.not_reached, "odd"),
        ("not applicable", summary.not_applicable, ""),
    ];
    html! {
        header.good[is_green].bad[!is_green] {
            p.of { "nicdrill · monitor " b { (run.plan.monitor) } @if let Some(file) = &run.plan.descriptor { " (" (file) ")" } }
            h1 { (verdict(run)) }
            ul.counts {
                @for (word, count, class) in counts {
                    @if count > 0 { li class=(class) { b { (count) } " " (word) } }
                }
            }
            p { (judged_line(summary, &run.plan.judged_by)) }
            @if let Some(code) = run.exit_code && !is_green {
                p { "Exit code " (code) ": " (run.reason(code)) }
            }
            details {
                summary { "The run in full" }
                pre tabindex="0" { (summary_line(run, Style::default(), true)) }
                @for (name, arm) in [(Arm::Memory, summary.memory), (Arm::Process, summary.process)] {
                    @if arm.planned > 0 { p { (name) " arm: " (arm.run) " of " (arm.planned) " run" } }
                }
                @if !run.plan.asked.is_empty() { p { "Asked: " code { "nicdrill " (run.plan.asked.join(" ")) } } }
            }
            @match &run.probe {
                Some(ProbeOutcome::Failed { reason, exit_code }) => {
                    p.bad { "The monitor " (not_drilled(*exit_code)) ":" }
                    pre tabindex="0" { (reason) }
                }
                Some(ProbeOutcome::Skipped { reason }) => p { "The process arm was not played: " (reason) }
                Some(ProbeOutcome::Ready { advice: Some(advice) }) => pre tabindex="0" { (advice) }
                _ => {}
            }
        }
    }
}

/// What was not judged, and why.
pub(super) fn not_judged(run: &RunReport) -> Markup {
    let judged = &run.summary.judged;
    if judged.not_judged.is_empty() && judged.parts.is_empty() {
        return Markup::default();
    }
    let left_out: u64 = judged.not_judged.values().sum();
    html! {
        section {
            details {
                summary { h2 { "Not judged: " (counted(left_out, "expectation")) } }
                table {
                    thead { tr { th scope="col" { "Times" } th scope="col" { "Why" } } }
                    tbody {
                        @for (reason, count) in &judged.not_judged {
                            tr { td.number { (count) } td { (reason) } }
                        }
                        @for (reason, count) in &judged.parts {
                            tr { td.number { (count) } td { "in part: " (reason) } }
                        }
                    }
                }
            }
        }
    }
}
