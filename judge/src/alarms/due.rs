//! The alarms that a monitor owes: for each subject, the union of the faults that its rows make it report. Start at
//! [`groups`].

use std::collections::BTreeMap;

use fabric::{Action, PortsAction};
use observe::{
    Recording,
    promises::{Clears, Compared, Granularity, Kind, Lasting, Named, Row, Says, Verdict},
};
use platforms::{NodeName, PciAddress};
use scenarios::{StepAction, Tone};

use crate::{
    clock::{Clock, is_paced},
    episodes::Episodes,
    fits::JudgeContext,
    intervals::{Interval, intervals, is_watched},
    kinds::Whom,
    owed::Rows,
    readings::Readings,
};

/// How many polls an alarm may take to open or close where its row states nothing. Chosen: as scenarios allow where
/// they state `within: 2 polls`.
const GRACE: Lasting = Lasting::Polls(2);

/// A subject of alarms.
#[derive(Debug)]
pub(super) struct Group {
    /// Its name in findings.
    pub(super) name: String,
    /// The subject on the bus; `None` for the node.
    pub(super) whom: Option<Whom>,
    /// The names that its function had.
    pub(super) names: Vec<String>,
    /// Whether what is said of its ports is said of it.
    pub(super) has_ports: bool,
    /// What it owes, in order.
    pub(super) alarms: Vec<Alarm>,
    /// What nothing is promised about.
    pub(super) unpromised: Vec<Unpromised>,
}

/// A fault that nothing is promised about, so that it may be an alarm.
#[derive(Debug)]
pub(super) struct Unpromised {
    /// The first tick that reads it.
    pub(super) from: u64,
    /// The first tick that does not any more.
    pub(super) to: u64,
    /// The last tick in which an alarm about it may stand.
    until: u64,
}

impl Unpromised {
    fn of(interval: &Interval, clock: &Clock) -> Self {
        Self {
            from: interval.from,
            to: interval.to,
            until: clock.by(interval.to, GRACE),
        }
    }
}

/// One alarm.
#[derive(Debug)]
pub(super) struct Alarm {
    /// The first tick in which it may open.
    pub(super) opens: u64,
    /// The tick by whose end it stands.
    pub(super) opens_by: u64,
    /// The tick until which it stands.
    pub(super) closes: u64,
    /// The tick by whose end it is over; `None` if it may stay.
    pub(super) closes_by: Option<u64>,
    /// When each of its faults may be reported first.
    pub(super) pieces: Vec<u64>,
    /// By when each of its faults is reported at the latest, and how severe it is then.
    pub(super) due: Vec<(u64, Tone)>,
}

/// A fault that is owed.
struct Piece {
    from: u64,
    by: u64,
    to: u64,
    over_by: Option<u64>,
    tone: Tone,
}

/// What belongs to a subject.
#[derive(Default)]
struct Owing {
    pieces: Vec<Piece>,
    unpromised: Vec<Unpromised>,
}

impl Group {
    /// Whether an alarm that is owed may stand in a tick.
    pub(super) fn is_promised(&self, tick: u64) -> bool {
        self.alarms.iter().any(|alarm| alarm.may_stand(tick))
    }

    /// The faults of a tick that nothing is promised about.
    pub(super) fn standing(&self, tick: u64) -> impl Iterator<Item = &Unpromised> {
        let all = self.unpromised.iter();
        all.filter(move |fault| (fault.from..fault.to).contains(&tick))
    }

    /// Whether it may alarm in a tick.
    pub(super) fn may_alarm(&self, tick: u64) -> bool {
        self.is_promised(tick)
            || self
                .unpromised
                .iter()
                .any(|fault| (fault.from..=fault.until).contains(&tick))
    }
}

/// The subjects of a node, with what they owe.
pub(super) fn groups(
    context: &JudgeContext<'_>,
    recording: &Recording,
    node: &NodeName,
    granularity: Granularity,
) -> Vec<Group> {
    let readings = Readings::of(*context, recording.healing_from);
    let clock = Clock::of(context, recording, node);
    let (rows, episodes) = (Rows::of(context), Episodes::of(context.story));
    let all = intervals(context, &readings, recording);
    let of_node = all.iter().filter(|interval| interval.node == *node);
    let mut groups: BTreeMap<Option<Whom>, Owing> = BTreeMap::new();
    for whom in subjects(&readings, node, granularity) {
        groups.entry(whom).or_default();
    }
    for interval in of_node {
        // A monitor may say of each port that its device is gone.
        if let (Granularity::Port, Whom::Device(gone)) = (granularity, &interval.whom) {
            let of_it =
                |whom: &Option<Whom>| matches!(whom, Some(Whom::Port(pci, _)) if pci == gone);
            for (_, owing) in groups.iter_mut().filter(|(whom, _)| of_it(whom)) {
                owing.unpromised.push(Unpromised::of(interval, &clock));
            }
        }
        let Some(owing) = groups.get_mut(&subject_of(interval, granularity)) else {
            continue;
        };
        let episode = episode_of(&episodes, interval).map(Kind::from);
        let has_row = |kind: &Kind| rows.unpromised(kind).is_none();
        // A card that falls behind is a fault of ports, which have rows of their own.
        if interval.kind == Kind::Named(Named::Card) && !has_row(&interval.kind) {
            continue;
        }
        if !has_row(&interval.kind) || episode.as_ref().is_some_and(|kind| !has_row(kind)) {
            owing.unpromised.push(Unpromised::of(interval, &clock));
            continue;
        }
        if episode.is_some_and(|kind| is_silent(&rows, &kind, interval)) {
            continue;
        }
        owing.pieces.extend(piece(&rows, interval, &clock));
    }
    // A flap between two polls shows no state, but a counter that has grown.
    let counts = is_paced(context) && rows.unpromised(&Named::Flap.into()).is_some();
    for (from, pci) in flaps(context, node).into_iter().filter(|_| counts) {
        let to = clock.next_poll(from);
        let is_its = |whom: &Option<Whom>| whom.is_none() || function_of(whom) == Some(pci);
        for (_, owing) in groups.iter_mut().filter(|(whom, _)| is_its(whom)) {
            owing.unpromised.push(Unpromised {
                from,
                to,
                until: clock.by(to, GRACE),
            });
        }
    }
    let named = |(whom, owing): (Option<Whom>, Owing)| Group {
        name: name_of(&readings, node, &whom),
        names: names_of(&readings, node, &whom),
        has_ports: granularity != Granularity::Port,
        alarms: alarms(owing.pieces),
        whom,
        unpromised: owing.unpromised,
    };
    groups.into_iter().map(named).collect()
}

/// The flaps of a node's monitored ports: the first tick that can show each, and the function.
fn flaps(context: &JudgeContext<'_>, node: &NodeName) -> Vec<(u64, PciAddress)> {
    let story = context.story;
    let mut found = Vec::new();
    for step in &story.steps {
        let from = story.ticks.first_from(step.at);
        for action in &step.actions {
            if let StepAction::World(Action::Ports(slots, PortsAction::Flap { .. })) = action {
                let of_node = slots.iter().filter(|slot| slot.node == *node);
                let watched = of_node.filter(|slot| is_watched(context, slot, from));
                found.extend(watched.map(|slot| (from, slot.pci)));
            }
        }
    }
    found
}

/// The fault that an interval makes a monitor report; `None` if its row leaves it out.
fn piece(rows: &Rows<'_>, interval: &Interval, clock: &Clock) -> Option<Piece> {
    let says = |kind: &Kind| match rows.pair(kind, interval.layer)? {
        (_, Row::Says(says)) => Some(says),
        _ => None,
    };
    let lasts = |says: &Says| {
        let after = says.after.unwrap_or(Lasting::NOTHING);
        clock.stood(interval.from, interval.to, after)
    };
    let own = says(&interval.kind).filter(|row| severity(row, interval).is_some());
    let is_card = interval.kind == Kind::Named(Named::Card);
    let is_compared = |row: &Says| !is_card || row.when == Some(Compared::EveryPoll);
    let own = own.filter(|row| is_compared(row) && lasts(row).is_some());
    // What is silent, or comes later, may escalate.
    let later = says(&Named::Persists.into()).filter(|row| {
        let is_port = matches!(interval.whom, Whom::Port(..));
        is_port && own.is_none() && lasts(row).is_some()
    });
    let row = own.or(later)?;
    let from = lasts(&row).filter(|from| *from != u64::MAX)?;
    let grace = |within: Option<Lasting>| within.unwrap_or(GRACE);
    let over_by = match row.clears.unwrap_or(Clears::Healed(None)) {
        Clears::Healed(within) => Some(clock.by(interval.to, grace(within))),
        Clears::ByCheck => Some(clock.by(interval.to, GRACE)),
        Clears::ByOperator | Clears::Never => None,
    };
    Some(Piece {
        from,
        by: clock.by(from, grace(row.within)),
        to: interval.to,
        over_by,
        tone: severity(&row, interval).unwrap_or(Tone::Fatal),
    })
}

fn severity(row: &Says, interval: &Interval) -> Option<Tone> {
    match row.verdict {
        Some(Verdict::Fatal) => Some(Tone::Fatal),
        Some(Verdict::NonFatal) => Some(Tone::NonFatal),
        None => interval.tone,
    }
}

fn is_silent(rows: &Rows<'_>, episode: &Kind, interval: &Interval) -> bool {
    let pair = rows.pair(episode, interval.layer);
    matches!(pair, Some((_, Row::Silent)))
}

fn episode_of(episodes: &Episodes, interval: &Interval) -> Option<Named> {
    let pci = match &interval.whom {
        Whom::Port(pci, _) | Whom::Device(pci) => *pci,
        _ => return None,
    };
    let at_start = (interval.from == 0).then_some(Named::FirstPoll);
    episodes
        .cause(&interval.node, pci, interval.from)
        .or(at_start)
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
            last.pieces.push(piece.from);
            last.due.push(due);
            continue;
        }
        alarms.push(Alarm {
            opens: piece.from,
            opens_by: piece.by,
            closes: piece.to,
            closes_by: piece.over_by,
            pieces: vec![piece.from],
            due: vec![due],
        });
    }
    alarms
}

/// The subject that a fault belongs to.
fn subject_of(interval: &Interval, granularity: Granularity) -> Option<Whom> {
    match (granularity, &interval.whom) {
        (Granularity::Node, _) => None,
        (Granularity::Device, Whom::Port(pci, _)) => Some(Whom::Device(*pci)),
        (_, whom) => Some(whom.clone()),
    }
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
            subjects.push(Whom::Card(pci.card().to_string()));
            if granularity == Granularity::Port {
                subjects.extend(function.ports.keys().map(|port| Whom::Port(*pci, *port)));
            }
        }
    }
    subjects.sort();
    subjects.dedup();
    subjects.into_iter().map(Some).collect()
}

fn function_of(whom: &Option<Whom>) -> Option<PciAddress> {
    match whom {
        Some(Whom::Port(pci, _) | Whom::Device(pci)) => Some(*pci),
        _ => None,
    }
}

/// The names that a subject had, in order.
fn names_of(readings: &Readings<'_>, node: &NodeName, whom: &Option<Whom>) -> Vec<String> {
    if let Some(Whom::Card(card)) = whom {
        return vec![card.clone()];
    }
    let Some(pci) = function_of(whom) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for tick in 0..readings.ticks() {
        let views = readings.views(node, tick).into_iter().flatten();
        let found = views.filter_map(|views| Some(views.0.get(&pci)?.name.to_string()));
        names.extend(found);
    }
    names.sort();
    names.dedup();
    names
}

fn name_of(readings: &Readings<'_>, node: &NodeName, whom: &Option<Whom>) -> String {
    let names = names_of(readings, node, whom).join(", ");
    match whom {
        None => "the node".to_owned(),
        Some(Whom::Port(_, port)) => format!("NIC={names} NICPort={port}"),
        Some(_) => format!("NIC={names}"),
    }
}

#[cfg(test)]
mod tests;
