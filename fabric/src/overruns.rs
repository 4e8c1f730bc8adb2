//! An hfi1's check for receive buffer overruns: every ten seconds its driver bounces the link if its
//! overflow counter grew since the last check (hfi1 `chip.c`, `update_rcverr_timer`).
//!
//! The driver's counter is wider than the one in sysfs, so an overrun counts although that one is at
//! its maximum. A check is scheduled only while there is something to find. Start at
//! [`Fabric::watch_overruns`].

use platforms::SlotRef;

use crate::{
    Fabric, Side,
    agenda::{Rank, Step},
    both_ends::BothEnds,
    device::Jack,
    opa::LinkDownReason,
    overrun_check::OverrunCheck,
};

/// The counter of receive buffer overruns (IBTA 16.1.3.5, ExcessiveBufferOverrunErrors).
pub(crate) const OVERRUNS: &str = "excessive_buffer_overrun_errors";

impl Jack {
    /// Whether the node's own end has a driver that checks for overruns.
    pub(crate) fn checks_for_overruns(&self) -> bool {
        self.link.ends.as_ref().is_some_and(BothEnds::is_hfi1)
    }
}

impl Fabric {
    /// Schedules the next check of a port whose counter grew or grows by itself, and cancels one that
    /// would find nothing.
    pub(crate) fn watch_overruns(&mut self, slot: &SlotRef) {
        let now = self.now;
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        let check = jack.overruns;
        let grows = check.grew || jack.growing.contains_key(OVERRUNS);
        let next = match (jack.checks_for_overruns() && grows, check.next) {
            (true, None) => {
                let step = Step::CheckOverruns(slot.clone());
                Some(
                    self.agenda
                        .schedule(check.following(now), Rank::Kernel, step),
                )
            }
            (true, scheduled) => scheduled,
            (false, scheduled) => {
                if let Some(key) = scheduled {
                    self.agenda.cancel(key);
                }
                None
            }
        };
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        jack.overruns.next = next;
    }

    /// The driver's check: the link bounces if the counter grew and the port's PortErrorAction includes
    /// overruns.
    pub(crate) fn check_overruns(&mut self, slot: &SlotRef) {
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        jack.overruns.next = None;
        if std::mem::take(&mut jack.overruns.grew) {
            let reason = LinkDownReason::EXCESSIVE_BUFFER_OVERRUN;
            let found = self.packet_error(slot, Side::Here, reason);
            found.expect("only ports with a link of their own are checked");
        }
        self.watch_overruns(slot);
    }

    /// Nothing remains to be found, as when the counter was reset.
    pub(crate) fn forget_overruns(&mut self, slot: &SlotRef) {
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        jack.overruns.grew = false;
        self.watch_overruns(slot);
    }

    /// The driver of a port starts or stops now.
    pub(crate) fn restart_overrun_checks(&mut self, slot: &SlotRef) {
        let now = self.now;
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        let check = OverrunCheck {
            since: now,
            ..OverrunCheck::default()
        };
        if let Some(key) = std::mem::replace(&mut jack.overruns, check).next {
            self.agenda.cancel(key);
        }
        self.watch_overruns(slot);
    }
}
