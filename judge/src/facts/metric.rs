//! The values of a metric at the end of a window.

use std::collections::BTreeMap;

use observe::Series;
use reports::CauseKind;
use scenarios::{MetricIs, What};
use terms::Check;

use super::fact::{Fact, FactKind, Outcome, Scene, check};
use crate::{
    altered::change::{Alteration, AlteredSubject, Change},
    reasons,
};

/// The sum of those that have these labels.
pub(super) struct Metric<'w> {
    pub(super) name: &'w str,
    pub(super) labels: &'w BTreeMap<String, String>,
    pub(super) is: MetricIs,
}

impl Fact for Metric<'_> {
    fn kind(&self) -> FactKind {
        FactKind::of("metric", CauseKind::Metric)
    }

    fn not_judged(&self, scene: &Scene<'_>) -> Option<&'static str> {
        let page = scene.context.descriptor.metrics.as_ref();
        let has = page.is_some_and(|page| page.has(self.name));
        (!has).then_some(reasons::METRICS)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let page = scene.context.descriptor.metrics.as_ref();
        metric(
            self.name,
            self.labels,
            self.is,
            scene
                .answers()
                .and_then(|answered| answered.metrics.as_deref()),
            page.is_some_and(|page| page.lazy),
        )
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        vec![other_value(subject, self.name, self.labels, self.is)]
    }
}

/// Checks a metric: the sum of its values with these labels, or that there is none. `none_is_zero`: it has no value
/// before its first change.
fn metric(
    name: &str,
    labels: &BTreeMap<String, String>,
    is: MetricIs,
    found: Option<&[Series]>,
    none_is_zero: bool,
) -> Outcome {
    let has_name = |series: &&Series| series.name == name;
    let has_labels = |series: &&Series| {
        let mut wanted = labels.iter();
        wanted.all(|(name, text)| series.labels.get(name) == Some(text))
    };
    let values: Vec<f64> = found
        .into_iter()
        .flatten()
        .filter(has_name)
        .filter(has_labels)
        .map(|series| series.value)
        .collect();
    let sum: f64 = values.iter().sum();
    let (holds, expected) = match is {
        MetricIs::Absent => (found.is_some() && values.is_empty(), "no value".to_owned()),
        MetricIs::Within { least, most } => {
            let is_least = sum >= least as f64;
            let is_most = most == u64::MAX || sum <= most as f64;
            let bounds = match (least, most) {
                (least, most) if least == most => least.to_string(),
                (least, u64::MAX) => format!("at least {least}"),
                (least, most) => format!("{least} to {most}"),
            };
            let is_there = !values.is_empty() || (none_is_zero && found.is_some());
            (is_there && is_least && is_most, bounds)
        }
    };
    let wanted: Vec<String> = labels
        .iter()
        .map(|(name, text)| format!("{name}={}", serde_json::Value::from(&**text)))
        .collect();
    check(
        holds,
        || format!("{name}{{{}}}: {expected}", wanted.join(",")),
        || match found {
            None => vec!["no answer from `/metrics`".to_owned()],
            Some(found) => {
                let near: Vec<String> = found.iter().filter(has_name).map(Series::line).collect();
                if near.is_empty() {
                    vec![format!("no value of {name}")]
                } else {
                    near
                }
            }
        },
    )
}

fn other_value(
    subject: &AlteredSubject<'_>,
    name: &str,
    labels: &BTreeMap<String, String>,
    is: MetricIs,
) -> (&'static str, Change) {
    let check = labels.get("check");
    if is == MetricIs::Absent && check.is_some_and(|check| Check::parse(check).is_none()) {
        let why = "no check has the name that its label states";
        return ("another value", Change::Equivalent(why));
    }
    let other = match is {
        MetricIs::Absent => MetricIs::Within {
            least: 0,
            most: u64::MAX,
        },
        MetricIs::Within {
            least: 0,
            most: u64::MAX,
        } => MetricIs::Absent,
        MetricIs::Within {
            least,
            most: u64::MAX,
        } => MetricIs::Within {
            least: 0,
            most: least - 1,
        },
        MetricIs::Within { most, .. } => MetricIs::Within {
            least: most + 1,
            most: u64::MAX,
        },
    };
    let what = What::Metric {
        name: name.to_owned(),
        labels: labels.clone(),
        is: other,
    };
    ("another value", subject.line(what))
}
