//! Alert rules as a monitor: how Prometheus scrapes the exporter and evaluates the rules, and what the alerts mean.
//!
//! What the rules say is left to Prometheus' own engine. Start at [`Prometheus`] and [`AlertRows::meaning`].

use std::{collections::BTreeMap, time::Duration};

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use terms::Severity;

use super::scrape_page::metrics_path;
use crate::{Adapter, Facts, Medium, PageForm, Part, Schedule, Span, Subject, VerdictWord};

pub(super) const FACTS: Facts = Facts {
    medium: Medium::KeptPages,
    part: Some(Part {
        key: "prometheus",
        example: "`prometheus: { rules: alerts.yaml }`",
        meanings: "alerts",
        silence_hint: "does it listen at `{metrics_port}`, and is the path of its page that of `prometheus`?",
    }),
    silence: "in {polls} polls no page with a series was scraped from the monitor",
};

/// The row for alerts that have none of their own.
const ANY: &str = "*";

/// With `speaks: prometheus-rules`: the rule file, and the server that would read it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prometheus {
    /// The rule file; relative to the descriptor's folder.
    pub rules: String,
    /// The text of the rule file, once it is read.
    #[serde(skip)]
    pub rules_text: String,
    /// Whether a drill only records what is scraped, and whoever plays it evaluates the rules.
    #[serde(skip)]
    pub is_only_recorded: bool,
    /// The path at `{metrics_port}` that is scraped; default `/metrics`.
    #[serde(default = "metrics_path")]
    pub path: String,
    /// The time from one scrape to the next; default 1 min (Prometheus, "Configuration"). A shorter one than a tick
    /// counts as a tick.
    #[serde(default = "minute")]
    pub scrape_interval: Span,
    /// When the first scrape is, since the drill began; shorter than the interval.
    #[serde(default)]
    pub scrape_phase: Span,
    /// After this time a scrape has failed; default 10 s, or the interval if that is shorter.
    pub scrape_timeout: Option<Span>,
    /// The time from one evaluation of a group that states none to the next; default 1 min.
    #[serde(default = "minute")]
    pub evaluation_interval: Span,
    /// When the first evaluation is, since the drill began; shorter than the interval.
    #[serde(default)]
    pub evaluation_phase: Span,
    /// The label `job` of all series; default `node`.
    #[serde(default = "node_job")]
    pub job: String,
    /// The label `instance`, in which `{node}` is replaced; default `{node}:9100`.
    #[serde(default = "node_instance")]
    pub instance: String,
    /// The external labels of the server, which templates of rules can use.
    #[serde(default)]
    pub external_labels: BTreeMap<String, String>,
}

fn minute() -> Span {
    Span(Duration::from_mins(1))
}

fn node_job() -> String {
    "node".to_owned()
}

fn node_instance() -> String {
    "{node}:9100".to_owned()
}

impl Prometheus {
    /// When the exporter is scraped.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        let timeout = Span(Duration::from_secs(10)).min(self.scrape_interval);
        Schedule {
            interval: Some(self.scrape_interval),
            phase: self.scrape_phase,
            timeout: Some(self.scrape_timeout.unwrap_or(timeout)),
            ..Schedule::default()
        }
    }

    /// The label `instance` of a node's exporter.
    #[must_use]
    pub fn instance_of(&self, node: &str) -> String {
        self.instance.replace("{node}", node)
    }
}

impl Adapter for Prometheus {
    fn page(&self) -> Option<(&str, PageForm)> {
        Some((&self.path, PageForm::Series))
    }

    fn problems(&self) -> Vec<Problem> {
        let zero = |key: &'static str, span: Span| {
            let what = format!("`prometheus` has an interval of 0: `{key}`");
            let is_zero = span.0.is_zero();
            is_zero.then(|| Problem::at([key], what, "write a time such as `15s`"))
        };
        let late = |key: &'static str, phase: Span, interval: Span, of: &str| {
            let what = format!("the `{key}` of `prometheus` is not shorter than its interval");
            let hint =
                format!("the phase is the time of the first {of}: write one that is shorter");
            (phase >= interval && !interval.0.is_zero()).then(|| Problem::at([key], what, hint))
        };
        let (scrape, evaluation) = (self.scrape_interval, self.evaluation_interval);
        let timeout = self.scrape_timeout.filter(|timeout| *timeout > scrape);
        let has_braces = self.instance_of("").contains(['{', '}']);
        let problems = [
            zero("scrape_interval", scrape),
            zero("evaluation_interval", evaluation),
            late(
                "evaluation_phase",
                self.evaluation_phase,
                evaluation,
                "evaluation",
            ),
            late("scrape_phase", self.scrape_phase, scrape, "scrape"),
            has_braces.then(|| {
                Problem::at(
                    ["instance"],
                    "`instance` of `prometheus` has a placeholder other than `{node}`",
                    "write a text such as `{node}:9100`",
                )
            }),
            timeout.map(|_| {
                Problem::at(
                    ["scrape_timeout"],
                    "`prometheus` has a `scrape_timeout` that is longer than its `scrape_interval`",
                    "Prometheus refuses that too: write a shorter one",
                )
            }),
        ];
        let problems = problems.into_iter().flatten();
        problems
            .map(|problem| problem.below(["prometheus"]))
            .collect()
    }
}

/// What alerts mean, by the name of the rule; `*` stands for all that have no row of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AlertRows(BTreeMap<String, AlertRow>);

/// What an alert means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AlertRow {
    /// What it says, if no label decides.
    says: Option<VerdictWord>,
    /// The label that decides what it says, such as `severity`.
    by: Option<String>,
    /// What the values of this label say; any other value says that nothing is known.
    verdicts: BTreeMap<String, VerdictWord>,
    /// The label with the device.
    device: Option<String>,
    /// The label with the port.
    port: Option<String>,
    /// The label with the card.
    card: Option<String>,
    /// What distinguishes faults of one subject, such as the name of a counter.
    code: Option<String>,
}

/// What an alert means, read from its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The subject.
    pub subject: Subject,
    /// The severity.
    pub severity: Severity,
    /// Codes that distinguish several faults of the subject.
    pub codes: Vec<String>,
}

impl AlertRows {
    /// What an alert with these labels means; `None` if no row gives it a meaning.
    #[must_use]
    pub fn meaning(&self, alert: &str, labels: &BTreeMap<String, String>) -> Option<Meaning> {
        let row = self.0.get(alert).or_else(|| self.0.get(ANY))?;
        let label = |name: &Option<String>| labels.get(name.as_ref()?).cloned();
        let word = label(&row.by).and_then(|value| row.verdicts.get(&value).copied());
        Some(Meaning {
            subject: Subject::named(label(&row.device), label(&row.port), label(&row.card)),
            severity: row.says.or(word).map_or(Severity::Unknown, Severity::from),
            codes: row.code.iter().cloned().collect(),
        })
    }

    /// The names of the alerts that have a row of their own.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.0.keys().map(String::as_str);
        names.filter(|name| *name != ANY)
    }

    /// Whether a row gives an alert of this name a meaning.
    #[must_use]
    pub fn means(&self, alert: &str) -> bool {
        self.0.contains_key(alert) || self.0.contains_key(ANY)
    }

    /// Whether no alert has a meaning.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is wrong with the rows.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let rows = self.0.iter().filter_map(|(name, row)| {
            let is_said = row.says.is_some() && row.by.is_none() && row.verdicts.is_empty();
            let is_read = row.says.is_none() && row.by.is_some() && !row.verdicts.is_empty();
            let (what, hint) = if !is_said && !is_read {
                (
                    format!("`{name}` does not state in one way what it says"),
                    "write `says: fatal`, or `by: severity` and `verdicts: { critical: fatal }`",
                )
            } else if row.port.is_some() && row.device.is_none() {
                (
                    format!("`{name}` names a port of no device"),
                    "write `device:` with the label of the device",
                )
            } else {
                return None;
            };
            Some(Problem::at(["alerts", name], what, hint))
        });
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> AlertRows {
        serde_json::from_str(text).unwrap()
    }

    #[track_caller]
    fn check(alert: &str, labels: &[(&str, &str)], expected: Option<(&str, Severity)>) {
        let rows = rows(
            r#"{"Down": {"says": "fatal", "device": "device", "port": "port"},
                "*": {"by": "severity", "verdicts": {"page": "fatal", "ticket": "nonfatal"}, "device": "device"}}"#,
        );
        let labels = labels
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        let meaning = rows.meaning(alert, &labels.collect());
        let read = meaning.map(|meaning| (meaning.subject.to_string(), meaning.severity));
        let expected = expected.map(|(subject, severity)| (subject.to_owned(), severity));
        assert_eq!(read, expected);
    }

    #[test]
    fn labels_give_the_subject_and_the_verdict() {
        check(
            "Down",
            &[("device", "m"), ("port", "1")],
            Some(("NIC=m NICPort=1", Severity::Fatal)),
        );
        check("Down", &[], Some(("", Severity::Fatal)));
        check(
            "Any",
            &[("device", "m"), ("severity", "ticket")],
            Some(("NIC=m", Severity::NonFatal)),
        );
        check(
            "Any",
            &[("severity", "other")],
            Some(("", Severity::Unknown)),
        );
        assert_eq!(rows("{}").meaning("Any", &BTreeMap::new()), None);
    }

    #[test]
    fn the_row_for_all_others_is_the_name_of_no_alert() {
        let named = rows(r#"{"B": {"says": "fatal"}, "A": {"says": "fatal"}}"#);
        assert_eq!(named.names().collect::<Vec<&str>>(), ["A", "B"]);
        assert!(named.means("A") && !named.means("C"));
        let any = rows(r#"{"*": {"says": "fatal"}}"#);
        assert_eq!(any.names().count(), 0);
        assert!(any.means("C"));
    }

    #[test]
    fn rows_that_say_nothing_or_twice_are_refused() {
        for refused in [
            r#"{"A": {}}"#,
            r#"{"A": {"by": "severity"}}"#,
            r#"{"A": {"says": "fatal", "by": "severity", "verdicts": {"x": "fatal"}}}"#,
            r#"{"A": {"says": "fatal", "port": "port"}}"#,
        ] {
            assert_eq!(rows(refused).problems().len(), 1, "{refused}");
        }
        assert_eq!(rows(r#"{"A": {"says": "fatal"}}"#).problems(), []);
    }
}
