//! The monitor's own metrics as plain data; `/metrics` prints them.
//!
//! Names, labels and kinds are NVSentinel's (nic-health-monitor, `pkg/metrics`; `healthpub`), so
//! that its dashboards and alerts work; the last few exist in this monitor only. [`METRICS`] lists
//! them, a [`Family`] is one metric with its values, and [`tally`](Metrics) counts. The crate
//! `monitor` has the text format and the HTTP server.

mod tally;

pub use tally::{Metrics, Worked};

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Counter: it only grows, from zero at the start.
    Counter,
    /// Gauge: it can go up and down.
    Gauge,
    /// Histogram: it counts durations by their length.
    Histogram,
}

impl Kind {
    /// The kind as the text format writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

/// One metric: its name, kind, labels and meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series {
    /// Its name in `/metrics`.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// The names of its labels; the first is the node's or the monitor's name.
    pub labels: &'static [&'static str],
    /// What it means, in one sentence.
    pub help: &'static str,
}

const fn series(
    name: &'static str,
    kind: Kind,
    labels: &'static [&'static str],
    help: &'static str,
) -> Series {
    Series {
        name,
        kind,
        labels,
        help,
    }
}

pub(crate) const DISCOVERED: Series = series(
    "nic_health_monitor_devices_discovered",
    Kind::Gauge,
    &["node", "check"],
    "RDMA devices that the last poll could read, whether or not they are monitored; virtual functions are left out.",
);
pub(crate) const SENT: Series = series(
    "nic_health_monitor_health_events_sent_total",
    Kind::Counter,
    &["node", "check", "is_fatal"],
    "Health events that the platform connector accepted.",
);
pub(crate) const DURATION: Series = series(
    "nic_health_monitor_poll_cycle_duration_seconds",
    Kind::Histogram,
    &["node", "category"],
    "How long a poll took, publishing included; category is `state` or `counter`.",
);
pub(crate) const CHECK_ERRORS: Series = series(
    "nic_health_monitor_state_check_errors_total",
    Kind::Counter,
    &["node", "check", "device", "port"],
    "Faults of ports and devices that a check found, each once, whether or not it could be sent.",
);
pub(crate) const BREACHES: Series = series(
    "nic_health_monitor_counter_threshold_breaches_total",
    Kind::Counter,
    &["node", "counter", "device", "port", "is_fatal"],
    "Counters that went over their threshold, each breach once, whether or not it could be sent.",
);
pub(crate) const DEFERRED: Series = series(
    "nic_health_monitor_first_poll_deferred_total",
    Kind::Counter,
    &["node", "check"],
    "First polls put off because a device could not be read.",
);
pub(crate) const SKIPPED: Series = series(
    "nvsentinel_health_events_publisher_skipped_pc_unavailable_total",
    Kind::Counter,
    &["monitor"],
    "Batches not sent because the platform connector's socket was not there.",
);
pub(crate) const SENDS: Series = series(
    "nvsentinel_health_events_publisher_sends_success_total",
    Kind::Counter,
    &["monitor"],
    "Batches that the platform connector accepted.",
);
pub(crate) const SEND_ERRORS: Series = series(
    "nvsentinel_health_events_publisher_sends_error_total",
    Kind::Counter,
    &["monitor", "code"],
    "Batches given up in a poll after the last attempt, by the gRPC code of that attempt.",
);
pub(crate) const MONITORED: Series = series(
    "nic_health_monitor_devices_monitored",
    Kind::Gauge,
    &["node"],
    "Devices that are monitored and present; 0 means that nothing is watched.",
);
pub(crate) const UNREADABLE: Series = series(
    "nic_health_monitor_unreadable_reads_total",
    Kind::Counter,
    &["node", "cause"],
    "Reads that told nothing, so that the last known state stood; cause is an errno, `timed out` or `garbled`.",
);
pub(crate) const SATURATED: Series = series(
    "nic_health_monitor_counter_saturated",
    Kind::Gauge,
    &["node", "counter", "device", "port"],
    "1 where a watched counter stands at its field's maximum and cannot show growth.",
);
pub(crate) const GIDS: Series = series(
    "nic_health_monitor_gids",
    Kind::Gauge,
    &["node", "device", "port", "type", "netdev"],
    "Valid entries in the GID table of a monitored RoCE port, by GID type and owning net device.",
);

/// Every metric, in the order of the output.
pub const METRICS: [Series; 13] = [
    DISCOVERED,
    SENT,
    DURATION,
    CHECK_ERRORS,
    BREACHES,
    DEFERRED,
    SKIPPED,
    SENDS,
    SEND_ERRORS,
    MONITORED,
    UNREADABLE,
    SATURATED,
    GIDS,
];

/// A metric with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// The metric.
    pub series: Series,
    /// Its values, in the order of their labels; none if nothing was counted yet.
    pub samples: Vec<Sample>,
}

/// One value of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The values of the metric's labels, in their order.
    pub labels: Vec<String>,
    /// The value.
    pub value: SampleValue,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum SampleValue {
    /// Of a counter or a gauge.
    Number(u64),
    /// Of a histogram.
    Durations {
        /// Upper bounds in seconds, each with the number of durations up to it.
        buckets: Vec<(f64, u64)>,
        /// The number of durations.
        count: u64,
        /// Their sum in seconds.
        sum: f64,
    },
}

/// One line of `/metrics`: the name, the labels, the value.
pub type Line = (String, Vec<(String, String)>, f64);

impl Family {
    /// One line for each value; a histogram has one for each bucket, its sum and its count.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for sample in &self.samples {
            let names = self.series.labels.iter().map(|name| (*name).to_owned());
            let labels: Vec<_> = names.zip(sample.labels.iter().cloned()).collect();
            let name = self.series.name;
            match &sample.value {
                SampleValue::Number(number) => {
                    lines.push((name.to_owned(), labels, number_of(*number)))
                }
                SampleValue::Durations {
                    buckets,
                    count,
                    sum,
                } => {
                    let bounds = buckets.iter().map(|(bound, n)| (bound.to_string(), *n));
                    for (bound, n) in bounds.chain([("+Inf".to_owned(), *count)]) {
                        let mut labels = labels.clone();
                        labels.push(("le".to_owned(), bound));
                        lines.push((format!("{name}_bucket"), labels, number_of(n)));
                    }
                    lines.push((format!("{name}_sum"), labels.clone(), *sum));
                    lines.push((format!("{name}_count"), labels, number_of(*count)));
                }
            }
        }
        lines
    }
}

/// A count as a floating-point number; exact up to 2^53.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "the text format has no other numbers; 2^53 is beyond any count here"
)]
pub fn number_of(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_figure_has_a_name_of_its_own_and_begins_with_whom_it_is_about() {
        let names: BTreeSet<&str> = METRICS.iter().map(|series| series.name).collect();
        assert_eq!(names.len(), METRICS.len());
        for series in METRICS {
            assert!(
                matches!(series.labels, ["node" | "monitor", ..]),
                "{}",
                series.name
            );
            let is_counter = series.name.ends_with("_total");
            assert_eq!(is_counter, series.kind == Kind::Counter, "{}", series.name);
            assert!(series.help.ends_with('.'), "{}", series.name);
        }
    }

    #[test]
    fn a_histogram_is_told_bucket_by_bucket() {
        let family = Family {
            series: DURATION,
            samples: vec![Sample {
                labels: vec!["n1".to_owned(), "state".to_owned()],
                value: SampleValue::Durations {
                    buckets: vec![(0.005, 1), (0.5, 2)],
                    count: 3,
                    sum: 7.25,
                },
            }],
        };
        let lines: Vec<String> = family
            .lines()
            .into_iter()
            .map(|(name, labels, value)| {
                let le = labels.get(2).map_or("", |(_, le)| le);
                format!("{name} {le} {value}")
            })
            .collect();
        let name = DURATION.name;
        assert_eq!(
            lines,
            [
                format!("{name}_bucket 0.005 1"),
                format!("{name}_bucket 0.5 2"),
                format!("{name}_bucket +Inf 3"),
                format!("{name}_sum  7.25"),
                format!("{name}_count  3"),
            ]
        );
    }

    #[test]
    fn kinds_are_called_as_in_the_text_format() {
        let words = [Kind::Counter, Kind::Gauge, Kind::Histogram].map(Kind::word);
        assert_eq!(words, ["counter", "gauge", "histogram"]);
    }
}
