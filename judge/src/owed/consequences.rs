//! What follows from the documents' faults follows from what is owed instead of them. Start at
//! [`Owed::instead`].

use platforms::NodeName;
use scenarios::{About, ConditionIs, ConditionOf, Expectation, Stands, What, Window};
use simfs::SimTime;
use terms::Severity;

use super::{Fate, Owed, Translated};
use crate::{demands::Demand, fits::state_check};

/// What is expected of a consequence instead of what the documents ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instead {
    /// The same, so many ticks later, about another subject if it is stated.
    Moved(i64, Option<About>),
    /// The opposite, or nothing: it follows from a fault that is not owed in this severity.
    NotOwed,
    NotJudged(String),
}

/// Metrics that count events or calls.
const COUNT_EVENTS: [&str; 3] = [
    "nic_health_monitor_health_events_sent_total",
    "nvsentinel_health_events_publisher_sends_success_total",
    "nvsentinel_health_events_publisher_sends_error_total",
];

/// A name that was given up holds its node.
const LEFT_BEHIND: &str = "faults stay with the name that a device gave up, by promise";

/// Rules count events, so that they are judged where all events are those of the documents.
const OTHER_EVENTS: &str = "it counts events, which differ from the documents' by promise";

impl Owed<'_> {
    /// What is expected instead of this consequence; `None` if it is as the documents ask.
    pub(crate) fn instead(&self, expectation: &Expectation, node: &NodeName) -> Option<Instead> {
        let window = expectation.window;
        let is_of_faults = matches!(
            expectation.what,
            What::Condition(_) | What::Cordoned(_) | What::Uncordoned(_)
        );
        let gives_up = |(of, _, tick): &(NodeName, String, u64)| of == node && *tick <= window.to;
        if is_of_faults && self.left_behind.iter().any(gives_up) {
            return Some(Instead::NotJudged(LEFT_BEHIND.to_owned()));
        }
        match &expectation.what {
            What::Condition(is) => {
                let of_counters = match &is.of {
                    ConditionOf::State => Some(false),
                    ConditionOf::Counters => Some(true),
                    ConditionOf::Named(_) => None,
                };
                let of_rule = matches!(&is.of, ConditionOf::Named(name) if terms::Check::parse(name).is_none());
                if of_rule {
                    return self.of_rule(None, window);
                }
                let meant = |it: &Translated<'_>| {
                    let pattern = &it.demand.pattern;
                    let same = |about: &About| *about == pattern.about;
                    let counts = pattern.counter.is_some();
                    is.about.as_ref().is_none_or(same)
                        && of_counters.is_none_or(|wanted| wanted == counts)
                        && is
                            .counter
                            .as_ref()
                            .is_none_or(|code| pattern.counter.as_ref() == Some(code))
                };
                self.of_faults(node, window, is.stands, meant)
            }
            What::Cordoned(stands) => {
                let is_fatal = |it: &Translated<'_>| it.demand.pattern.tone == Severity::Fatal;
                let is_before = |it: &&Translated<'_>| {
                    it.demand.node == *node && it.demand.window.from <= window.to
                };
                if stands.is && !self.documents.iter().filter(is_before).any(is_fatal) {
                    // No fatal event holds the node, so a rule does.
                    return self.of_rule(None, window);
                }
                self.of_faults(node, window, *stands, is_fatal)
                    .or_else(|| self.of_unjudged_counters(node, window))
            }
            What::Uncordoned(is) => {
                let stands = Stands {
                    is: true,
                    throughout: !is,
                };
                let is_fatal = |it: &Translated<'_>| it.demand.pattern.tone == Severity::Fatal;
                match self.of_faults(node, window, stands, is_fatal) {
                    Some(Instead::Moved(..)) => None,
                    other => other,
                }
            }
            // A monitor refuses to start where the metadata do not tell NICs apart.
            What::Exit { code } if *code != 0 => {
                self.rows.unpromised_refusal().map(Instead::NotJudged)
            }
            What::Rule(_) => self.of_rule(expectation.node.as_ref(), window),
            What::RulesSilent => self.of_rule(None, window),
            // A call has no severity.
            What::Calls { .. } => self.of_calls(node, window),
            What::Metric { name, .. } if COUNT_EVENTS.contains(&name.as_str()) => {
                self.of_counts(node, window)
            }
            What::Verdict { .. } => self.of_verdict(expectation.node.as_ref(), window),
            _ => None,
        }
    }

    /// What counts the events of a node until the end of a window.
    fn of_counts(&self, node: &NodeName, window: Window) -> Option<Instead> {
        let is_other = self.beyond(node, window).next().is_some();
        let other = || Instead::NotJudged(OTHER_EVENTS.to_owned());
        is_other
            .then(other)
            .or_else(|| self.of_rule(Some(node), window))
    }

    /// What counts the calls of a node in a window. A call has no severity, and all events of a poll and check.
    fn of_calls(&self, node: &NodeName, window: Window) -> Option<Instead> {
        let calls = |check: Option<&str>| {
            self.documents.iter().any(|it| {
                let own = it.kinds.layer.map(state_check);
                it.demand.node == *node
                    && it.demand.pattern.counter.is_none()
                    && it.demand.window.from == window.from
                    && it.is_in_time()
                    && own.is_some_and(|own| check == Some(own))
            })
        };
        let joins =
            |one: &Demand<'_>| window.from == window.to && calls(one.pattern.check.as_deref());
        let adds = |one: &Demand<'_>| one.window.to >= window.from && !joins(one);
        let moves = |it: &Translated<'_>| {
            it.demand.node == *node
                && it.demand.window.from <= window.to
                && it.last_tick() >= window.from
                && !it.is_in_time()
        };
        let is_other = self.beyond(node, window).any(adds) || self.documents.iter().any(moves);
        is_other.then(|| Instead::NotJudged(OTHER_EVENTS.to_owned()))
    }

    /// The events of a node until the end of a window that only a promise asks for.
    fn beyond(&self, node: &NodeName, window: Window) -> impl Iterator<Item = &Demand<'_>> {
        self.demands.iter().filter(move |one| {
            one.expectation.is_none()
                && one.node == *node
                && one.bounds.at_most > 0
                && one.window.from <= window.to
                && one.pattern.about != About::Check
        })
    }

    /// What rules make of the counters of a node, if these are not judged.
    fn of_unjudged_counters(&self, node: &NodeName, window: Window) -> Option<Instead> {
        let mut counters = self.documents.iter().filter(|it| {
            it.demand.node == *node
                && it.demand.pattern.counter.is_some()
                && it.demand.window.from <= window.to
        });
        counters.find_map(|it| match &it.fate {
            Fate::NotJudged(reason) => Some(Instead::NotJudged(reason.clone())),
            _ => None,
        })
    }

    /// What stands because of faults of a node.
    fn of_faults(
        &self,
        node: &NodeName,
        window: Window,
        stands: Stands,
        meant: impl Fn(&Translated<'_>) -> bool,
    ) -> Option<Instead> {
        let faults: Vec<&Translated<'_>> = self
            .documents
            .iter()
            .filter(|it| {
                let is_fault = it.demand.pattern.tone != Severity::Healthy;
                is_fault
                    && it.demand.node == *node
                    && it.demand.window.from <= window.to
                    && meant(it)
            })
            .collect();
        let is_as_asked = |it: &&&Translated<'_>| it.is_as_asked();
        let changed: Vec<&&Translated<'_>> = faults.iter().filter(|it| !is_as_asked(it)).collect();
        let last = changed.last()?;
        // One fault of several is enough to hold a node.
        if stands.is && self.is_held(node, window, stands.throughout, &meant) {
            return None;
        }
        let reason = changed.iter().find_map(|it| match &it.fate {
            Fate::NotJudged(reason) => Some(reason.clone()),
            _ => None,
        });
        if let Some(reason) = reason {
            return Some(Instead::NotJudged(reason));
        }
        match (&last.fate, stands.is) {
            (Fate::Owed { later, tone, about }, true) if *tone == Severity::Fatal => {
                Some(Instead::Moved(*later, about.clone()))
            }
            (Fate::Owed { tone, .. }, false)
                if *tone == Severity::Fatal && last.demand.pattern.tone == Severity::NonFatal =>
            {
                Some(Instead::NotOwed)
            }
            (_, true) => Some(Instead::NotOwed),
            (_, false) => None,
        }
    }

    /// Whether fatal faults that are owed as the documents ask stand in a window: throughout, or at some time.
    fn is_held(
        &self,
        node: &NodeName,
        window: Window,
        throughout: bool,
        meant: &dyn Fn(&Translated<'_>) -> bool,
    ) -> bool {
        let clear_of = |at: usize| {
            let mut clears = self.documents.iter();
            let clear = clears.find(|it| it.kinds.clears == Some(at));
            clear.map_or(u64::MAX, |it| it.demand.window.from)
        };
        let held: Vec<(u64, u64)> = (0..)
            .zip(&self.documents)
            .filter(|(_, it)| {
                let is_fatal = it.demand.pattern.tone == Severity::Fatal;
                is_fatal && it.demand.node == *node && it.is_as_asked() && meant(it)
            })
            .map(|(at, it)| (it.demand.window.from, clear_of(at)))
            .collect();
        let holds = |tick: u64| held.iter().any(|(from, to)| (*from..*to).contains(&tick));
        let mut ticks = window.from..=window.to;
        match throughout {
            true => ticks.all(holds),
            false => ticks.any(holds),
        }
    }

    /// What rules follow from: all events of a node, or of all nodes.
    fn of_rule(&self, node: Option<&NodeName>, window: Window) -> Option<Instead> {
        let changed = self.documents.iter().any(|it| {
            node.is_none_or(|node| it.demand.node == *node)
                && it.demand.window.from <= window.to
                && !it.is_as_asked()
        });
        changed.then(|| Instead::NotJudged(OTHER_EVENTS.to_owned()))
    }

    /// The first fatal event of a node, or of any.
    fn of_verdict(&self, node: Option<&NodeName>, window: Window) -> Option<Instead> {
        let mut faults: Vec<&Translated<'_>> = self
            .documents
            .iter()
            .filter(|it| {
                it.demand.pattern.tone != Severity::Healthy
                    && node.is_none_or(|node| it.demand.node == *node)
                    && it.demand.window.from <= window.to
            })
            .collect();
        faults.sort_by_key(|it| it.demand.window.from);
        let is_fatal = |it: &&&Translated<'_>| it.demand.pattern.tone == Severity::Fatal;
        let first = faults.iter().find(is_fatal);
        let owed = faults.iter().filter_map(|it| match &it.fate {
            Fate::Owed { later, tone, .. } if *tone == Severity::Fatal => {
                Some(it.demand.window.from.saturating_add_signed(*later))
            }
            _ => None,
        });
        let owed = owed.min();
        if first.is_some_and(|it| it.is_as_asked()) {
            return None;
        }
        if let Some(reason) = faults.iter().find_map(|it| match &it.fate {
            Fate::NotJudged(reason) => Some(reason.clone()),
            _ => None,
        }) {
            return Some(Instead::NotJudged(reason));
        }
        match (first, owed) {
            (Some(first), Some(owed)) => {
                let asked = i64::try_from(first.demand.window.from).unwrap_or(i64::MAX);
                let later = i64::try_from(owed).unwrap_or(i64::MAX) - asked;
                (later != 0).then_some(Instead::Moved(later, None))
            }
            (None, None) => None,
            _ => Some(Instead::NotOwed),
        }
    }
}

/// An expectation of a consequence that comes so many ticks later, about another subject if it is stated.
pub(crate) fn moved(
    expectation: &Expectation,
    (later, about): (i64, Option<About>),
    tick: SimTime,
) -> Expectation {
    let mut moved = expectation.clone();
    if let What::Condition(is) = &mut moved.what
        && is.about.is_some()
        && about.is_some()
    {
        is.about = about;
    }
    let window = &mut moved.window;
    match &mut moved.what {
        What::Verdict { lead, .. } => {
            let tick = i64::try_from(tick.as_ns()).unwrap_or(i64::MAX);
            let by = tick.saturating_mul(later);
            *lead = lead.map(|(from, to)| (from.saturating_sub(by), to.saturating_sub(by)));
        }
        What::Condition(ConditionIs { stands, .. }) | What::Cordoned(stands) => {
            window.from = window.from.saturating_add_signed(later);
            // What stands throughout ends as before.
            if !stands.throughout {
                window.to = window.to.saturating_add_signed(later);
            }
            window.to = window.to.max(window.from);
        }
        _ => {}
    }
    moved
}

impl Translated<'_> {
    /// The last tick in which it may come, as the documents ask or as it is owed.
    fn last_tick(&self) -> u64 {
        let to = self.demand.window.to;
        match self.fate {
            Fate::Owed { later, .. } => to.saturating_add_signed(later).max(to),
            _ => to,
        }
    }

    /// Whether it is owed when the documents ask for it, whatever its severity.
    fn is_in_time(&self) -> bool {
        matches!(
            &self.fate,
            Fate::Owed {
                later: 0,
                about: None,
                ..
            }
        )
    }

    /// Whether it is owed as the documents ask.
    pub(crate) fn is_as_asked(&self) -> bool {
        let tone = self.demand.pattern.tone;
        let about = None;
        self.fate
            == Fate::Owed {
                later: 0,
                tone,
                about,
            }
    }
}
