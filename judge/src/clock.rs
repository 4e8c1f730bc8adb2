//! The time in which a monitor can report. Start at [`Clock`].
//!
//! For a monitor that waits at the gate it is made of polls: those in which its reports are accepted. A program that
//! is run or asked at its own interval is measured by simulated time, because the time from one poll to the next is
//! its own choice; while the story has it stopped, no time passes.

use std::time::Duration;

use director::{Act, Target};
use observe::{Pace, Recording, promises::Lasting};
use platforms::NodeName;

use crate::{demands::polled, fits::JudgeContext};

/// The polls of a monitor, and when nothing that it says is accepted.
pub(crate) struct Clock {
    polls: Vec<u64>,
    lost: Vec<(u64, u64)>,
    /// The ticks of the drill.
    ticks: u64,
    /// The length of a tick.
    tick: Duration,
    is_paced: bool,
}

impl Clock {
    /// The clock of the monitor of a node.
    pub(crate) fn of(context: &JudgeContext<'_>, recording: &Recording, node: &NodeName) -> Self {
        let is_paced = is_paced(context);
        let polls: Vec<u64> = polled(recording, node).collect();
        Self {
            lost: if is_paced {
                away(context, node, &polls)
            } else {
                deaf(context, node, recording.healing_from)
            },
            polls,
            ticks: recording.ticks.len() as u64,
            tick: Duration::from_nanos(context.story.ticks.interval().as_ns()),
            is_paced,
        }
    }

    /// The poll from which on something that lasts from one tick to another one has stood for so long; `None` if it ends
    /// before.
    pub(crate) fn stood(&self, from: u64, to: u64, lasting: Lasting) -> Option<u64> {
        if self.is_paced {
            let stood = match lasting {
                Lasting::Polls(polls) => self.nth_poll(from, polls.into()),
                Lasting::Time(_) => self.next_poll(self.by(from, lasting)),
            };
            return (stood < to).then_some(stood);
        }
        let ticks = lasting.ticks(self.tick);
        (to.saturating_sub(from) > ticks).then(|| self.nth_poll(from, ticks))
    }

    /// The tick by whose end something must be reported that may be so much later than a tick; the largest number if
    /// the drill ends before.
    pub(crate) fn by(&self, tick: u64, lasting: Lasting) -> u64 {
        match lasting {
            Lasting::Time(_) if self.is_paced => self.later(tick, lasting.ticks(self.tick)),
            lasting => self.nth_poll(tick, lasting.ticks(self.tick)),
        }
    }

    /// The first poll that is not before a tick; the largest number if there is none.
    pub(crate) fn next_poll(&self, tick: u64) -> u64 {
        let mut polls = self.polls.iter().copied();
        polls.find(|at| *at >= tick).unwrap_or(u64::MAX)
    }

    /// The last poll before a tick.
    pub(crate) fn last_poll(&self, tick: u64) -> Option<u64> {
        let mut polls = self.polls.iter().rev();
        polls.find(|at| **at < tick).copied()
    }

    /// The tick of so many polls after a tick, of those in which its reports can be delivered; the largest number
    /// if the drill ends before.
    fn nth_poll(&self, tick: u64, polls: u64) -> u64 {
        if tick == u64::MAX {
            return tick;
        }
        let mut later = self
            .polls
            .iter()
            .copied()
            .filter(|at| *at >= tick && !self.is_lost(*at));
        let polls = usize::try_from(polls).unwrap_or(usize::MAX);
        later.nth(polls).unwrap_or(u64::MAX)
    }

    /// The tick so many ticks after another, without those in which it is stopped; the largest number if the drill ends
    /// before.
    fn later(&self, tick: u64, ticks: u64) -> u64 {
        let ticks = usize::try_from(ticks).unwrap_or(usize::MAX);
        let mut running = (tick..self.ticks).filter(|at| !self.is_lost(*at));
        running.nth(ticks).unwrap_or(u64::MAX)
    }

    fn is_lost(&self, tick: u64) -> bool {
        let mut lost = self.lost.iter();
        lost.any(|(from, to)| (*from..*to).contains(&tick))
    }
}

/// Whether a monitor is run or asked at its own interval.
pub(crate) fn is_paced(context: &JudgeContext<'_>) -> bool {
    context.descriptor.pace() != Pace::Gate
}

/// When a program that is run or asked is stopped: from the tick in which it is, or its node, to its next poll.
fn away(context: &JudgeContext<'_>, node: &NodeName, polls: &[u64]) -> Vec<(u64, u64)> {
    let stops = |act: &&Act| {
        let is_stopped = matches!(act.on, Target::Monitor(_)) || act.reboots();
        is_stopped && act.on.node() == Some(node)
    };
    let stopped = context.truth.log.acts.iter().filter(stops);
    let away = stopped.map(|act| {
        let back = polls.iter().copied().find(|poll| *poll >= act.tick);
        (act.tick, back.unwrap_or(u64::MAX))
    });
    away.collect()
}

/// When the connector of a node accepts nothing: first tick, and the one after the last. A call that it refuses is taken
/// for that of a poll.
fn deaf(context: &JudgeContext<'_>, node: &NodeName, healing_from: Option<u64>) -> Vec<(u64, u64)> {
    let end = healing_from.unwrap_or(u64::MAX);
    let outages = context.truth.log.outages.iter();
    let of_node = outages.filter(|outage| outage.node == *node);
    let deaf = of_node.map(|outage| {
        let calls = outage.calls;
        let by_calls = calls.map(|calls| outage.from.saturating_add(calls.into()));
        let to = outage.to.into_iter().chain(by_calls);
        (outage.from, to.fold(end, u64::min))
    });
    deaf.collect()
}
