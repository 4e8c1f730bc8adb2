//! The matrix of a run: scenarios by worlds, with a filter.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::anchor;
use crate::{DrillName, DrillReport, Lanes, Outcome, RunReport};

pub(super) fn matrix(run: &RunReport, lanes: &BTreeMap<DrillName, Vec<Lanes>>) -> Markup {
    if run.drills.is_empty() {
        return Markup::default();
    }
    let mut rows: BTreeMap<&str, BTreeMap<&str, &DrillReport>> = BTreeMap::new();
    let mut worlds = BTreeSet::new();
    for drill in &run.drills {
        worlds.insert(&*drill.drill.world);
        let row = rows.entry(&drill.drill.scenario).or_default();
        row.insert(&drill.drill.world, drill);
    }
    html! {
        section {
            h2 #matrix { "Scenarios and worlds" }
            form.filter role="search" aria-label="Filter" {
                label { "Name contains " input type="search" name="words" autocomplete="off"; }
                fieldset {
                    legend { "Rows with" }
                    label { input type="radio" name="outcome" value="" checked; " any" }
                    @for outcome in OUTCOMES {
                        label { input type="radio" name="outcome" value=(word(outcome)); " " (word(outcome)) }
                    }
                }
                p.count role="status" {}
            }
            div.scroll tabindex="0" role="region" aria-labelledby="matrix" {
                table.matrix {
                    thead {
                        tr {
                            th scope="col" { "Scenario" }
                            @for world in &worlds { th.world scope="col" { span { (world) } } }
                        }
                    }
                    tbody {
                        @for (scenario, row) in &rows {
                            tr data-name=(names(scenario, row)) data-outcome=(outcomes(row)) {
                                th scope="row" { (scenario) }
                                @for world in &worlds {
                                    @match row.get(world) {
                                        Some(drill) => (cell(drill, lanes.contains_key(&drill.drill))),
                                        None => td {},
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if !run.plan.not_applicable.is_empty() { (not_applicable(run)) }
        }
    }
}

const OUTCOMES: [Outcome; 4] = [
    Outcome::Failed,
    Outcome::Known,
    Outcome::Skipped,
    Outcome::Passed,
];

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Known => "known",
        Outcome::Failed => "failed",
        Outcome::Skipped => "skipped",
    }
}

/// The words that the filter looks at. The scenario has its worlds, so `family world` finds both.
fn names(scenario: &str, row: &BTreeMap<&str, &DrillReport>) -> String {
    let worlds: Vec<&str> = row.keys().copied().collect();
    format!("{scenario} {}", worlds.join(" "))
}

fn outcomes(row: &BTreeMap<&str, &DrillReport>) -> String {
    let words: BTreeSet<&str> = row.values().map(|drill| word(drill.outcome)).collect();
    words.into_iter().collect::<Vec<_>>().join(" ")
}

/// A sign, so that nobody depends on colours; a link where there is more to see.
fn cell(drill: &DrillReport, has_lanes: bool) -> Markup {
    let (sign, class) = match drill.outcome {
        Outcome::Passed => ("·", "passed"),
        Outcome::Known => ("k", "known"),
        Outcome::Failed => ("✗", "failed"),
        Outcome::Skipped => ("s", "skipped"),
    };
    let is_told = has_lanes || !drill.findings.is_empty();
    html! {
        td class=(class) {
            @if is_told {
                a href=(format!("#{}", anchor(&drill.drill))) aria-label=(format!("{}: {class}", drill.drill)) { (sign) }
            } @else { (sign) }
        }
    }
}

/// The pairs that do not fit, by reason.
fn not_applicable(run: &RunReport) -> Markup {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for pair in &run.plan.not_applicable {
        *reasons.entry(&pair.reason).or_default() += 1;
    }
    html! {
        details {
            summary { (crate::counted(run.plan.not_applicable.len() as u64, "pair")) " not applicable" }
            table {
                thead { tr { th scope="col" { "Pairs" } th scope="col" { "Why" } } }
                tbody {
                    @for (reason, count) in &reasons { tr { td.number { (count) } td { (reason) } } }
                }
            }
        }
    }
}
