//! What Prometheus would have stored of its scrapes: samples by series, with the marks of series that ended.
//!
//! A sample bears the time of its scrape. A series that a scrape had and the next one has not is stale from that one on;
//! a scrape that failed makes all series stale and is `up 0` (Prometheus, "Staleness", "Jobs and instances"). Time
//! stamps of a page itself are left out. Start at [`History::scraped`].

use std::collections::{BTreeMap, BTreeSet};

use observe::{Prometheus, Recording, Scrape, ScrapeOutcome, Series};

use crate::{
    firing::Labels,
    grid::{Instants, MS, gcd},
    words::Words,
};

/// A scrape at which nobody listened.
fn refused(at_ns: u64) -> Scrape {
    Scrape {
        at_ns,
        took_ns: 0,
        outcome: ScrapeOutcome::Failed("no exporter runs".to_owned()),
    }
}

/// What a scrape adds by itself.
const OWN: [&str; 4] = [
    "up",
    "scrape_duration_seconds",
    "scrape_samples_scraped",
    "scrape_samples_post_metric_relabeling",
];

/// A target of scrapes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The label `job`.
    pub job: String,
    /// The label `instance`.
    pub instance: String,
}

/// A series: its name and its labels.
type SeriesKey = (String, Labels);

/// The samples of some targets, by series and time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The samples of each series, in the order of time; `None` marks its end.
    samples: BTreeMap<SeriesKey, Vec<(u64, Option<f64>)>>,
    /// The series of each target's page that stand.
    standing: BTreeMap<Target, BTreeSet<SeriesKey>>,
}

impl History {
    /// What was scraped in a drill, whose ticks last `tick_ns`. A scrape that was due while no exporter ran has failed.
    #[must_use]
    pub fn of(recording: &Recording, prometheus: &Prometheus, tick_ns: u64) -> Self {
        let schedule = prometheus.schedule();
        let mut by_node: BTreeMap<&str, BTreeMap<u64, &Scrape>> = BTreeMap::new();
        for tick in &recording.ticks {
            for (node, monitor) in tick.monitors.iter() {
                let scrapes = monitor.scrapes.iter().map(|scrape| (scrape.at_ns, scrape));
                by_node.entry(node).or_default().extend(scrapes);
            }
        }
        let ticks = recording.ticks.iter().map(|tick| tick.at_ns);
        let due: Vec<u64> = ticks.filter(|at| schedule.is_due(*at, tick_ns)).collect();
        let mut history = Self::default();
        for (node, scrapes) in by_node {
            let target = Target {
                job: prometheus.job.clone(),
                instance: prometheus.instance_of(node),
            };
            let missing = due.iter().filter(|at| !scrapes.contains_key(at));
            let failed: Vec<Scrape> = missing.map(|at| refused(*at)).collect();
            let mut all: Vec<&Scrape> = scrapes.into_values().chain(&failed).collect();
            all.sort_by_key(|scrape| scrape.at_ns);
            for scrape in all {
                history.scraped(&target, scrape);
            }
        }
        history
    }

    /// Adds a scrape. Those of one target are added in the order of time.
    pub fn scraped(&mut self, target: &Target, scrape: &Scrape) {
        let (at, page) = (scrape.at_ns, scrape.series());
        let count = page.as_ref().map_or(0.0, |page| page.len() as f64);
        let took = std::time::Duration::from_nanos(scrape.took_ns).as_secs_f64();
        let is_up = f64::from(u8::from(page.is_some()));
        let mut now = BTreeSet::new();
        for series in page.into_iter().flatten() {
            let (key, value) = (target.key(&series), series.value);
            // The first sample of a series in a page counts; later ones are out of order.
            if now.insert(key.clone()) {
                self.add(key, at, Some(value));
            }
        }
        let before = self.standing.insert(target.clone(), now.clone());
        for ended in before.unwrap_or_default().difference(&now) {
            self.add(ended.clone(), at, None);
        }
        for (name, value) in OWN.into_iter().zip([is_up, took, count, count]) {
            self.add((name.to_owned(), target.labels()), at, Some(value));
        }
    }

    fn add(&mut self, key: SeriesKey, at: u64, value: Option<f64>) {
        self.samples.entry(key).or_default().push((at, value));
    }

    /// The series that one of these expressions may read, as input series of promtool whose samples lie on a grid:
    /// name with labels, and values. With it the interval of the grid in milliseconds.
    ///
    /// promtool evaluates from 0 on, so that everything is moved by one interval of the evaluation less its phase.
    pub(crate) fn input(&self, instants: Instants, read: &[Words]) -> (u64, Vec<(String, String)>) {
        let shift = shift_of(instants);
        let is_read = |name: &str| read.iter().any(|words| words.may_read(name));
        let all = self.samples.iter().filter(|((name, _), _)| is_read(name));
        let all: Vec<_> = all.collect();
        let times = all.iter().flat_map(|(_, samples)| samples.iter());
        let step = times.fold(0, |step, (at, _)| gcd(step, (at + shift) / MS));
        let step = step.max(1);
        let input = all.into_iter().map(|((name, labels), samples)| {
            let samples = samples
                .iter()
                .map(|(at, value)| ((at + shift) / MS / step, *value));
            (selector(name, labels), values(samples))
        });
        (step, input.collect())
    }
}

/// By how much the time of promtool is ahead of the drill's, in nanoseconds.
pub(crate) fn shift_of(instants: Instants) -> u64 {
    (instants.interval_ns - instants.phase_ns) % instants.interval_ns
}

impl Target {
    fn labels(&self) -> Labels {
        [("job", &self.job), ("instance", &self.instance)]
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .into()
    }

    /// A series of its page as it is stored: its own `job` and `instance` give way (Prometheus, `honor_labels`).
    fn key(&self, series: &Series) -> SeriesKey {
        let mut labels = self.labels();
        for (name, value) in &series.labels {
            let name = match labels.contains_key(name) {
                true => format!("exported_{name}"),
                false => name.clone(),
            };
            // A label without a text is none.
            if !value.is_empty() {
                labels.insert(name, value.clone());
            }
        }
        (series.name.clone(), labels)
    }
}

/// A series as PromQL selects it.
pub(crate) fn selector(name: &str, labels: &Labels) -> String {
    let labels = labels.iter();
    let labels: Vec<String> = labels
        .map(|(label, value)| format!("{label}={}", quoted(value)))
        .collect();
    format!("{name}{{{}}}", labels.join(","))
}

/// A string of PromQL, whose escapes are Go's.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}

/// Values on a grid in promtool's notation: `4x2 _x3 stale`.
fn values(samples: impl Iterator<Item = (u64, Option<f64>)>) -> String {
    let mut words: Vec<String> = Vec::new();
    let (mut next, mut last) = (0, None);
    let mut run = 0_u64;
    let end_run = |words: &mut Vec<String>, last: &Option<String>, run: u64| {
        if let Some(word) = last {
            words.push(match run {
                0 => word.clone(),
                run => format!("{word}x{run}"),
            });
        }
    };
    for (at, value) in samples {
        let word = value.map_or_else(|| "stale".to_owned(), number);
        let gap = at.saturating_sub(next);
        next = at + 1;
        let repeats = gap == 0 && value.is_some() && last.as_ref() == Some(&word);
        if repeats {
            run += 1;
            continue;
        }
        end_run(&mut words, &last, run);
        if gap > 0 {
            words.push(format!("_x{gap}"));
        }
        (last, run) = (Some(word), 0);
    }
    end_run(&mut words, &last, run);
    words.join(" ")
}

/// A value as promtool reads it.
fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        // Every digit counts: counters are 64 bits wide.
        value if value.abs() < 1e18 => format!("{value}"),
        value => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(at_s: u64, text: Option<&str>) -> Scrape {
        Scrape {
            at_ns: at_s * 1000 * MS,
            took_ns: 0,
            outcome: match text {
                Some(text) => ScrapeOutcome::Answered {
                    status: 200,
                    text: text.into(),
                },
                None => ScrapeOutcome::TimedOut,
            },
        }
    }

    #[track_caller]
    fn check(
        pages: &[(u64, Option<&str>)],
        phase: u64,
        name: &str,
        expected: &[(&str, &str)],
        step: u64,
    ) {
        let mut history = History::default();
        let target = Target {
            job: "node".to_owned(),
            instance: "n".to_owned(),
        };
        for (at, text) in pages {
            history.scraped(&target, &page(*at, *text));
        }
        let instants = Instants::with_phase(4000 * MS, (phase, 4), 0);
        let (found_step, input) = history.input(instants, &[Words::of(name)]);
        let input: Vec<(&str, &str)> = input
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!((input.as_slice(), found_step), (expected, step));
    }

    #[test]
    fn a_series_that_ends_is_stale_at_the_first_scrape_without_it() {
        check(
            &[
                (0, Some("a 4\n")),
                (2, Some("a 4\n")),
                (4, Some("b 1\n")),
                (6, Some("b 1\n")),
            ],
            0,
            "a",
            &[("a{instance=\"n\",job=\"node\"}", "4x1 stale")],
            2000,
        );
    }

    #[test]
    fn a_scrape_that_fails_is_up_0_and_stale_for_all() {
        let pages = [(0, Some("a 4\n")), (1, None), (2, None), (3, Some("a 5\n"))];
        check(
            &pages,
            0,
            "a",
            &[("a{instance=\"n\",job=\"node\"}", "4 stale _x1 5")],
            1000,
        );
        check(
            &pages,
            0,
            "up",
            &[("up{instance=\"n\",job=\"node\"}", "1 0x1 1")],
            1000,
        );
    }

    #[test]
    fn labels_of_the_target_win_and_texts_are_escaped() {
        check(
            &[(0, Some("a{job=\"x\",q=\"1\\\"2\\\\3\",e=\"\"} 1\n"))],
            0,
            "a",
            &[(
                "a{exported_job=\"x\",instance=\"n\",job=\"node\",q=\"1\\\"2\\\\3\"}",
                "1",
            )],
            1,
        );
    }

    #[test]
    fn a_phase_of_the_evaluation_moves_the_samples() {
        // Evaluated at 1 s, 5 s, …: what was scraped at 4 s lies 3 s after an evaluation.
        check(
            &[(0, Some("a 1\n")), (4, Some("a 2\n")), (8, Some("a 2\n"))],
            1,
            "a",
            &[("a{instance=\"n\",job=\"node\"}", "_x3 1 _x3 2 _x3 2")],
            1000,
        );
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let texts = [
            0.0,
            -1.5,
            1e17,
            9_007_199_254_740_993.0,
            1e22,
            f64::INFINITY,
            f64::NAN,
        ];
        let written = texts.map(number);
        assert_eq!(
            written,
            [
                "0",
                "-1.5",
                "100000000000000000",
                "9007199254740992",
                "1e22",
                "Inf",
                "NaN"
            ]
        );
    }
}
