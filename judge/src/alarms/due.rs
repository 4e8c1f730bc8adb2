//! The alarms that a monitor owes: for each subject, the union of the faults that its rows make it report. Start at
//! [`groups`].

use std::collections::BTreeMap;

use director::Target;
use observe::{
    Recording,
    promises::{Granularity, Kind, Named},
};
use platforms::{NodeName, PciAddress, PortNumber};
use terms::Severity;

use super::{
    patience,
    promised::{Ceiling, GRACE, Piece, Promised, Reported, Worse},
    subject::{AlarmSubject, Bearers, renamed_at, whom_of},
};
use crate::{
    clock::{Clock, is_paced},
    episodes::Episodes,
    fits::JudgeContext,
    intervals::{Interval, intervals, is_watched},
    kinds::Whom,
    owed::Rows,
    readings::{LayerChange, Readings},
};

/// A subject of alarms.
#[derive(Debug)]
pub(super) struct Group {
    /// Its name in findings.
    pub(super) name: String,
    /// What its alarms are about.
    pub(super) subject: AlarmSubject,
    /// The names that its function took over from another one: which, in which tick, and by when what was stated of its former
    /// bearer is over.
    pub(super) taken_over: Vec<(String, u64, u64)>,
    /// What it owes, in order.
    pub(super) alarms: Vec<Alarm>,
    /// What nothing is promised about.
    pub(super) unpromised: Vec<Unpromised>,
    /// How severe its alarms may be.
    ceilings: Vec<Ceiling>,
}

/// A fault that nothing is promised about, so that it may be an alarm.
#[derive(Debug)]
pub(super) struct Unpromised {
    /// The first tick that reads it.
    pub(super) from: u64,
    /// The first tick that does not any more.
    pub(super) to: u64,
    /// The last tick in which an alarm about it may begin.
    opens_until: u64,
    /// The last tick in which an alarm about it may stand.
    until: u64,
}

impl Unpromised {
    /// `stays` is the tick until which an alarm about it may stay.
    fn of(interval: &Interval, stays: u64, clock: &Clock) -> Self {
        Self {
            from: interval.from,
            to: interval.to,
            opens_until: clock.by(interval.to, GRACE),
            until: clock.by(stays.max(interval.to), GRACE),
        }
    }
}

/// One alarm.
#[derive(Debug)]
pub(super) struct Alarm {
    /// The first poll that reads the first of its faults.
    pub(super) since: u64,
    /// The first tick in which it may open.
    pub(super) opens: u64,
    /// The tick by whose end it stands.
    pub(super) opens_by: u64,
    /// The tick until which it stands.
    pub(super) closes: u64,
    /// The tick by whose end it is over; `None` if it may stay.
    pub(super) closes_by: Option<u64>,
    /// The tick from which on it may not begin any more; `None` if it may.
    pub(super) opens_until: Option<u64>,
    /// When each of its faults may be reported first.
    pub(super) pieces: Vec<u64>,
    /// By when each of its faults is reported at the latest, and how severe it is then.
    pub(super) due: Vec<(u64, Severity)>,
}

/// The faults of a subject from a healthy reading to the next, as far as they are gone through.
struct Run {
    from: u64,
    to: u64,
    /// Whether a report of one of them is owed.
    is_owed: bool,
    /// The worst severity by the documents of those that are not.
    tone: Option<Severity>,
}

/// What belongs to a subject.
#[derive(Default)]
struct Owing {
    pieces: Vec<Piece>,
    unpromised: Vec<Unpromised>,
    escalations: Vec<Ceiling>,
}

impl Group {
    /// Whether an alarm that is owed may stand in a tick.
    pub(super) fn is_promised(&self, tick: u64) -> bool {
        self.alarms.iter().any(|alarm| alarm.may_stand(tick))
    }

    /// The tick in which an alarm may open about a fault that is read in this one, and is waited for; `None` if none is.
    pub(super) fn waits(&self, tick: u64) -> Option<u64> {
        let mut alarms = self.alarms.iter();
        let waiting = alarms.find(|alarm| (alarm.since..alarm.opens).contains(&tick));
        waiting.map(|alarm| alarm.opens)
    }

    /// The faults of a tick that nothing is promised about.
    pub(super) fn standing(&self, tick: u64) -> impl Iterator<Item = &Unpromised> {
        let all = self.unpromised.iter();
        all.filter(move |fault| (fault.from..fault.to).contains(&tick))
    }

    /// Whether it may alarm in a tick.
    pub(super) fn may_alarm(&self, tick: u64) -> bool {
        self.is_promised(tick) || self.is_free(tick)
    }

    /// Whether an alarm may begin in a tick: one about a fault that goes on, of which nothing is said, may stay only.
    pub(super) fn may_begin(&self, tick: u64) -> bool {
        let is_open = |alarm: &Alarm| {
            tick >= alarm.opens && alarm.opens_until.is_none_or(|until| tick < until)
        };
        let mut unpromised = self.unpromised.iter();
        self.alarms.iter().any(is_open)
            || unpromised.any(|fault| (fault.from..=fault.opens_until).contains(&tick))
    }

    /// The worst severity that an alarm may have in a tick by the rows; `None` if no row decides.
    pub(super) fn at_most(&self, tick: u64) -> Option<Severity> {
        if self.is_free(tick) {
            return None;
        }
        let ceilings = self.ceilings.iter();
        let standing = ceilings.filter(|it| (it.from..it.to).contains(&tick));
        standing.map(|it| it.tone).reduce(Severity::worst)
    }

    /// Whether an alarm about a fault that nothing is promised about may stand in a tick.
    fn is_free(&self, tick: u64) -> bool {
        let mut unpromised = self.unpromised.iter();
        unpromised.any(|fault| (fault.from..=fault.until).contains(&tick))
    }
}

/// The subjects of a node, with what they owe.
pub(super) fn groups(
    context: &JudgeContext<'_>,
    recording: &Recording,
    node: &NodeName,
    (readings, bearers): (&Readings<'_>, &Bearers),
    granularity: Granularity,
) -> Vec<Group> {
    let clock = Clock::of(context, recording, node);
    let rows = Rows::of(context);
    // An alarm about the node as a whole hangs on no name.
    let names_decide = granularity != Granularity::Node && !rows.follow_renames();
    let all = intervals(context, readings, recording);
    let of_node: Vec<&Interval> = all
        .iter()
        .filter(|interval| interval.node == *node)
        .collect();
    let episodes = Episodes::of(context);
    let promised = Promised {
        rows,
        sights: patience::sights(context, node, (&rows, &episodes, &clock)),
        episodes,
        clock: &clock,
        first_poll: readings.first_poll(recording, node),
        readings,
        faults: &of_node,
    };
    let moves = match rows.unpromised(&Named::MovedLayer.into()) {
        Some(_) => readings.layer_changes(node),
        None => &[],
    };
    let mut runs: BTreeMap<Whom, Run> = BTreeMap::new();
    let mut groups: BTreeMap<Option<Whom>, Owing> = BTreeMap::new();
    for whom in subjects(readings, node, granularity) {
        groups.entry(whom).or_default();
    }
    for (at, interval) in of_node.iter().copied().enumerate() {
        let stays = promised.stays(interval, &of_node[at + 1..]);
        // A monitor may say of each port that its device is gone.
        if let (Granularity::Port, Whom::Device(gone)) = (granularity, &interval.whom) {
            let of_it =
                |whom: &Option<Whom>| matches!(whom, Some(Whom::Port(pci, _)) if pci == gone);
            for (_, owing) in groups.iter_mut().filter(|(whom, _)| of_it(whom)) {
                owing
                    .unpromised
                    .push(Unpromised::of(interval, interval.to, &clock));
            }
        }
        let Some(owing) = groups.get_mut(&whom_of(&interval.whom, granularity)) else {
            continue;
        };
        // A card that falls behind is a fault of ports, which have rows of their own.
        if interval.kind == Kind::Named(Named::Card) && rows.unpromised(&interval.kind).is_some() {
            continue;
        }
        let reported = promised.reported(interval, stays);
        let (is_free, since) = run_on(&mut runs, interval, &reported);
        let renamed = renamed_at(readings, node, &interval.whom).filter(|_| names_decide);
        let changed = renamed.into_iter().chain(moved_at(moves, &interval.whom));
        let changed = changed.min().filter(|tick| *tick < interval.to);
        let under_the_first = changed.map(|tick| Interval {
            to: tick.max(interval.from),
            ..interval.clone()
        });
        if let Some(first) = &under_the_first {
            // What is said then, of the old name or of the new one, or by the check of either layer, may be said and may stay.
            let until = match granularity {
                Granularity::Node => clock.by(interval.to, GRACE),
                Granularity::Port | Granularity::Device => u64::MAX,
            };
            owing.unpromised.push(Unpromised {
                from: first.to,
                to: interval.to,
                opens_until: until,
                until,
            });
            if first.from == first.to {
                continue;
            }
        }
        let (interval, reported) = match &under_the_first {
            Some(first) => (first, promised.reported(first, first.to)),
            None => (interval, reported),
        };
        let owed = match reported {
            _ if is_free => None,
            Reported::Unpromised => None,
            Reported::Never | Reported::Owed(None) => continue,
            Reported::Owed(Some(piece)) => Some(piece),
        };
        let Some(owed) = owed else {
            let unpromised = Unpromised::of(interval, stays, &clock);
            owing.unpromised.push(unpromised);
            continue;
        };
        let may_stay = |piece: Piece| match changed {
            Some(_) => Piece {
                over_by: None,
                opens_until: None,
                ..piece
            },
            None => piece,
        };
        match promised.escalation(interval, since, &owed) {
            Some(Worse::May(ceiling)) => owing.escalations.push(ceiling),
            Some(Worse::Is(piece)) => owing.pieces.push(may_stay(piece)),
            None => {}
        }
        owing.pieces.push(may_stay(owed));
    }
    free_moved(moves, granularity, &mut groups);
    // A flap between two polls shows no state, but a counter that has grown.
    let counts = is_paced(context) && rows.unpromised(&Named::Flap.into()).is_some();
    for (from, pci) in flaps(context, node).into_iter().filter(|_| counts) {
        let to = clock.next_poll(from);
        let is_its = |whom: &Option<Whom>| whom.as_ref().is_none_or(|whom| whom.pci() == Some(pci));
        for (_, owing) in groups.iter_mut().filter(|(whom, _)| is_its(whom)) {
            owing.unpromised.push(Unpromised {
                from,
                to,
                opens_until: clock.by(to, GRACE),
                until: clock.by(to, GRACE),
            });
        }
    }
    let taken_over = |whom: Option<&Whom>| {
        let pci = whom.and_then(Whom::pci).filter(|_| !names_decide);
        let names = pci.into_iter().flat_map(|pci| {
            let names = bearers.names_of(pci);
            names.flat_map(move |name| bearers.taken_over(name, pci).map(move |at| (name, at)))
        });
        names
            .map(|(name, at)| (name.to_owned(), at, clock.by(at, GRACE)))
            .collect()
    };
    let named = |(whom, owing): (Option<Whom>, Owing)| {
        let taken_over = taken_over(whom.as_ref());
        let subject = AlarmSubject::promised(whom, granularity);
        Group {
            name: subject.name(bearers),
            subject,
            taken_over,
            ceilings: ceilings(&owing.pieces, owing.escalations),
            alarms: alarms(owing.pieces),
            unpromised: owing.unpromised,
        }
    };
    groups.into_iter().map(named).collect()
}

/// The first tick in which a port, or one of a card, shows another link layer than before.
fn moved_at(moves: &[LayerChange], whom: &Whom) -> Option<u64> {
    let is_its = |pci: PciAddress, port: PortNumber| match whom {
        Whom::Port(of, number) => (*of, *number) == (pci, port),
        Whom::Card(card) => pci.card() == *card,
        Whom::Device(_) | Whom::Name(_) | Whom::Check => false,
    };
    let of_it = moves.iter().filter(|(pci, port, _)| is_its(*pci, *port));
    of_it.map(|(.., tick)| *tick).min()
}

/// Lets alarms be about ports that moved to the other link layer, where nothing is promised about them: under that a port may
/// be another one, or none.
fn free_moved(
    moves: &[LayerChange],
    granularity: Granularity,
    groups: &mut BTreeMap<Option<Whom>, Owing>,
) {
    for (pci, port, tick) in moves {
        let is_its = |whom: &Option<Whom>| match whom {
            Some(Whom::Port(of, number)) => (of, number) == (pci, port),
            Some(Whom::Device(of)) => granularity == Granularity::Device && of == pci,
            Some(Whom::Card(card)) => *card == pci.card(),
            _ => false,
        };
        for (_, owing) in groups.iter_mut().filter(|(whom, _)| is_its(whom)) {
            owing.unpromised.push(Unpromised {
                from: *tick,
                to: *tick,
                opens_until: u64::MAX,
                until: u64::MAX,
            });
        }
    }
}

/// The flaps of a node's monitored ports: the first tick that can show each, and the function.
fn flaps(context: &JudgeContext<'_>, node: &NodeName) -> Vec<(u64, PciAddress)> {
    let acts = context.truth.log.acts.iter();
    let flaps = acts.filter_map(|act| match &act.on {
        Target::Ports(slots) if !act.is_given => Some((act.tick, slots)),
        _ => None,
    });
    let of_node = flaps.flat_map(|(from, slots)| {
        let of_node = slots.iter().filter(|slot| slot.node == *node);
        let watched = of_node.filter(move |slot| is_watched(context, slot, from));
        watched.map(move |slot| (from, slot.pci))
    });
    of_node.collect()
}

/// Goes on with the faults of a subject: whether nothing is owed of one because it goes on from one of which nothing is
/// owed, and is no worse by the documents; and since when the subject has not been healthy.
fn run_on(runs: &mut BTreeMap<Whom, Run>, interval: &Interval, reported: &Reported) -> (bool, u64) {
    if !interval.is_of_reading() {
        return (false, interval.from);
    }
    let goes_on = |run: &&Run| run.to == interval.from;
    let of_it = runs.get(&interval.whom).filter(goes_on);
    // The ports of a device that was gone go on from its absence.
    let of_device = match &interval.whom {
        Whom::Port(pci, _) => runs.get(&Whom::Device(*pci)).filter(goes_on),
        _ => None,
    };
    let before = of_it.or(of_device);
    let since = before.map_or(interval.from, |run| run.from);
    let was_owed = before.is_some_and(|run| run.is_owed);
    let before_tone = before.and_then(|run| run.tone);
    let is_worse = match (before_tone, interval.tone) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(before), Some(now)) => now.is_worse_than(before),
    };
    let is_owed = matches!(reported, Reported::Owed(_));
    let is_free = is_owed && before.is_some() && !was_owed && !is_worse;
    let worst = match is_owed && !is_free {
        true => before_tone,
        false => {
            let tones = before_tone.into_iter().chain(interval.tone);
            tones.reduce(Severity::worst)
        }
    };
    let run = Run {
        from: since,
        to: interval.to,
        is_owed: was_owed || is_owed && !is_free,
        tone: worst,
    };
    runs.insert(interval.whom.clone(), run);
    (is_free, since)
}

/// Faults that follow one another without a gap are one alarm.
fn alarms(mut pieces: Vec<Piece>) -> Vec<Alarm> {
    pieces.sort_by_key(|piece| piece.from);
    let mut alarms: Vec<Alarm> = Vec::new();
    for piece in pieces {
        let due = (piece.by, piece.tone);
        if let Some(last) = alarms.last_mut().filter(|last| piece.from <= last.closes) {
            last.closes = last.closes.max(piece.to);
            last.closes_by = last
                .closes_by
                .zip(piece.over_by)
                .map(|(one, other)| one.max(other));
            last.opens_until = last
                .opens_until
                .zip(piece.opens_until)
                .map(|(one, other)| one.max(other));
            last.pieces.push(piece.from);
            last.due.push(due);
            continue;
        }
        alarms.push(Alarm {
            since: piece.since,
            opens: piece.from,
            opens_by: piece.by,
            closes: piece.to,
            closes_by: piece.over_by,
            opens_until: piece.opens_until,
            pieces: vec![piece.from],
            due: vec![due],
        });
    }
    alarms
}

/// How severe alarms about these faults may be.
fn ceilings(pieces: &[Piece], escalations: Vec<Ceiling>) -> Vec<Ceiling> {
    let of_pieces = pieces.iter().map(|piece| Ceiling {
        from: piece.from,
        to: piece.over_by.unwrap_or(u64::MAX),
        tone: piece.tone,
    });
    of_pieces.chain(escalations).collect()
}

/// The subjects that can alarm.
fn subjects(
    readings: &Readings<'_>,
    node: &NodeName,
    granularity: Granularity,
) -> Vec<Option<Whom>> {
    if granularity == Granularity::Node {
        return vec![None];
    }
    let mut subjects = Vec::new();
    for tick in 0..readings.ticks() {
        let Some([views, _]) = readings.views(node, tick) else {
            continue;
        };
        for (pci, function) in views.0.iter().filter(|(_, function)| function.monitored) {
            subjects.push(Whom::Device(*pci));
            subjects.push(Whom::Card(pci.card()));
            if granularity == Granularity::Port {
                subjects.extend(function.ports.keys().map(|port| Whom::Port(*pci, *port)));
            }
        }
    }
    subjects.sort();
    subjects.dedup();
    subjects.into_iter().map(Some).collect()
}

#[cfg(test)]
mod tests;
