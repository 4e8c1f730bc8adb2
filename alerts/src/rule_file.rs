//! A file of recording and alert rules, as Prometheus reads it. Start at [`RuleFile`].

use std::collections::{BTreeMap, BTreeSet};

use observe::{Problem, Span};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::words::Words;

/// A rule file (Prometheus, "Defining recording rules"). Keys that nothing here needs are kept as they are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct RuleFile {
    /// The groups.
    #[serde(default)]
    pub groups: Vec<Group>,
}

/// A group of rules that are evaluated one after another.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Group {
    /// The name.
    pub name: String,
    /// The time from one evaluation to the next; without it, that of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// The rules.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Other keys.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// A rule: with `alert` an alert, with `record` a series.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Rule {
    /// The alert's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
    /// The series' name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// The expression.
    pub expr: String,
    /// How long an alert is pending before it fires; without it, not at all.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub lasting: Option<String>,
    /// Other keys, such as `labels` and `annotations`.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

impl RuleFile {
    /// Why the rules cannot be evaluated here; what is wrong between groups only if each group is sound. `every` is the
    /// interval of groups that state none.
    #[must_use]
    pub fn problems(&self, every: Span) -> Vec<Problem> {
        let groups = self.groups.iter();
        let of_groups = groups.flat_map(|group| self.problems_of(group, every));
        let of_groups: Vec<Problem> = of_groups.collect();
        if !of_groups.is_empty() {
            return of_groups;
        }
        if self.alerts().next().is_none() {
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
    fn problems_of(&self, group: &Group, every: Span) -> Vec<Problem> {
        let mut problems = Vec::new();
        let ns = group.interval_ns(every);
        if ns.is_none_or(|ns| ns == 0 || ns % 1_000_000 != 0) {
            let interval = group.interval.as_deref().unwrap_or_default();
            let keys = self.keys_of(group, None).into_iter();
            problems.push(Problem::at(
                keys.chain(["interval".to_owned()]),
                format!("the group `{}` has the interval `{interval}`", group.name),
                "write a time such as `15s` or `1m`, a day at most",
            ));
        }
        let neither = |rule: &&Rule| rule.alert.is_some() == rule.record.is_some();
        problems.extend(group.rules.iter().filter(neither).map(|rule| {
            Problem::at(
                self.keys_of(group, Some(rule)),
                format!(
                    "the group `{}` has a rule that is no alert and no record",
                    group.name
                ),
                "write either `alert:` or `record:` in each rule",
            )
        }));
        problems
    }

    /// What is wrong with an alert that uses a recorded series of a group with another interval: each interval is evaluated
    /// by itself, so that the series would not be there.
    fn mixed(&self, group: &Group, alert: &Rule, every: Span) -> Option<Problem> {
        let records: Vec<(&str, &Group, &Rule)> = self
            .rules()
            .filter_map(|(group, rule)| Some((rule.record.as_deref()?, group, rule)))
            .collect();
        let interval = group.interval_ns(every);
        let mut seen = BTreeSet::new();
        let mut open = vec![alert];
        while let Some(rule) = open.pop() {
            let words = Words::of(&rule.expr);
            for (name, of, record) in &records {
                // A selector without a name may mean anything: only what is named is refused.
                if !words.words.contains(*name) || !seen.insert((*name, &of.name)) {
                    continue;
                }
                if of.interval_ns(every) != interval {
                    let keys = self.keys_of(group, Some(alert));
                    let alert = alert.alert.as_deref().unwrap_or_default();
                    let every =
                        |group: &Group| group.interval.clone().unwrap_or_else(|| every.to_string());
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
    fn keys_of(&self, group: &Group, rule: Option<&Rule>) -> Vec<String> {
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

    /// All rules with their groups.
    pub fn rules(&self) -> impl Iterator<Item = (&Group, &Rule)> {
        let groups = self.groups.iter();
        groups.flat_map(|group| group.rules.iter().map(move |rule| (group, rule)))
    }

    /// The alerts with their groups.
    pub fn alerts(&self) -> impl Iterator<Item = (&Group, &Rule)> {
        self.rules().filter(|(_, rule)| rule.alert.is_some())
    }

    /// The intervals of groups with alerts, in nanoseconds, each once.
    #[must_use]
    pub fn intervals(&self, every: Span) -> BTreeSet<u64> {
        let alerts = self.alerts();
        alerts
            .filter_map(|(group, _)| group.interval_ns(every))
            .collect()
    }

    /// The groups of an interval as a file of their own. They state no interval there: promtool ignores it.
    #[must_use]
    pub fn of_interval(&self, interval_ns: u64, every: Span) -> Self {
        let groups = self.groups.iter();
        let of_it = groups.filter(|group| group.interval_ns(every) == Some(interval_ns));
        let plain = of_it.map(|group| Group {
            interval: None,
            ..group.clone()
        });
        Self {
            groups: plain.collect(),
        }
    }

    /// It without the alert of this name, wherever it stands.
    #[must_use]
    pub fn without(&self, alert: &str) -> Self {
        let mut left = self.clone();
        for group in &mut left.groups {
            group
                .rules
                .retain(|rule| rule.alert.as_deref() != Some(alert));
        }
        left.groups.retain(|group| !group.rules.is_empty());
        left
    }

    /// The words of its expressions.
    #[must_use]
    pub(crate) fn words(&self) -> Vec<Words> {
        self.rules()
            .map(|(_, rule)| Words::of(&rule.expr))
            .collect()
    }
}

impl Group {
    /// The time from one evaluation to the next; `None` if it is none.
    fn interval_ns(&self, every: Span) -> Option<u64> {
        match &self.interval {
            None => Some(every.as_ns()),
            Some(text) => Some(Span::parse(text)?.as_ns()),
        }
    }
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
            .problems(Span::parse("15s").unwrap())
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
        assert_eq!(fine.problems(Span::parse("15s").unwrap()), []);
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

    #[test]
    fn groups_are_split_by_interval_and_keep_their_other_keys() {
        let own = r#"{"name":"g","limit":3,"rules":[{"alert":"A","expr":"a","for":"1m","labels":{"s":"x"}}]}"#;
        let minute = r#"{"name":"h","interval":"1m","rules":[{"alert":"B","expr":"a"}]}"#;
        let all = file(&format!("{{\"groups\": [{own},{minute}]}}"));
        let every = Span::parse("15s").unwrap();
        let second = 1_000_000_000;
        assert_eq!(
            all.intervals(every),
            BTreeSet::from([15 * second, 60 * second])
        );
        let text = |interval| serde_json::to_string(&all.of_interval(interval, every)).unwrap();
        assert_eq!(
            text(60 * second),
            r#"{"groups":[{"name":"h","rules":[{"alert":"B","expr":"a"}]}]}"#
        );
        let kept: RuleFile = file(&text(15 * second));
        assert_eq!(kept.groups[0], all.groups[0]);
        assert_eq!(all.without("A").groups.len(), 1);
    }
}
