//! What is so of each fault and alarm of a node by needs: noticed or not, taken back or not, wanted or not. The judge
//! makes findings of it, and a comparison counts it. Start at [`Verdicts`].

use observe::{
    Needs, Recording, Subject,
    needs::Within,
    promises::{Granularity, Kind, Lasting},
    statement::Statement,
};
use platforms::{NodeName, PciAddress};
use terms::{Check, CheckKind};

use super::faults::{self, Fault, Faults};
use crate::{
    alarms::{
        heard::{self, Heard},
        subject::{AlarmSubject, Bearers},
    },
    clock::Clock,
    episodes::Episodes,
    fits::JudgeContext,
    kinds::Whom,
};

/// The table of the configuration file that lists counters.
const COUNTER_TABLE: &str = "[counterDetection";

/// The faults and alarms of one node, by needs.
pub(super) struct Verdicts<'n> {
    context: JudgeContext<'n>,
    pub(super) needs: &'n Needs,
    pub(super) node: &'n NodeName,
    pub(super) faults: &'n Faults,
    episodes: &'n Episodes,
    heard: Heard<'n>,
    bearers: &'n Bearers,
    clock: Clock,
    last: u64,
}

/// Whether a fault that must be noticed was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// In time, in this tick.
    InTime(u64),
    /// Later than needed, in this tick, and while it stood.
    Late(u64),
    /// Not while it stood, although it stood for long enough.
    Never,
    /// It ended before it had to be.
    TooShort,
    /// As [`Opened::TooShort`], and it is what another fault became.
    Passing,
    /// The drill ended before it had to be.
    NoTime,
}

/// When a fault was over, and whether it was taken back.
pub(super) struct Over {
    pub(super) within: Within,
    /// The first poll without it; the largest number if there is none.
    pub(super) over: u64,
    pub(super) back: Closed,
}

/// Whether a fault that must be taken back was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closed {
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
    pub(super) alarm: &'n Statement,
    /// What is expected instead.
    pub(super) expected: String,
    /// The kind that must be quiet, if that is why.
    pub(super) quiet: Option<Kind>,
}

impl<'n> Verdicts<'n> {
    /// Those of a node.
    pub(super) fn of(
        context: JudgeContext<'n>,
        recording: &'n Recording,
        needs: &'n Needs,
        (node, faults, episodes): (&'n NodeName, &'n Faults, &'n Episodes),
        bearers: &'n Bearers,
    ) -> Self {
        Self {
            needs,
            node,
            faults,
            episodes,
            heard: Heard::of(&context, recording, node, bearers),
            clock: Clock::of(&context, recording, node),
            last: (recording.ticks.len() as u64).saturating_sub(1),
            bearers,
            context,
        }
    }

    /// Whether the story's configuration decides if a monitor watches for a fault.
    pub(super) fn is_configured(&self, fault: &Fault) -> bool {
        matches!(fault.kind, Kind::Counter(_)) && self.context.story.config.contains(COUNTER_TABLE)
    }

    /// Whether a fault is noticed while it stands: what is needed, by which tick, and what is so. `None` if it need
    /// not be.
    pub(super) fn heard(&self, fault: &Fault) -> Option<(Within, u64, Opened)> {
        let within = self.needs.need(&fault.kind)?.noticed?;
        if fault.is_quiet_for_good() {
            return None;
        }
        let due = self.due(fault.heard_from(), within.0);
        let heard = match self.first_alarm(fault, fault.from, due.min(self.last)) {
            Some(at) => Opened::InTime(at),
            None if fault.to <= due => {
                if self.faults.is_continued(fault, |_| true) {
                    Opened::Passing
                } else {
                    Opened::TooShort
                }
            }
            None if due > self.last => Opened::NoTime,
            None => {
                let last = fault.to.saturating_sub(1).min(self.last);
                let late = self.first_alarm(fault, fault.from, last);
                late.map_or(Opened::Never, Opened::Late)
            }
        };
        Some((within, due, heard))
    }

    /// The first of these ticks, the last one included, in which an alarm about a fault stands.
    pub(super) fn first_alarm(&self, fault: &Fault, from: u64, to: u64) -> Option<u64> {
        let about = self.heard.alarms_about(&fault.subject);
        let standing = about.filter(|alarm| alarm.from <= to && ends(alarm) > from);
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
            Closed::NeverOver
        } else {
            self.back(fault, over, self.due(over, within.0))
        };
        Some(Over { within, over, back })
    }

    /// The same of a fault that was over in a tick, and must be taken back by another one.
    fn back(&self, fault: &Fault, over: u64, due: u64) -> Closed {
        let granularity = self.needs.granularity(&fault.kind);
        if self.faults.goes_on(fault, (over, due), granularity) {
            return Closed::AnotherFault;
        }
        let at = due.min(self.last);
        let about = || {
            let about = self.heard.alarms_about(&fault.subject);
            about.filter(|alarm| may_last_as(alarm, &fault.kind))
        };
        let stands = about().any(|alarm| alarm.from <= at && ends(alarm) > at);
        // The end of an alarm while the fault stood is no news of its end.
        let unread = self.clock.next_poll(over);
        let stood = about().filter(|alarm| alarm.from <= unread && ends(alarm) >= over);
        let ended = stood.map(ends).max();
        match (stands, due > self.last) {
            (false, _) => Closed::InTime(ended),
            (true, true) => Closed::NoTime,
            (true, false) => Closed::Late(due, ended.filter(|to| *to != u64::MAX)),
        }
    }

    /// The alarms that nothing justifies: of what must be quiet, and without a fault.
    pub(super) fn unwanted(&self) -> Vec<Unwanted<'_>> {
        let mut unwanted = Vec::new();
        let all = self.heard.all_alarms();
        for alarm in all.filter(|alarm| !self.heard.goes_on(alarm)) {
            let explains =
                |fault: &&Fault| self.may_mean(alarm, fault) && self.is_in_time(fault, alarm);
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
    fn without_fault(&self, alarm: &Statement) -> Option<(String, Option<Kind>)> {
        if self.is_beyond_scope(alarm) {
            return None;
        }
        let pci = self.heard.function(alarm);
        let last = self.episodes.last_step(self.node, pci, alarm.from);
        let episode = last.and_then(|(kind, from)| Some((kind?, from)));
        match episode {
            None => Some(("no alarm without a fault".to_owned(), None)),
            Some((kind, from)) => {
                let kind = Kind::from(kind);
                let quiet = self.needs.quiet(&kind)?;
                let until = faults::end_of(quiet, from, self.context.story);
                let expected = faults::stays_quiet(&kind, quiet, from);
                (alarm.from < until).then_some((expected, Some(kind)))
            }
        }
    }

    /// Whether an alarm may be about a fault by its time: it stands, or has to be noticed still.
    fn is_in_time(&self, fault: &Fault, alarm: &Statement) -> bool {
        let need = self.needs.need(&fault.kind);
        let due = match need.and_then(|need| need.noticed) {
            Some(within) => self.due(fault.heard_from(), within.0),
            None => u64::MAX,
        };
        let unread = self.clock.next_poll(fault.to);
        fault.begins <= alarm.from && alarm.from <= unread.max(due)
    }

    /// Whether a fault may be the reason of an alarm: one of its card, whatever the alarm names of it.
    fn may_mean(&self, alarm: &Statement, fault: &Fault) -> bool {
        let of_card = |card| {
            AlarmSubject::whole_card(card).is_meant(&alarm.subject, alarm.from, self.bearers)
        };
        matches!(alarm.subject, Subject::Node | Subject::Other(_))
            || fault.whom.card().is_some_and(of_card)
    }

    /// Whether what an alarm is about is not to be monitored, so that its faults are not known here.
    fn is_beyond_scope(&self, alarm: &Statement) -> bool {
        let views = self.context.past(self.node, alarm.from).next();
        let is_meant = |pci: PciAddress| {
            let device = AlarmSubject::needed(&Whom::Device(pci), Granularity::Device);
            device.is_meant(&alarm.subject, alarm.from, self.bearers)
        };
        let mut of_it = (views.into_iter())
            .flat_map(|views| views.0.iter().filter(|(pci, _)| is_meant(**pci)))
            .peekable();
        of_it.peek().is_some() && of_it.all(|(_, view)| !view.monitored)
    }

    /// The alarms that may be about a fault, the nearest to a tick first.
    pub(super) fn lines(&self, fault: &Fault, tick: u64) -> Vec<String> {
        let all = self.heard.all_alarms();
        let may_mean = all.filter(|alarm| self.may_mean(alarm, fault));
        heard::nearest(may_mean, tick)
            .map(heard::line_with_check)
            .collect()
    }

    fn due(&self, from: u64, span: observe::Span) -> u64 {
        self.clock.by(from, Lasting::Time(span))
    }
}

/// The tick in which an alarm was taken back; the largest number if it was not.
fn ends(alarm: &Statement) -> u64 {
    alarm.to.unwrap_or(u64::MAX)
}

/// Whether an alarm has to be over when a fault of a kind is: what counters counted stays counted.
fn may_last_as(alarm: &Statement, kind: &Kind) -> bool {
    let check = alarm.check.as_deref().and_then(Check::parse);
    let is_of_counter = !alarm.codes.is_empty()
        || check.is_some_and(|check| check.kind() == CheckKind::Degradation);
    !is_of_counter || matches!(kind, Kind::Counter(_))
}
