//! When a program is run or asked that does not poll by itself, in simulated time. Start at [`Schedule`].

use std::collections::BTreeSet;

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Span;

/// How long a scrape may take where nothing is stated (Prometheus, `scrape_timeout`).
const TIMEOUT_NS: u64 = 10_000_000_000;

/// When a program is run or asked. All times are simulated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Schedule {
    /// The time from one run or scrape to the next; default: one tick. A shorter one counts as a tick.
    pub interval: Option<Span>,
    /// When the first one is, since the drill began; default: at once. It is shorter than the interval.
    pub phase: Span,
    /// With `scrape` and `http-json`: after this time without an answer the page counts as not answered; default 10 s.
    pub timeout: Option<Span>,
    /// A run that lasts this long is killed, and nothing is known then. Without it a run may last for ever.
    pub kill_after: Option<Span>,
    /// With a program that is run: when that is; default: at the interval.
    pub on: Option<BTreeSet<Occasion>>,
}

/// What a program is run at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Occasion {
    /// The start of the node, and each time that the story starts it.
    Boot,
    /// The interval.
    Tick,
}

impl Schedule {
    /// Whether one is due in the tick that ends at `at_ns` and lasted `tick_ns`, by its interval and phase.
    #[must_use]
    pub fn is_due(&self, at_ns: u64, tick_ns: u64) -> bool {
        let interval = self.interval_ns(tick_ns);
        let Some(since) = at_ns.checked_sub(self.phase.as_ns()) else {
            return false;
        };
        // The last one that was to be lies in this tick.
        since % interval < tick_ns
    }

    /// The interval in nanoseconds, at least a tick.
    #[must_use]
    pub fn interval_ns(&self, tick_ns: u64) -> u64 {
        self.interval.map_or(0, Span::as_ns).max(tick_ns).max(1)
    }

    /// The time in nanoseconds after which a scrape counts as not answered.
    #[must_use]
    pub fn timeout_ns(&self) -> u64 {
        self.timeout.map_or(TIMEOUT_NS, Span::as_ns)
    }

    /// Whether a program is run at this.
    #[must_use]
    pub fn runs_on(&self, occasion: Occasion) -> bool {
        match &self.on {
            Some(on) => on.contains(&occasion),
            None => occasion == Occasion::Tick,
        }
    }

    /// What is wrong with it.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut add = |key: &str, what: &'static str, hint: &'static str| {
            problems.push(Problem::at([key], what, hint).below(["schedule"]));
        };
        let is_zero = self.interval.is_some_and(|interval| interval.0.is_zero());
        if is_zero {
            add(
                "interval",
                "`schedule` has an interval of 0",
                "write a time such as `15s`, or leave `interval` out: then one is due in every tick",
            );
        } else if self.interval.is_some_and(|interval| self.phase >= interval) {
            add(
                "phase",
                "`schedule` has a phase that is not shorter than its interval",
                "the phase is the time of the first run: write one that is shorter",
            );
        }
        let longer = |timeout| self.interval.is_some_and(|interval| timeout > interval);
        if !is_zero && self.timeout.is_some_and(longer) {
            add(
                "timeout",
                "`schedule` has a timeout that is longer than its interval",
                "Prometheus refuses that too: write a shorter `timeout`, or a longer `interval`",
            );
        }
        if self.on.as_ref().is_some_and(BTreeSet::is_empty) {
            add(
                "on",
                "`schedule` never runs the program: `on` is empty",
                "write `on: [boot]`, `on: [tick]`, or both",
            );
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// The ticks of a second, of the first 20, in which one is due.
    fn check(interval: &str, phase: &str, due: &[u64]) {
        let schedule = Schedule {
            interval: Span::parse(interval),
            phase: Span::parse(phase).unwrap(),
            ..Schedule::default()
        };
        let ticks: Vec<u64> = (0..20)
            .filter(|tick| schedule.is_due(tick * SECOND, SECOND))
            .collect();
        assert_eq!(ticks, due, "every {interval} from {phase} on");
    }

    #[test]
    fn one_is_due_in_the_first_tick_that_is_not_before_its_time() {
        check("5s", "0s", &[0, 5, 10, 15]);
        check("5s", "2s", &[2, 7, 12, 17]);
        check("7s", "1500ms", &[2, 9, 16]);
        check("2500ms", "0s", &[0, 3, 5, 8, 10, 13, 15, 18]);
        let all: Vec<u64> = (0..20).collect();
        check("1s", "0s", &all);
        check("100ms", "0s", &all);
    }

    #[test]
    fn without_an_interval_one_is_due_in_every_tick() {
        let schedule = Schedule::default();
        assert!((0..9).all(|tick| schedule.is_due(tick * SECOND, SECOND)));
        assert!(schedule.runs_on(Occasion::Tick) && !schedule.runs_on(Occasion::Boot));
    }

    #[test]
    fn an_interval_of_nothing_is_no_matter_of_the_phase() {
        let schedule = Schedule {
            interval: Span::parse("0s"),
            ..Schedule::default()
        };
        let what = schedule.problems().remove(0).what;
        assert_eq!(what, "`schedule` has an interval of 0");
    }
}
