//! The faces of a node's functions, read from its machine.

use std::{collections::BTreeMap, sync::Arc};

use fabric::Fabric;
use platforms::{CounterValue, Function, Machine, NodeName, PciAddress, Role};

use crate::director::{Faces, FunctionFace, PortFace};

/// Brings the faces of a node up to date; nothing is done while no function changed since `shown`.
pub(super) fn refresh(faces: &mut Arc<Faces>, fabric: &Fabric, node: &NodeName, shown: &Machine) {
    let Some(machine) = fabric.machine(node) else {
        return;
    };
    let same = machine.functions == shown.functions && machine.class_present == shown.class_present;
    if same && !faces.0.is_empty() {
        return;
    }
    let declared = fabric
        .ports(node)
        .into_iter()
        .filter_map(|port| Some((port.slot.pci, port.role?)));
    let roles: BTreeMap<PciAddress, Role> = declared.collect();
    let mut now = Faces(faces.0.clone());
    for face in now.0.values_mut() {
        face.listed = false;
    }
    for (pci, function) in &machine.functions {
        let before = now.0.remove(pci);
        let role = roles
            .get(pci)
            .copied()
            .or(before.as_ref().map(|face| face.role));
        if let Some(face) = face(function, role, machine.class_present).or(before) {
            now.0.insert(*pci, face);
        }
    }
    if now != **faces {
        *faces = Arc::new(now);
    }
}

/// The face of a function that has an RDMA device. One whose role nobody declared (it was added
/// later) counts as one that is not watched.
fn face(function: &Function, role: Option<Role>, class_present: bool) -> Option<FunctionFace> {
    let rdma = function.rdma.as_ref()?;
    let ports = rdma.ports.iter().map(|(number, port)| {
        let face = PortFace {
            layer: port.layer,
            state: port.state,
            phys_state: port.phys_state,
            listed: port.query_error.is_none(),
        };
        (*number, face)
    });
    let unreadable = rdma.ports.iter().flat_map(|(number, port)| {
        let counters = port.counters.iter().chain(&port.hw_counters);
        let dumb = counters.filter(|(_, value)| !matches!(value, CounterValue::Count(_)));
        dumb.map(|(name, _)| (*number, name.to_string()))
    });
    let role = role.unwrap_or(Role::Management);
    Some(FunctionFace {
        name: rdma.name.clone(),
        listed: class_present && !function.in_other_namespace,
        role,
        monitored: function.is_nvidia() && role != Role::Management && function.physfn.is_none(),
        netdev: function.netdevs.first().map(|netdev| netdev.name.clone()),
        ports: ports.collect(),
        unreadable: unreadable.collect(),
    })
}
