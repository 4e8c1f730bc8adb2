//! Actions that take a link down for a reason, at either end, and what both ends record.
//!
//! The end at fault is set as the cause before the link goes down; without a cause, both ends record
//! the link's going down as unexplained. `sweep.rs` implements the subnet manager's reads. Start at
//! [`Fabric::take_down`].

use platforms::{LinkEvent, NodeName, PciAddress, SlotRef};
use simfs::SimTime;

use crate::{
    ActionError, CounterChange, Fabric, KernelLine, Side,
    agenda::{Rank, Step},
    both_ends::{Blame, BothEnds},
    link::{Cable, Hold, Stage},
    opa::{ErrorInfo, FirmwareReport, LinkDownReason, PortErrorAction, Profile, state_line},
    overruns::OVERRUNS,
};

impl Fabric {
    /// Rejects a port that has no link of its own.
    pub(crate) fn find_link(&self, slot: &SlotRef) -> Result<(), ActionError> {
        self.find(slot)?;
        let parent = self.node(&slot.node)?.device(slot.pci)?.parent;
        parent.map_or(Ok(()), |parent| {
            Err(ActionError::LinkOfVf(slot.clone(), parent))
        })
    }

    /// Records at both ends that the link changed from stage `before` to its present one, and writes
    /// the hfi1 driver's log lines.
    pub(crate) fn remember(&mut self, slot: &SlotRef, before: Stage) {
        let runs = self.manager.runs();
        let link = self.link(slot);
        let (stage, blame) = (link.stage, link.blame);
        let frozen = link.frozen.is_some();
        let Some(ends) = &mut link.ends else { return };
        let mut lines = match (before, stage) {
            _ if blame == Blame::Training => Vec::new(),
            _ if before.is_up() && !stage.is_up() => {
                state_line::went_down(before.logical(), ends.fall(blame))
            }
            (Stage::Training, Stage::Quiet | Stage::Down) if ends.break_training(blame) => {
                vec![state_line::LINK_DOWN.to_owned()]
            }
            _ => Vec::new(),
        };
        if frozen {
            lines.clear();
        }
        if !before.is_up() && stage.is_up() {
            ends.come_up();
        }
        if stage == Stage::Quiet {
            ends.are_quiet();
        }
        let armed = before < Stage::Armed && stage >= Stage::Armed;
        let by_hand = ends.are_armed_by_hand();
        if !stage.is_up() || stage >= Stage::Active {
            ends.follow_the_link();
        }
        for line in lines {
            self.log(slot, &line);
        }
        if armed && !by_hand {
            if runs {
                self.read(slot);
            }
            if let Some(ends) = &mut self.link(slot).ends {
                ends.arm();
            }
        }
    }

    /// Writes a log line of an hfi1's driver about the node's own port, if it runs the port.
    pub(crate) fn log(&mut self, slot: &SlotRef, text: &str) {
        let at = self.now;
        let node = self.node_mut(&slot.node);
        let ends = node.jack_mut(slot.pci, slot.port).link.ends.as_ref();
        let is_hfi1 = ends.is_some_and(BothEnds::is_hfi1) && node.has_rdma(slot.pci);
        if let Some(rdma) = node.rdma(slot.pci).filter(|_| is_hfi1) {
            let text = format!("hfi1 {}: {}: {text}", slot.pci, rdma.name);
            node.log.push(KernelLine { at, text });
        }
    }

    /// Sets the end and reason that are recorded if the link goes down now.
    pub(crate) fn blame(&mut self, slot: &SlotRef, side: Side, reason: LinkDownReason) {
        self.link(slot).blame = Blame::End(side, reason, true);
    }

    /// The node's own end is offline or disabled for this reason.
    pub(crate) fn goes_offline(&mut self, slot: &SlotRef, reason: LinkDownReason) {
        if let Some(ends) = &mut self.link(slot).ends {
            ends.of_mut(Side::Here).goes_offline(reason);
        }
    }

    /// The link only retrains: no end takes it down.
    pub(crate) fn retrains(&mut self, slot: &SlotRef) {
        self.link(slot).blame = Blame::Training;
    }

    /// An end takes its link down; for a reason that holds it stays down, for others it trains again.
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
            let hold = Hold::Reason(reason);
            let new = !link.end(side).has(hold);
            link.end(side).set(hold, true);
            if let Some(ends) = &mut link.ends {
                ends.of_mut(side).goes_offline(reason);
            }
            if new && side == Side::Here && reason == LinkDownReason::POWER_POLICY {
                self.log(slot, state_line::POWER);
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

    /// A message arrives that the link is about to go down; its sender records nothing.
    pub(crate) fn hear(
        &mut self,
        slot: &SlotRef,
        side: Side,
        message: LinkDownReason,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        self.link(slot).blame = Blame::Message(side.other(), message);
        self.hurry(slot);
        self.fall_dark(slot);
        self.settle(slot);
        Ok(())
    }

    /// The link goes down without a reason, and the firmware of the node's own port reports this of it; it
    /// trains again.
    pub(crate) fn firmware_reports(
        &mut self,
        slot: &SlotRef,
        report: FirmwareReport,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        self.link(slot).blame = Blame::Reported(report);
        self.hurry(slot);
        self.fall_dark(slot);
        self.settle(slot);
        Ok(())
    }

    /// The device of the node's own port is too hot. An hfi1's driver sends 61 and takes the link down
    /// without its own state machine, so that it records nothing and goes on showing the states of before,
    /// until it is loaded again (`chip.c`, `handle_temp_err`).
    pub(crate) fn overheat(&mut self, slot: &SlotRef) -> Result<(), ActionError> {
        self.find_link(slot)?;
        let link = self.link(slot);
        if !link.ends.as_ref().is_some_and(BothEnds::is_hfi1) {
            return Err(ActionError::NoThermalLimit(slot.clone()));
        }
        if link.here.has(Hold::Overheated) {
            return Ok(());
        }
        let shown = (link.logical(Side::Here), link.physical(Side::Here));
        link.frozen = Some(shown);
        link.here.set(Hold::Overheated, true);
        link.blame = Blame::Message(Side::Here, LinkDownReason::SMA_DISABLED);
        for line in state_line::TOO_HOT {
            self.log(slot, line);
        }
        self.settle(slot);
        Ok(())
    }

    /// Releases a reason of an end. An end that follows the specification shows at once what still
    /// holds it; an hfi1 shows nothing new until it polls.
    pub(crate) fn release(
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
        let end = end.clone();
        if let Some(ends) = &mut link.ends
            && ends.of(side).record.profile() == Profile::Spec
        {
            ends.of_mut(side).held_by(end.reasons());
        }
        self.settle(slot);
        Ok(())
    }

    /// An end detects an error; its PortErrorAction decides whether the link goes down.
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
        let ends = link.ends.as_ref().filter(|_| link.stage.is_up());
        if ends.is_some_and(|ends| ends.of(side).action.bounces(reason)) {
            if side == Side::Here {
                self.log(slot, state_line::bounce(reason));
            }
            self.take_down(slot, side, reason, true)?;
        }
        Ok(())
    }

    /// The error registers of the node's own port hold an error: the driver logs it, and the link
    /// bounces if the port's PortErrorAction includes it.
    pub(crate) fn error_registers(
        &mut self,
        slot: &SlotRef,
        info: ErrorInfo,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        for line in state_line::errors(info) {
            self.log(slot, &line);
        }
        let ends = self.link(slot).ends.as_ref();
        let bounce = ends.and_then(|ends| info.bounce(ends.of(Side::Here).action));
        bounce.map_or(Ok(()), |reason| self.packet_error(slot, Side::Here, reason))
    }

    /// An end's receive buffer overruns, which is an error and is counted if it is the node's own end.
    /// An hfi1 finds it in its next check.
    pub(crate) fn overrun(&mut self, slot: &SlotRef, side: Side) -> Result<(), ActionError> {
        self.find_link(slot)?;
        if side == Side::Here {
            self.counter(slot, OVERRUNS, &CounterChange::Add(1))?;
        }
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        if side == Side::Here && jack.checks_for_overruns() {
            return Ok(());
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
            ends.of_mut(side).action = action;
        }
        Ok(())
    }

    /// A module is removed or inserted. The port does not take the link down: it is lost as with a
    /// cable, and the port shows why it is offline.
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
            let end = ends.of_mut(side);
            if there {
                end.record.module_came();
            } else {
                end.goes_offline(LinkDownReason::LOCAL_MEDIA_NOT_INSTALLED);
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
        if side == Side::Here {
            self.log(slot, state_line::module(there));
        }
        Ok(())
    }

    /// The partner is a host, which announces that it goes down and is back after `takes`.
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
                ends.of_mut(Side::There).record.forget();
            }
            self.agenda.cancel(key);
        }
    }

    /// The switch of these ports loses power, or has it again.
    pub(crate) fn switch_power(&mut self, slots: &[SlotRef], on: bool) -> Result<(), ActionError> {
        for slot in slots {
            self.find_link(slot)?;
        }
        for slot in slots {
            self.link(slot).there.set(Hold::Unpowered, !on);
            self.settle(slot);
            if let Some(ends) = &mut self.link(slot).ends {
                ends.of_mut(Side::There).record.forget();
            }
        }
        Ok(())
    }

    /// Adapts what an end remembers to its link: a polling port is not offline; a device or driver
    /// that disappears without notice leaves no record, and one that returns starts with a new one.
    pub(crate) fn follow(&mut self, slot: &SlotRef, was_powered: bool, powered: bool) {
        let gone = !self.node_mut(&slot.node).is_on_bus(slot.pci);
        let link = self.link(slot);
        let blame = std::mem::take(&mut link.blame);
        let polls = [link.here.signals(), link.there.signals()];
        let quiet = link.stage == Stage::Quiet;
        let Some(ends) = &mut link.ends else { return };
        let announced = matches!(blame, Blame::End(Side::Here, ..) | Blame::Both(_));
        if (powered != was_powered || gone) && (powered || !announced) {
            let end = ends.of_mut(Side::Here);
            end.record.forget();
            end.held_by(link.here.reasons());
        }
        for side in Side::BOTH {
            if polls[side.index()] && !quiet {
                ends.of_mut(side).record.polls();
            }
        }
        if powered != was_powered || gone {
            self.restart_overrun_checks(slot);
        }
    }

    /// A function's driver takes its links down in an orderly way, if they go down now. Through the
    /// mask of its reason an hfi1 then shows "Not installed" (`chip.c`, `hfi1_quiet_serdes`).
    pub(crate) fn announce(&mut self, node: &NodeName, pci: PciAddress) {
        for port in self.node_mut(node).port_numbers(pci) {
            let node = node.clone();
            let slot = SlotRef { node, pci, port };
            self.blame(&slot, Side::Here, LinkDownReason::REBOOT);
            if self
                .link(&slot)
                .ends
                .as_ref()
                .is_some_and(BothEnds::is_hfi1)
            {
                self.goes_offline(&slot, LinkDownReason::REBOOT);
            }
        }
    }
}
