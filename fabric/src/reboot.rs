//! A reboot: a host goes down, its ports train while it boots, and its kernel probes everything
//! again.
//!
//! While it is down none of it is visible, and nothing that happens to it is counted. Its partners
//! see their links go down, and train with it once its firmware runs. Start at [`Fabric::reboot`].

use platforms::{MetadataFile, NodeName, PciAddress, Restart};
use simfs::SimTime;

use crate::{
    ActionError, Fabric, FunctionRef, RebootPlan,
    agenda::{Key, Rank, Step},
    link::Hold,
    node::Node,
    timing::Pace,
};

/// A reboot in progress.
#[derive(Clone, Debug)]
pub(crate) struct Reboot {
    plan: RebootPlan,
    /// When the node is up again.
    ends: SimTime,
    /// How long its ports train, once its cards' firmware runs.
    pub(crate) training: Option<SimTime>,
    /// Its next step.
    next: Key,
}

impl Fabric {
    /// Takes a node down, and up again after the plan's time. Ports train in the last part of that
    /// time, as long as a link needs from dark to active, or less if there is less time.
    pub(crate) fn reboot(&mut self, name: &NodeName, plan: &RebootPlan) -> Result<(), ActionError> {
        let node = self.node(name)?;
        if node.reboot.is_some() {
            return Err(ActionError::NodeDown(name.clone()));
        }
        node.check_plan(plan)?;
        for slot in &plan.mend {
            self.find(slot)?;
        }
        let (dark, _) = Pace::natural(&self.timing, true).within(plan.takes);
        let boot = Step::Boot(name.clone());
        let next = self.agenda.schedule(self.now + dark, Rank::Kernel, boot);
        let ends = self.now + plan.takes;
        let node = self.node_mut(name);
        node.reboot = Some(Reboot {
            plan: plan.clone(),
            ends,
            training: None,
            next,
        });
        for pci in node.functions() {
            if !plan.loses_power {
                self.announce(name, pci);
            }
            self.place(name, pci);
        }
        Ok(())
    }

    /// The firmware runs on the hardware that is present by now: ports with a signal train, and are
    /// as far up as they can be when the node is. Cut, disabled, stuck and dark ports stay as they
    /// are.
    pub(crate) fn boot(&mut self, name: &NodeName) {
        let now = self.now;
        let Some(mut reboot) = self.node_mut(name).reboot.take() else {
            return;
        };
        let training = reboot.ends.since(now);
        reboot.training = Some(training);
        let booted = Step::Booted(name.clone());
        reboot.next = self.agenda.schedule(reboot.ends, Rank::Boot, booted);
        let plan = reboot.plan.clone();
        let node = self.node_mut(name);
        node.reboot = Some(reboot);
        for pci in node.functions() {
            self.forget_kernel(name, pci, plan.keep_counters);
        }
        let node = self.node_mut(name);
        let gone = plan.remove.iter().map(|pci| (pci, true));
        let back = plan.restore.iter().map(|pci| (pci, false));
        for (pci, removed) in gone.chain(back) {
            node.device_mut(*pci).removed = removed;
        }
        for pci in &plan.replace {
            node.renew(*pci);
        }
        for slot in &plan.mend {
            self.end_trouble(slot, false);
        }
        for slot in self.node_mut(name).slots() {
            self.settle(&slot);
            let timing = self.timing;
            let link = &mut self.node_mut(name).jack_mut(slot.pci, slot.port).link;
            // A walk that an action slows takes as long as that action states.
            if link.has_signal() && link.pace.is_none() {
                link.pace = Some(link.natural_pace(&timing).filling(training));
                self.hurry(&slot);
                self.settle(&slot);
            }
        }
    }

    /// Resets what only a running kernel knew of a function.
    fn forget_kernel(&mut self, name: &NodeName, pci: PciAddress, keep_counters: bool) {
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

    /// The node is up: the driver is loaded, devices are back from resets and other namespaces, and
    /// virtual functions are those that the platform has at rest.
    pub(crate) fn booted(&mut self, name: &NodeName) {
        let now = self.now;
        let node = self.node_mut(name);
        let Some(reboot) = node.reboot.take() else {
            return;
        };
        if !reboot.plan.same_boot_id {
            node.boots += 1;
            node.machine.boot_id = platforms::boot_id(node.name(), node.boots);
        }
        node.booted = (now, 0);
        node.report(now);
        node.log.clear();
        node.machine.class_present = true;
        node.give_names(&reboot.plan.names);
        for pci in node.functions() {
            node.place(pci);
        }
        self.provide_vfs(name);
        for slot in self.node_mut(name).slots() {
            let timing = self.timing;
            let link = &mut self.node_mut(name).jack_mut(slot.pci, slot.port).link;
            // From now on, a port that waits does so at the natural pace.
            let pace = link.natural_pace(&timing);
            if link.pace == reboot.training.map(|training| pace.filling(training)) {
                link.pace = None;
            }
            self.restart_overrun_checks(&slot);
            self.settle(&slot);
        }
        let node = self.node_mut(name);
        if let MetadataFile::Written(_) = node.machine.metadata {
            node.machine.metadata =
                MetadataFile::Written(node.platform.collect(&node.machine).into());
        }
    }

    /// Ends a reboot at once.
    pub(crate) fn end_reboot(&mut self, name: &NodeName) {
        let now = self.now;
        let Some(reboot) = &mut self.node_mut(name).reboot else {
            return;
        };
        reboot.ends = now;
        let (key, trains) = (reboot.next, reboot.training.is_some());
        self.agenda.cancel(key);
        if !trains {
            self.boot(name);
        }
        self.booted(name);
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
