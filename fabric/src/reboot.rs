//! A reboot: everything is found anew, in no time of the world.

use platforms::{MetadataFile, NodeName, PciAddress, Restart, SlotRef};

use crate::{
    ActionError, Fabric, FunctionRef, RebootPlan,
    link::{Hold, Stage},
    node::Node,
};

impl Fabric {
    /// Takes a node down and up again. Ports that have a signal come up at once, since they trained
    /// while the host booted; what was cut, disabled, stuck or dark stays so. The driver is loaded,
    /// devices are back from resets and other namespaces, and virtual functions are those that the
    /// platform has at rest.
    ///
    /// Its ports announce that they go, unless it lost power.
    pub(crate) fn reboot(
        &mut self,
        name: &NodeName,
        plan: &RebootPlan,
        announced: bool,
    ) -> Result<(), ActionError> {
        self.node(name)?.check_plan(plan)?;
        for slot in &plan.mend {
            self.find(slot)?;
        }
        self.ends_go_down(name, announced);
        self.go_down(name, plan.keep_counters);
        let now = self.now;
        let node = self.node_mut(name);
        if !plan.same_boot_id {
            node.boots += 1;
            node.machine.boot_id = platforms::boot_id(node.name(), node.boots);
        }
        node.booted = (now, 0);
        node.tell(now);
        node.log.clear();
        node.machine.class_present = true;
        for (pci, removed) in plan
            .remove
            .iter()
            .map(|pci| (pci, true))
            .chain(plan.restore.iter().map(|pci| (pci, false)))
        {
            node.device_mut(*pci).removed = removed;
        }
        for pci in &plan.replace {
            node.renew(*pci);
        }
        node.give_names(&plan.names);
        node.running = true;
        for pci in node.functions() {
            node.place(pci);
        }
        self.provide_vfs(name);
        for slot in &plan.mend {
            self.end_trouble(slot, false);
        }
        for slot in self.node_mut(name).slots() {
            self.come_up(&slot);
        }
        let node = self.node_mut(name);
        if let MetadataFile::Written(_) = node.machine.metadata {
            node.machine.metadata =
                MetadataFile::Written(node.platform.collect(&node.machine).into());
        }
        Ok(())
    }

    /// Ends everything that only a running kernel knows, and takes every function from the machine.
    fn go_down(&mut self, name: &NodeName, keep_counters: bool) {
        for pci in self.node_mut(name).functions() {
            self.call_off(&FunctionRef {
                node: name.clone(),
                pci,
            });
            let node = self.node_mut(name);
            node.function_mut(pci).in_other_namespace = false;
            let device = node.device_mut(pci);
            if !device.removed {
                device.parked.restart = (!keep_counters).then_some(Restart::Reboot);
            }
        }
        let node = self.node_mut(name);
        node.running = false;
        for pci in node.functions() {
            node.place(pci);
        }
    }

    /// Gives every physical function the virtual functions that the platform has at rest, all
    /// unassigned.
    fn provide_vfs(&mut self, name: &NodeName) {
        for pci in self.node_mut(name).functions() {
            let node = self.node_mut(name);
            if node
                .devices
                .get(&pci)
                .is_none_or(|device| device.parent.is_some())
                || !node.is_on_bus(pci)
            {
                continue;
            }
            let at_rest = node
                .rest
                .functions
                .get(&pci)
                .map_or(0, |function| function.virtfns.len());
            let function = FunctionRef {
                node: name.clone(),
                pci,
            };
            if node.children(pci).len() != at_rest {
                self.discard_vfs(&function);
                for number in 0..u16::try_from(at_rest).unwrap_or(u16::MAX) {
                    let added = self.node_mut(name).add_vf(pci, number);
                    added.expect("a platform describes the virtual functions that it has at rest");
                }
            }
            for child in self.node_mut(name).children(pci) {
                for jack in self.node_mut(name).device_mut(child).jacks.values_mut() {
                    jack.link.here.set(Hold::Unassigned, true);
                }
            }
        }
    }

    /// Takes a link as far up as it can be, uncounted: it came up while the host booted.
    fn come_up(&mut self, slot: &SlotRef) {
        let managed_by_none = !self.manager.runs();
        let node = self.node_mut(&slot.node);
        let powered = node.is_powered(slot.pci, slot.port);
        let uplink = node.has_uplink(slot.pci, slot.port);
        let link = &mut node.jack_mut(slot.pci, slot.port).link;
        link.here.set(Hold::Unpowered, !powered);
        link.there.set(Hold::Uplink, !uplink);
        // A walk that a story slows goes on; it takes as long as the story says.
        let slowed = link.has_signal() && link.pace.is_some();
        if !slowed {
            link.stage = if managed_by_none && link.is_managed() {
                Stage::Init
            } else {
                Stage::Active
            };
            link.stage = link.held_back();
        }
        self.ends_came_up(slot);
        self.settle(slot);
    }
}

impl Node {
    fn check_plan(&self, plan: &RebootPlan) -> Result<(), ActionError> {
        for pci in &plan.remove {
            if self.device(*pci)?.removed {
                return Err(ActionError::AlreadyRemoved(self.function_ref(*pci)));
            }
        }
        for pci in &plan.restore {
            if !self.device(*pci)?.removed {
                return Err(ActionError::NotRemoved(self.function_ref(*pci)));
            }
        }
        for pci in &plan.replace {
            self.device(*pci)?;
        }
        let here = |pci: PciAddress| {
            let out = self.devices.get(&pci).is_some_and(|device| device.removed);
            !plan.remove.contains(&pci) && (!out || plan.restore.contains(&pci))
        };
        self.check_names(&plan.names, here)
    }
}
