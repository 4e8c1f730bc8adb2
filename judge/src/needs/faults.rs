//! The true faults of a node, and how long each must not alarm. Start at [`Faults`].

use std::{collections::BTreeSet, time::Duration};

use observe::{
    Needs, Recording, Span,
    needs::Quiet,
    promises::{Granularity, Kind, KindOf, Lasting},
};
use platforms::{LinkLayer, NodeName, PciAddress};
use scenarios::Story;

use crate::{
    alarms::subject::{AlarmSubject, Bearers},
    demands::polled,
    episodes::Episodes,
    fits::JudgeContext,
    intervals::Interval,
    kinds::Whom,
};

/// The true faults of a node, in the order of their beginnings.
pub(super) struct Faults {
    faults: Vec<Fault>,
    /// The episodes that must not alarm: kind and first tick.
    episodes: BTreeSet<(Kind, u64)>,
}

/// A true fault.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// The kind.
    pub(super) kind: Kind,
    /// The subject.
    pub(super) whom: Whom,
    /// What alarms have to be about at least, by the needs.
    pub(super) subject: AlarmSubject,
    /// The subject as monitors name it.
    pub(super) name: String,
    /// What paths of its files contain.
    pub(super) paths: Vec<String>,
    /// Its link layer, if it is one.
    pub(super) layer: Option<LinkLayer>,
    /// The first poll that reads it.
    pub(super) from: u64,
    /// The first tick in which it can have begun: after the last poll that did not read it, or while that one read.
    pub(super) begins: u64,
    /// The first poll that does not any more; the largest number if it lasts to the end.
    pub(super) to: u64,
    /// Whether nothing happened that can have made it: so its machine is.
    pub(super) is_at_rest: bool,
    /// Why and until when it must not alarm, if so.
    pub(super) quiet: Option<Silence>,
}

/// Why a fault must not alarm.
#[derive(Clone, Debug)]
pub(super) struct Silence {
    /// The kind that never alarms: its own, or of the episode that it belongs to.
    kind: Kind,
    quiet: Quiet,
    /// When it began.
    from: u64,
    /// The first tick in which it may alarm.
    until: u64,
}

impl Fault {
    /// From when on it may alarm.
    pub(super) fn heard_from(&self) -> u64 {
        let until = self.quiet.as_ref().map_or(0, |silence| silence.until);
        self.from.max(until)
    }

    /// Whether it must never alarm.
    pub(super) fn is_quiet_for_good(&self) -> bool {
        self.heard_from() == u64::MAX
    }

    /// Whether it may alarm in a tick, if it stands.
    pub(super) fn may_alarm(&self, tick: u64) -> bool {
        let silence = self.quiet.as_ref();
        silence.is_none_or(|silence| tick >= silence.until)
    }

    /// What is expected while it must not alarm, and the kind that must be quiet.
    pub(super) fn must_be_quiet(&self) -> Option<(String, Option<Kind>)> {
        let silence = self.quiet.as_ref()?;
        let expected = stays_quiet(&silence.kind, silence.quiet, silence.from);
        Some((expected, Some(silence.kind.clone())))
    }

    /// Whether reports at a granularity do not tell it from another.
    fn is_same(&self, other: &Self, granularity: Granularity) -> bool {
        match granularity {
            Granularity::Node => true,
            Granularity::Device => {
                self.whom.card() == other.whom.card() && self.whom.pci() == other.whom.pci()
            }
            Granularity::Port => {
                self.whom == other.whom
                    || matches!(other.whom, Whom::Device(_)) && self.whom.pci() == other.whom.pci()
            }
        }
    }
}

impl Faults {
    /// The faults of a node.
    pub(super) fn of(
        intervals: impl Iterator<Item = Interval>,
        needs: &Needs,
        (episodes, bearers): (&Episodes, &Bearers),
        context: &JudgeContext<'_>,
        (node, recording): (&NodeName, &Recording),
    ) -> Self {
        let polls: Vec<u64> = polled(recording, node).collect();
        let mut faults: Vec<Fault> = Vec::new();
        for interval in intervals {
            let pci = interval.whom.pci();
            let functions = functions_of(&interval.whom, context, node);
            // What a fault becomes, such as a device that comes back with a port that trains, belongs to its episode.
            let before = faults.iter().rev().find(|before| {
                pci.is_some()
                    && before.whom.pci() == pci
                    && (before.whom == interval.whom || is_parent(before, &interval))
                    && before.from < interval.from
                    && before.to >= interval.from
            });
            let inherited = before.and_then(|before| before.quiet.clone());
            let is_of_episode = |silence: &Silence| silence.kind.of() == KindOf::Episode;
            let mut makers = functions
                .iter()
                .filter_map(|pci| episodes.last_maker(node, *pci, interval.from));
            let is_at_rest = before.is_none() && makers.next().is_none();
            let own = needs.quiet(&interval.kind).map(|quiet| Silence {
                kind: interval.kind.clone(),
                quiet,
                from: interval.from,
                until: end_of(quiet, interval.from, context.story),
            });
            let of_episode = || {
                functions.iter().find_map(|pci| {
                    let last = episodes.last_maker(node, *pci, interval.from)?;
                    let (kind, from) = (Kind::from(last.0?), last.1);
                    let quiet = needs.quiet(&kind)?;
                    let until = end_of(quiet, from, context.story);
                    Some(Silence {
                        kind,
                        quiet,
                        from,
                        until,
                    })
                })
            };
            let by_cause = if before.is_some() {
                inherited.filter(is_of_episode)
            } else {
                of_episode()
            };
            let both = own.into_iter().chain(by_cause);
            let quiet = both.max_by_key(|silence| silence.until);
            let names = functions.iter().flat_map(|pci| bearers.names_of(*pci));
            let own = AlarmSubject::needed(&interval.whom, Granularity::Port);
            let granularity = needs.granularity(&interval.kind);
            faults.push(Fault {
                subject: AlarmSubject::needed(&interval.whom, granularity),
                name: own.name(bearers),
                paths: names.map(|name| format!("/{name}/")).collect(),
                kind: interval.kind,
                whom: interval.whom,
                layer: interval.layer,
                from: interval.from,
                begins: polls
                    .iter()
                    .rev()
                    .find(|poll| **poll < interval.from)
                    .map_or(0, |poll| *poll),
                to: interval.to,
                is_at_rest,
                quiet,
            });
        }
        hush_cards(&mut faults);
        let quiet_episodes = episodes
            .on_node(node)
            .map(|(kind, from)| (kind.into(), from));
        let episodes = quiet_episodes.filter(|(kind, _)| needs.quiet(kind).is_some());
        Self {
            faults,
            episodes: episodes.collect(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter()
    }

    /// How often something happened that must not alarm: episodes, and faults of such kinds.
    pub(super) fn must_be_quiet(&self) -> usize {
        let of_kind = |fault: &&Fault| {
            let silence = fault.quiet.as_ref();
            silence.is_some_and(|silence| silence.kind == fault.kind)
        };
        self.episodes.len() + self.faults.iter().filter(of_kind).count()
    }

    /// Whether a fault is what another one of its subject became, such as a port that trains after it was disabled;
    /// of those that meet a condition.
    pub(super) fn is_continued(&self, fault: &Fault, of: impl Fn(&Fault) -> bool) -> bool {
        let mut before: Vec<&Fault> = vec![fault];
        while let Some(last) = before.pop() {
            let became = |it: &&Fault| it.whom == last.whom && it.to == last.from;
            let found: Vec<&Fault> = self.faults.iter().filter(became).collect();
            if found.iter().any(|it| of(it)) {
                return true;
            }
            before.extend(found);
        }
        false
    }

    /// When the subject of a fault is without one again, whatever the fault becomes before.
    pub(super) fn over(&self, fault: &Fault) -> u64 {
        let mut over = fault.to;
        let mut later = self.faults.iter().filter(|it| it.whom == fault.whom);
        while let Some(next) = later.find(|it| it.from == over) {
            over = next.to;
        }
        over
    }

    /// Whether another fault that reports do not tell from this one stands after this one is over, and before it
    /// must be taken back.
    pub(super) fn goes_on(
        &self,
        fault: &Fault,
        (over, due): (u64, u64),
        granularity: Granularity,
    ) -> bool {
        let mut others = self.faults.iter();
        others
            .any(|other| fault.is_same(other, granularity) && other.from <= due && other.to > over)
    }
}

/// A card that falls behind its peers by faults that must not alarm must not alarm either.
fn hush_cards(faults: &mut [Fault]) {
    let silence = |card: &Fault, faults: &[Fault]| {
        let stands = |it: &&Fault| {
            it.whom.pci().is_some()
                && it.whom.card() == card.whom.card()
                && (it.from..it.to).contains(&card.from)
        };
        let of_it = faults.iter().filter(stands).map(|it| it.quiet.clone());
        let of_it: Option<Vec<Silence>> = of_it.collect();
        of_it?.into_iter().min_by_key(|silence| silence.until)
    };
    for at in 0..faults.len() {
        if matches!(faults[at].whom, Whom::Card(_)) && faults[at].quiet.is_none() {
            faults[at].quiet = silence(&faults[at], faults);
        }
    }
}

/// Whether a fault is of the device of a port, or of a port of the device.
fn is_parent(fault: &Fault, interval: &Interval) -> bool {
    matches!(fault.whom, Whom::Device(_)) || matches!(interval.whom, Whom::Device(_))
}

/// What is expected of a kind that must not alarm.
pub(super) fn stays_quiet(kind: &Kind, quiet: Quiet, from: u64) -> String {
    match quiet {
        Quiet::Always => format!("`{kind}`, from poll {from} on, never alarms"),
        Quiet::For(_) => format!("`{kind}`, from poll {from} on, never alarms {quiet}"),
    }
}

/// The first tick in which something may alarm that began in this one.
pub(super) fn end_of(quiet: Quiet, from: u64, story: &Story) -> u64 {
    match quiet {
        Quiet::Always => u64::MAX,
        Quiet::For(span) => from.saturating_add(ticks(span, story)),
    }
}

/// A span in ticks, rounded up.
pub(super) fn ticks(span: Span, story: &Story) -> u64 {
    Lasting::Time(span).ticks(Duration::from_nanos(story.ticks.interval().as_ns()))
}

/// The functions of a subject, in order.
fn functions_of(whom: &Whom, context: &JudgeContext<'_>, node: &NodeName) -> BTreeSet<PciAddress> {
    match whom {
        Whom::Card(card) => {
            let views = context.past(node, u64::MAX);
            let all = views.flat_map(|views| views.0.keys().copied());
            all.filter(|pci| pci.card() == *card).collect()
        }
        whom => whom.pci().into_iter().collect(),
    }
}
