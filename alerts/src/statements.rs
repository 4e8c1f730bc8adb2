//! What firing alerts say: level statements about subjects, at every evaluation. Start at [`statements`].

use std::collections::{BTreeMap, BTreeSet};

use observe::{AlertRows, Observation, Subject, UNNAMED};
use terms::Severity;

use crate::{
    firing::{Firing, Labels},
    grid::Instants,
};

/// A statement at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The instant, in nanoseconds since the drill began.
    pub at_ns: u64,
    /// The label `instance` of the alerts, if they have it.
    pub instance: Option<String>,
    /// What it says.
    pub observation: Observation,
}

/// The alerts that fired and that nothing gives a meaning, with the number of instants.
pub type Unnamed = BTreeMap<String, u64>;

/// What is stated about: instance, subject and code.
type About = (Option<String>, Subject, Vec<String>);

/// What the alerts of some groups say, one group of evaluations for each interval. Of the alerts about one subject the
/// most severe counts; once none fires any more, the subject is healthy.
#[must_use]
pub fn statements(
    rows: &AlertRows,
    evaluated: &[(Instants, Vec<Firing>)],
) -> (Vec<Statement>, Unnamed) {
    let mut unnamed = Unnamed::new();
    let mut all = Vec::new();
    let mut instants: BTreeSet<(u64, usize)> = BTreeSet::new();
    let mut fired: BTreeMap<(u64, usize), Vec<&Firing>> = BTreeMap::new();
    for (number, (times, firings)) in evaluated.iter().enumerate() {
        instants.extend(times.iter().map(|at| (at, number)));
        for firing in firings {
            fired
                .entry((firing.at_ns, number))
                .or_default()
                .push(firing);
        }
    }
    // What each interval's last evaluation said.
    let mut standing: BTreeMap<usize, BTreeMap<About, (Severity, BTreeSet<String>)>> =
        BTreeMap::new();
    let mut stated: BTreeSet<About> = BTreeSet::new();
    for (at_ns, number) in instants {
        let mut now: BTreeMap<About, (Severity, BTreeSet<String>)> = BTreeMap::new();
        for firing in fired.remove(&(at_ns, number)).unwrap_or_default() {
            let Some(meaning) = rows.meaning(&firing.alert, &firing.labels) else {
                *unnamed.entry(firing.alert.clone()).or_default() += 1;
                all.push(unnamed_statement(at_ns, firing));
                continue;
            };
            let instance = firing.labels.get("instance").cloned();
            let about = (instance, meaning.subject, meaning.codes);
            let entry = now
                .entry(about)
                .or_insert((meaning.severity, BTreeSet::new()));
            entry.0 = worse(entry.0, meaning.severity);
            entry.1.insert(line(&firing.alert, &firing.labels));
        }
        standing.insert(number, now);
        let mut merged: BTreeMap<&About, (Severity, BTreeSet<&String>)> = BTreeMap::new();
        for (about, (severity, names)) in standing.values().flatten() {
            let entry = merged.entry(about).or_insert((*severity, BTreeSet::new()));
            entry.0 = worse(entry.0, *severity);
            entry.1.extend(names);
        }
        let mut say = |about: &About, severity, text: String| {
            let (instance, subject, codes) = about.clone();
            all.push(Statement {
                at_ns,
                instance,
                observation: Observation {
                    subject,
                    codes,
                    severity,
                    text,
                    ..Observation::default()
                },
            });
        };
        for about in &stated {
            if !merged.contains_key(about) {
                say(
                    about,
                    Severity::Healthy,
                    "no alert fires any more".to_owned(),
                );
            }
        }
        for (about, (severity, names)) in &merged {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            say(about, *severity, names.join(", "));
        }
        stated = merged.into_keys().cloned().collect();
    }
    (all, unnamed)
}

/// That an alert fires which no row gives a meaning: nothing is known by it.
fn unnamed_statement(at_ns: u64, firing: &Firing) -> Statement {
    Statement {
        at_ns,
        instance: firing.labels.get("instance").cloned(),
        observation: Observation {
            severity: Severity::Unknown,
            text: line(&firing.alert, &firing.labels),
            fields: vec![(UNNAMED.to_owned(), firing.alert.clone())],
            ..Observation::default()
        },
    }
}

/// The more severe of two; what is not known is less than any fault.
fn worse(one: Severity, other: Severity) -> Severity {
    let rank = |severity| match severity {
        Severity::Healthy => 0,
        Severity::Unknown => 1,
        Severity::NonFatal => 2,
        Severity::Fatal => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// An alert as Prometheus shows it.
fn line(alert: &str, labels: &Labels) -> String {
    let labels = labels.iter();
    let labels: Vec<String> = labels
        .map(|(name, value)| format!("{name}={}", serde_json::Value::from(value.as_str())))
        .collect();
    format!("{alert}{{{}}}", labels.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::MS;

    fn rows() -> AlertRows {
        serde_json::from_str(
            r#"{"Down": {"says": "fatal", "device": "device", "port": "port"},
                "Slow": {"says": "nonfatal", "device": "device", "port": "port"}}"#,
        )
        .unwrap()
    }

    fn fires(at: u64, alert: &str) -> Firing {
        let labels = [("device", "m"), ("port", "1"), ("instance", "n")];
        Firing {
            at_ns: at * MS,
            alert: alert.to_owned(),
            labels: labels
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        }
    }

    #[track_caller]
    fn check(
        evaluated: &[(u64, &[(u64, &str)])],
        said: &[(u64, Severity)],
        unnamed: &[(&str, u64)],
    ) {
        let evaluated: Vec<_> = evaluated
            .iter()
            .map(|(every, firings)| {
                let instants = Instants::with_phase(every * MS, (0, 1), 4 * MS);
                (
                    instants,
                    firings
                        .iter()
                        .map(|(at, alert)| fires(*at, alert))
                        .collect(),
                )
            })
            .collect();
        let (all, rest) = statements(&rows(), &evaluated);
        let all: Vec<_> = all
            .iter()
            .map(|it| (it.at_ns / MS, it.observation.severity))
            .collect();
        assert_eq!(all, said);
        let rest: Vec<_> = rest
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
            .collect();
        assert_eq!(rest, unnamed);
    }

    #[test]
    fn the_most_severe_alert_counts_and_the_end_is_healthy() {
        check(
            &[(
                1,
                &[
                    (1, "Slow"),
                    (2, "Slow"),
                    (2, "Down"),
                    (3, "Slow"),
                    (3, "Other"),
                ],
            )],
            &[
                (1, Severity::NonFatal),
                (2, Severity::Fatal),
                (3, Severity::Unknown),
                (3, Severity::NonFatal),
                (4, Severity::Healthy),
            ],
            &[("Other", 1)],
        );
    }

    #[test]
    fn what_an_interval_said_stands_until_it_is_evaluated_again() {
        check(
            &[(1, &[(1, "Slow")]), (2, &[(2, "Down")])],
            &[
                (1, Severity::NonFatal),
                (2, Severity::Healthy),
                (2, Severity::Fatal),
                (3, Severity::Fatal),
                (4, Severity::Fatal),
                (4, Severity::Healthy),
            ],
            &[],
        );
    }
}
