//! Clause coverage of a run.
//!
//! A clause is covered by scenarios, which this run played, and by tests, which are listed only
//! because nicdrill's own build runs them. A drill's report has the result of a scenario. Start at
//! [`Coverage::of`].

use serde::Serialize;

use crate::ExitCode;

/// The status of a clause in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClauseStatus {
    /// A drill of a scenario that lists it passed and none failed; or a test lists it.
    Covered,
    /// A drill of a scenario that lists it failed.
    Failed,
    /// Scenarios list it, but none of their drills was played in this run.
    NotRun,
    /// Neither a scenario nor a test lists it.
    Uncovered,
    /// It belongs to a feature that nicdrill does not drill.
    Deferred,
}

impl ClauseStatus {
    /// The status in one or two words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::Failed => "FAILED",
            Self::NotRun => "not run",
            Self::Uncovered => "UNCOVERED",
            Self::Deferred => "deferred",
        }
    }
}

/// The results of one scenario's drills in this run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScenarioCoverage {
    /// The scenario, as `family/name`.
    pub scenario: String,
    /// Drills that passed.
    pub passed: u64,
    /// Drills that failed.
    pub failed: u64,
    /// Drills that were skipped or not reached.
    pub skipped: u64,
    /// Pairs that are not applicable.
    pub not_applicable: u64,
}

/// One clause, and what covers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClauseCoverage {
    /// Such as `lsd/1.2/detects-disappearance`.
    pub id: String,
    /// Its paraphrase.
    pub says: String,
    /// The ids of the `decision/` clauses that override or refine it.
    pub decided: Vec<String>,
    /// The feature it belongs to, if that is not drilled.
    pub deferred: Option<String>,
    /// Its status in this run.
    pub status: ClauseStatus,
    /// The scenarios that list it.
    pub scenarios: Vec<ScenarioCoverage>,
    /// The tests that list it, as `crate::name`.
    pub tests: Vec<String>,
    /// Whether a scenario that lists it is known to fail when it is false.
    pub defence: Defence,
}

/// Whether a clause is more than named: something that breaks exactly this statement is caught by what lists it.
/// nicdrill's own build checks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defence {
    /// These wrong monitors, and patches of the reference monitor, break it and are caught.
    Defended(Vec<String>),
    /// Nothing is known to break it and to be caught, for this reason.
    Undefended(&'static str),
    /// Nothing that a monitor does can break it, for this reason.
    Unbreakable(String),
}

impl Defence {
    /// The defence of a clause.
    #[must_use]
    pub fn of(
        broken_by: Vec<String>,
        unbreakable: Option<&str>,
        is_covered_by_tests_alone: bool,
    ) -> Self {
        match unbreakable {
            Some(reason) => Self::Unbreakable(reason.to_owned()),
            None if !broken_by.is_empty() => Self::Defended(broken_by),
            None if is_covered_by_tests_alone => {
                Self::Undefended("tests alone cover it, and no wrong monitor reaches them")
            }
            None => Self::Undefended("no wrong monitor breaks exactly this"),
        }
    }
}

impl std::fmt::Display for Defence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Defended(by) => write!(f, "defended: {}", by.join(", ")),
            Self::Undefended(why) => write!(f, "undefended: {why}"),
            Self::Unbreakable(why) => write!(f, "unbreakable: {why}"),
        }
    }
}

impl ClauseCoverage {
    /// Sets the status, which follows from the other fields.
    #[must_use]
    pub fn with_status(mut self) -> Self {
        let count = |of: fn(&ScenarioCoverage) -> u64| self.scenarios.iter().map(of).sum::<u64>();
        self.status = if self.deferred.is_some() {
            ClauseStatus::Deferred
        } else if count(|scenario| scenario.failed) > 0 {
            ClauseStatus::Failed
        } else if count(|scenario| scenario.passed) > 0 || !self.tests.is_empty() {
            ClauseStatus::Covered
        } else if self.scenarios.is_empty() {
            ClauseStatus::Uncovered
        } else {
            ClauseStatus::NotRun
        };
        self
    }
}

/// A source document with its clauses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceCoverage {
    /// The prefix of its ids.
    pub prefix: String,
    /// Its title.
    pub source: String,
    /// Its clauses, in the order of the source.
    pub clauses: Vec<ClauseCoverage>,
}

/// The number of clauses of each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoverageCount {
    /// All of them.
    pub clauses: u64,
    /// Those with a passed drill or a listed test, and without a failed drill.
    pub covered: u64,
    /// Those of the covered clauses that only tests list.
    pub by_tests_alone: u64,
    /// Those with a failed drill.
    pub failed: u64,
    /// Those whose scenarios made no drill of this run, and which no test lists.
    pub not_run: u64,
    /// Those of which no scenario and no test is known.
    pub uncovered: u64,
    /// Those about a feature that is not drilled.
    pub deferred: u64,
    /// Defended, of those that are not deferred.
    pub defended: u64,
    /// Undefended, of those that are not deferred.
    pub undefended: u64,
    /// Unbreakable, of those that are not deferred.
    pub unbreakable: u64,
}

/// Every clause of every source, and what covers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// The counts.
    pub count: CoverageCount,
    /// Whether nothing narrowed the run down, so that an uncovered clause is a failure.
    pub demanded: bool,
    /// The sources, in order.
    pub sources: Vec<SourceCoverage>,
}

impl Coverage {
    /// The coverage of these sources, with counts.
    #[must_use]
    pub fn of(sources: Vec<SourceCoverage>, demanded: bool) -> Self {
        let mut count = CoverageCount::default();
        for clause in sources.iter().flat_map(|source| &source.clauses) {
            count.clauses += 1;
            *match clause.status {
                ClauseStatus::Covered => &mut count.covered,
                ClauseStatus::Failed => &mut count.failed,
                ClauseStatus::NotRun => &mut count.not_run,
                ClauseStatus::Uncovered => &mut count.uncovered,
                ClauseStatus::Deferred => &mut count.deferred,
            } += 1;
            if clause.status == ClauseStatus::Covered && clause.scenarios.is_empty() {
                count.by_tests_alone += 1;
            }
            if clause.status != ClauseStatus::Deferred {
                *match clause.defence {
                    Defence::Defended(_) => &mut count.defended,
                    Defence::Undefended(_) => &mut count.undefended,
                    Defence::Unbreakable(_) => &mut count.unbreakable,
                } += 1;
            }
        }
        Self {
            count,
            demanded,
            sources,
        }
    }

    /// Every clause, in order.
    pub fn clauses(&self) -> impl Iterator<Item = &ClauseCoverage> {
        self.sources.iter().flat_map(|source| &source.clauses)
    }

    /// The exit code: 100 if nothing narrowed the run down and a clause is uncovered.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        if self.demanded && self.count.uncovered > 0 {
            ExitCode::JudgedWrongly
        } else {
            ExitCode::Success
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clause(passed: u64, failed: u64, scenarios: usize, tests: &[&str]) -> ClauseCoverage {
        let one = ScenarioCoverage {
            passed,
            failed,
            ..ScenarioCoverage::default()
        };
        ClauseCoverage {
            id: "lsd/1/a".to_owned(),
            says: String::new(),
            decided: Vec::new(),
            deferred: None,
            status: ClauseStatus::Uncovered,
            scenarios: vec![one; scenarios],
            tests: tests.iter().map(|&test| test.to_owned()).collect(),
            defence: Defence::of(Vec::new(), None, false),
        }
        .with_status()
    }

    #[test]
    fn a_status_follows_from_what_was_played() {
        assert_eq!(clause(3, 0, 1, &[]).status, ClauseStatus::Covered);
        assert_eq!(clause(3, 1, 1, &["checks::a"]).status, ClauseStatus::Failed);
        assert_eq!(clause(0, 0, 1, &[]).status, ClauseStatus::NotRun);
        assert_eq!(
            clause(0, 0, 1, &["checks::a"]).status,
            ClauseStatus::Covered
        );
        assert_eq!(
            clause(0, 0, 0, &["checks::a"]).status,
            ClauseStatus::Covered
        );
        assert_eq!(clause(0, 0, 0, &[]).status, ClauseStatus::Uncovered);
        let deferred = ClauseCoverage {
            deferred: Some("cluster".to_owned()),
            ..clause(0, 0, 0, &[])
        };
        assert_eq!(deferred.with_status().status, ClauseStatus::Deferred);
    }

    #[test]
    fn an_uncovered_clause_fails_a_run_that_nothing_narrowed_down() {
        let code = |clause: ClauseCoverage, demanded| {
            let source = SourceCoverage {
                prefix: "lsd".to_owned(),
                source: String::new(),
                clauses: vec![clause],
            };
            Coverage::of(vec![source], demanded).exit_code()
        };
        assert_eq!(code(clause(0, 0, 0, &[]), true), ExitCode::JudgedWrongly);
        assert_eq!(code(clause(0, 0, 0, &[]), false), ExitCode::Success);
        assert_eq!(code(clause(0, 0, 1, &[]), true), ExitCode::Success);
    }
}
