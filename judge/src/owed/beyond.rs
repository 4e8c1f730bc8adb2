//! What a monitor owes beyond the documents' demands. Start at [`Translator::beyond`].

use std::borrow::Cow;

use director::FunctionView;
use observe::promises::{FirstPollEvents, Named, Restates};
use platforms::{NodeName, PciAddress, SlotRef};
use scenarios::{About, ChecksRun, What, Window};
use terms::Severity;

use super::{Fate, Translated, translator::Translator};
use crate::{
    assign::Bounds,
    demands::{Demand, is_healthy, polled},
    fits::state_check,
    intervals::{Interval, intervals},
};

/// How many polls after its first one a monitor may wait for devices that cannot be read (docs/decisions.md, 6).
const FIRST_POLLS: u64 = 3;

impl<'a> Translator<'_, 'a> {
    /// Adds what is owed beyond the documents' demands.
    pub(super) fn beyond(&self, documents: &[Translated<'a>], owed: &mut Vec<Demand<'a>>) {
        self.baseline_runs(owed);
        self.new_starts(documents, owed);
        self.further_baselines(owed);
        self.dark_again(documents, owed);
        self.whole_checks(documents, owed);
        if matches!(self.context.story.checks, ChecksRun::State | ChecksRun::All) {
            self.true_faults(documents, owed);
            self.cards(owed);
            self.old_names(owed);
            self.new_names(owed);
            self.moved_ports(owed);
        }
    }

    /// A monitor that clears what stands by an event of the whole check tells anew what is healthy, where the
    /// documents ask for the clears alone.
    fn baseline_runs(&self, owed: &mut Vec<Demand<'a>>) {
        if self.rows.wire().clears != Some(observe::promises::ClearedBy::Check) {
            return;
        }
        for node in &self.context.story.monitors {
            let waits = self.rows.wire().baselines.is_some_and(|it| it.complete);
            let mut unseen_from = None;
            for tick in polled(self.recording, node) {
                let begins = match unseen_from.replace(tick + 1) {
                    // Its first poll clears the checks too, whether or not the documents ask for a baseline.
                    None => true,
                    Some(from) => {
                        let episode = self.episodes.latest_of_monitor(node, from, tick);
                        episode.is_some_and(begins_anew)
                    }
                };
                if !begins {
                    continue;
                }
                let complete = if waits {
                    self.first_complete(node, tick)
                } else {
                    tick
                };
                self.clear_checks(node, complete, owed);
                if tick > 0 || complete > tick {
                    self.baseline_run(node, complete, owed);
                }
                if self.lacks_routes(node, tick) {
                    self.excluded_by_route(node, tick, owed);
                }
            }
        }
    }

    /// A monitor that remembers nothing over a restart tells anew what is healthy, and what is not if it says so.
    fn new_starts(&self, documents: &[Translated<'a>], owed: &mut Vec<Demand<'a>>) {
        let Some(restates) = self.rows.begins_anew() else {
            return;
        };
        let has_baseline = self.rows.wire().first_poll == Some(FirstPollEvents::Events);
        let all = intervals(self.context, self.readings, self.recording);
        for node in &self.context.story.monitors {
            let mut unseen_from = None;
            for tick in polled(self.recording, node) {
                let Some(unseen_from) = unseen_from.replace(tick + 1) else {
                    continue;
                };
                let mut restarts = self.episodes.on_node(node);
                let is_restart = |(kind, from): (Named, u64)| {
                    kind == Named::MonitorRestart && (unseen_from..=tick).contains(&from)
                };
                if !restarts.any(is_restart) {
                    continue;
                }
                if has_baseline {
                    self.baseline_run(node, tick, owed);
                }
                if restates == Restates::All {
                    let stands =
                        |it: &&Interval| it.node == *node && it.from < unseen_from && it.to > tick;
                    for interval in all.iter().filter(stands) {
                        self.restate(interval, tick, documents, owed);
                    }
                }
            }
        }
    }

    /// What a scope of its own adds may be healthy in a first poll in which the documents ask for nothing, because all that they
    /// monitor is dark.
    fn further_baselines(&self, owed: &mut Vec<Demand<'a>>) {
        let wire = self.rows.wire();
        let baselines = wire.baselines.unwrap_or_default();
        if wire.first_poll != Some(FirstPollEvents::Events) {
            return;
        }
        for (node, pci) in self.beyond_scope() {
            let Some(first) = polled(self.recording, &node).next() else {
                continue;
            };
            let views = self.readings.views(&node, first);
            let function = views.and_then(|[views, _]| views.0.get(&pci));
            let Some(function) = function.filter(|view| view.listed && view.monitored) else {
                continue;
            };
            let ports = healthy_ports(&node, pci, function);
            let mut about: Vec<About> = ports.filter(|_| baselines.ports).collect();
            if !about.is_empty() && baselines.devices {
                about.push(About::Device(node.clone(), pci));
            }
            for about in about {
                let is_asked = owed.iter().any(|one| {
                    one.pattern.about == about
                        && one.pattern.tone == Severity::Healthy
                        && (one.window.from..=one.window.to).contains(&first)
                });
                if !is_asked {
                    owed.push(may_come(&node, first, about, None));
                }
            }
        }
    }

    /// What was reported of a port that is dark by design may be taken back once it is read as before, whether or not a line of
    /// the story says so; that it must be, healing shows (docs/decisions.md, 5 and 6).
    fn dark_again(&self, documents: &[Translated<'a>], owed: &mut Vec<Demand<'a>>) {
        let is_clear = |it: &Translated<'_>, slot: &SlotRef| {
            let pattern = &it.demand.pattern;
            pattern.tone == Severity::Healthy && pattern.about == About::Port(slot.clone())
        };
        for it in documents {
            let (demand, pattern) = (&it.demand, &it.demand.pattern);
            let About::Port(slot) = &pattern.about else {
                continue;
            };
            let begins = it.kinds.begins.unwrap_or(demand.window.from);
            let is_left_out = pattern.tone != Severity::Healthy
                && pattern.counter.is_none()
                && self.was_dark(slot, begins)
                && !documents.iter().any(|other| is_clear(other, slot));
            if !is_left_out {
                continue;
            }
            let read = |tick: u64| {
                let [views, _] = self.readings.views(&demand.node, tick)?;
                let port = (slot.pci, slot.port);
                self.readings.port(&demand.node, port, views, tick).kind()
            };
            let before = begins.checked_sub(1).and_then(read);
            let mut polls = polled(self.recording, &demand.node);
            let again = polls.find(|tick| *tick > begins && read(*tick) == before);
            let about = About::Port(slot.clone());
            owed.extend(again.map(|tick| may_come(&demand.node, tick, about, None)));
        }
    }

    /// Each check may be cleared as a whole.
    fn clear_checks(&self, node: &NodeName, tick: u64, owed: &mut Vec<Demand<'a>>) {
        let checks = self.context.story.checks.names().into_iter();
        owed.extend(checks.map(|check| may_come(node, tick, About::Check, Some(check))));
    }

    fn baseline_run(&self, node: &NodeName, tick: u64, owed: &mut Vec<Demand<'a>>) {
        let Some([views, _]) = self.readings.views(node, tick) else {
            return;
        };
        let mut may = |about, check: Option<&str>| owed.push(may_come(node, tick, about, check));
        for (pci, function) in views.watched() {
            healthy_ports(node, pci, function).for_each(|port| may(port, None));
        }
        for card in views.cards() {
            if views.meets_peers(&card) {
                may(
                    About::Card(node.clone(), card.pci),
                    Some(state_check(card.layer)),
                );
            }
        }
    }

    /// Where the default route is not known, management functions may be taken for others.
    fn excluded_by_route(&self, node: &NodeName, tick: u64, owed: &mut Vec<Demand<'a>>) {
        let Some([views, _]) = self.readings.views(node, tick) else {
            return;
        };
        let management = |view: &FunctionView| view.role == platforms::NicRole::Management;
        for (pci, view) in views.0.iter().filter(|(_, view)| management(view)) {
            for (port, of) in &view.ports {
                let slot = SlotRef {
                    node: node.clone(),
                    pci: *pci,
                    port: *port,
                };
                owed.push(may_come(node, tick, About::Port(slot), None));
                let card = About::Card(node.clone(), *pci);
                owed.push(may_come(node, tick, card, Some(state_check(of.layer))));
            }
        }
    }

    /// The healthy events about a check as a whole: one may come with each first poll, and one must where it clears
    /// what stands.
    fn whole_checks(&self, documents: &[Translated<'a>], owed: &mut Vec<Demand<'a>>) {
        let wire = self.rows.wire();
        let has_check = wire.baselines.is_some_and(|baselines| baselines.check);
        let by_check = wire.clears == Some(observe::promises::ClearedBy::Check);
        if !has_check && !by_check {
            return;
        }
        let whole = |of: &Translated<'a>, check: &str, at_least| Demand {
            pattern: Cow::Owned(is_healthy(About::Check, Some(check))),
            bounds: Bounds {
                at_least,
                at_most: 1,
            },
            attempts: 0,
            in_order: None,
            ..of.demand.clone()
        };
        let mut seen: Vec<(*const scenarios::Expectation, String)> = Vec::new();
        for it in documents {
            let Some(expectation) = it.demand.expectation else {
                continue;
            };
            if matches!(expectation.what, What::Baseline { .. }) {
                for check in self.context.story.checks.names() {
                    let key = (
                        std::ptr::from_ref(expectation),
                        format!("{}/{check}", it.demand.node),
                    );
                    let is_owed = owed.iter().any(|one| is_whole(one, it, check));
                    if !seen.contains(&key) && !is_owed {
                        seen.push(key);
                        owed.push(whole(it, check, 0));
                    }
                }
            }
            let is_cleared = it.demand.pattern.tone == Severity::Healthy
                && it.fate == Fate::Free
                && it.kinds.is_older
                && self.clears_by_check(&it.kinds);
            if let (true, Some(layer)) = (is_cleared, it.kinds.layer) {
                let check = state_check(layer);
                match owed.iter_mut().find(|one| is_whole(one, it, check)) {
                    Some(one) => one.bounds.at_least = 1,
                    None => owed.push(whole(it, check, 1)),
                }
            }
        }
    }
}

/// The ports of a function that are healthy.
fn healthy_ports<'f>(
    node: &'f NodeName,
    pci: PciAddress,
    function: &'f FunctionView,
) -> impl Iterator<Item = About> + 'f {
    let healthy = function.ports.iter().filter(|(_, port)| port.healthy());
    healthy.map(move |(port, _)| {
        About::Port(SlotRef {
            node: node.clone(),
            pci,
            port: *port,
        })
    })
}

/// A healthy event that may come in a poll, or in the next ones if it waits for devices that cannot be read.
fn may_come<'a>(node: &NodeName, tick: u64, about: About, check: Option<&str>) -> Demand<'a> {
    let window = Window {
        from: tick,
        to: tick.saturating_add(FIRST_POLLS),
    };
    let bounds = Bounds {
        at_least: 0,
        at_most: 1,
    };
    Demand::by_promise(node, window, is_healthy(about, check), bounds)
}

/// Whether a demand is about a check as a whole, on the node and in the time of another one.
fn is_whole(one: &Demand<'_>, of: &Translated<'_>, check: &str) -> bool {
    one.node == of.demand.node
        && one.pattern.about == About::Check
        && one.pattern.check.as_deref() == Some(check)
        && one.window.from <= of.demand.window.to
        && of.demand.window.from <= one.window.to
}

/// Whether a monitor begins a baseline anew after an episode.
fn begins_anew(episode: Named) -> bool {
    matches!(
        episode,
        Named::Reboot | Named::ScopeChange | Named::Metadata | Named::StateFile
    )
}
