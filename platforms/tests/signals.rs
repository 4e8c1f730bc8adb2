//! "NIC Health Monitor: Link State Detection", 4: removing any one of the four signals misclassifies at least one
//! platform. The classification is that of 4.2.2 and 4.2.3 as they are printed; monitor and test share no code.

use std::collections::BTreeSet;

use platforms::{LinkLayer, Machine, NicRole, NodeName, Platforms, PortFacts, TopoLevel};

/// The signals that a classification may use.
#[derive(Clone, Copy, Debug)]
struct Signals {
    numa: bool,
    topology: bool,
    link_layer: bool,
    default_route: bool,
}

const ALL: Signals = Signals {
    numa: true,
    topology: true,
    link_layer: true,
    default_route: true,
};

/// The role of a port's device by these signals.
fn classify(machine: &Machine, port: &PortFacts, signals: Signals) -> NicRole {
    let function = &machine.functions[&port.pci];
    let is_near = |levels: &[TopoLevel]| {
        signals.topology && function.topo.iter().any(|level| levels.contains(level))
    };
    let hca_type = function.rdma.as_ref().and_then(|it| it.hca_type.as_deref());
    let is_bluefield = ["MT41682", "MT41686", "MT41692"].contains(&hca_type.unwrap_or_default());
    let mut gpu_nodes = machine.gpus.iter().map(|gpu| gpu.numa);
    let is_the_hosts = signals.default_route && port.has_default_route;
    let is_far = signals.numa && !gpu_nodes.any(|node| node >= 0 && node == function.numa);
    let is_of_the_fabric = signals.link_layer && port.layer == LinkLayer::InfiniBand;
    if is_the_hosts || is_far {
        NicRole::Management
    } else if is_near(&[TopoLevel::PIX, TopoLevel::PXB]) || is_of_the_fabric {
        NicRole::Compute
    } else if is_near(&[TopoLevel::NODE, TopoLevel::PHB]) {
        NicRole::Storage
    } else if is_bluefield {
        NicRole::Management
    } else {
        NicRole::Storage
    }
}

/// The shipped platforms with a device whose role is another by these signals than the platform declares.
fn misclassified(signals: Signals) -> BTreeSet<String> {
    let shipped = Platforms::shipped();
    let wrong = shipped.iter().filter(|(_, platform)| {
        let machine = platform.machine(&NodeName::from("node-a"));
        let ports = platform.ports();
        let mut ours = ports
            .iter()
            .filter(|port| port.is_of_vendor && port.is_told_apart && !port.is_vf);
        ours.any(|port| classify(&machine, port, signals) != port.role)
    });
    wrong.map(|(name, _)| name.to_owned()).collect()
}

/// The table of 4 names the platforms on which a signal is decisive.
#[test]
fn without_any_one_signal_a_platform_is_misclassified() {
    assert_eq!(misclassified(ALL), BTreeSet::new());
    let without = [
        (Signals { numa: false, ..ALL }, ["a100-oci", "a100-oci:vfs"]),
        (
            Signals {
                topology: false,
                ..ALL
            },
            ["a100-oci", "h100-oci"],
        ),
        (
            Signals {
                link_layer: false,
                ..ALL
            },
            ["l40s-onprem", "gb200-nvl4"],
        ),
        (
            Signals {
                default_route: false,
                ..ALL
            },
            ["l40s-onprem:default-route", "h100-oci"],
        ),
    ];
    for (signals, decided) in without {
        let wrong = misclassified(signals);
        for name in decided {
            assert!(wrong.contains(name), "{name}, {signals:?}: {wrong:?}");
        }
    }
}
