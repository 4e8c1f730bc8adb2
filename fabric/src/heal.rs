//! The end of all trouble.

use platforms::{MetadataFile, Rdma};

use crate::{Fabric, FunctionRef, device::Attachment};

impl Fabric {
    /// Ends every trouble, as an operator would: ports are mended, flaps stop, devices are restored
    /// and their driver loaded, they return to the host's namespace, the subnet manager runs, the
    /// collector has written its file anew, routes are those of the start, character devices are there.
    ///
    /// What takes time takes it: [`Fabric::settled`] says when it is over. Names, replaced hardware,
    /// virtual functions, link layers and clocks stay as they are; so do counters, which
    /// [`Fabric::reset_counters`] sets back, but all can be read again and none grows by itself.
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
                self.node_mut(&name).function_mut(pci).in_other_namespace = false;
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

    /// Brings a function back that is out, resetting or suspended.
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

    /// Sets every counter that moved since the start, or since the last reset, back to zero.
    pub fn reset_counters(&mut self) {
        for slot in self.slots() {
            self.node_mut(&slot.node).reset_moved(&slot);
        }
    }
}
