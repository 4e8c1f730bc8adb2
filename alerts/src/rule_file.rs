//! A file of recording and alert rules, as Prometheus reads it. Start at [`RuleFile`]; what is wrong with one is in
//! `mistakes.rs`.

mod mistakes;

use std::collections::{BTreeMap, BTreeSet};

use observe::Span;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{duration::milliseconds, words::Words};

/// A rule file (Prometheus, "Defining recording rules"). A key that Prometheus does not know is refused, as it does.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// The groups.
    #[serde(default)]
    pub groups: Vec<Group>,
}

/// A group of rules that are evaluated one after another.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Unique in its file.
    pub name: String,
    /// The time from one evaluation to the next; without it, that of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// How long before an evaluation the data lie that it reads, a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_offset: Option<String>,
    /// The most alerts or series of a rule; 0 for any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Labels of every rule.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Value>,
    /// In the order in which they are evaluated.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// A rule: with `alert` an alert, with `record` a series.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
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
    /// How long an alert goes on firing after its expression has given nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_firing_for: Option<String>,
    /// Labels of the alert or series; a value is a text, or a scalar that is read as one, nothing as an empty one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Value>,
    /// Texts for people, of an alert only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, Value>,
}

/// The longest interval of a group. Chosen: no drill lasts longer.
const DAY_MS: u64 = 86_400_000;

impl RuleFile {
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
            .filter_map(|(group, _)| group.interval_ns(Some(every)))
            .collect()
    }

    /// The groups of an interval as a file of their own. They state no interval there: promtool ignores it.
    #[must_use]
    pub(crate) fn of_interval(&self, interval_ns: u64, every: Span) -> Self {
        let groups = self.groups.iter();
        let of_it = groups.filter(|group| group.interval_ns(Some(every)) == Some(interval_ns));
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

    /// How long an alert may stand after what it is about has ended, in nanoseconds: until the next evaluation, its own
    /// `for` and `keep_firing_for`, and as far back as its expression and the recording rules that it reads do. Of rules
    /// that read one another, as many as there are rules are followed.
    #[must_use]
    pub fn lingering_ns(&self, every: Span) -> u64 {
        let (rules, words) = (self.rules().collect::<Vec<_>>(), self.words());
        let own = rules.iter().zip(&words);
        let own: Vec<u64> = own
            .map(|((group, rule), words)| {
                let evaluated_ns = group.interval_ns(Some(every)).unwrap_or_default();
                evaluated_ns.saturating_add(rule.own_ns(words))
            })
            .collect();
        let read_by = |reader: usize| {
            let words = &words[reader].words;
            let others = rules.iter().enumerate().filter(move |(at, (_, other))| {
                let name = other.record.as_deref();
                *at != reader && name.is_some_and(|name| words.contains(name))
            });
            others.map(|(at, _)| at).collect()
        };
        let read_by: Vec<Vec<usize>> = (0..rules.len()).map(read_by).collect();
        let mut all = own.clone();
        for _ in &rules {
            let with_read = own.iter().zip(&read_by).map(|(own, read)| {
                let longest = read.iter().map(|at| all[*at]).max();
                own.saturating_add(longest.unwrap_or_default())
            });
            let next: Vec<u64> = with_read.collect();
            if next == all {
                break;
            }
            all = next;
        }
        let alerts = rules.iter().zip(all);
        let alerts = alerts.filter(|((_, rule), _)| rule.alert.is_some());
        alerts.map(|(_, ns)| ns).max().unwrap_or_default()
    }

    /// It with expressions that read nothing, so that only its times are left.
    #[must_use]
    pub fn without_reading_back(&self) -> Self {
        let mut left = self.clone();
        for rule in left.groups.iter_mut().flat_map(|group| &mut group.rules) {
            rule.expr.clear();
        }
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

/// Whether Prometheus reads a value as a text.
pub(crate) fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

impl Rule {
    /// How long it goes on by itself, in nanoseconds: its `for` and `keep_firing_for`, and how far its expression reads back.
    fn own_ns(&self, words: &Words) -> u64 {
        let times = [&self.lasting, &self.keep_firing_for].into_iter().flatten();
        let own_ms = times.filter_map(|text| milliseconds(text));
        let own_ms = own_ms.fold(words.back_ms, u64::saturating_add);
        own_ms.saturating_mul(1_000_000)
    }
}

impl Group {
    /// The time from one evaluation to the next; `None` if it is none, is longer than a day, or is not known.
    fn interval_ns(&self, every: Option<Span>) -> Option<u64> {
        let Some(text) = &self.interval else {
            return every.map(Span::as_ns);
        };
        let interval_ms = milliseconds(text).filter(|ms| *ms <= DAY_MS)?;
        Some(interval_ms * 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_lingers_for_its_evaluation_its_times_and_what_it_reads_back() {
        let every = Span::parse("15s").unwrap();
        let check = |rules: &str, seconds: u64| {
            let file = file(&format!(
                "{{\"groups\": [{{\"name\":\"g\",\"rules\":[{rules}]}}]}}"
            ));
            assert_eq!(file.lingering_ns(every) / 1_000_000_000, seconds, "{rules}");
        };
        check(r#"{"alert":"A","expr":"a == 0"}"#, 15);
        check(
            r#"{"alert":"A","expr":"a == 0","for":"1m","keep_firing_for":"2m"}"#,
            195,
        );
        check(r#"{"alert":"A","expr":"increase(a[5m]) > 0"}"#, 315);
        check(
            r#"{"record":"r","expr":"increase(a[5m])"},{"alert":"A","expr":"r > 0","for":"1m"}"#,
            390,
        );
        // Rules that read one another are followed as far as there are rules.
        check(
            r#"{"record":"r","expr":"s"},{"record":"s","expr":"r"},{"alert":"A","expr":"r > 0"}"#,
            60,
        );
        // A rule that is not read by an alert waits for nothing.
        check(
            r#"{"record":"r","expr":"increase(a[5m])"},{"alert":"A","expr":"b > 0"}"#,
            15,
        );
    }

    fn file(text: &str) -> RuleFile {
        serde_json::from_str(text).unwrap()
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
