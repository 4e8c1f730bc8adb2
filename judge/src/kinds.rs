//! Of which kinds a demand is: the condition that it is about, and the episode in which it is made.
//!
//! The condition of an unhealthy demand is what a poll reads of its subject in its time; a healthy demand has that
//! of the demand that it clears. What an edge of the truth explains belongs to the episode whose step caused the
//! edge; what no edge explains, such as a fault that is reported again or a clear without a healing, belongs to
//! the latest episode. Start at [`Kinds`].

mod cleared;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use director::{NodeView, Truth};
use observe::{
    Descriptor, Recording,
    promises::{Kind, Named, Row, documents_row},
};
use platforms::{LinkLayer, NodeName, PciAddress, PortNumber};
use scenarios::{About, EventPattern, Story, What};
use terms::{Card, Check, CheckKind, Severity};

use crate::{
    added,
    demands::{self, Demand},
    episodes::Episodes,
    fits::{JudgeContext, layer_of_check},
    readings::{Reading, Readings},
};

/// How many ticks after a demand's window begins its condition is looked for. Chosen: more than any walk of a
/// link takes between two states.
const LOOKED_AHEAD: u64 = 60;

/// The kinds of a demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    /// The condition; `None` for a healthy demand about what was never otherwise.
    pub(crate) condition: Option<Kind>,
    pub(crate) episode: Option<Named>,
    /// The layer of its subject, if it is one.
    pub(crate) layer: Option<LinkLayer>,
    /// The unhealthy demand that a healthy one clears, by its index.
    pub(crate) clears: Option<usize>,
    /// The first tick of the condition.
    pub(crate) begins: Option<u64>,
    /// Of a card: whether a port of it is on its way up.
    pub(crate) is_waiting: bool,
    /// Whether the documents let it wait for the patience after a reboot, as in a first poll.
    pub(crate) waited: bool,
    /// Whether the fault stood before the episode began: it is reported again, or cleared without a healing. After a reboot
    /// that is so of ports and devices which were not healthy in the last poll before it.
    pub(crate) is_older: bool,
    /// Whether a healthy demand is about what was added to a running node.
    pub(crate) is_added: bool,
}

/// A demand of the documents in words, with its kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The place of the expectation in its file.
    pub place: String,
    /// The demand.
    pub line: String,
    /// The condition that it is about; `None` for a healthy event about what was never otherwise.
    pub condition: Option<Kind>,
    /// The episode in which it is made, if it is in one.
    pub episode: Option<Named>,
}

/// What the documents ask of a monitor in a drill, demand by demand, with its kinds. A promise about these kinds
/// decides what the monitor owes.
#[must_use]
pub fn asked(
    story: &Story,
    truth: &Truth,
    recording: &Recording,
    descriptor: &Descriptor,
) -> Vec<Asked> {
    let context = JudgeContext {
        story,
        truth,
        descriptor,
    };
    let (demands, _) = demands::demands(story, &context, recording);
    let readings = Readings::of(context, recording.healing_from);
    let kinds = kinds(
        &demands,
        &context,
        &readings,
        &Episodes::promised(&context),
        recording,
    );
    let asked = demands.iter().zip(kinds).map(|(demand, kinds)| Asked {
        place: demand
            .expectation
            .map_or_else(String::new, |of| of.place.to_string()),
        line: demand.line(&context),
        condition: kinds.condition,
        episode: kinds.episode,
    });
    asked.collect()
}

/// A subject, and what distinguishes its faults.
pub(crate) type Key = (NodeName, Whom, String);

/// A subject by its place on the bus.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whom {
    Port(PciAddress, PortNumber),
    Device(PciAddress),
    Card(Card),
    /// A name that no device ever had.
    Name(String),
    /// All that a check monitors.
    Check,
}

impl Whom {
    /// The function, if it is of one.
    pub(crate) fn pci(&self) -> Option<PciAddress> {
        match self {
            Self::Port(pci, _) | Self::Device(pci) => Some(*pci),
            _ => None,
        }
    }

    /// The card, if it is of one.
    pub(crate) fn card(&self) -> Option<Card> {
        match self {
            Self::Card(card) => Some(*card),
            whom => whom.pci().map(PciAddress::card),
        }
    }
}

/// The kinds of all demands, in their order.
pub(crate) fn kinds(
    demands: &[Demand<'_>],
    context: &JudgeContext<'_>,
    readings: &Readings<'_>,
    episodes: &Episodes,
    recording: &Recording,
) -> Vec<Kinds> {
    let mut kinds = vec![Kinds::default(); demands.len()];
    let mut in_time: Vec<usize> = (0..demands.len()).collect();
    let is_healthy = |demand: &Demand<'_>| demand.pattern.tone == Severity::Healthy;
    in_time.sort_by_key(|at| (demands[*at].window.from, !is_healthy(&demands[*at])));
    let finder = Finder {
        context,
        readings,
        episodes,
        recording,
    };
    let mut pending: BTreeMap<Key, usize> = BTreeMap::new();
    let mut cleared: BTreeMap<Key, (usize, u64)> = BTreeMap::new();
    for at in in_time {
        let demand = &demands[at];
        let whom = finder.whoms(demand);
        let code = code_of(&demand.pattern);
        let key = |whom: &Whom| (demand.node.clone(), whom.clone(), code.clone());
        if !is_healthy(demand) {
            let Some(first) = whom.first() else { continue };
            kinds[at] = finder.of_fault(demand, first);
            pending.insert(key(first), at);
            continue;
        }
        let with_device = whom.iter().flat_map(|whom| {
            let device = whom.pci().filter(|_| code.is_empty()).map(Whom::Device);
            std::iter::once(whom.clone()).chain(device)
        });
        let found = with_device.into_iter().find_map(|whom| {
            let key = key(&whom);
            if let Some(fault) = pending.remove(&key) {
                cleared.insert(key, (fault, demand.window.from));
                return Some(fault);
            }
            let (fault, since) = cleared.get(&key)?;
            (*since >= demand.window.from).then_some(*fault)
        });
        kinds[at] = finder.of_clear(
            demand,
            whom.first(),
            found.map(|fault| (fault, &kinds[fault])),
        );
    }
    kinds
}

struct Finder<'f, 'a> {
    context: &'f JudgeContext<'a>,
    readings: &'f Readings<'a>,
    episodes: &'f Episodes,
    recording: &'f Recording,
}

impl Finder<'_, '_> {
    /// The subjects that a demand can mean, the likeliest first.
    fn whoms(&self, demand: &Demand<'_>) -> Vec<Whom> {
        let bearers = |name: &str| -> Vec<PciAddress> {
            let mut seen = BTreeSet::new();
            let past = self.context.past(&demand.node, demand.window.to);
            let of_name = past.flat_map(|views| {
                let bearers = views
                    .0
                    .iter()
                    .filter(|(_, view)| view.name.as_str() == name);
                bearers.map(|(pci, _)| *pci).collect::<Vec<_>>()
            });
            of_name.filter(|pci| seen.insert(*pci)).collect()
        };
        match &demand.pattern.about {
            About::Port(slot) => vec![Whom::Port(slot.pci, slot.port)],
            About::Device(_, pci) => vec![Whom::Device(*pci)],
            About::Card(_, pci) => vec![Whom::Card(pci.card())],
            About::Check => vec![Whom::Check],
            About::NamedPort(name, port) => {
                let bearers = bearers(name.as_str()).into_iter();
                let ports = bearers.map(|pci| Whom::Port(pci, *port));
                ports.chain([Whom::Name(name.to_string())]).collect()
            }
            About::NamedDevice(name) => match Card::parse(name.as_str()) {
                Some(card) => vec![Whom::Card(card)],
                None => {
                    let bearers = bearers(name.as_str()).into_iter().map(Whom::Device);
                    bearers.chain([Whom::Name(name.to_string())]).collect()
                }
            },
        }
    }

    fn of_fault(&self, demand: &Demand<'_>, whom: &Whom) -> Kinds {
        let (condition, begins) = self.fault(demand, whom);
        let (node, to) = (&demand.node, demand.window.from);
        let since = begins.unwrap_or(to);
        let of_monitor = self
            .episodes
            .latest_of_monitor(node, self.unseen_from(node, since), to);
        let cause = whom
            .pci()
            .and_then(|pci| self.episodes.cause(node, pci, since));
        let what = demand.expectation.map(|of| &of.what);
        let is_flap = matches!(what, Some(What::FollowEdges { .. }));
        let episode = of_monitor
            .or_else(|| self.unpromised_rule(node, since, to))
            .or(cause)
            .or_else(|| self.is_added_card(demand, whom).then_some(Named::HotAdded))
            .or(is_flap.then_some(Named::Flap))
            .or_else(|| {
                let first = self.readings.first_poll(self.recording, node);
                (since <= first).then_some(Named::FirstPoll)
            });
        Kinds {
            condition,
            episode,
            layer: self.layer(demand),
            clears: None,
            begins,
            is_waiting: self.is_waiting(demand, whom, since),
            waited: episode == Some(Named::Reboot) && self.waited_after_reboot(node, to),
            is_older: match (of_monitor, whom) {
                (None, _) => false,
                // What was not told before a reboot is judged as in a first poll, however long that waits; so are cards.
                (Some(Named::Reboot), Whom::Card(_)) => false,
                (Some(Named::Reboot), Whom::Port(..)) => {
                    let booted = self.booted(node, to).unwrap_or(since);
                    self.stood_before(demand, whom, booted)
                }
                (Some(_), _) => since < to || self.stood_before(demand, whom, since),
            },
            is_added: false,
        }
    }

    /// Whether a subject is a card all of whose functions were added to a running node.
    fn is_added_card(&self, demand: &Demand<'_>, whom: &Whom) -> bool {
        let Whom::Card(card) = whom else { return false };
        let last = self.readings.ticks().saturating_sub(1);
        let views = self
            .readings
            .views(&demand.node, demand.window.to.min(last));
        let functions = views.into_iter().flat_map(|[views, _]| views.0.keys());
        let mut of_it = functions.filter(|pci| pci.card() == *card).peekable();
        of_it.peek().is_some() && of_it.all(|pci| self.is_added(demand, *pci))
    }

    /// Whether a function was added to a running node, as whose a demand is made.
    fn is_added(&self, demand: &Demand<'_>, pci: PciAddress) -> bool {
        let found = (self.readings, self.episodes);
        added::is_added(found, self.recording, (&demand.node, pci), demand.window)
    }

    /// The first tick that can show the latest reboot of a node until a tick.
    fn booted(&self, node: &NodeName, tick: u64) -> Option<u64> {
        let reboots = self.episodes.on_node(node);
        let reboots = reboots.filter(|(kind, from)| *kind == Named::Reboot && *from <= tick);
        reboots.map(|(_, from)| from).last()
    }

    /// Whether a tick is the documents' patience after the first poll of the latest boot, or later.
    fn waited_after_reboot(&self, node: &NodeName, tick: u64) -> bool {
        let Some(booted) = self.booted(node, tick) else {
            return false;
        };
        let first = demands::polled(self.recording, node).find(|poll| *poll >= booted);
        let Row::Says(documents) = documents_row(&Named::Reboot.into()) else {
            return false;
        };
        let interval = Duration::from_nanos(self.context.story.ticks.interval().as_ns());
        let patience = documents.after.map_or(0, |after| after.ticks(interval));
        first.is_some_and(|first| tick >= first.saturating_add(patience))
    }

    /// The episode of a rule that is in effect while a fault begins, if nothing is promised about it: a monitor that
    /// does not read the file may be earlier than the documents ask.
    fn unpromised_rule(&self, node: &NodeName, from: u64, to: u64) -> Option<Named> {
        let mut ruled = (from..=to).filter_map(|tick| self.readings.ruled_episode(node, tick));
        let promises = &self.context.descriptor.promises;
        ruled.find(|kind| promises.leaves_open(&Kind::from(*kind)))
    }

    /// Whether a port was not healthy in the last poll before its fault could be seen again.
    fn stood_before(&self, demand: &Demand<'_>, whom: &Whom, since: u64) -> bool {
        let Whom::Port(pci, port) = whom else {
            return false;
        };
        let node = &demand.node;
        let last = self.unseen_from(node, since).checked_sub(1);
        let read = last.and_then(|tick| {
            let [_, end] = self.readings.views(node, tick)?;
            Some(self.readings.port(node, (*pci, *port), end, tick))
        });
        read.is_some_and(|read| read.kind().is_some())
    }

    fn is_waiting(&self, demand: &Demand<'_>, whom: &Whom, since: u64) -> bool {
        let Whom::Card(card) = whom else { return false };
        let views = self.readings.views(&demand.node, since);
        let Some([views, _]) = views else {
            return false;
        };
        views.is_card_waiting(*card)
    }

    /// The condition of an unhealthy demand, and its first tick.
    fn fault(&self, demand: &Demand<'_>, whom: &Whom) -> (Option<Kind>, Option<u64>) {
        let pattern = &demand.pattern;
        let check = pattern.check.as_deref().and_then(Check::parse);
        let kind = check.map(Check::kind);
        if pattern.counter.is_some() || kind == Some(CheckKind::Degradation) {
            return (Some(Kind::Counter(code_of(pattern))), None);
        }
        if kind == Some(CheckKind::CharDevice) {
            return (Some(Named::CharDevice.into()), None);
        }
        let node = &demand.node;
        let since = |from, holds: &dyn Fn(&NodeView) -> bool| {
            let first = (0..from).rev().take_while(|tick| {
                let views = self.readings.views(node, *tick);
                views.is_some_and(|views| holds(views[0]))
            });
            Some(first.last().unwrap_or(from))
        };
        let from = demand.window.from.min(self.readings.ticks());
        match whom {
            Whom::Port(pci, port) => {
                let found = self.of_port(demand, *pci, *port);
                (
                    found.map(|(kind, _)| kind.into()),
                    found.map(|(_, since)| since),
                )
            }
            Whom::Device(pci) if pattern.tone == Severity::Fatal => {
                let is_gone = |views: &NodeView| views.0.get(pci).is_some_and(|view| !view.listed);
                (Some(Named::GoneDevice.into()), since(from, &is_gone))
            }
            Whom::Device(_) => (Some(Named::Unreadable.into()), None),
            Whom::Card(card) => {
                let is_behind = |views: &NodeView| {
                    let cards = views.cards();
                    let mut of_it = cards.iter().filter(|one| one.pci.card() == *card);
                    of_it.any(|card| views.falls_behind(card))
                };
                (Some(Named::Card.into()), since(from, &is_behind))
            }
            Whom::Name(_) | Whom::Check => (None, None),
        }
    }

    /// The condition of a port that a fault is about, and its first tick.
    fn of_port(
        &self,
        demand: &Demand<'_>,
        pci: PciAddress,
        port: PortNumber,
    ) -> Option<(Named, u64)> {
        let (node, slot) = (&demand.node, (pci, port));
        let (from, last) = (demand.window.from, self.readings.ticks());
        let to = demand.window.to.min(from.saturating_add(LOOKED_AHEAD));
        let ahead = (from..=to).take_while(|tick| *tick < last);
        let before = (0..from.min(last)).rev();
        let (tick, kind) = ahead.chain(before).find_map(|tick| {
            let views = self.readings.views(node, tick)?;
            let reading = views.map(|views| self.readings.port(node, slot, views, tick));
            let mut kinds = reading
                .into_iter()
                .map(|it| cause_of(demand.pattern.tone, it));
            Some((tick, kinds.find_map(|kind| kind)?))
        })?;
        let stands = |tick: &u64| {
            self.readings.views(node, *tick).is_some_and(|views| {
                let reading = self.readings.port(node, slot, views[0], *tick);
                match kind {
                    Named::Persists => reading.kind().is_some(),
                    kind => reading.state == Some(kind) || reading.blind == Some(kind),
                }
            })
        };
        let first = (0..tick).rev().take_while(stands).last();
        Some((kind, first.unwrap_or(tick)))
    }

    fn layer(&self, demand: &Demand<'_>) -> Option<LinkLayer> {
        let by_check = demand.pattern.check.as_deref().and_then(layer_of_check);
        by_check.or_else(|| {
            let (about, tick) = (&demand.pattern.about, demand.window.from);
            let layers = self.context.layers(about, &demand.node, tick);
            layers.first().copied().filter(|_| layers.len() == 1)
        })
    }
}

/// The kind of a reading that can be the cause of a fault of this tone.
fn cause_of(tone: Severity, reading: Reading) -> Option<Named> {
    match (tone, reading.state, reading.blind) {
        (Severity::Fatal, Some(_), _) if !reading.is_fatal => Some(Named::Persists),
        (Severity::Fatal, Some(state), _) => Some(state),
        (_, state, blind) => blind.or(state),
    }
}

/// What distinguishes the faults of a subject: the counter, or the kind of character device.
fn code_of(pattern: &EventPattern) -> String {
    let codes = pattern.error_codes.iter().flatten();
    let mut codes = pattern.counter.iter().chain(codes);
    codes.next().cloned().unwrap_or_default()
}
