//! The files that promtool is given, and what its answer to them means.
//!
//! One file has many cases: drills, and phases of their evaluation. The cases are told apart in the answer by an
//! expression of their own in front of each. Start at [`TestFile::new`].

use std::collections::BTreeMap;

use observe::Span;
use serde_json::{Value, json};

use crate::{
    answer::{self, Answer},
    firing::Firing,
    grid::{Instants, MS},
    history::{History, shift_of},
    rule_file::RuleFile,
};

/// The expression for the alerts that fire.
pub(crate) const FIRING: &str = "ALERTS{alertstate=\"firing\"}";

/// The label of the expression in front of a case, with its number.
const CASE: &str = "nicdrill_case";

/// What distinguishes cases in a file: the grid's interval, the input series, and when is asked.
type Question = (u64, Vec<(String, String)>, Vec<u64>);

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
    /// Of each case, its number in the file, where equal ones stand once, and by how many nanoseconds its time there is
    /// ahead of its drill's.
    places: Vec<(usize, u64)>,
    /// How many cases the file has.
    count: usize,
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
        let mut numbers: BTreeMap<Question, usize> = BTreeMap::new();
        let mut tests: Vec<Value> = Vec::new();
        let places = cases.iter().map(|case| {
            let (step_ms, input) = case.history.input(case.instants, &words);
            let shift = shift_of(case.instants);
            let asked: Vec<u64> = case.instants.iter().map(|at| (at + shift) / MS).collect();
            let number = *numbers.entry((step_ms, input, asked)).or_insert_with_key(
                |(step_ms, input, asked)| {
                    tests.push(test(tests.len(), *step_ms, input, asked, external_labels));
                    tests.len() - 1
                },
            );
            (number, shift)
        });
        let places = places.collect();
        let count = tests.len();
        let tests = json!({
            "rule_files": [name],
            "evaluation_interval": format!("{}ms", interval_ns / MS),
            "tests": tests,
        });
        Self {
            rules: serde_json::to_string(&rules).expect("rules are written as they were read"),
            tests: tests.to_string(),
            places,
            count,
        }
    }

    /// The alerts that fired, by case and time, in what promtool wrote to its error output.
    ///
    /// # Errors
    /// What of the answer means nothing here.
    pub fn firings(&self, answered: &str) -> Result<Vec<Vec<Firing>>, String> {
        let mut cases: Vec<Vec<Answer>> = Vec::new();
        for answer in answer::results(answered)? {
            let mark = answer.samples.first();
            let next = cases.len().to_string();
            match mark.and_then(|(labels, _)| labels.get(CASE)) {
                Some(number) if *number == next => cases.push(Vec::new()),
                Some(number) => return Err(format!("case {number} came in the place of {next}")),
                None => match cases.last_mut() {
                    Some(case) => case.push(answer),
                    None => {
                        let asked = answer.expression;
                        return Err(format!("`{asked}` was answered before any case"));
                    }
                },
            }
        }
        if cases.len() != self.count {
            return Err(format!(
                "{} of {} cases were answered",
                cases.len(),
                self.count
            ));
        }
        let places = self.places.iter();
        places
            .map(|(number, shift)| fired(&cases[*number], *shift))
            .collect()
    }
}

/// The alerts of a case in the time of its drill.
fn fired(answers: &[Answer], shift: u64) -> Result<Vec<Firing>, String> {
    let mut all = Vec::new();
    for answer in answers {
        let Some(at_ns) = (answer.at_ms * MS).checked_sub(shift) else {
            let at = answer.at_ms;
            return Err(format!(
                "an alert fires {at} ms into its case, before its drill begins"
            ));
        };
        for (labels, _) in &answer.samples {
            let mut labels = labels.clone();
            labels.remove("__name__");
            labels.remove("alertstate");
            let alert = labels.remove("alertname").ok_or("an alert has no name")?;
            all.push(Firing {
                at_ns,
                alert,
                labels,
            });
        }
    }
    Ok(all)
}

/// One case, with the expression that marks it in front.
fn test(
    number: usize,
    step_ms: u64,
    input: &[(String, String)],
    asked: &[u64],
    external_labels: &BTreeMap<String, String>,
) -> Value {
    let mark = format!("label_replace(vector(1), \"{CASE}\", \"{number}\", \"\", \"\")");
    let mark = json!({ "expr": mark, "eval_time": "0s" });
    let asked = asked.iter();
    let asked = asked.map(|at| json!({ "expr": FIRING, "eval_time": format!("{at}ms") }));
    let asked: Vec<Value> = std::iter::once(mark).chain(asked).collect();
    json!({
        "interval": format!("{step_ms}ms"),
        "input_series": series(input),
        "external_labels": external_labels,
        "promql_expr_test": asked,
    })
}

/// Input series as promtool reads them.
pub(crate) fn series(input: &[(String, String)]) -> Vec<Value> {
    let each = input.iter();
    each.map(|(series, values)| json!({ "series": series, "values": values }))
        .collect()
}

#[cfg(test)]
mod tests {
    use observe::{Scrape, ScrapeOutcome};

    use super::*;
    use crate::history::Target;

    fn history(text: &str) -> History {
        let mut history = History::default();
        let target = Target {
            job: "node".to_owned(),
            instance: "n".to_owned(),
        };
        let outcome = ScrapeOutcome::Answered {
            status: 200,
            text: text.into(),
        };
        let scrape = Scrape {
            at_ns: 0,
            took_ns: 0,
            outcome,
        };
        history.scraped(&target, &scrape);
        history
    }

    fn file(histories: &[&History], phases: &[u64]) -> TestFile {
        let rules = r#"{"groups":[{"name":"g","rules":[{"alert":"A","expr":"a > 0"}]}]}"#;
        let rules: RuleFile = serde_json::from_str(rules).unwrap();
        let every = Span::parse("4s").unwrap();
        let cases = histories.iter().flat_map(|history| {
            phases.iter().map(|phase| TestCase {
                history,
                instants: Instants::with_phase(4000 * MS, (*phase, 4), 9000 * MS),
            })
        });
        let cases: Vec<TestCase<'_>> = cases.collect();
        TestFile::new(
            (&rules, 4000 * MS, every),
            &BTreeMap::new(),
            "r.json",
            &cases,
        )
    }

    fn got(expression: &str, time: &str, got: &str) -> String {
        format!("    expr: {expression:?}, time: {time},\n        exp: nil\n        got: {got}\n")
    }

    fn mark(number: u32) -> String {
        got(
            "label_replace",
            "0s",
            &format!("{{{CASE}=\"{number}\"}} 1E+00"),
        )
    }

    #[test]
    fn equal_cases_are_asked_once_and_answered_each() {
        let (one, same, other) = (history("a 1\n"), history("a 1\n"), history("a 2\n"));
        let file = file(&[&one, &same, &other], &[0, 1]);
        assert_eq!(file.tests.matches("input_series").count(), 4);
        let fires = got(
            "ALERTS",
            "8s",
            "{__name__=\"ALERTS\", alertname=\"A\", alertstate=\"firing\"} 1E+00",
        );
        let answer = [mark(0), fires.clone(), mark(1), fires, mark(2), mark(3)].concat();
        let at: Vec<Vec<u64>> = file
            .firings(&answer)
            .unwrap()
            .iter()
            .map(|case| case.iter().map(|firing| firing.at_ns / MS).collect())
            .collect();
        // In the second phase promtool's time is three seconds ahead.
        assert_eq!(
            at,
            [
                vec![8000],
                vec![5000],
                vec![8000],
                vec![5000],
                vec![],
                vec![]
            ]
        );
    }

    #[test]
    fn an_answer_that_lacks_a_case_is_an_error() {
        let one = history("a 1\n");
        let file = file(&[&one], &[0, 1]);
        for answer in [
            String::new(),
            mark(0),
            mark(1),
            [mark(0), mark(2)].concat(),
            got("ALERTS", "0s", "{} 1E+00"),
            [mark(0), mark(1), got("ALERTS", "8s", "{a=\"b\"} 1E+00")].concat(),
        ] {
            assert!(file.firings(&answer).is_err(), "{answer}");
        }
        assert!(file.firings(&[mark(0), mark(1)].concat()).is_ok());
    }
}
