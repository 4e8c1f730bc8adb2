//! Which faults a monitor reports by its rows: from when to when, and how severe. Start at [`Promised`].

use observe::promises::{Clears, Compared, Kind, Lasting, Named, Row, Says, documents_row};
use terms::Severity;

use super::patience::{Patience, Wait};
use crate::{
    clock::Clock, episodes::Episodes, intervals::Interval, kinds::Whom, owed::Rows,
    readings::Readings,
};

/// How many polls an alarm may take to open or close where its row states nothing. Chosen: as scenarios allow where
/// they state `within: 2 polls`.
pub(super) const GRACE: Lasting = Lasting::Polls(2);

/// How severe an alarm may be for some time.
#[derive(Debug)]
pub(super) struct Ceiling {
    pub(super) from: u64,
    /// Excluded.
    pub(super) to: u64,
    pub(super) tone: Severity,
}

/// What an alarm becomes about a port that is not healthy for long.
pub(super) enum Worse {
    /// It may be as severe as this.
    May(Ceiling),
    /// It is, by the row of what persists.
    Is(Piece),
}

/// A fault that is owed.
pub(super) struct Piece {
    /// The first poll that reads it.
    pub(super) since: u64,
    pub(super) from: u64,
    pub(super) by: u64,
    pub(super) to: u64,
    /// The tick by whose end an alarm about it is over; `None` if it may stay.
    pub(super) over_by: Option<u64>,
    /// The same of one that begins then.
    pub(super) opens_until: Option<u64>,
    pub(super) tone: Severity,
}

/// What a monitor says of a fault by its rows.
pub(super) enum Reported {
    /// Nothing is promised about it.
    Unpromised,
    /// It says nothing, by a row that is silent.
    Never,
    /// It says what the row says; `None` if the fault does not last for long enough, or the row leaves it out.
    Owed(Option<Piece>),
}

/// What decides which faults a monitor reports.
pub(super) struct Promised<'c> {
    pub(super) rows: Rows<'c>,
    pub(super) episodes: Episodes,
    pub(super) clock: &'c Clock,
    pub(super) first_poll: u64,
    pub(super) readings: &'c Readings<'c>,
    /// The faults of the node, by time.
    pub(super) faults: &'c [&'c Interval],
    /// The further polls in which it sees what it does not know, with what they are the first ones of.
    pub(super) sights: Vec<(Named, u64)>,
}

impl Promised<'_> {
    /// What is said of a fault; `stays` is the tick until which an alarm about it may stay.
    pub(super) fn reported(&self, interval: &Interval, stays: u64) -> Reported {
        let episode = episode_of(&self.episodes, interval, self.first_poll).map(Kind::from);
        let has_row = |kind: &Kind| self.rows.unpromised(kind).is_none();
        if !has_row(&interval.kind) || episode.as_ref().is_some_and(|kind| !has_row(kind)) {
            return Reported::Unpromised;
        }
        if episode.is_some_and(|kind| is_silent(&self.rows, &kind, interval)) {
            return Reported::Never;
        }
        let wait = match self.patience(interval) {
            Some(Patience::Unpromised) => return Reported::Unpromised,
            Some(Patience::Waits(wait)) => Some(wait),
            None => None,
        };
        match self.piece(interval, stays, wait) {
            None if is_silent(&self.rows, &interval.kind, interval) => Reported::Never,
            piece => Reported::Owed(piece),
        }
    }

    /// The tick until which an alarm about a fault may stay: while the subject is not healthy, and says of it what is not
    /// reported, nothing ends the alarm.
    pub(super) fn stays(&self, of: &Interval, later: &[&Interval]) -> u64 {
        let mut to = of.to;
        if !of.is_of_reading() {
            return to;
        }
        let of_it = later.iter().filter(|next| next.whom == of.whom);
        for next in of_it.filter(|next| next.is_of_reading()) {
            if next.from != to {
                break;
            }
            let is_blind = matches!(next.kind, Kind::Named(Named::Unreadable | Named::Hang));
            let reported = match self.reported(next, next.to) {
                Reported::Unpromised => next.from,
                // Who cannot read it has nothing to say that would replace what was said.
                _ if is_blind => u64::MAX,
                Reported::Owed(Some(piece)) => piece.from,
                Reported::Never | Reported::Owed(None) => u64::MAX,
            };
            to = reported.min(next.to);
            if to < next.to {
                break;
            }
        }
        to
    }

    /// The fault that an interval makes a monitor report; `None` if its row leaves it out. One that is waited for is reported
    /// when that is over, whatever the row of its kind says.
    fn piece(&self, interval: &Interval, stays: u64, wait: Option<Wait>) -> Option<Piece> {
        let clock = self.clock;
        let says = |kind: &Kind| match self.rows.pair(kind, interval.layer)? {
            (_, Row::Says(says)) => Some(says),
            _ => None,
        };
        let lasts = |says: &Says| {
            let after = says.after.unwrap_or(Lasting::NOTHING);
            clock.stood(interval.from, interval.to, after)
        };
        let is_due = |own: &Says| match wait {
            Some(wait) => {
                let due = clock.stood(wait.since, interval.to, wait.after);
                due.map(|due| due.max(interval.from))
            }
            None => lasts(own),
        };
        let own = says(&interval.kind).filter(|row| severity(row, interval).is_some());
        let is_card = interval.kind == Kind::Named(Named::Card);
        let is_compared = |row: &Says| !is_card || row.when == Some(Compared::EveryPoll);
        let own = own.filter(|row| is_compared(row));
        let is_waiting = wait.is_some() && own.is_some();
        let own = own.and_then(|row| Some((is_due(&row)?, row)));
        // What is silent, or comes later, may escalate.
        let later = says(&Named::Persists.into()).filter(|_| {
            let is_port = matches!(interval.whom, Whom::Port(..));
            is_port && own.is_none() && !is_waiting
        });
        let later = later.and_then(|row| Some((lasts(&row)?, row)));
        let (from, row) = own.or(later)?;
        if from == u64::MAX {
            return None;
        }
        let grace = |within: Option<Lasting>| within.unwrap_or(GRACE);
        let over_by = |to: u64| match row.clears.unwrap_or(Clears::Healed(None)) {
            Clears::Healed(within) => Some(clock.by(to, grace(within))),
            Clears::ByCheck => Some(clock.by(to, GRACE)),
            Clears::ByOperator | Clears::Never => None,
        };
        Some(Piece {
            since: wait.map_or(interval.from, |wait| wait.since),
            from,
            by: clock.by(from, grace(row.within)),
            to: interval.to,
            over_by: over_by(stays.max(interval.to)),
            opens_until: over_by(interval.to),
            tone: severity(&row, interval).unwrap_or(Severity::Fatal),
        })
    }

    /// How severe an alarm about a port becomes that has not been healthy since a tick, once that has lasted; `None` if it
    /// does not, or must not get worse. Without a row about it, it may after the documents' time.
    pub(super) fn escalation(
        &self,
        interval: &Interval,
        since: u64,
        piece: &Piece,
    ) -> Option<Worse> {
        if !matches!(interval.whom, Whom::Port(..)) {
            return None;
        }
        let kind = Kind::from(Named::Persists);
        let (row, is_promised) = match self.rows.pair(&kind, interval.layer) {
            Some((_, own)) => (own, true),
            None => (documents_row(&kind), false),
        };
        let Row::Says(says) = row else { return None };
        let after = says.after.unwrap_or(Lasting::NOTHING);
        let from = self.clock.stood(since, interval.to, after)?;
        let from = from.max(interval.from);
        let tone = match is_promised {
            true => severity(&says, interval).unwrap_or(Severity::Fatal),
            false => Severity::Fatal,
        };
        // A port that was healthy before, and of which this kind alone stands for so long.
        let episode = episode_of(&self.episodes, interval, self.first_poll);
        let by = self.clock.stood(interval.from, interval.to, after);
        let is_state = !matches!(interval.kind, Kind::Named(Named::Unreadable | Named::Hang));
        let is_owed = is_promised
            && episode.is_none()
            && since > self.first_poll
            && is_state
            && tone.is_worse_than(piece.tone);
        let to = piece.over_by.unwrap_or(u64::MAX);
        Some(match by.filter(|_| is_owed) {
            Some(by) => Worse::Is(Piece {
                from,
                by: self.clock.by(by, says.within.unwrap_or(GRACE)),
                tone,
                ..*piece
            }),
            None => Worse::May(Ceiling { from, to, tone }),
        })
    }
}

fn severity(row: &Says, interval: &Interval) -> Option<Severity> {
    row.verdict.or(interval.tone)
}

fn is_silent(rows: &Rows<'_>, episode: &Kind, interval: &Interval) -> bool {
    let pair = rows.pair(episode, interval.layer);
    matches!(pair, Some((_, Row::Silent)))
}

fn episode_of(episodes: &Episodes, interval: &Interval, first_poll: u64) -> Option<Named> {
    let at_start = (interval.from <= first_poll).then_some(Named::FirstPoll);
    let pci = match &interval.whom {
        Whom::Port(pci, _) | Whom::Device(pci) => *pci,
        Whom::Card(_) => return at_start,
        Whom::Name(_) | Whom::Check => return None,
    };
    episodes
        .cause(&interval.node, pci, interval.from)
        .or(at_start)
}
