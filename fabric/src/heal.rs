//! Healing: removes all faults.

use platforms::{MetadataFile, Rdma};

use crate::{Fabric, FunctionRef, device::Attachment};

impl Fabric {
    /// Removes all faults, like an operator: ports are mended, flaps stop, devices are restored and
    /// returned to the host's namespace, the driver is loaded, the subnet manager runs, the metadata
    /// file and the routes are those of the start, and character devices are present.
    ///
    /// Some of this takes time; [`Fabric::settled`] reports when it is complete. Names, replaced
    /// hardware, virtual functions, link layers and clocks keep their state. So do counter values,
    /// which [`Fabric::reset_counters`] resets; but every counter can be read again and none grows by
    /// itself.
    pub fn heal(&mut self) {
        let names: Vec<_> = self.nodes().cloned().collect();
        for name in names {
            self.end_reboot(&name);
            let node = self.node_mut(&name);
            node.machine.class_present = true;
            for pci in node.functions() {
                let function = FunctionRef {
                    node: name.clone(),
                    pci,
                };
                let node = self.node_mut(&name);
                // What is written to is not shared any more.
                if node.function(pci).is_some_and(|of| of.in_other_namespace) {
                    node.function_mut(pci).in_other_namespace = false;
                }
                self.bring_back(&function);
            }
            let node = self.node_mut(&name);
            node.machine.routes = node.rest.routes.clone();
        }
        for slot in self.slots() {
            let node = self.node_mut(&slot.node);
            node.end_overrides(&slot);
            let missing = |rdma: &Rdma| !rdma.missing.is_empty();
            if node.rdma(slot.pci).is_some_and(missing)
                && let Some(rdma) = node.rdma_mut(slot.pci)
            {
                rdma.missing.clear();
            }
            self.forget_overruns(&slot);
            self.list_port(&slot);
            self.end_trouble(&slot, false);
        }
        self.growing.clear();
        self.manage(true, false, true);
        for node in &mut self.nodes {
            node.machine.metadata =
                MetadataFile::Written(node.platform.collect(&node.complete()).into());
        }
        self.advance(self.now);
    }

    /// Brings back a function that is removed, resetting or suspended.
    fn bring_back(&mut self, function: &FunctionRef) {
        let node = self.node_mut(&function.node);
        if node.has_rdma(function.pci) {
            self.place(&function.node, function.pci);
            return;
        }
        let device = node.device_mut(function.pci);
        if let (false, Attachment::Suspended(key)) = (device.removed, device.attachment) {
            self.agenda.cancel(key);
            self.attach(function);
            return;
        }
        self.call_off(function);
        self.node_mut(&function.node)
            .device_mut(function.pci)
            .removed = false;
        self.probe(function);
    }

    /// Resets every counter that changed since the start, or since the last reset, to zero.
    pub fn reset_counters(&mut self) {
        for slot in self.slots() {
            self.node_mut(&slot.node).reset_moved(&slot);
        }
    }
}
