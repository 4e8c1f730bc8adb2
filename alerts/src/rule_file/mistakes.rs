//! What is wrong with a rule file by itself; its expressions and templates are judged by promtool
//! ([`Syntax`](crate::Syntax)). Start at [`RuleFile::problems`].

use std::collections::{BTreeMap, BTreeSet};

use files::Problem;
use observe::Span;
use serde_json::Value;

use super::{Group, Rule, RuleFile, is_scalar};
use crate::{duration::milliseconds, words::Words};

/// The hint at a value that is to be a duration.
const DURATION_HINT: &str = "write whole numbers with units, such as `90s`, `5m` or `1h30m`";

impl RuleFile {
    /// Why the rules cannot be evaluated here; what is wrong between groups only if each group is sound. `every` is the
    /// interval of groups that state none, if it is known.
    #[must_use]
    pub fn problems(&self, every: Option<Span>) -> Vec<Problem> {
        let groups = self.groups.iter();
        let mut names = BTreeSet::new();
        let of_groups = groups.flat_map(|group| {
            let is_twice = !names.insert(&group.name);
            self.problems_of(group, every, is_twice)
        });
        let of_groups: Vec<Problem> = of_groups.collect();
        if !of_groups.is_empty() {
            return of_groups;
        }
        // A file that no descriptor names may have records alone.
        if every.is_some() && self.alerts().next().is_none() {
            return vec![Problem::at(
                ["groups"],
                "the file has no alert",
                "write a rule with `alert:` and `expr:`",
            )];
        }
        let alerts = self.alerts();
        let mixed = alerts.filter_map(|(group, alert)| self.mixed(group, alert, every));
        mixed.collect()
    }

    /// The problems of a group and its rules.
    fn problems_of(&self, group: &Group, every: Option<Span>, is_twice: bool) -> Vec<Problem> {
        let name = &group.name;
        let keys = self.keys_of(group, None);
        let at = |key: &str, what: String, hint: &'static str| {
            Problem::at(keys.iter().cloned().chain([key.to_owned()]), what, hint)
        };
        let mut problems = Vec::new();
        if name.is_empty() {
            let what = "the name of a group is empty".to_owned();
            problems.push(at("name", what, "give each group a name of its own"));
        } else if is_twice {
            let what = format!("two groups have the name `{name}`");
            problems.push(at("name", what, "give each group a name of its own"));
        }
        let is_known = group.interval.is_some() || every.is_some();
        let ns = group.interval_ns(every);
        if is_known && ns.is_none_or(|ns| ns == 0 || ns % 1_000_000 != 0) {
            let interval = group.interval.as_deref().unwrap_or_default();
            let what = format!("the group `{name}` has the interval `{interval}`");
            let hint = "write a time such as `15s` or `1m`, a day at most";
            problems.push(at("interval", what, hint));
        }
        if let Some(offset) = &group.query_offset
            && milliseconds(offset).is_none()
        {
            let what =
                format!("the group `{name}` has the offset `{offset}`, which is no duration");
            problems.push(at("query_offset", what, DURATION_HINT));
        }
        problems.extend(not_scalar(&keys, "labels", &group.labels));
        let rules = group.rules.iter();
        problems
            .extend(rules.flat_map(|rule| rule.problems(name, &self.keys_of(group, Some(rule)))));
        problems
    }

    /// What is wrong with an alert that uses a recorded series of a group with another interval: each interval is evaluated
    /// by itself, so that the series would not be there.
    fn mixed(&self, group: &Group, alert: &Rule, every: Option<Span>) -> Option<Problem> {
        let records: Vec<(&str, &Group, &Rule)> = self
            .rules()
            .filter_map(|(group, rule)| Some((rule.record.as_deref()?, group, rule)))
            .collect();
        let interval = group.interval_ns(every)?;
        let mut seen = BTreeSet::new();
        let mut open = vec![alert];
        while let Some(rule) = open.pop() {
            let words = Words::of(&rule.expr);
            for (name, of, record) in &records {
                // A selector without a name may mean anything: only what is named is refused.
                if !words.words.contains(*name) || !seen.insert((*name, &of.name)) {
                    continue;
                }
                if of.interval_ns(every).is_some_and(|of| of != interval) {
                    let keys = self.keys_of(group, Some(alert));
                    let alert = alert.alert.as_deref().unwrap_or_default();
                    let every = |group: &Group| {
                        let stated = group.interval.clone();
                        stated
                            .or_else(|| Some(every?.to_string()))
                            .unwrap_or_default()
                    };
                    let problem = Problem::at(
                        keys,
                        format!(
                            "the alert `{alert}` of the group `{}`, evaluated every {}, uses `{name}`, which the group `{}` records every {}",
                            group.name,
                            every(group),
                            of.name,
                            every(of),
                        ),
                        "give both groups the same `interval`: each interval is evaluated by itself",
                    );
                    return Some(problem.beside(&["groups"]));
                }
                open.push(record);
            }
        }
        None
    }

    /// The keys that lead to a group of this file, or to a rule of it.
    pub(crate) fn keys_of(&self, group: &Group, rule: Option<&Rule>) -> Vec<String> {
        let mut keys = vec!["groups".to_owned()];
        let at = self.groups.iter().position(|it| std::ptr::eq(it, group));
        keys.extend(at.map(|at| at.to_string()));
        let of_rule =
            rule.and_then(|rule| group.rules.iter().position(|it| std::ptr::eq(it, rule)));
        if let Some(at) = of_rule {
            keys.extend(["rules".to_owned(), at.to_string()]);
        }
        keys
    }
}

impl Rule {
    /// What is wrong with it by itself; `keys` lead to it.
    fn problems(&self, group: &str, keys: &[String]) -> Vec<Problem> {
        let at = |key: &str, what: String, hint: &'static str| {
            Problem::at(keys.iter().cloned().chain([key.to_owned()]), what, hint)
        };
        let mut problems = Vec::new();
        if self.alert.is_some() == self.record.is_some() {
            problems.push(Problem::at(
                keys.iter().cloned(),
                match self.alert {
                    None => {
                        format!("the group `{group}` has a rule that is no alert and no record")
                    }
                    Some(_) => {
                        format!("the group `{group}` has a rule that is an alert and a record")
                    }
                },
                "write either `alert:` or `record:` in each rule",
            ));
        }
        for (key, name) in [("alert", &self.alert), ("record", &self.record)] {
            if name.as_deref() == Some("") {
                let what = format!("the group `{group}` has a rule whose `{key}` is empty");
                problems.push(at(key, what, "write the name of the alert or series"));
            }
        }
        if self.expr.trim().is_empty() {
            let what = format!("the group `{group}` has a rule without an expression");
            problems.push(at(
                "expr",
                what,
                "write an expression of PromQL, such as `up == 0`",
            ));
        }
        for (key, duration) in [
            ("for", &self.lasting),
            ("keep_firing_for", &self.keep_firing_for),
        ] {
            if let Some(text) = duration
                && milliseconds(text).is_none()
            {
                problems.push(at(key, format!("`{text}` is no duration"), DURATION_HINT));
            }
        }
        if let (None, Some(record)) = (&self.alert, &self.record) {
            let of_alerts = [
                ("for", self.lasting.is_some()),
                ("keep_firing_for", self.keep_firing_for.is_some()),
                ("annotations", !self.annotations.is_empty()),
            ];
            problems.extend(of_alerts.into_iter().filter(|(_, is_there)| *is_there).map(
                |(key, _)| {
                    let what =
                        format!("the record `{record}` has `{key}`, which is of alerts alone");
                    let problem = at(
                        key,
                        what,
                        "leave it out, or write `alert:` in place of `record:`",
                    );
                    // With a key of it that cannot be read it may be an alert.
                    Problem {
                        part: keys.len(),
                        ..problem
                    }
                },
            ));
        }
        problems.extend(not_scalar(keys, "labels", &self.labels));
        problems.extend(not_scalar(keys, "annotations", &self.annotations));
        problems
    }
}

/// The values of labels or annotations that are no text and cannot be read as one.
fn not_scalar(keys: &[String], list: &str, texts: &BTreeMap<String, Value>) -> Vec<Problem> {
    let others = texts.iter().filter(|(_, value)| !is_scalar(value));
    let problems = others.map(|(name, _)| {
        let keys = keys.iter().cloned();
        let keys = keys.chain([list.to_owned(), name.clone()]);
        Problem::at(
            keys,
            format!("the value of `{name}` is no text"),
            "write a text, such as `critical`",
        )
    });
    problems.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> RuleFile {
        serde_json::from_str(text).unwrap()
    }

    #[track_caller]
    fn check(groups: &str, keys: &str, words: &[&str]) {
        let problem = file(&format!("{{\"groups\": [{groups}]}}"))
            .problems(Span::parse("15s"))
            .remove(0);
        assert_eq!(problem.keys.join(" "), keys);
        for word in words {
            assert!(problem.what.contains(word), "{}", problem.what);
        }
    }

    const RECORD: &str = r#"{"name":"r","interval":"1m","rules":[{"record":"a:b","expr":"a"}]}"#;

    #[test]
    fn an_alert_that_uses_a_record_of_another_interval_is_refused_by_name() {
        let alert = r#"{"name":"g","rules":[{"alert":"A","expr":"a:b > 1"}]}"#;
        check(
            &format!("{RECORD},{alert}"),
            "groups 1 rules 0",
            &[
                "`A`",
                "`g`, evaluated every 15 s",
                "`a:b`",
                "`r` records every 1m",
            ],
        );
        let through =
            r#"{"name":"g","rules":[{"record":"c:d","expr":"a:b"},{"alert":"A","expr":"c:d"}]}"#;
        check(
            &format!("{RECORD},{through}"),
            "groups 1 rules 1",
            &["`a:b`"],
        );
        let quoted = r#"{"name":"g","rules":[{"alert":"A","expr":"a{x=\"a:b\"} > 1"}]}"#;
        let fine = file(&format!("{{\"groups\": [{RECORD},{quoted}]}}"));
        assert_eq!(fine.problems(Span::parse("15s")), []);
        let unknown = file(&format!("{{\"groups\": [{RECORD},{alert}]}}"));
        assert_eq!(
            unknown.problems(None),
            [],
            "nobody states the interval of `g`"
        );
    }

    #[test]
    fn what_cannot_be_evaluated_is_refused() {
        check(RECORD, "groups", &["no alert"]);
        check(
            r#"{"name":"g","rules":[{"expr":"a"}]}"#,
            "groups 0 rules 0",
            &["no alert and no record"],
        );
        check(
            r#"{"name":"g","interval":"soon","rules":[{"alert":"A","expr":"a"}]}"#,
            "groups 0 interval",
            &["`soon`"],
        );
    }

    /// What is wrong with the only rule of a file, by the last key that leads to it.
    #[track_caller]
    fn check_rule(rule: &str, told: &[&str]) {
        let text = format!(
            r#"{{"groups": [{{"name":"g","rules":[{rule},{{"alert":"Z","expr":"z"}}]}}]}}"#
        );
        let problems = file(&text).problems(Span::parse("15s"));
        let keys: Vec<&str> = problems
            .iter()
            .map(|it| it.keys.last().unwrap().as_str())
            .collect();
        assert_eq!(keys, told, "{problems:?}");
    }

    #[test]
    fn every_mistake_of_a_rule_is_told() {
        check_rule(
            r#"{"alert":"","expr":" ","for":"1 minute","keep_firing_for":"x","labels":{"a":{}},"annotations":{"b":[],"c":1}}"#,
            &["alert", "expr", "for", "keep_firing_for", "a", "b"],
        );
        check_rule(
            r#"{"record":"a:b","expr":"a","for":"1m","annotations":{"s":"t"}}"#,
            &["for", "annotations"],
        );
        check_rule(
            r#"{"alert":"A","record":"a:b","expr":"a","for":"0"}"#,
            &["0"],
        );
    }

    #[test]
    fn every_mistake_of_a_group_is_told() {
        let text = r#"{"groups": [{"name":""}, {"name":"g","interval":"0s","query_offset":"x","labels":{"a":[]}}, {"name":"g"}]}"#;
        let problems = file(text).problems(Span::parse("15s"));
        let keys: Vec<String> = problems.iter().map(|it| it.keys[1..].join(" ")).collect();
        assert_eq!(
            keys,
            [
                "0 name",
                "1 interval",
                "1 query_offset",
                "1 labels a",
                "2 name"
            ]
        );
    }
}
