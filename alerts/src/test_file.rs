//! The files that promtool is given, and what its answer to them means.
//!
//! One file has many cases: drills, and phases of their evaluation. The cases are told apart in the answer by an
//! expression of their own in front of each. Start at [`TestFile::new`].

use std::collections::BTreeMap;

use observe::Span;
use serde_json::{Value, json};

use crate::{
    answer,
    firing::Firing,
    grid::{Instants, MS},
    history::{History, shift_of},
    rule_file::RuleFile,
};

/// The expression for the alerts that fire.
pub const FIRING: &str = "ALERTS{alertstate=\"firing\"}";

/// The label of the expression in front of a case, with its number.
const CASE: &str = "nicdrill_case";

/// One evaluation of the rules.
#[derive(Clone, Copy, Debug)]
pub struct TestCase<'h> {
    /// What was scraped.
    pub history: &'h History,
    /// When the rules are evaluated.
    pub instants: Instants,
}

/// A test file of promtool with the rules that it names, of groups of one interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    /// The text of the rule file.
    pub rules: String,
    /// The text of the test file, in JSON, which is YAML.
    pub tests: String,
    /// By how many nanoseconds the time of each case is ahead of its drill's.
    shifts: Vec<u64>,
}

impl TestFile {
    /// The files for some cases whose instants all have the interval `interval_ns`. `every` is the interval of groups
    /// that state none, `name` the path of the rule file as the test file names it.
    #[must_use]
    pub fn new(
        (rules, interval_ns, every): (&RuleFile, u64, Span),
        external_labels: &BTreeMap<String, String>,
        name: &str,
        cases: &[TestCase<'_>],
    ) -> Self {
        let rules = rules.of_interval(interval_ns, every);
        let words = rules.words();
        let tests = cases.iter().enumerate().map(|(number, case)| {
            let (step_ms, input) = case.history.input(case.instants, &words);
            let shift = shift_of(case.instants);
            let mark = format!("label_replace(vector(1), \"{CASE}\", \"{number}\", \"\", \"\")");
            let mark = json!({ "expr": mark, "eval_time": "0s" });
            let asked = case.instants.iter().map(|at| {
                let at = (at + shift) / MS;
                json!({ "expr": FIRING, "eval_time": format!("{at}ms") })
            });
            let asked: Vec<Value> = std::iter::once(mark).chain(asked).collect();
            json!({
                "interval": format!("{step_ms}ms"),
                "input_series": series(&input),
                "external_labels": external_labels,
                "promql_expr_test": asked,
            })
        });
        let tests: Vec<Value> = tests.collect();
        let tests = json!({
            "rule_files": [name],
            "evaluation_interval": format!("{}ms", interval_ns / MS),
            "tests": tests,
        });
        Self {
            rules: serde_json::to_string(&rules).expect("rules are written as they were read"),
            tests: tests.to_string(),
            shifts: cases.iter().map(|case| shift_of(case.instants)).collect(),
        }
    }

    /// The alerts that fired, by case and time, in what promtool wrote to its error output.
    ///
    /// # Errors
    /// What of the answer means nothing here.
    pub fn firings(&self, answered: &str) -> Result<Vec<Vec<Firing>>, String> {
        let mut cases: Vec<Vec<Firing>> = Vec::new();
        for answer in answer::results(answered)? {
            if let Some(number) = answer
                .samples
                .first()
                .and_then(|(labels, _)| labels.get(CASE))
            {
                if *number != cases.len().to_string() {
                    return Err(format!("case {number} came as the {}th", cases.len()));
                }
                cases.push(Vec::new());
                continue;
            }
            let number = cases.len().checked_sub(1);
            let shift = number.and_then(|number| self.shifts.get(number));
            let (Some(case), Some(shift)) = (cases.last_mut(), shift) else {
                return Err(format!(
                    "`{}` was answered before any case",
                    answer.expression
                ));
            };
            let Some(at_ns) = (answer.at_ms * MS).checked_sub(*shift) else {
                return Err(format!(
                    "an alert fires {} ms into the case, before its drill",
                    answer.at_ms
                ));
            };
            for (mut labels, _) in answer.samples {
                labels.remove("__name__");
                labels.remove("alertstate");
                let alert = labels
                    .remove("alertname")
                    .ok_or("an alert without a name")?;
                case.push(Firing {
                    at_ns,
                    alert,
                    labels,
                });
            }
        }
        if cases.len() != self.shifts.len() {
            let (came, all) = (cases.len(), self.shifts.len());
            return Err(format!("{came} of {all} cases were answered"));
        }
        Ok(cases)
    }
}

/// Input series as promtool reads them.
pub(crate) fn series(input: &[(String, String)]) -> Vec<Value> {
    let each = input.iter();
    each.map(|(series, values)| json!({ "series": series, "values": values }))
        .collect()
}
