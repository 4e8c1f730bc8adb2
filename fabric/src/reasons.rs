//! Actions that take a link down for a reason, at either end, and what the subnet manager reads then.
//!
//! What both ends remember is `both_ends.rs`'s. An end at fault is blamed before the link goes down;
//! a link that goes down without anyone to blame is unexplained at both ends. Start at
//! [`Fabric::take_down`].

use platforms::{LinkEvent, NodeName, PciAddress, SlotRef};
use simfs::SimTime;

use crate::{
    ActionError, CounterChange, EndTruth, Fabric, Side,
    agenda::{Rank, Step},
    both_ends::Blame,
    opa::{LinkDownReason, PortErrorAction},
    link::{Cable, End, Hold, Link},
};

/// Counts what a receive buffer could not take (IBTA 16.1.3.5, ExcessiveBufferOverrunErrors).
const OVERRUNS: &str = "excessive_buffer_overrun_errors";

impl Fabric {
    /// What an end of a port's link remembers of its going down; `None` for a port that does not
    /// exist or is a virtual function's, whose link is its physical one's.
    #[must_use]
    pub fn end(&self, slot: &SlotRef, side: Side) -> Option<EndTruth> {
        let node = self.node(&slot.node).ok()?;
        let link = &node.jack(slot).ok()?.link;
        let can_be_asked = match side {
            Side::Here => node.is_on_bus(slot.pci),
            Side::There => !link.there.has(Hold::Unpowered),
        };
        Some(link.ends.as_ref()?.truth(side, can_be_asked))
    }

    fn link(&mut self, slot: &SlotRef) -> &mut Link {
        &mut self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).link
    }

    /// Refuses a port that has no link of its own.
    fn find_link(&self, slot: &SlotRef) -> Result<(), ActionError> {
        self.find(slot)?;
        let parent = self.node(&slot.node)?.device(slot.pci)?.parent;
        parent.map_or(Ok(()), |parent| {
            Err(ActionError::LinkOfVf(slot.clone(), parent))
        })
    }

    /// Names who takes the link down, if it goes down now.
    pub(crate) fn blame(&mut self, slot: &SlotRef, side: Side, reason: LinkDownReason) {
        self.link(slot).blame = Blame::End(side, reason, true);
    }

    /// The node's own end is offline or disabled for this reason.
    pub(crate) fn goes_offline(&mut self, slot: &SlotRef, reason: LinkDownReason) {
        if let Some(ends) = &mut self.link(slot).ends {
            ends.goes_offline(Side::Here, reason);
        }
    }

    /// The link trains anew: nobody takes it down.
    pub(crate) fn retrains(&mut self, slot: &SlotRef) {
        self.link(slot).blame = Blame::Training;
    }

    /// An end takes its link down; for a reason that holds it stays so, for others it trains again.
    pub(crate) fn take_down(
        &mut self,
        slot: &SlotRef,
        side: Side,
        reason: LinkDownReason,
        says: bool,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        if !reason.is_some() {
            return Err(ActionError::NoReason(slot.clone()));
        }
        let link = self.link(slot);
        link.blame = Blame::End(side, reason, says);
        if reason.holds() {
            link.end(side).set(Hold::Reason(reason), true);
            if let Some(ends) = &mut link.ends {
                ends.goes_offline(side, reason);
            }
        } else {
            self.hurry(slot);
            self.fall_dark(slot);
        }
        self.settle(slot);
        Ok(())
    }

    /// Both ends take their link down at the same instant, each for a reason that does not hold; it
    /// trains again.
    pub(crate) fn both_take_down(
        &mut self,
        slot: &SlotRef,
        by: [(LinkDownReason, bool); 2],
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        for (reason, _) in by {
            if !reason.is_some() || reason.holds() {
                return Err(ActionError::NoPassingReason(slot.clone(), reason));
            }
        }
        self.link(slot).blame = Blame::Both(by);
        self.hurry(slot);
        self.fall_dark(slot);
        self.settle(slot);
        Ok(())
    }

    /// A reason no longer holds an end.
    pub(crate) fn let_up(
        &mut self,
        slot: &SlotRef,
        side: Side,
        reason: LinkDownReason,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        let link = self.link(slot);
        let end = link.end(side);
        if !end.reasons().any(|held| held == reason) {
            return Err(ActionError::NotHeld(slot.clone(), reason));
        }
        end.set(Hold::Reason(reason), false);
        if reason == LinkDownReason::SMA_DISABLED {
            end.set(Hold::Disabled, false);
        }
        let end = end.clone();
        if let Some(ends) = &mut link.ends {
            ends.held_by(side, &end);
        }
        self.settle(slot);
        Ok(())
    }

    /// An end finds an error; whether that takes the link down its PortErrorAction says.
    pub(crate) fn packet_error(
        &mut self,
        slot: &SlotRef,
        side: Side,
        reason: LinkDownReason,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        if PortErrorAction::bit_of(reason).is_none() {
            return Err(ActionError::NotAnError(reason));
        }
        let link = self.link(slot);
        let up = link.stage.is_up();
        let bounces = link
            .ends
            .as_mut()
            .is_some_and(|ends| ends.action(side).bounces(reason));
        if up && bounces {
            self.take_down(slot, side, reason, true)?;
        }
        Ok(())
    }

    /// An end's receive buffer overruns: that is counted, if it is the node's own, and is an error.
    pub(crate) fn overrun(&mut self, slot: &SlotRef, side: Side) -> Result<(), ActionError> {
        self.find_link(slot)?;
        let now = self.now;
        if side == Side::Here {
            self.node_mut(&slot.node)
                .change(slot, OVERRUNS, &CounterChange::Add(1), now)?;
        }
        self.packet_error(slot, side, LinkDownReason::EXCESSIVE_BUFFER_OVERRUN)
    }

    pub(crate) fn error_action(
        &mut self,
        slot: &SlotRef,
        side: Side,
        action: PortErrorAction,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        if let Some(ends) = &mut self.link(slot).ends {
            *ends.action(side) = action;
        }
        Ok(())
    }

    /// A module goes or comes. The port takes nothing down: the link is gone like a cable's, and
    /// the port says why it is offline.
    pub(crate) fn module(
        &mut self,
        slot: &SlotRef,
        side: Side,
        there: bool,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        let hold = Hold::Reason(LinkDownReason::LOCAL_MEDIA_NOT_INSTALLED);
        let link = self.link(slot);
        if link.end(side).has(hold) != there {
            let how = if there { "in" } else { "out" };
            return Err(ActionError::ModuleAlready(slot.clone(), how));
        }
        link.end(side).set(hold, !there);
        if let Some(ends) = &mut link.ends {
            if there {
                ends.record(side).module_came();
            } else {
                ends.goes_offline(side, LinkDownReason::LOCAL_MEDIA_NOT_INSTALLED);
            }
        }
        let plugged = link.cable == Cable::Whole;
        if side == Side::Here && plugged {
            let event = if there {
                LinkEvent::CablePlugged
            } else {
                LinkEvent::CablePulled
            };
            let now = self.now;
            self.node_mut(&slot.node)
                .happen(slot.pci, slot.port, event, now);
        }
        self.settle(slot);
        Ok(())
    }

    /// The partner is a host's, which announces that it goes, and is back after `takes`.
    pub(crate) fn neighbour_reboots(
        &mut self,
        slot: &SlotRef,
        takes: SimTime,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        self.blame(slot, Side::There, LinkDownReason::REBOOT);
        let at = self.now + takes;
        let key = self
            .agenda
            .schedule(at, Rank::Fault, Step::NeighbourBack(slot.clone()));
        let link = self.link(slot);
        link.there.set(Hold::Rebooting, true);
        if let Some(before) = link.neighbour_back.replace(key) {
            self.agenda.cancel(before);
        }
        self.settle(slot);
        Ok(())
    }

    pub(crate) fn neighbour_back(&mut self, slot: &SlotRef) {
        self.end_reboot_of_neighbour(slot);
        self.settle(slot);
    }

    /// The neighbour is back, if it was away, and remembers nothing.
    pub(crate) fn end_reboot_of_neighbour(&mut self, slot: &SlotRef) {
        let link = self.link(slot);
        if let Some(key) = link.neighbour_back.take() {
            link.there.set(Hold::Rebooting, false);
            if let Some(ends) = &mut link.ends {
                ends.record(Side::There).forget();
            }
            self.agenda.cancel(key);
        }
    }

    /// The switch that these ports hang on loses power, or has it again.
    pub(crate) fn switch_power(&mut self, slots: &[SlotRef], on: bool) -> Result<(), ActionError> {
        for slot in slots {
            self.find_link(slot)?;
        }
        for slot in slots {
            self.link(slot).there.set(Hold::Unpowered, !on);
            self.settle(slot);
            if let Some(ends) = &mut self.link(slot).ends {
                ends.record(Side::There).forget();
            }
        }
        Ok(())
    }

    /// What an end remembers follows its link: a port that polls is not offline, a driver that is
    /// gone without a word leaves nothing, and one that is back starts anew.
    pub(crate) fn follow(&mut self, slot: &SlotRef, was_powered: bool, powered: bool) {
        let link = self.link(slot);
        let blame = std::mem::take(&mut link.blame);
        let polls = [
            (Side::Here, link.here.signals()),
            (Side::There, link.there.signals()),
        ];
        let Some(ends) = &mut link.ends else { return };
        let announced = matches!(blame, Blame::End(Side::Here, ..) | Blame::Both(_));
        if powered != was_powered && (powered || !announced) {
            ends.record(Side::Here).forget();
            let end = link.here.clone();
            ends.held_by(Side::Here, &end);
        }
        for (side, _) in polls.into_iter().filter(|(_, polls)| *polls) {
            ends.record(side).polls();
        }
    }

    /// A function's driver takes its links down in good order, if they go down now.
    pub(crate) fn announce(&mut self, node: &NodeName, pci: PciAddress) {
        for port in self.node_mut(node).port_numbers(pci) {
            let node = node.clone();
            let slot = SlotRef { node, pci, port };
            self.blame(&slot, Side::Here, LinkDownReason::REBOOT);
        }
    }

    /// A port's trap brings the subnet manager round, if there is one and anyone remembers anything.
    pub(crate) fn trap(&mut self, slot: &SlotRef) {
        let (now, timing, manager) = (self.now, self.timing, self.manager);
        let ends = self.link(slot).ends.as_ref();
        let tells = ends.is_some_and(|ends| ends.have_something_to_tell());
        if tells && manager.runs() {
            let at = manager.arms(now, &timing);
            self.agenda
                .schedule(at, Rank::SubnetManager, Step::Read(slot.clone()));
        }
    }

    /// The subnet manager reads both ends, as far as it reaches them: the node's own port through
    /// its link only, a switch's always.
    pub(crate) fn read(&mut self, slot: &SlotRef) {
        let (now, runs) = (self.now, self.manager.runs());
        let link = self.link(slot);
        let here = link.stage.is_up();
        let there = link.partner_is_reached();
        let Some(ends) = link.ends.as_mut().filter(|_| runs) else {
            return;
        };
        for (side, reached) in [(Side::Here, here), (Side::There, there)] {
            if reached {
                ends.read(side, now);
            }
        }
    }
}

impl Link {
    /// One of its ends.
    fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::Here => &mut self.here,
            Side::There => &mut self.there,
        }
    }

    /// Whether the subnet manager reaches the port at the other end.
    fn partner_is_reached(&self) -> bool {
        let off = [Hold::Unpowered, Hold::Rebooting];
        !off.iter().any(|hold| self.there.has(*hold))
    }
}
