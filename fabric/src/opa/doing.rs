//! What comes of a deed.
//!
//! A deed first finds what it names and refuses what is impossible; then a line goes down if it was
//! up, for the reason given; then whatever changed about the port changes; then the line trains
//! again if it can. Start at [`Network::act`].

use platforms::NodeName;

use super::{
    deed::{Deed, DeedError},
    kernel::{FirmwareReport, KernelEventKind, state_line},
    layout::{EndRef, NodeKind},
    line::{Port, Power},
    network::Network,
    port_error::{ErrorInfo, PortErrorAction},
    reason::LinkDownReason,
    record::{Initiative, Profile},
};

impl Network {
    /// Does something to the network, now.
    ///
    /// # Errors
    ///
    /// It is impossible in the network as it is; then nothing has changed.
    pub fn act(&mut self, deed: &Deed) -> Result<(), DeedError> {
        match deed {
            Deed::Pull(end) => self.cable(end, false),
            Deed::Plug(end) => self.cable(end, true),
            Deed::ModuleOut(end) => self.module(end, false),
            Deed::ModuleIn(end) => self.module(end, true),
            Deed::Initiate { end, reason, says } => self.initiate(end, *reason, *says),
            Deed::InitiateBoth {
                end,
                reason,
                says,
                other,
                other_says,
            } => self.initiate_both(end, (*reason, *says), (*other, *other_says)),
            Deed::Relent { end, reason } => self.relent(end, *reason),
            Deed::Hear { end, message } => self.hear(end, *message),
            Deed::Report { end, report } => self.report(end, *report),
            Deed::BreakTraining(end) => {
                let index = self.cabled(end)?;
                if !self.port(end)?.is_up() {
                    self.lose(index, [None, None]);
                }
                Ok(())
            }
            Deed::PacketError { end, reason } => self.packet_error(end, *reason),
            Deed::Errors { end, info } => self.errors(end, *info),
            Deed::BufferOverrun(end) => {
                self.packet_error(end, LinkDownReason::EXCESSIVE_BUFFER_OVERRUN)
            }
            Deed::ErrorAction { end, action } => {
                self.port(end)?;
                self.port_mut(end).action = *action;
                Ok(())
            }
            Deed::Bounce(end) => self.initiate(end, LinkDownReason::FM_BOUNCE, true),
            Deed::Disable(end) => self.initiate(end, LinkDownReason::SMA_DISABLED, true),
            Deed::Enable(end) => self.relent(end, LinkDownReason::SMA_DISABLED),
            Deed::Overheat(end) => self.overheat(end),
            Deed::Unload(node) => self.unload(node),
            Deed::Load(node) => self.start(node, Power::Unloaded),
            Deed::PowerOff(node) => self.fail(node, KernelEventKind::DeviceGone),
            Deed::DeviceFatal(node) => {
                self.host(node)?;
                self.fail(node, KernelEventKind::DeviceFatal)
            }
            Deed::PowerOn(node) => self.start(node, Power::Off),
            Deed::Quarantine { end, reason } => {
                self.port(end)?;
                self.manager.quarantined.insert(end.clone(), *reason);
                Ok(())
            }
            Deed::Release(end) => {
                self.port(end)?;
                self.manager.quarantined.remove(end);
                let port = self.port_mut(end);
                if port.is_up() {
                    port.init = super::LinkInitReason::LINK_UP;
                }
                self.trap();
                Ok(())
            }
            Deed::StopManager => {
                self.stop_manager();
                Ok(())
            }
            Deed::StartManager { keeps_logs } => {
                self.start_manager(*keeps_logs);
                Ok(())
            }
            Deed::Set(request) => self.set(request).map(drop),
        }?;
        // What takes no time is done at once.
        self.advance(self.now);
        Ok(())
    }

    /// The line of a port that has a cable.
    fn cabled(&self, end: &EndRef) -> Result<usize, DeedError> {
        let line = self.port(end)?.line;
        line.ok_or_else(|| DeedError::NotCabled(end.clone()))
    }

    pub(super) fn powered(&self, end: &EndRef) -> Result<(), DeedError> {
        self.port(end)?;
        if self.is_on(end) {
            Ok(())
        } else {
            Err(DeedError::Off(end.node.clone()))
        }
    }

    pub(super) fn host(&self, node: &NodeName) -> Result<(), DeedError> {
        if self.node(node)?.kind == NodeKind::Host {
            Ok(())
        } else {
            Err(DeedError::NotAHost(node.clone()))
        }
    }

    /// The line of an end goes down by that end's initiative, or by nobody's.
    fn go_down(&mut self, end: &EndRef, own: Option<Initiative>) {
        let Some(index) = self.port_mut(end).line else {
            return;
        };
        let by = if self.lines[index].ends[0] == *end {
            [own, None]
        } else {
            [None, own]
        };
        self.lose(index, by);
    }

    /// Lets an end, and its line, be as they now must.
    pub(super) fn settle(&mut self, end: &EndRef) {
        match self.port_mut(end).line {
            Some(index) => self.refresh(index),
            None => self.rest(end),
        }
    }

    fn cable(&mut self, end: &EndRef, whole: bool) -> Result<(), DeedError> {
        let index = self.cabled(end)?;
        if !whole {
            self.lose(index, [None, None]);
        }
        self.lines[index].whole = whole;
        self.refresh(index);
        Ok(())
    }

    /// Taking the module out is no initiative of the port's: the link goes without a word.
    fn module(&mut self, end: &EndRef, there: bool) -> Result<(), DeedError> {
        let port = self.port(end)?;
        if !port.takes_module() {
            return Err(DeedError::NoModule(end.clone()));
        }
        if port.module == there {
            return Ok(());
        }
        self.port_mut(end).module = there;
        if there {
            self.port_mut(end).record.module_came();
            self.log(end, state_line::MODULE_INSERTED.to_owned());
        } else {
            self.go_down(end, None);
            self.log(end, state_line::MODULE_REMOVED.to_owned());
            self.port_mut(end)
                .goes_offline(LinkDownReason::LOCAL_MEDIA_NOT_INSTALLED);
        }
        self.settle(end);
        Ok(())
    }

    pub(super) fn initiate(
        &mut self,
        end: &EndRef,
        reason: LinkDownReason,
        says: bool,
    ) -> Result<(), DeedError> {
        self.port(end)?;
        if !reason.is_some() {
            return Err(DeedError::NoReason);
        }
        if !reason.holds() {
            self.powered(end)?;
        }
        if self.is_on(end) {
            let own = self.port(end)?.record.initiative(reason, says);
            self.go_down(end, own);
        }
        let port = self.port_mut(end);
        if reason.holds() {
            let new = port.holds.insert(reason);
            port.goes_offline(reason);
            if new && reason == LinkDownReason::POWER_POLICY {
                self.log(end, state_line::POWER.to_owned());
            }
        }
        self.settle(end);
        Ok(())
    }

    fn initiate_both(
        &mut self,
        end: &EndRef,
        (reason, says): (LinkDownReason, bool),
        (other, other_says): (LinkDownReason, bool),
    ) -> Result<(), DeedError> {
        let index = self.cabled(end)?;
        self.powered(end)?;
        if !reason.is_some() || !other.is_some() {
            return Err(DeedError::NoReason);
        }
        let own = Some(Initiative::of(reason, says));
        let others = Some(Initiative::of(other, other_says));
        let first = self.lines[index].ends[0] == *end;
        let by = if first { [own, others] } else { [others, own] };
        self.lose(index, by);
        self.refresh(index);
        Ok(())
    }

    pub(super) fn relent(&mut self, end: &EndRef, reason: LinkDownReason) -> Result<(), DeedError> {
        self.port(end)?;
        self.port_mut(end).let_go(reason);
        self.settle(end);
        Ok(())
    }

    fn hear(&mut self, end: &EndRef, message: LinkDownReason) -> Result<(), DeedError> {
        self.cabled(end)?;
        self.powered(end)?;
        if let Some(other) = self.neighbour(end) {
            self.go_down(&other, Some(Initiative::saying(message)));
            self.settle(&other);
        }
        Ok(())
    }

    /// Whatever the firmware says, nothing was sent: both ends see a link that went without a word.
    fn report(&mut self, end: &EndRef, report: FirmwareReport) -> Result<(), DeedError> {
        let index = self.cabled(end)?;
        self.powered(end)?;
        self.host(&end.node)?;
        let reports = if self.lines[index].ends[0] == *end {
            [Some(report), None]
        } else {
            [None, Some(report)]
        };
        self.lose_reported(index, [None, None], reports);
        self.refresh(index);
        Ok(())
    }

    /// An error that the port's action does not name is only logged, by an hfi1.
    fn packet_error(&mut self, end: &EndRef, reason: LinkDownReason) -> Result<(), DeedError> {
        self.powered(end)?;
        if PortErrorAction::bit_of(reason).is_none() {
            return Err(DeedError::NotAnError(reason));
        }
        if self.port(end)?.action.bounces(reason) {
            self.bounce_for(end, reason);
        }
        Ok(())
    }

    fn errors(&mut self, end: &EndRef, info: ErrorInfo) -> Result<(), DeedError> {
        self.powered(end)?;
        self.host(&end.node)?;
        let action = self.port(end)?.action;
        if let Some(number) = info.fm_config {
            self.log(end, state_line::error("fmconfig", number, 17));
        }
        if let Some(number) = info.receive {
            self.log(end, state_line::error("PortRcv", number, 1));
        }
        if let Some(reason) = info.bounce(action) {
            self.bounce_for(end, reason);
        }
        Ok(())
    }

    fn bounce_for(&mut self, end: &EndRef, reason: LinkDownReason) {
        if self.port(end).is_ok_and(Port::is_up) {
            self.log(end, state_line::BOUNCE.to_owned());
            self.go_down(end, Some(Initiative::of(reason, true)));
            self.settle(end);
        }
    }

    fn overheat(&mut self, end: &EndRef) -> Result<(), DeedError> {
        self.powered(end)?;
        self.host(&end.node)?;
        let hfi1 = self.port(end)?.record.profile() == Profile::Hfi1;
        let disabled = LinkDownReason::SMA_DISABLED;
        if !hfi1 {
            return self.initiate(end, disabled, true);
        }
        self.go_down(end, Some(Initiative::saying(disabled)));
        self.port_mut(end).holds.insert(disabled);
        self.settle(end);
        Ok(())
    }

    /// The ends of a node.
    fn ends_of(&self, node: &NodeName) -> Vec<EndRef> {
        let ends = self.ports.keys().filter(|end| end.node == *node);
        ends.cloned().collect()
    }

    /// A host's driver takes its links down in good order.
    fn unload(&mut self, node: &NodeName) -> Result<(), DeedError> {
        self.host(node)?;
        if self.node(node)?.power != Power::On {
            return Err(DeedError::Off(node.clone()));
        }
        let ends = self.ends_of(node);
        for end in &ends {
            let own = Initiative::of(LinkDownReason::REBOOT, true);
            self.go_down(end, Some(own));
            if self.port(end)?.record.profile() == Profile::Hfi1 {
                self.port_mut(end).goes_offline(LinkDownReason::REBOOT);
            }
            self.tell(end, KernelEventKind::DeviceGone);
        }
        self.node_mut(node).power = Power::Unloaded;
        for end in &ends {
            self.settle(end);
        }
        Ok(())
    }

    /// A node is gone in an instant; what it remembered nobody can ask until it starts anew.
    fn fail(&mut self, node: &NodeName, kind: KernelEventKind) -> Result<(), DeedError> {
        if self.node(node)?.power == Power::Off {
            return Err(DeedError::Off(node.clone()));
        }
        self.node_mut(node).power = Power::Off;
        let ends = self.ends_of(node);
        for end in &ends {
            self.go_down(end, None);
            self.tell(end, kind);
        }
        for end in &ends {
            self.settle(end);
        }
        Ok(())
    }

    /// A node, or its driver, is back.
    fn start(&mut self, node: &NodeName, from: Power) -> Result<(), DeedError> {
        let power = self.node(node)?.power;
        if power == Power::On {
            return Err(DeedError::On(node.clone()));
        }
        if power != from {
            return Err(DeedError::Off(node.clone()));
        }
        self.node_mut(node).power = Power::On;
        for end in self.ends_of(node) {
            self.port_mut(&end).restart();
            self.tell(&end, KernelEventKind::DeviceBack);
            self.settle(&end);
        }
        Ok(())
    }
}
