//! [`Fabric::act`], the entry point for every action, and the simple port actions.
//!
//! An action first looks up its targets and rejects what is impossible; only then does it change
//! anything. Actions with more behaviour are in other files: reasons in `reasons.rs`, flaps in
//! `flap.rs`, counters in `counters.rs`, devices in `bus.rs`, virtual functions in
//! `virtual_function.rs`, names in `naming.rs`, reboots in `reboot.rs`.

use platforms::{CharDevice, LinkEvent, LinkLayer, NodeName, SlotRef};
use simfs::SimTime;

use crate::{
    Action, ActionError, CharDeviceKind, DeviceAction, Fabric, FunctionRef, NodeAction,
    PortsAction, Side, StickAt,
    device::Mask,
    link::{Cable, Hold},
    opa::LinkDownReason,
};

impl Fabric {
    /// Performs an action now. Its immediate effects are complete on return; delayed ones follow in
    /// [`Fabric::advance`].
    ///
    /// # Errors
    ///
    /// If the action is impossible in the present state; then nothing has changed.
    pub fn act(&mut self, action: &Action) -> Result<(), ActionError> {
        match action {
            Action::Port(slot, action) => self.act_on_port(slot, action),
            Action::Ports(slots, action) => self.act_on_ports(slots, action),
            Action::Device(function, action) => self.act_on_device(function, action),
            Action::Node(node, action) => self.act_on_node(node, action),
            Action::SubnetManager {
                running,
                reinitialise,
                keeps_logs,
            } => {
                self.manage(*running, *reinitialise, *keeps_logs);
                Ok(())
            }
            Action::StandbyTakesOver => {
                self.take_over();
                Ok(())
            }
            Action::Sweeps { every, on_traps } => {
                self.change_sweeps(*every, *on_traps);
                Ok(())
            }
        }?;
        // A stage that takes no time is reached at once.
        self.advance(self.now);
        Ok(())
    }

    pub(crate) fn act_on_ports(
        &mut self,
        slots: &[SlotRef],
        action: &PortsAction,
    ) -> Result<(), ActionError> {
        match action {
            PortsAction::Flap {
                times,
                down,
                up,
                stagger,
            } => self.flap(slots, *times, *down, *up, *stagger),
            PortsAction::SwitchPower { on } => self.switch_power(slots, *on),
        }
    }

    pub(crate) fn act_on_device(
        &mut self,
        function: &FunctionRef,
        action: &DeviceAction,
    ) -> Result<(), ActionError> {
        match action {
            DeviceAction::Remove => self.remove(function),
            DeviceAction::Restore => self.restore(function),
            DeviceAction::Rename { to } => self.rename(function, to),
            DeviceAction::Replace => self.replace(function),
            DeviceAction::FirmwareReset { takes } => self.reset_firmware(function, *takes),
            DeviceAction::PciError { takes } => self.suspend(function, *takes),
            DeviceAction::LeaveNamespace => self.change_namespace(function, true),
            DeviceAction::ReturnToNamespace => self.change_namespace(function, false),
            DeviceAction::HotAdd { at, name, cabled } => {
                let new = FunctionRef {
                    node: function.node.clone(),
                    pci: *at,
                };
                self.hot_add(&new, function.pci, name, *cabled)
            }
            DeviceAction::CreateVfs { count } => self.create_vfs(function, *count),
            DeviceAction::AssignVf => self.assign(function, true),
            DeviceAction::ReleaseVf => self.assign(function, false),
            DeviceAction::DestroyVfs => self.destroy_vfs(function),
        }
    }

    pub(crate) fn act_on_node(
        &mut self,
        node: &NodeName,
        action: &NodeAction,
    ) -> Result<(), ActionError> {
        self.node(node)?;
        match action {
            NodeAction::DriverUnload => self.unload(node),
            NodeAction::DriverLoad { names } => self.load(node, names),
            NodeAction::Reboot { plan } => self.reboot(node, plan),
            NodeAction::ClockStep { by_ns } => {
                let now = self.now;
                let node = self.node_mut(node);
                node.stepped_ns = node.stepped_ns.saturating_add(*by_ns);
                node.report(now);
                Ok(())
            }
            NodeAction::Metadata { file } => {
                self.node_mut(node).machine.metadata = file.clone();
                Ok(())
            }
            NodeAction::Routes { routes } => {
                self.node_mut(node).machine.routes = routes.clone();
                Ok(())
            }
        }
    }

    /// Checks that a port exists, visible or not.
    pub(crate) fn find(&self, slot: &SlotRef) -> Result<(), ActionError> {
        self.node(&slot.node)?.jack(slot).map(drop)
    }

    pub(crate) fn find_interface(&self, slot: &SlotRef) -> Result<(), ActionError> {
        self.find(slot)?;
        let netdev = self.node(&slot.node)?.netdev(slot.pci, slot.port);
        netdev
            .map(drop)
            .ok_or_else(|| ActionError::NoInterface(slot.clone()))
    }

    pub(crate) fn cut(&mut self, slot: &SlotRef) -> Result<(), ActionError> {
        self.find(slot)?;
        let now = self.now;
        let node = self.node_mut(&slot.node);
        let jack = node.jack_mut(slot.pci, slot.port);
        if jack.link.cable == Cable::Whole {
            jack.link.cable = Cable::Cut;
            node.happen(slot.pci, slot.port, LinkEvent::CablePulled, now);
        }
        self.settle(slot);
        Ok(())
    }

    /// Mends a port; one that never had a cable gets one.
    pub(crate) fn mend(&mut self, slot: &SlotRef) -> Result<(), ActionError> {
        self.find(slot)?;
        self.end_trouble(slot, true);
        Ok(())
    }

    /// Removes every fault of a port's link, and plugs in a cable if it was cut, or if it never had one
    /// and `plug` is set.
    pub(crate) fn end_trouble(&mut self, slot: &SlotRef, plug: bool) {
        let now = self.now;
        self.stop_flap(slot);
        let node = self.node_mut(&slot.node);
        let jack = node.jack_mut(slot.pci, slot.port);
        jack.mask = Mask::default();
        jack.link.stuck = None;
        jack.link.frozen = None;
        jack.link.here.let_go();
        jack.link.there.let_go();
        jack.link.there.set(Hold::Unpowered, false);
        if let Some(ends) = &mut jack.link.ends {
            for side in Side::BOTH {
                let end = ends.of_mut(side);
                end.quarantine = None;
                end.received = None;
            }
        }
        let slowed = jack.link.pace.take().is_some();
        let unplugged = jack.link.cable == Cable::Cut || plug && jack.link.cable == Cable::Absent;
        if unplugged {
            jack.link.cable = Cable::Whole;
            node.happen(slot.pci, slot.port, LinkEvent::CablePlugged, now);
        }
        let is_down = node.netdev(slot.pci, slot.port);
        if is_down.is_some_and(|netdev| !netdev.admin_up)
            && let Some(netdev) = node.netdev_mut(slot.pci, slot.port)
        {
            netdev.admin_up = true;
        }
        if slowed {
            self.hurry(slot);
        }
        self.end_reboot_of_neighbour(slot);
        self.settle(slot);
    }

    /// Cancels a slowed next stage, so that it is scheduled again at the natural pace.
    pub(crate) fn hurry(&mut self, slot: &SlotRef) {
        let link = &mut self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).link;
        if let Some((key, _)) = link.next.take() {
            self.agenda.cancel(key);
        }
    }

    pub(crate) fn disable(&mut self, slot: &SlotRef) -> Result<(), ActionError> {
        self.find(slot)?;
        self.node_mut(&slot.node)
            .jack_mut(slot.pci, slot.port)
            .link
            .here
            .set(Hold::Reason(LinkDownReason::SMA_DISABLED), true);
        self.blame(slot, Side::Here, LinkDownReason::SMA_DISABLED);
        self.goes_offline(slot, LinkDownReason::SMA_DISABLED);
        self.settle(slot);
        Ok(())
    }

    pub(crate) fn mask(
        &mut self,
        slot: &SlotRef,
        change: impl FnOnce(&mut Mask),
    ) -> Result<(), ActionError> {
        self.find(slot)?;
        change(&mut self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).mask);
        self.settle(slot);
        Ok(())
    }

    pub(crate) fn train_slowly(
        &mut self,
        slot: &SlotRef,
        takes: SimTime,
    ) -> Result<(), ActionError> {
        self.find(slot)?;
        let timing = self.timing;
        let link = &mut self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).link;
        link.pace = Some(link.natural_pace(&timing).stretched(takes));
        self.retrains(slot);
        self.hurry(slot);
        self.fall_dark(slot);
        self.settle(slot);
        Ok(())
    }

    pub(crate) fn stick(&mut self, slot: &SlotRef, at: StickAt) -> Result<(), ActionError> {
        self.find(slot)?;
        self.node_mut(&slot.node)
            .jack_mut(slot.pci, slot.port)
            .link
            .stuck = Some(at);
        self.retrains(slot);
        self.settle(slot);
        Ok(())
    }

    pub(crate) fn interface(&mut self, slot: &SlotRef, up: bool) -> Result<(), ActionError> {
        self.find_interface(slot)?;
        let node = self.node_mut(&slot.node);
        if let Some(netdev) = node.netdev_mut(slot.pci, slot.port) {
            netdev.admin_up = up;
        }
        let jack = node.jack_mut(slot.pci, slot.port);
        let takes_port = jack.driver.interface_down_takes_port;
        jack.link.here.set(Hold::Interface, !up && takes_port);
        // An administrator disables the port on purpose; no other reason fits.
        self.blame(slot, Side::Here, LinkDownReason::UNKNOWN);
        self.settle(slot);
        Ok(())
    }

    pub(crate) fn remove_port(&mut self, slot: &SlotRef) -> Result<(), ActionError> {
        self.find(slot)?;
        let node = self.node_mut(&slot.node);
        let listed = node
            .rdma_mut(slot.pci)
            .and_then(|rdma| rdma.ports.remove(&slot.port));
        let port = listed.ok_or_else(|| ActionError::PortNotListed(slot.clone()))?;
        node.jack_mut(slot.pci, slot.port).unlisted = Some(port);
        self.settle(slot);
        Ok(())
    }

    pub(crate) fn restore_port(&mut self, slot: &SlotRef) -> Result<(), ActionError> {
        self.find(slot)?;
        if self.list_port(slot) {
            Ok(())
        } else {
            Err(ActionError::PortListed(slot.clone()))
        }
    }

    /// Lists a port again; `false` if it is listed already.
    pub(crate) fn list_port(&mut self, slot: &SlotRef) -> bool {
        let node = self.node_mut(&slot.node);
        let Some(port) = node.jack_mut(slot.pci, slot.port).unlisted.take() else {
            return false;
        };
        if let Some(rdma) = node.rdma_mut(slot.pci) {
            rdma.ports.insert(slot.port, port);
        }
        self.settle(slot);
        true
    }

    pub(crate) fn change_layer(
        &mut self,
        slot: &SlotRef,
        layer: LinkLayer,
    ) -> Result<(), ActionError> {
        self.find(slot)?;
        let node = self.node(&slot.node)?;
        if node.jack(slot)?.link.layer == layer {
            return Err(ActionError::LayerAlready(slot.clone(), layer));
        }
        if let Some(parent) = node.device(slot.pci)?.parent {
            return Err(ActionError::LayerOfVf(slot.clone(), parent));
        }
        let children = node.children(slot.pci).len();
        if children > 0 {
            return Err(ActionError::HasVfs(node.function_ref(slot.pci), children));
        }
        let Some(driver) = node.driver_for(slot, layer) else {
            return Err(ActionError::NoDriver(slot.clone(), layer));
        };
        self.hurry(slot);
        // A port that changes its layer is initialised again.
        self.blame(slot, Side::Here, LinkDownReason::REBOOT);
        self.fall_dark(slot);
        let lid = self.free_lid();
        self.node_mut(&slot.node).speak(slot, layer, driver, lid);
        self.settle(slot);
        Ok(())
    }

    pub(crate) fn char_device(
        &mut self,
        slot: &SlotRef,
        kind: CharDeviceKind,
        there: bool,
    ) -> Result<(), ActionError> {
        let function = FunctionRef {
            node: slot.node.clone(),
            pci: slot.pci,
        };
        let device = match kind {
            CharDeviceKind::Issm => CharDevice::Issm(slot.port),
            CharDeviceKind::Umad => CharDevice::Umad(slot.port),
            CharDeviceKind::Uverbs => CharDevice::Uverbs,
        };
        self.node(&slot.node)?.require_rdma(slot.pci)?;
        let rdma = self.node(&slot.node)?.rdma(slot.pci);
        let rdma = rdma.expect("a function with a registered RDMA device has one");
        let has = match device {
            CharDevice::Uverbs => true,
            CharDevice::Umad(port) => rdma
                .ports
                .get(&port)
                .is_some_and(|port| port.umad.is_some()),
            CharDevice::Issm(port) => rdma
                .ports
                .get(&port)
                .is_some_and(|port| port.umad.is_some() && port.layer == LinkLayer::InfiniBand),
        };
        if !has {
            return Err(ActionError::NoCharDevice(function, device));
        }
        if rdma.missing.contains(&device) != there {
            let how = if there { "there" } else { "gone" };
            return Err(ActionError::CharDeviceAlready(function, device, how));
        }
        if let Some(rdma) = self.node_mut(&slot.node).rdma_mut(slot.pci) {
            if there {
                rdma.missing.remove(&device);
            } else {
                rdma.missing.insert(device);
            }
        }
        Ok(())
    }
}
