//! Prints metrics in Prometheus' text format.

use checks::Family;
use checks::metrics::{Kind, Sample, SampleValue, number_of};
use prometheus::TextEncoder;
use prometheus::proto::{
    Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType,
};

/// The `Content-Type` of the text.
pub(crate) const TEXT_FORMAT: &str = prometheus::TEXT_FORMAT;

/// The text; metrics without a value are omitted, as the format requires.
pub(crate) fn text(families: &[Family]) -> String {
    let families: Vec<MetricFamily> = families
        .iter()
        .filter(|family| !family.samples.is_empty())
        .map(rendered)
        .collect();
    TextEncoder::new()
        .encode_to_string(&families)
        .expect("families with names and values are all that the format asks for")
}

fn rendered(family: &Family) -> MetricFamily {
    let series = family.series;
    let mut rendered = MetricFamily::default();
    rendered.set_name(series.name.to_owned());
    rendered.set_help(series.help.to_owned());
    rendered.set_field_type(match series.kind {
        Kind::Counter => MetricType::COUNTER,
        Kind::Gauge => MetricType::GAUGE,
        Kind::Histogram => MetricType::HISTOGRAM,
    });
    let samples = family.samples.iter();
    rendered.set_metric(
        samples
            .map(|sample| metric(series.kind, series.labels, sample))
            .collect(),
    );
    rendered
}

fn metric(kind: Kind, names: &[&str], sample: &Sample) -> Metric {
    let pair = |(name, value): (&&str, &String)| {
        let mut pair = LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value(value.clone());
        pair
    };
    let mut metric = Metric::from_label(names.iter().zip(&sample.labels).map(pair).collect());
    match &sample.value {
        SampleValue::Number(number) if kind == Kind::Counter => {
            let mut counter = Counter::default();
            counter.set_value(number_of(*number));
            metric.set_counter(counter);
        }
        SampleValue::Number(number) => {
            let mut gauge = Gauge::default();
            gauge.set_value(number_of(*number));
            metric.set_gauge(gauge);
        }
        SampleValue::Durations {
            buckets,
            count,
            sum,
        } => {
            let mut histogram = Histogram::default();
            histogram.set_sample_count(*count);
            histogram.set_sample_sum(*sum);
            let bucket = |(bound, count): &(f64, u64)| {
                let mut bucket = Bucket::default();
                bucket.set_upper_bound(*bound);
                bucket.set_cumulative_count(*count);
                bucket
            };
            histogram.set_bucket(buckets.iter().map(bucket).collect());
            metric.set_histogram(histogram);
        }
    }
    metric
}

#[cfg(test)]
mod tests {
    use checks::metrics::{METRICS, Series};

    use super::*;

    fn family(name: &str, labels: &[&str], value: SampleValue) -> Family {
        let series: Series = *METRICS.iter().find(|series| series.name == name).unwrap();
        Family {
            series,
            samples: vec![Sample {
                labels: labels.iter().map(|label| (*label).to_owned()).collect(),
                value,
            }],
        }
    }

    #[test]
    fn metrics_are_written_as_prometheus_reads_them() {
        let text = text(&[
            family(
                "nic_health_monitor_unreadable_reads_total",
                &["n \"1\"", "EIO"],
                SampleValue::Number(2),
            ),
            family(
                "nic_health_monitor_poll_cycle_duration_seconds",
                &["n1", "state"],
                SampleValue::Durations {
                    buckets: vec![(0.005, 1), (10.0, 1)],
                    count: 2,
                    sum: 11.5,
                },
            ),
            Family {
                samples: Vec::new(),
                ..family("nic_health_monitor_gids", &[], SampleValue::Number(0))
            },
        ]);
        let without_help: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("# HELP"))
            .collect();
        let duration = "nic_health_monitor_poll_cycle_duration_seconds";
        assert_eq!(
            without_help,
            [
                "# TYPE nic_health_monitor_unreadable_reads_total counter".to_owned(),
                "nic_health_monitor_unreadable_reads_total{node=\"n \\\"1\\\"\",cause=\"EIO\"} 2"
                    .to_owned(),
                format!("# TYPE {duration} histogram"),
                format!("{duration}_bucket{{node=\"n1\",category=\"state\",le=\"0.005\"}} 1"),
                format!("{duration}_bucket{{node=\"n1\",category=\"state\",le=\"10\"}} 1"),
                format!("{duration}_bucket{{node=\"n1\",category=\"state\",le=\"+Inf\"}} 2"),
                format!("{duration}_sum{{node=\"n1\",category=\"state\"}} 11.5"),
                format!("{duration}_count{{node=\"n1\",category=\"state\"}} 2"),
            ]
        );
    }
}
