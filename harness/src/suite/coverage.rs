//! Clause coverage of a run: the clauses that its scenarios list, and the results of their drills.
//!
//! A drill's report states its result. Clauses covered by tests of nicdrill are checked by
//! nicdrill's own build.

use std::collections::BTreeMap;

use reports::{
    ClauseCoverage, ClauseStatus, Coverage, Defence, DrillReport, NotApplicable, Outcome,
    PlannedDrill, ScenarioCoverage, SourceCoverage,
};
use scenarios::{Clause, Clauses};

use crate::read_files::SuiteScenario;

/// What a run reports about clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covering {
    /// The coverage.
    SuiteScenario,
    /// The coverage, and an uncovered clause is a failure: the run was not narrowed down.
    Demanded,
}

/// The coverage of these clauses by these scenarios, for the drills that were played.
#[must_use]
pub fn coverage(
    clauses: &Clauses,
    scenarios: &[SuiteScenario],
    planned: &[PlannedDrill],
    drills: &[DrillReport],
    not_applicable: &[NotApplicable],
    covering: Covering,
) -> Coverage {
    let went = went(planned, drills, not_applicable);
    let by_clause = by_clause(scenarios, &went);
    let scenario = |clause: &Clause| {
        ClauseCoverage {
            id: clause.id.clone(),
            says: clause.says.clone(),
            decided: clause.decided.clone(),
            deferred: clause.deferred.clone(),
            status: ClauseStatus::Uncovered,
            scenarios: by_clause
                .get(clause.id.as_str())
                .cloned()
                .unwrap_or_default(),
            tests: clause.tests.clone(),
            defence: Defence::of(
                clause.broken_by(),
                clause.unbreakable.as_deref(),
                !by_clause.contains_key(clause.id.as_str()) && !clause.tests.is_empty(),
            ),
        }
        .with_status()
    };
    let sources = clauses.files().iter().map(|file| SourceCoverage {
        prefix: file.prefix.clone(),
        source: file.source.clone(),
        clauses: file
            .sections
            .iter()
            .flat_map(|section| &section.clauses)
            .map(scenario)
            .collect(),
    });
    Coverage::of(sources.collect(), covering == Covering::Demanded)
}

/// The results of each scenario's drills.
fn went(
    planned: &[PlannedDrill],
    drills: &[DrillReport],
    not_applicable: &[NotApplicable],
) -> BTreeMap<String, ScenarioCoverage> {
    let mut went: BTreeMap<String, ScenarioCoverage> = BTreeMap::new();
    for drill in planned {
        // A planned drill counts as skipped until it was played.
        went.entry(drill.drill.scenario.clone())
            .or_default()
            .skipped += 1;
    }
    for drill in drills {
        let scenario = went.entry(drill.drill.scenario.clone()).or_default();
        match drill.outcome {
            Outcome::Passed => scenario.passed += 1,
            Outcome::Known | Outcome::Failed => scenario.failed += 1,
            Outcome::Skipped => continue,
        }
        scenario.skipped = scenario.skipped.saturating_sub(1);
    }
    for pair in not_applicable {
        went.entry(pair.drill.scenario.clone())
            .or_default()
            .not_applicable += 1;
    }
    went
}

/// The scenarios that list each clause, with their results.
fn by_clause<'s>(
    scenarios: &'s [SuiteScenario],
    went: &BTreeMap<String, ScenarioCoverage>,
) -> BTreeMap<&'s str, Vec<ScenarioCoverage>> {
    let mut by_clause: BTreeMap<&str, Vec<ScenarioCoverage>> = BTreeMap::new();
    for scenario in scenarios {
        let counts = went.get(&scenario.name).cloned().unwrap_or_default();
        for id in scenario.scenario.covers() {
            by_clause.entry(id).or_default().push(ScenarioCoverage {
                scenario: scenario.name.clone(),
                ..counts.clone()
            });
        }
    }
    by_clause
}
