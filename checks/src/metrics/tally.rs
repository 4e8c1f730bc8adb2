//! Counts what each poll, each attempt and each read adds to the metrics.
//!
//! Nothing is judged here, and nothing is kept across a restart. A fault that is found again
//! because the connector has not accepted it is counted once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proto::HealthEvent;
use terms::Check;

use super::{
    BREACHES, CHECK_ERRORS, DEFERRED, DISCOVERED, DURATION, Family, MONITORED, SATURATED,
    SEND_ERRORS, SENDS, SENT, SKIPPED, Sample, SampleValue, Series, UNREADABLE,
};
use crate::message::AGENT;
use crate::todo::{IoKind, Outcome};

/// Upper bounds of a duration's buckets, in seconds (Prometheus' own, `DefBuckets`).
const BOUNDS: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// The checks of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worked {
    /// The state checks, and the check of character devices.
    State,
    /// The counter checks.
    Counter,
}

impl Worked {
    fn word(self) -> &'static str {
        match self {
            Worked::State => "state",
            Worked::Counter => "counter",
        }
    }
}

/// A histogram of durations.
#[derive(Debug, Clone, Default, PartialEq)]
struct Durations {
    /// The number of durations between this bound and the one before.
    within: [u64; BOUNDS.len()],
    count: u64,
    sum: Duration,
}

/// A fault: check, device, port (`None` for a device), and whether it is fatal.
type Fault = (Check, String, Option<String>, bool);

/// A breach: counter, device, port, and whether it is fatal.
type Breach = (String, String, String, bool);

/// Everything counted since the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    node: String,
    discovered: BTreeMap<Check, u64>,
    sent: BTreeMap<(Check, bool), u64>,
    durations: BTreeMap<Worked, Durations>,
    check_errors: BTreeMap<(Check, String, Option<String>), u64>,
    breaches: BTreeMap<Breach, u64>,
    deferred: BTreeMap<Check, u64>,
    skipped: u64,
    sends: u64,
    send_errors: BTreeMap<&'static str, u64>,
    monitored: u64,
    unreadable: BTreeMap<String, u64>,
    saturated: BTreeSet<(String, String, String)>,
    /// What the last poll found, so that it is not counted again.
    found: BTreeSet<Fault>,
    breached: BTreeSet<Breach>,
}

impl Metrics {
    /// All counts empty. Counters that exist from the start are 0.
    pub(crate) fn new(node: &str, checks: &[Check]) -> Metrics {
        let zeros = |fatal: bool| checks.iter().map(move |check| ((*check, fatal), 0));
        Metrics {
            node: node.to_owned(),
            discovered: BTreeMap::new(),
            sent: zeros(false).chain(zeros(true)).collect(),
            durations: BTreeMap::new(),
            check_errors: BTreeMap::new(),
            breaches: BTreeMap::new(),
            deferred: checks.iter().map(|check| (*check, 0)).collect(),
            skipped: 0,
            sends: 0,
            send_errors: BTreeMap::new(),
            monitored: 0,
            unreadable: BTreeMap::new(),
            saturated: BTreeSet::new(),
            found: BTreeSet::new(),
            breached: BTreeSet::new(),
        }
    }

    /// The number of devices in the last listing, for a check.
    pub(crate) fn discovered(&mut self, check: Check, devices: u64) {
        self.discovered.insert(check, devices);
    }

    /// The number of monitored devices.
    pub(crate) fn monitored(&mut self, devices: u64) {
        self.monitored = devices;
    }

    /// All faults that a poll found and the connector has not accepted yet.
    pub(crate) fn found(&mut self, faults: impl Iterator<Item = Fault>) {
        let found: BTreeSet<Fault> = faults.collect();
        for (check, device, port, _) in found.difference(&self.found) {
            let key = (*check, device.clone(), port.clone());
            *self.check_errors.entry(key).or_default() += 1;
        }
        self.found = found;
    }

    /// All breaches that a poll found and the connector has not accepted yet.
    pub(crate) fn breached(&mut self, breaches: impl Iterator<Item = Breach>) {
        let breached: BTreeSet<Breach> = breaches.collect();
        for breach in breached.difference(&self.breached) {
            *self.breaches.entry(breach.clone()).or_default() += 1;
        }
        self.breached = breached;
    }

    /// The saturated counters (name, device, port).
    pub(crate) fn saturated(&mut self, counters: BTreeSet<(String, String, String)>) {
        self.saturated = counters;
    }

    /// A first poll was deferred.
    pub(crate) fn deferred(&mut self) {
        self.deferred.values_mut().for_each(|count| *count += 1);
    }

    /// A read gave no value.
    pub(crate) fn unreadable(&mut self, cause: &str) {
        match self.unreadable.get_mut(cause) {
            Some(count) => *count += 1,
            None => drop(self.unreadable.insert(cause.to_owned(), 1)),
        }
    }

    /// A batch was accepted.
    pub(crate) fn accepted(&mut self, check: Check, events: &[HealthEvent]) {
        self.sends += 1;
        for event in events {
            *self.sent.entry((check, event.is_fatal)).or_default() += 1;
        }
    }

    /// A batch was given up in this poll; this was the outcome of its last attempt.
    pub(crate) fn given_up(&mut self, outcome: &Outcome) {
        match code_word(outcome) {
            None => self.skipped += 1,
            Some(code) => *self.send_errors.entry(code).or_default() += 1,
        }
    }

    /// A poll, including publishing, took this long.
    pub(crate) fn took(&mut self, worked: Worked, span: Duration) {
        let durations = self.durations.entry(worked).or_default();
        durations.count += 1;
        durations.sum += span;
        let seconds = span.as_secs_f64();
        if let Some(at) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            durations.within[at] += 1;
        }
    }

    /// All metrics in the order of [`super::METRICS`], also those without a value. Those of GID
    /// tables come from [`crate::GidPorts`].
    #[must_use]
    pub fn families(&self) -> Vec<Family> {
        let node = self.node.as_str();
        vec![
            family(DISCOVERED, &self.discovered, |check| {
                vec![node.to_owned(), check.to_string()]
            }),
            family(SENT, &self.sent, |(check, fatal)| {
                vec![node.to_owned(), check.to_string(), fatal.to_string()]
            }),
            Family {
                series: DURATION,
                samples: self
                    .durations
                    .iter()
                    .map(|(of, all)| all.sample(node, *of))
                    .collect(),
            },
            family(CHECK_ERRORS, &self.check_errors, |(check, device, port)| {
                vec![
                    node.to_owned(),
                    check.to_string(),
                    device.clone(),
                    port.clone().unwrap_or_default(),
                ]
            }),
            family(
                BREACHES,
                &self.breaches,
                |(counter, device, port, fatal)| {
                    let fatal = fatal.to_string();
                    vec![
                        node.to_owned(),
                        counter.clone(),
                        device.clone(),
                        port.clone(),
                        fatal,
                    ]
                },
            ),
            family(DEFERRED, &self.deferred, |check| {
                vec![node.to_owned(), check.to_string()]
            }),
            one(SKIPPED, AGENT, self.skipped),
            one(SENDS, AGENT, self.sends),
            family(SEND_ERRORS, &self.send_errors, |code| {
                vec![AGENT.to_owned(), (*code).to_owned()]
            }),
            one(MONITORED, node, self.monitored),
            family(UNREADABLE, &self.unreadable, |cause| {
                vec![node.to_owned(), cause.clone()]
            }),
            Family {
                series: SATURATED,
                samples: self
                    .saturated
                    .iter()
                    .map(|(counter, device, port)| Sample {
                        labels: vec![
                            node.to_owned(),
                            counter.clone(),
                            device.clone(),
                            port.clone(),
                        ],
                        value: SampleValue::Number(1),
                    })
                    .collect(),
            },
        ]
    }
}

impl Durations {
    fn sample(&self, node: &str, worked: Worked) -> Sample {
        let mut so_far = 0;
        let buckets = BOUNDS.iter().zip(self.within).map(|(bound, within)| {
            so_far += within;
            (*bound, so_far)
        });
        Sample {
            labels: vec![node.to_owned(), worked.word().to_owned()],
            value: SampleValue::Durations {
                buckets: buckets.collect(),
                count: self.count,
                sum: self.sum.as_secs_f64(),
            },
        }
    }
}

fn family<K>(
    series: Series,
    counts: &BTreeMap<K, u64>,
    labels: impl Fn(&K) -> Vec<String>,
) -> Family {
    let sample = |(key, count): (&K, &u64)| Sample {
        labels: labels(key),
        value: SampleValue::Number(*count),
    };
    Family {
        series,
        samples: counts.iter().map(sample).collect(),
    }
}

fn one(series: Series, label: &str, count: u64) -> Family {
    family(series, &BTreeMap::from([((), count)]), |()| {
        vec![label.to_owned()]
    })
}

/// The code of a failed attempt in the spelling of gRPC's Go library
/// (`google.golang.org/grpc/codes`); `None` if no call was made. Its client sees a broken
/// connection as `Unavailable`.
fn code_word(outcome: &Outcome) -> Option<&'static str> {
    const WORDS: [&str; 17] = [
        "OK",
        "Canceled",
        "Unknown",
        "InvalidArgument",
        "DeadlineExceeded",
        "NotFound",
        "AlreadyExists",
        "PermissionDenied",
        "ResourceExhausted",
        "FailedPrecondition",
        "Aborted",
        "OutOfRange",
        "Unimplemented",
        "Internal",
        "Unavailable",
        "DataLoss",
        "Unauthenticated",
    ];
    Some(match outcome {
        Outcome::SocketMissing => return None,
        Outcome::TimedOut => "DeadlineExceeded",
        Outcome::Io(IoKind::Other) => "Unknown",
        Outcome::Io(_) => "Unavailable",
        Outcome::Accepted => "OK",
        Outcome::Status { code, .. } => {
            let word = usize::try_from(*code).ok().and_then(|code| WORDS.get(code));
            word.copied().unwrap_or("Unknown")
        }
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn metrics() -> Metrics {
        Metrics::new("n1", &[Check::InfiniBandState])
    }

    /// The lines of a figure, as text.
    fn rendered(metrics: &Metrics, series: Series) -> Vec<String> {
        let families = metrics.families();
        let family = families.iter().find(|family| family.series == series);
        let lines = family.expect("every figure has a family").lines();
        lines
            .into_iter()
            .map(|(_, labels, value)| {
                let values: Vec<String> = labels.into_iter().map(|(_, value)| value).collect();
                format!("{} {value}", values.join(","))
            })
            .collect()
    }

    fn fault(device: &str, fatal: bool) -> Fault {
        (
            Check::InfiniBandState,
            device.to_owned(),
            Some("1".to_owned()),
            fatal,
        )
    }

    #[test]
    fn families_come_in_the_order_of_the_table_with_all_their_labels() {
        let mut metrics = metrics();
        metrics.discovered(Check::InfiniBandState, 1);
        metrics.found([fault("mlx5_0", true)].into_iter());
        let breach = |name: &str| (name.to_owned(), "mlx5_0".to_owned(), "1".to_owned(), true);
        metrics.breached([breach("link_downed")].into_iter());
        metrics.given_up(&Outcome::TimedOut);
        metrics.unreadable("EIO");
        metrics.took(Worked::State, Duration::ZERO);
        let at = (
            "symbol_error".to_owned(),
            "mlx5_0".to_owned(),
            "1".to_owned(),
        );
        metrics.saturated([at].into());
        let families = metrics.families();
        for (family, series) in families.iter().zip(super::super::METRICS) {
            assert_eq!(family.series, series);
            assert!(!family.samples.is_empty(), "{}", series.name);
            for sample in &family.samples {
                assert_eq!(sample.labels.len(), series.labels.len(), "{}", series.name);
            }
        }
        assert_eq!(
            families.len() + 1,
            super::super::METRICS.len(),
            "all but the GIDs"
        );
    }

    #[test]
    fn a_fault_found_again_because_nobody_accepted_it_counts_once() {
        let mut metrics = metrics();
        for _ in 0..3 {
            metrics.found([fault("mlx5_0", true)].into_iter());
        }
        assert_eq!(
            rendered(&metrics, CHECK_ERRORS),
            ["n1,InfiniBandStateCheck,mlx5_0,1 1"]
        );
        metrics.found(std::iter::empty());
        metrics.found([fault("mlx5_0", true)].into_iter());
        assert_eq!(
            rendered(&metrics, CHECK_ERRORS),
            ["n1,InfiniBandStateCheck,mlx5_0,1 2"]
        );
    }

    #[test]
    fn a_fault_that_grows_worse_counts_again() {
        let mut metrics = metrics();
        metrics.found([fault("mlx5_0", false)].into_iter());
        metrics.found([fault("mlx5_0", true)].into_iter());
        assert_eq!(
            rendered(&metrics, CHECK_ERRORS),
            ["n1,InfiniBandStateCheck,mlx5_0,1 2"]
        );
    }

    #[test]
    fn a_duration_is_in_every_bucket_that_is_long_enough() {
        let mut metrics = metrics();
        metrics.took(Worked::State, Duration::from_millis(5));
        metrics.took(Worked::State, Duration::from_millis(700));
        metrics.took(Worked::State, Duration::from_secs(11));
        let lines = rendered(&metrics, DURATION);
        let bucket = |le: &str, n: u32| format!("n1,state,{le} {n}");
        assert_eq!(lines[0], bucket("0.005", 1));
        assert_eq!(lines[6], bucket("0.5", 1));
        assert_eq!(lines[7], bucket("1", 2));
        assert_eq!(lines[11], bucket("+Inf", 3));
        assert_eq!(lines[12..], ["n1,state 11.705", "n1,state 3"]);
    }

    #[rstest]
    #[case(Outcome::SocketMissing, &[], 1)]
    #[case(Outcome::TimedOut, &["nic-health-monitor,DeadlineExceeded 1"], 0)]
    #[case(Outcome::Io(IoKind::Refused), &["nic-health-monitor,Unavailable 1"], 0)]
    #[case(Outcome::Io(IoKind::Other), &["nic-health-monitor,Unknown 1"], 0)]
    #[case(Outcome::Status { code: 3, message: String::new() }, &["nic-health-monitor,InvalidArgument 1"], 0)]
    #[case(Outcome::Status { code: 99, message: String::new() }, &["nic-health-monitor,Unknown 1"], 0)]
    fn a_batch_that_was_given_up_counts_by_its_code(
        #[case] outcome: Outcome,
        #[case] errors: &[&str],
        #[case] skipped: u64,
    ) {
        let mut metrics = metrics();
        metrics.given_up(&outcome);
        assert_eq!(rendered(&metrics, SEND_ERRORS), errors);
        assert_eq!(
            rendered(&metrics, SKIPPED),
            [format!("nic-health-monitor {skipped}")]
        );
    }
}
