//! The sweeps of the subnet manager: it reads both ends of a link, logs their reasons, notices hosts
//! that come and go, and keeps quarantined ports in Init.
//!
//! A trap causes a sweep soon after; while an end that is not armed has a reason to log, periodic
//! sweeps follow. `link.rs` computes when a port is armed. Start at [`Fabric::read`].

use platforms::SlotRef;
use simfs::SimTime;

use crate::{
    ActionError, Fabric, Side,
    agenda::{Rank, Step},
    link::Stage,
    opa::{Condition, LinkDownErrorLog, LinkInitReason, Notice, Pair},
};

impl Fabric {
    /// Starts or stops the subnet manager; `reinitialise` also takes every port that it has
    /// configured back to `INIT`. Without `keeps_logs`, a starting one has lost its logs.
    pub(crate) fn manage(&mut self, running: bool, reinitialise: bool, keeps_logs: bool) {
        let forgets = running && !self.manager.runs() && !keeps_logs;
        self.manager.set(running, self.now);
        for slot in self.slots() {
            if reinitialise {
                self.uninitialise(&slot);
            }
            let ends = &mut self.link(&slot).ends;
            if let Some(ends) = ends.as_mut().filter(|_| forgets) {
                for side in Side::BOTH {
                    ends.of_mut(side).log = LinkDownErrorLog::default();
                }
            }
            self.settle(&slot);
            if running {
                self.trap(&slot);
            }
        }
    }

    /// The fabric manager keeps a port in Init for this reason, or stops doing so.
    pub(crate) fn quarantine(
        &mut self,
        slot: &SlotRef,
        side: Side,
        reason: Option<LinkInitReason>,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        let link = self.link(slot);
        let up = link.stage.is_up();
        if let Some(ends) = &mut link.ends {
            let end = ends.of_mut(side);
            end.quarantine = reason;
            if reason.is_none() && up {
                end.init = LinkInitReason::LINK_UP;
            }
        }
        self.settle(slot);
        Ok(())
    }

    /// A port's trap causes a read of its link, if the subnet manager runs and either end has
    /// something new.
    pub(crate) fn trap(&mut self, slot: &SlotRef) {
        let link = self.link(slot);
        let up = link.stage.is_up();
        let ends = link.ends.as_ref();
        let reports = ends.is_some_and(|ends| ends.have_reason_to_send() || ends.found != up);
        if reports && self.manager.runs() {
            self.come_round(slot, self.manager.arms(self.now, &self.timing));
        }
    }

    /// Schedules a read of a link at this time, unless an earlier one is scheduled.
    fn come_round(&mut self, slot: &SlotRef, at: SimTime) {
        let before = self.link(slot).read;
        if before.is_some_and(|key| key.at() <= at) {
            return;
        }
        if let Some(key) = before {
            self.agenda.cancel(key);
        }
        let read = Step::Read(slot.clone());
        self.link(slot).read = Some(self.agenda.schedule(at, Rank::SubnetManager, read));
    }

    /// The subnet manager reads both ends, as far as it reaches them, and schedules another read
    /// while they wait to be armed.
    pub(crate) fn read(&mut self, slot: &SlotRef) {
        let (now, timing, manager) = (self.now, self.timing, self.manager);
        let link = self.link(slot);
        let (stage, up) = (link.stage, link.stage.is_up());
        let reached = Side::BOTH.map(|side| link.is_reached(side));
        let Some(ends) = link.ends.as_mut().filter(|_| manager.runs()) else {
            return;
        };
        for side in Side::BOTH {
            if reached[side.index()] {
                ends.read(side, now);
            }
            let end = ends.of_mut(side);
            if let Some(reason) = end.quarantine.filter(|_| stage == Stage::Init) {
                end.init = reason;
            }
        }
        let shown = |side| ends.of(side).record.shown();
        let notice = Notice {
            at: now,
            slot: slot.clone(),
            condition: if up {
                Condition::Appearance
            } else {
                Condition::Disappearance
            },
            local: if up { shown(Side::Here) } else { Pair::CLEAR },
            linked: reached[Side::There.index()].then(|| shown(Side::There)),
        };
        let news = std::mem::replace(&mut ends.found, up) != up;
        let waits = stage < Stage::Armed && ends.have_reason_to_send();
        if news {
            self.notices.push(notice);
        }
        if waits {
            self.come_round(slot, manager.next_sweep(now, &timing));
        }
    }
}
