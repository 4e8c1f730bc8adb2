//! What a monitor made of each fault of a drill, for a comparison of monitors: by the same needs and the same words as
//! [`super::judge_needs`], with times. Start at [`noticed`].
//!
//! A fault that the judge calls missing is never [`Notice::InTime`] here, and the other way round. Times count from the
//! first tick in which the fault can be read, whenever the monitor polls, so that a monitor that looks once a minute
//! is as late as it is. A fault that no poll of the monitor could read is there too: another monitor may have seen it.

use std::collections::BTreeSet;

use director::Truth;
use observe::{Broken, Descriptor, Needs, Recording, promises::Kind};
use platforms::{NodeName, PciAddress};
use scenarios::Story;

use super::{
    drill::Drill,
    faults::{Fault, Faults},
    verdicts::{Closed, Opened, Verdicts},
};
use terms::Severity;

use crate::{
    alarms::heard,
    episodes::{Episodes, Happened, happened},
    fits::JudgeContext,
    kinds::Whom,
    normal,
};

/// What a monitor made of a drill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noticed {
    /// The faults that the needs ask to notice, by node and time.
    pub faults: Vec<HeardFault>,
    /// The alarms that nothing justifies.
    pub false_alarms: Vec<FalseAlarm>,
    /// What happened: node, kind and first tick, each once.
    pub happened: BTreeSet<(String, Kind, u64)>,
    /// How the monitor ended before the drill did, if so.
    pub ended: Option<Ended>,
}

/// A fault, and whether it was noticed and taken back. Times are simulated milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardFault {
    /// The node.
    pub node: String,
    /// The kind.
    pub kind: Kind,
    /// The subject by its place on the bus, such as `0000:19:00.0/1`; a card without function and port.
    pub place: String,
    /// The first tick in which it can be read.
    pub from: u64,
    /// The first tick in which it cannot any more; the largest number if it lasts to the end.
    pub to: u64,
    /// Whether it was noticed.
    pub notice: Notice,
    /// How long after it began, if it was noticed.
    pub noticed_after_ms: Option<u64>,
    /// Whether it was taken back; `None` if it was not noticed, or if this is not needed or not known.
    pub cleared: Option<Cleared>,
    /// How long after it was over, if it was taken back.
    pub cleared_after_ms: Option<u64>,
    /// What happened last on the node before it began, or together with it.
    pub after: Option<Kind>,
}

/// Whether a fault was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notice {
    /// In time.
    InTime,
    /// Later than needed, while it stood.
    Late,
    /// Not at all, although it stood for long enough.
    Never,
    /// Not at all, and it need not be: it ended too soon, or the drill did, or no poll fell into it.
    NotNeeded,
}

/// Whether a fault was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cleared {
    /// In time.
    InTime,
    /// Later than needed.
    Late,
    /// Not until the end of the drill.
    Never,
}

/// An alarm that nothing justifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FalseAlarm {
    /// The node.
    pub node: String,
    /// The tick.
    pub tick: u64,
    /// Whether it is fatal.
    pub is_fatal: bool,
    /// Whether it stands to the end of the drill.
    pub stands: bool,
    /// What it is put down to, with its first tick: what must be quiet, else what happened last; `None` if nothing
    /// had happened.
    pub on: Option<(Kind, u64)>,
    /// It as text.
    pub line: String,
}

/// How a monitor ended before the drill did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// It ended by itself in this tick.
    Crashed(u64),
    /// It made no progress in this tick.
    Hung(u64),
}

/// What a monitor made of the faults in its recording of a story, by needs.
#[must_use]
pub fn noticed(
    story: &Story,
    truth: &Truth,
    recording: &Recording,
    descriptor: &Descriptor,
    needs: &Needs,
) -> Noticed {
    let context = JudgeContext {
        story,
        truth,
        descriptor,
    };
    let named = normal::normal(recording, descriptor, story);
    let recording = &*named;
    let drill = Drill::of(context, recording, needs);
    let (judged, all) = (drill.judged(), drill.all());
    let mut result = Noticed {
        ended: match &recording.broken {
            Some(Broken::Crashed { tick, .. }) => Some(Ended::Crashed(*tick)),
            Some(
                Broken::Hung { tick, .. }
                | Broken::Excess { tick, .. }
                | Broken::StuckInKernel { tick }
                | Broken::SocketTampered { tick, .. },
            ) => Some(Ended::Hung(*tick)),
            Some(Broken::Stage { .. } | Broken::Interrupted) | None => None,
        },
        ..Noticed::default()
    };
    for node in &story.monitors {
        let bearers = drill.bearers(node);
        let [judged, all] = [&judged, &all].map(|of| drill.faults(node, of, &bearers));
        let on_node = OnNode {
            story,
            verdicts: drill.verdicts(node, &judged, &bearers),
            judged: &judged,
            episodes: drill.episodes(),
            happened: happened(&truth.log, node),
        };
        let faults = all.iter().filter_map(|fault| on_node.fault(node, fault));
        result.faults.extend(faults);
        result.false_alarms.extend(on_node.false_alarms(node));
        let happened = on_node.happened.iter();
        let happened = happened.map(|it| (node.to_string(), it.kind.clone(), it.tick));
        result.happened.extend(happened);
    }
    result
}

/// What is known of one node.
struct OnNode<'n> {
    story: &'n Story,
    verdicts: Verdicts<'n>,
    /// The faults that are judged.
    judged: &'n Faults,
    episodes: &'n Episodes,
    happened: Vec<Happened>,
}

impl OnNode<'_> {
    /// What was made of a fault; `None` if nothing is needed of it.
    fn fault(&self, node: &NodeName, fault: &Fault) -> Option<HeardFault> {
        if fault.is_at_rest || self.verdicts.is_configured(fault) {
            return None;
        }
        // The fault as it is judged: from the first poll that falls into it.
        let read = self.judged.iter().find(|read| {
            (&read.whom, &read.kind) == (&fault.whom, &fault.kind)
                && (fault.from..fault.to).contains(&read.from)
        });
        let (notice, at) = match read {
            Some(read) => match self.verdicts.heard(read)?.2 {
                Opened::InTime(at) => (Notice::InTime, Some(at)),
                Opened::Late(at) => (Notice::Late, Some(at)),
                Opened::Never => (Notice::Never, None),
                Opened::TooShort | Opened::Passing | Opened::NoTime => (Notice::NotNeeded, None),
            },
            None => {
                self.verdicts.heard(fault)?;
                let alarm =
                    self.verdicts
                        .first_alarm(fault, fault.from, fault.to.saturating_sub(1));
                let notice = alarm.map_or(Notice::NotNeeded, |_| Notice::InTime);
                (notice, alarm)
            }
        };
        let (cleared, back_after) = match (at, read) {
            (Some(_), Some(read)) => self.cleared(read),
            _ => (None, None),
        };
        Some(HeardFault {
            node: node.to_string(),
            kind: fault.kind.clone(),
            place: place(&fault.whom),
            from: fault.from,
            to: fault.to,
            notice,
            noticed_after_ms: at.map(|at| self.ms(at.saturating_sub(fault.from))),
            cleared,
            cleared_after_ms: back_after.map(|ticks| self.ms(ticks)),
            after: self.before(node, fault),
        })
    }

    /// Whether a fault that was noticed was taken back, and after how many ticks.
    fn cleared(&self, fault: &Fault) -> (Option<Cleared>, Option<u64>) {
        let Some(over) = self.verdicts.taken_back(fault) else {
            return (None, None);
        };
        let after = |to: u64| Some(to.saturating_sub(over.over));
        match over.back {
            Closed::InTime(ended) => (Some(Cleared::InTime), ended.map_or(Some(0), after)),
            Closed::Late(_, Some(to)) => (Some(Cleared::Late), after(to)),
            Closed::Late(_, None) => (Some(Cleared::Never), None),
            Closed::NeverOver | Closed::AnotherFault | Closed::NoTime => (None, None),
        }
    }

    /// What happened last before a fault, or together with it, apart from what made it.
    fn before(&self, node: &NodeName, fault: &Fault) -> Option<Kind> {
        let pci = fault.whom.pci();
        let maker = pci.and_then(|pci| self.episodes.last_maker(node, pci, fault.from));
        let made = maker.map_or(fault.from, |(_, tick)| tick);
        let is_other = |it: &&Happened| {
            let is_its_own = it.kind == fault.kind || it.function.is_some() && it.function == pci;
            it.tick < made || it.tick == made && !is_its_own
        };
        let earlier = self.happened.iter().filter(is_other);
        let last = earlier.max_by_key(|it| it.tick);
        last.map(|it| it.kind.clone())
    }

    fn false_alarms(&self, node: &NodeName) -> Vec<FalseAlarm> {
        let unwanted = self.verdicts.unwanted();
        let alarms = unwanted.iter().map(|unwanted| {
            let tick = unwanted.alarm.from;
            let earlier = self.happened.iter().filter(|it| it.tick <= tick);
            let meant = earlier.filter(|it| {
                let quiet = unwanted.quiet.as_ref();
                quiet.is_none_or(|quiet| it.kind == *quiet)
            });
            let on = meant.max_by_key(|it| it.tick);
            let on = on.map(|it| (it.kind.clone(), it.tick));
            // A condition that must be quiet may stand by another step.
            let quiet = unwanted.quiet.clone().map(|kind| (kind, tick));
            FalseAlarm {
                node: node.to_string(),
                tick,
                is_fatal: unwanted.alarm.severity == Severity::Fatal,
                stands: unwanted.alarm.to.is_none(),
                on: on.or(quiet),
                line: heard::line_with_check(unwanted.alarm),
            }
        });
        alarms.collect()
    }

    /// Ticks as simulated milliseconds.
    fn ms(&self, ticks: u64) -> u64 {
        ticks.saturating_mul(self.story.ticks.interval().as_ns() / 1_000_000)
    }
}

fn place(whom: &Whom) -> String {
    let of = |pci: &PciAddress| pci.to_string();
    match whom {
        Whom::Port(pci, port) => format!("{}/{port}", of(pci)),
        Whom::Device(pci) => of(pci),
        Whom::Card(card) => card.to_string(),
        Whom::Name(_) | Whom::Check => String::new(),
    }
}
