//! When a fault of a port is due that must have stood for a while, although its kind may change meanwhile. Start at
//! [`Translator::waited_for`].

use observe::promises::{Lasting, Named, Row};
use platforms::{LinkLayer, SlotRef};
use terms::Severity;

use super::{translator::Translator, true_faults::own_severity};
use crate::{demands, intervals, readings::Reading};

/// Whether, and when, such a fault is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// It is over, or of another severity, before it has stood long enough.
    Over,
    /// In these polls. The length of time that a row asks for counts from the first unhealthy reading of the port or from
    /// the first one of the present kind: monitors do the one or the other, and both are right.
    Due {
        /// The first poll in which it may be reported.
        from: u64,
        /// The poll in which every monitor has waited long enough.
        to: u64,
        /// Whether it stands in the last of them, so that every monitor reports it.
        is_owed: bool,
    },
}

impl Translator<'_, '_> {
    /// When a fault of a port that begins in a poll is due, of this severity by the rows; `None` if the readings from this
    /// poll on do not show one.
    pub(super) fn waited_for(
        &self,
        slot: &SlotRef,
        layer: Option<LinkLayer>,
        begins: u64,
        severity: Severity,
    ) -> Option<Waited> {
        let polls: Vec<u64> = demands::polled(self.recording, &slot.node).collect();
        let (before, after) = polls.split_at(polls.partition_point(|tick| *tick < begins));
        let unhealthy = before.iter().rev();
        let unhealthy = unhealthy.take_while(|tick| self.read_of(slot, **tick).is_some());
        let since = unhealthy.last().copied().unwrap_or(begins);
        let forgets = self.rows.begins_anew().is_some()
            || self
                .rows
                .unpromised(&Named::MonitorRestart.into())
                .is_some();
        let restarts = self.episodes.on_node(&slot.node);
        let restarts = restarts.filter(|(kind, _)| forgets && *kind == Named::MonitorRestart);
        let restarts: Vec<u64> = restarts.map(|(_, tick)| tick).collect();
        let mut of_kind: Option<(Named, u64)> = None;
        let mut from = None;
        let mut unseen_from = begins;
        for tick in after.iter().copied() {
            let read = self.read_of(slot, tick);
            // The step that makes it may come within the first poll.
            if read.is_none() && of_kind.is_none() && tick == begins {
                continue;
            }
            let shown = read.and_then(|read| {
                let kind = read.state?;
                let (documents, row) = self.rows.pair(&kind.into(), layer)?;
                let natural = intervals::tone_of(read, layer);
                let is_it = own_severity(&documents, &row, natural) == Some(severity);
                is_it.then_some((kind, row))
            });
            let Some((kind, row)) = shown else {
                return of_kind.map(|_| match from {
                    None => Waited::Over,
                    Some(from) => Waited::Due {
                        from,
                        to: tick,
                        is_owed: false,
                    },
                });
            };
            let kind_since = match of_kind {
                None => begins,
                // Who remembers nothing counts anew.
                Some(_) if restarts.iter().any(|it| (unseen_from..=tick).contains(it)) => tick,
                Some((before, since)) if before == kind => since,
                Some(_) => tick,
            };
            unseen_from = tick + 1;
            of_kind = Some((kind, kind_since));
            let has_stood = |since: u64| self.has_stood(&row, &polls, since, tick);
            if has_stood(since) {
                from = from.or(Some(tick));
            }
            if has_stood(kind_since) {
                return Some(Waited::Due {
                    from: from.unwrap_or(tick),
                    to: tick,
                    is_owed: true,
                });
            }
        }
        // Nothing heals it before the drill ends.
        None
    }

    /// What a poll reads of a port that is not healthy; `None` of one that is, or whose device is not there.
    fn read_of(&self, slot: &SlotRef, tick: u64) -> Option<Reading> {
        let [views, _] = self.readings.views(&slot.node, tick)?;
        let reading = self
            .readings
            .port(&slot.node, (slot.pci, slot.port), views, tick);
        let is_there = reading.state != Some(Named::GoneDevice);
        (is_there && reading.kind().is_some()).then_some(reading)
    }

    /// Whether what is read since a poll has stood in another one for as long as a row asks for.
    fn has_stood(&self, row: &Row, polls: &[u64], since: u64, tick: u64) -> bool {
        match row {
            Row::Says(says) => match says.after {
                Some(Lasting::Polls(number)) => {
                    let meanwhile = polls.iter().filter(|poll| (since..tick).contains(*poll));
                    meanwhile.count() >= usize::try_from(number).unwrap_or(usize::MAX)
                }
                Some(after) => tick - since >= self.rows.ticks(after),
                None => true,
            },
            Row::Silent | Row::Usual => true,
        }
    }
}
