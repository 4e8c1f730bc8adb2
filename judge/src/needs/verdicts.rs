//! What is so of each fault and alarm of a node by needs: noticed or not, taken back or not, wanted or not. The judge
//! makes findings of it, and a comparison counts it. Start at [`Verdicts`].

use observe::{
    Needs, Recording,
    needs::Within,
    promises::{Kind, Lasting},
};
use platforms::NodeName;
use scenarios::Story;

use super::{
    alarms::{Alarm, Alarms},
    faults::{self, Fault, Faults},
};
use crate::{clock::Clock, episodes::Episodes, fits::JudgeContext};

/// The table of the configuration file that lists counters.
const COUNTER_TABLE: &str = "[counterDetection";

/// The faults and alarms of one node, by needs.
pub(super) struct Verdicts<'n> {
    story: &'n Story,
    pub(super) needs: &'n Needs,
    pub(super) node: &'n NodeName,
    pub(super) faults: &'n Faults,
    episodes: &'n Episodes,
    pub(super) alarms: Alarms,
    clock: Clock,
    last: u64,
}

/// Whether a fault that must be noticed was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// In time, in this tick.
    InTime(u64),
    /// Later than needed, in this tick, and while it stood.
    Late(u64),
    /// Not while it stood, although it stood for long enough.
    Never,
    /// It ended before it had to be.
    TooShort,
    /// As [`Heard::TooShort`], and it is what another fault became.
    Passing,
    /// The drill ended before it had to be.
    NoTime,
}

/// When a fault was over, and whether it was taken back.
pub(super) struct Over {
    pub(super) within: Within,
    /// The first poll without it; the largest number if there is none.
    pub(super) over: u64,
    pub(super) back: Back,
}

/// Whether a fault that must be taken back was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Back {
    /// In time: the last alarm about it ended in this tick, if there was one when it was over.
    InTime(Option<u64>),
    /// It had to be by the first tick; in the second one it was, if ever.
    Late(u64, Option<u64>),
    /// It lasts to the end of the drill.
    NeverOver,
    /// It is taken back with another fault that stands on.
    AnotherFault,
    /// The drill ended before it had to be.
    NoTime,
}

/// An alarm that nothing justifies.
pub(super) struct Unwanted<'n> {
    pub(super) alarm: &'n Alarm,
    /// What is expected instead.
    pub(super) expected: String,
    /// The kind that must be quiet, if that is why.
    pub(super) quiet: Option<Kind>,
}

impl<'n> Verdicts<'n> {
    /// Those of a node.
    pub(super) fn of(
        context: &JudgeContext<'n>,
        recording: &Recording,
        needs: &'n Needs,
        (node, faults, episodes): (&'n NodeName, &'n Faults, &'n Episodes),
    ) -> Self {
        Self {
            story: context.story,
            needs,
            node,
            faults,
            episodes,
            alarms: Alarms::of(context, recording, node),
            clock: Clock::of(context, recording, node),
            last: (recording.ticks.len() as u64).saturating_sub(1),
        }
    }

    /// Whether the story's configuration decides if a monitor watches for a fault.
    pub(super) fn is_configured(&self, fault: &Fault) -> bool {
        matches!(fault.kind, Kind::Counter(_)) && self.story.config.contains(COUNTER_TABLE)
    }

    /// Whether a fault is noticed while it stands: what is needed, by which tick, and what is so. `None` if it need
    /// not be.
    pub(super) fn heard(&self, fault: &Fault) -> Option<(Within, u64, Heard)> {
        let within = self.needs.need(&fault.kind)?.noticed?;
        if fault.is_quiet_for_good() {
            return None;
        }
        let due = self.due(fault.heard_from(), within.0);
        let heard = match self.first_alarm(fault, fault.from, due.min(self.last)) {
            Some(at) => Heard::InTime(at),
            None if fault.to <= due => {
                if self.faults.is_continued(fault, |_| true) {
                    Heard::Passing
                } else {
                    Heard::TooShort
                }
            }
            None if due > self.last => Heard::NoTime,
            None => {
                let last = fault.to.saturating_sub(1).min(self.last);
                let late = self.first_alarm(fault, fault.from, last);
                late.map_or(Heard::Never, Heard::Late)
            }
        };
        Some((within, due, heard))
    }

    /// The first of these ticks, the last one included, in which an alarm about a fault stands.
    pub(super) fn first_alarm(&self, fault: &Fault, from: u64, to: u64) -> Option<u64> {
        let about = self.alarms.about(fault, self.needs);
        let standing = about.filter(|alarm| alarm.stands_between(from, to));
        standing.map(|alarm| alarm.from.max(from)).min()
    }

    /// Whether a fault is taken back once it is over. `None` if it need not be, or is with what it was before.
    pub(super) fn taken_back(&self, fault: &Fault) -> Option<Over> {
        let within = self.needs.need(&fault.kind)?.taken_back?;
        let is_needed = |before: &Fault| {
            let need = self.needs.need(&before.kind);
            need.is_some_and(|need| need.taken_back.is_some())
        };
        if self.faults.is_continued(fault, is_needed) {
            // What the fault was before is taken back with it.
            return None;
        }
        let over = self.faults.over(fault);
        let back = if over == u64::MAX {
            Back::NeverOver
        } else {
            self.back(fault, over, self.due(over, within.0))
        };
        Some(Over { within, over, back })
    }

    /// The same of a fault that was over in a tick, and must be taken back by another one.
    fn back(&self, fault: &Fault, over: u64, due: u64) -> Back {
        let granularity = self.needs.granularity(&fault.kind);
        if self.faults.goes_on(fault, (over, due), granularity) {
            return Back::AnotherFault;
        }
        let at = due.min(self.last);
        let about = || {
            let about = self.alarms.about(fault, self.needs);
            about.filter(|alarm| alarm.may_last_as(&fault.kind))
        };
        let stands = about().any(|alarm| alarm.from <= at && alarm.to > at);
        // The end of an alarm while the fault stood is no news of its end.
        let unread = self.clock.next_poll(over);
        let stood = about().filter(|alarm| alarm.from <= unread && alarm.to >= over);
        let ended = stood.map(|alarm| alarm.to).max();
        match (stands, due > self.last) {
            (false, _) => Back::InTime(ended),
            (true, true) => Back::NoTime,
            (true, false) => Back::Late(due, ended.filter(|to| *to != u64::MAX)),
        }
    }

    /// The alarms that nothing justifies: of what must be quiet, and without a fault.
    pub(super) fn unwanted(&self) -> Vec<Unwanted<'_>> {
        let mut unwanted = Vec::new();
        for alarm in self.alarms.begun() {
            let explains = |fault: &&Fault| alarm.may_mean(fault) && self.is_in_time(fault, alarm);
            let explaining: Vec<&Fault> = self.faults.iter().filter(explains).collect();
            if explaining.iter().any(|fault| fault.may_alarm(alarm.from)) {
                continue;
            }
            let instead = match explaining.first() {
                Some(fault) => fault.must_be_quiet(),
                None => self.without_fault(alarm),
            };
            if let Some((expected, quiet)) = instead {
                unwanted.push(Unwanted {
                    alarm,
                    expected,
                    quiet,
                });
            }
        }
        unwanted
    }

    /// What is expected instead of an alarm that no fault explains, and which kind must be quiet; `None` if an
    /// episode may alarm.
    fn without_fault(&self, alarm: &Alarm) -> Option<(String, Option<Kind>)> {
        if alarm.is_beyond_scope() {
            return None;
        }
        let episode = alarm.functions().find_map(|pci| {
            let (kind, from) = self.episodes.last_step(self.node, pci, alarm.from)?;
            Some((kind?, from))
        });
        match episode {
            None => Some(("no alarm without a fault".to_owned(), None)),
            Some((kind, from)) => {
                let kind = Kind::from(kind);
                let quiet = self.needs.quiet(&kind)?;
                let until = faults::end_of(quiet, from, self.story);
                let expected = faults::stays_quiet(&kind, quiet, from);
                (alarm.from < until).then_some((expected, Some(kind)))
            }
        }
    }

    /// Whether an alarm may be about a fault by its time: it stands, or has to be noticed still.
    fn is_in_time(&self, fault: &Fault, alarm: &Alarm) -> bool {
        let need = self.needs.need(&fault.kind);
        let due = match need.and_then(|need| need.noticed) {
            Some(within) => self.due(fault.heard_from(), within.0),
            None => u64::MAX,
        };
        let unread = self.clock.next_poll(fault.to);
        fault.begins <= alarm.from && alarm.from <= unread.max(due)
    }

    fn due(&self, from: u64, span: observe::Span) -> u64 {
        self.clock.by(from, Lasting::Time(span))
    }
}
