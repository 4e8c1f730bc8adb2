//! The function and port views of a node, read from its machine; only changed functions are read
//! again.

use std::{collections::BTreeMap, sync::Arc};

use fabric::Fabric;
use platforms::{CounterValue, Function, NicRole, NodeName, PciAddress, Shared};

use crate::{FunctionView, NodeView, PortView};

/// The views of a node, and the machine state from which they were read.
#[derive(Debug, Default)]
pub(super) struct Mirror {
    views: Arc<NodeView>,
    functions: BTreeMap<PciAddress, Shared<Function>>,
    class_present: bool,
}

impl Mirror {
    /// The latest views.
    pub(super) fn views(&self) -> Arc<NodeView> {
        Arc::clone(&self.views)
    }

    /// Updates the views. An unchanged function keeps its view.
    pub(super) fn refresh(&mut self, fabric: &Fabric, node: &NodeName) {
        let Some(machine) = fabric.machine(node) else {
            return;
        };
        let all = self.class_present != machine.class_present || self.views.0.is_empty();
        if !all && self.functions == machine.functions {
            return;
        }
        let platform = fabric.platform(node);
        let is_of_vendor = |pci: PciAddress, function: &Function| {
            let pci = function.physfn.unwrap_or(pci);
            platform.is_some_and(|platform| platform.watches(pci, function.vendor))
        };
        let mut now = NodeView(self.views.0.clone());
        for (pci, view) in &mut now.0 {
            view.listed &= machine.functions.contains_key(pci);
        }
        for (pci, function) in &machine.functions {
            if !all && self.functions.get(pci) == Some(function) {
                continue;
            }
            let mut before = now.0.remove(pci);
            if let Some(before) = &mut before {
                before.listed = false;
            }
            let role = fabric.role_of(node, *pci);
            let role = role.or(before.as_ref().map(|view| view.role));
            let of_vendor = is_of_vendor(*pci, function);
            if let Some(view) = view(function, role, machine.class_present, of_vendor).or(before) {
                now.0.insert(*pci, view);
            }
        }
        if now != *self.views {
            self.views = Arc::new(now);
        }
        self.functions.clone_from(&machine.functions);
        self.class_present = machine.class_present;
    }
}

/// The view of a function that has an RDMA device. A function without a declared role (one added
/// later) counts as not monitored.
fn view(
    function: &Function,
    role: Option<NicRole>,
    class_present: bool,
    is_of_vendor: bool,
) -> Option<FunctionView> {
    let rdma = function.rdma.as_ref()?;
    let ports = rdma.ports.iter().map(|(number, port)| {
        let view = PortView {
            layer: port.layer,
            state: port.state,
            phys_state: port.phys_state,
            listed: port.query_error.is_none(),
        };
        (*number, view)
    });
    let unreadable = rdma.ports.iter().flat_map(|(number, port)| {
        let counters = port.counters.iter().chain(port.hw_counters.iter());
        let dumb = counters.filter(|(_, value)| !matches!(value, CounterValue::Count(_)));
        dumb.map(|(name, _)| (*number, name.to_string()))
    });
    let role = role.unwrap_or(NicRole::Management);
    Some(FunctionView {
        name: rdma.name.clone(),
        listed: class_present && !function.in_other_namespace,
        role,
        monitored: is_of_vendor && role != NicRole::Management && function.physfn.is_none(),
        netdev: function.netdevs.first().map(|netdev| netdev.name.clone()),
        ports: ports.collect(),
        unreadable: unreadable.collect(),
    })
}

#[cfg(test)]
mod tests {
    use fabric::{DeviceAction, FunctionRef, NodeAction, Timing};
    use platforms::Platforms;

    use super::*;

    fn world() -> (Fabric, NodeName, PciAddress) {
        let node = NodeName::from("vm1");
        let platform = Platforms::shipped();
        let platform = platform.get("two-rail-vm").expect("it ships").clone();
        let fabric = Fabric::new(vec![(node.clone(), platform)], Timing::default());
        let pci = "0000:09:00.0".parse().expect("an address");
        (fabric, node, pci)
    }

    fn listed(mirror: &Mirror) -> Vec<bool> {
        mirror.views().0.values().map(|view| view.listed).collect()
    }

    /// What is in another namespace, off the bus or without a driver is not listed.
    #[test]
    fn a_face_is_listed_while_the_class_folder_has_its_device() {
        let (mut fabric, node, pci) = world();
        let mut mirror = Mirror::default();
        let mut after = |action: Option<fabric::Action>| {
            if let Some(action) = action {
                fabric.act(&action).expect("it is possible");
            }
            mirror.refresh(&fabric, &node);
            listed(&mirror)
        };
        let function = || FunctionRef {
            node: node.clone(),
            pci,
        };
        let all = vec![true; 4];
        let but_one = vec![false, true, true, true];
        assert_eq!(after(None), all);
        assert_eq!(
            after(Some(DeviceAction::LeaveNamespace.on(function()))),
            but_one
        );
        assert_eq!(
            after(Some(DeviceAction::ReturnToNamespace.on(function()))),
            all
        );
        assert_eq!(after(Some(DeviceAction::Remove.on(function()))), but_one);
        assert_eq!(after(None), but_one);
        assert_eq!(
            after(Some(NodeAction::DriverUnload.on(node.clone()))),
            vec![false; 4]
        );
    }

    /// A monitor watches what is of its vendor, is no virtual function and has another role than management.
    #[test]
    fn a_face_is_monitored_by_vendor_role_and_kind() {
        let (fabric, node, pci) = world();
        let machine = fabric.machine(&node).expect("it is there");
        let physical = (*machine.functions[&pci]).clone();
        let mut virtual_one = physical.clone();
        virtual_one.physfn = Some(pci);
        let monitored = |function: &Function, role, of_vendor| {
            view(function, role, true, of_vendor)
                .expect("it has a device")
                .monitored
        };
        assert!(monitored(&physical, Some(NicRole::Compute), true));
        assert!(!monitored(&physical, Some(NicRole::Compute), false));
        assert!(!monitored(&physical, Some(NicRole::Management), true));
        assert!(!monitored(&physical, None, true));
        assert!(!monitored(&virtual_one, Some(NicRole::Compute), true));
    }

    /// Only counters that are no numbers cannot be read.
    #[test]
    fn a_counter_that_is_no_number_is_unreadable() {
        let (fabric, node, pci) = world();
        let machine = fabric.machine(&node).expect("it is there");
        let mut function = (*machine.functions[&pci]).clone();
        let unreadable = |function: &Function| {
            let view = view(function, Some(NicRole::Compute), true, true);
            view.expect("it has a device").unreadable.len()
        };
        assert_eq!(unreadable(&function), 0);
        let rdma = function.rdma.as_mut().expect("it has a device");
        let port = rdma.ports.values_mut().next().expect("it has a port");
        let name = port.counters.iter().next().expect("it counts").0.clone();
        port.counters
            .insert(name, CounterValue::Text("N/A (no PMA)".to_owned()));
        assert_eq!(unreadable(&function), 1);
    }
}
