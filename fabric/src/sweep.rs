//! The sweeps of the subnet manager: it reads both ends of a link, logs their reasons, notices hosts
//! that come and go, and keeps quarantined ports in Init.
//!
//! A trap causes a sweep soon after; while an end that is not armed has a reason to log, periodic
//! sweeps follow. `link.rs` computes when a port is armed. Start at [`Fabric::read`].

use platforms::{Port, SlotRef};
use simfs::SimTime;

use crate::{
    ActionError, Fabric, ManagerTerm, Side,
    agenda::{Rank, Step},
    link::Stage,
    opa::{Condition, LinkInitReason, Notice, Pair},
};

impl Fabric {
    /// Starts or stops the subnet manager; `reinitialise` also takes every port that it has
    /// configured back to `INIT`. Without `keeps_logs`, a starting one has lost its logs.
    pub(crate) fn manage(&mut self, running: bool, reinitialise: bool, keeps_logs: bool) {
        let starts = running && !self.manager.runs();
        if starts {
            self.begin_term(keeps_logs);
        } else if !running {
            self.end_term();
        }
        self.manager.set(running, self.now);
        for slot in self.slots() {
            if reinitialise {
                self.uninitialise(&slot);
            }
            let ends = &mut self.link(&slot).ends;
            if let Some(ends) = ends.as_mut().filter(|_| starts && !keeps_logs) {
                ends.are_unknown_to_the_manager();
            }
            self.settle(&slot);
            if running {
                self.trap(&slot);
            }
        }
    }

    /// Another subnet manager takes over from the one that runs, or ran last. It has no logs of its own
    /// and knows no host until its first sweep.
    pub(crate) fn take_over(&mut self) {
        self.manage(false, false, true);
        self.manager.number = self.manager.number.saturating_add(1);
        self.manage(true, false, false);
    }

    /// The subnet manager sweeps so often from now on, and at once; what waits for it is not forgotten.
    pub(crate) fn change_sweeps(&mut self, every: SimTime, on_traps: bool) {
        self.timing.sweep = every.max(SimTime::from_ms(1));
        self.manager.sweep_anew(self.now, on_traps);
        let soon = self.manager.arms(self.now, &self.timing);
        for slot in self.slots() {
            let link = self.link(&slot);
            let (is_read, waits) = (link.read.is_some(), link.waits_for_a_sweep());
            if waits {
                self.hurry(&slot);
                self.settle(&slot);
            }
            if is_read && self.manager.runs() {
                self.come_round(&slot, soon);
            }
        }
    }

    fn begin_term(&mut self, remembers: bool) {
        self.terms.push(ManagerTerm {
            number: self.manager.number,
            from: self.now,
            until: None,
            remembers,
        });
    }

    fn end_term(&mut self) {
        let now = self.now;
        if let Some(term) = self.terms.last_mut() {
            term.until = term.until.or(Some(now));
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
        let reports = ends.is_some_and(|ends| ends.have_reason_to_send() || ends.found != Some(up));
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
                ends.of_mut(side).sm_lid = manager.lid();
            }
            let end = ends.of_mut(side);
            if let Some(reason) = end.quarantine.filter(|_| stage == Stage::Init) {
                end.init = reason;
            }
        }
        let shown = |side| ends.of(side).record.shown();
        let notice = Notice {
            at: now,
            manager: manager.number,
            slot: slot.clone(),
            condition: if up {
                Condition::Appearance
            } else {
                Condition::Disappearance
            },
            local: if up { shown(Side::Here) } else { Pair::CLEAR },
            linked: reached[Side::There.index()].then(|| shown(Side::There)),
        };
        // What a manager finds in its first sweep is no news to it.
        let news = ends.found.replace(up).is_some_and(|found| found != up);
        let waits = stage < Stage::Armed && ends.have_reason_to_send();
        if news {
            self.notices.push(notice);
        }
        if waits {
            self.come_round(slot, manager.next_sweep(now, &timing));
        }
        if reached[Side::Here.index()] {
            self.name_manager(slot);
        }
    }

    /// The node's own port, and the virtual ones on its link, show the local identifier of the subnet
    /// manager that reached them (IBTA volume 1, 14.2.5.6, MasterSMLID).
    fn name_manager(&mut self, slot: &SlotRef) {
        let lid = self.manager.lid();
        let node = self.node_mut(&slot.node);
        for pci in node.family(slot.pci) {
            let other = |port: &Port| port.sm_lid != 0 && port.sm_lid != lid;
            if node.port(pci, slot.port).is_some_and(other)
                && let Some(port) = node.port_mut(pci, slot.port)
            {
                port.sm_lid = lid;
            }
        }
    }
}
