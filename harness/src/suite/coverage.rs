//! Which clauses a run covered: what its scenarios name, and how their drills went.
//!
//! It judges nothing: a drill's report says how it went, and a test that names a clause is run by
//! whoever builds nicdrill.

use std::collections::BTreeMap;

use reports::{
    ClauseCoverage, ClauseStatus, Coverage, DrillReport, NotApplicable, Outcome, PlannedDrill,
    ScenarioCoverage, SourceCoverage,
};
use scenarios::{Clause, Clauses};

use crate::read_files::SuiteScenario;

/// What a run is to say of clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covering {
    /// What is covered.
    SuiteScenario,
    /// The same, and an uncovered clause is a failure: nothing narrowed the run down.
    Demanded,
}

/// The coverage of these clauses by these scenarios, as far as their drills were played.
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

/// How the drills of each scenario went.
fn went(
    planned: &[PlannedDrill],
    drills: &[DrillReport],
    not_applicable: &[NotApplicable],
) -> BTreeMap<String, ScenarioCoverage> {
    let mut went: BTreeMap<String, ScenarioCoverage> = BTreeMap::new();
    for drill in planned {
        // Whatever was planned is skipped until it was played.
        went.entry(drill.drill.scenario.clone())
            .or_default()
            .skipped += 1;
    }
    for drill in drills {
        let scenario = went.entry(drill.drill.scenario.clone()).or_default();
        match drill.outcome {
            Outcome::Passed => scenario.passed += 1,
            Outcome::Failed => scenario.failed += 1,
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

/// The scenarios that name each clause, with how they went.
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
