//! The bridges above a machine's functions: what is nearest is below the same ones.

use std::collections::BTreeSet;

use platforms::{BridgePort, Machine, NodeName, Platforms, TopoLevel};

/// What `nvidia-smi topo -m` calls the way between functions on these buses. A switch is an upstream port with
/// its downstream ports.
fn level(machine: &Machine, (a, a_numa): (&str, i32), (b, b_numa): (&str, i32)) -> TopoLevel {
    let path = |bus: &str| -> Vec<String> { bus.split('/').map(str::to_owned).collect() };
    let (a, b) = (path(a), path(b));
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let upstream = |name: &&String| {
        let mut bridges = machine.bridges.iter();
        let bridge = bridges.find(|bridge| bridge.pci.to_string() == **name);
        bridge.is_some_and(|bridge| bridge.port == BridgePort::Upstream)
    };
    let switches: BTreeSet<&String> = a.iter().chain(&b).filter(upstream).collect();
    let above = a[..shared].iter().filter(upstream).count();
    match (shared, above) {
        (0, _) if a_numa == b_numa => TopoLevel::NODE,
        (0, _) => TopoLevel::SYS,
        (_, 0) => TopoLevel::PHB,
        // Of the shared switches the traffic passes the lowest only.
        _ if switches.len() - (above - 1) == 1 => TopoLevel::PIX,
        _ => TopoLevel::PXB,
    }
}

#[test]
fn every_nic_and_gpu_of_a_domain_are_as_near_as_the_profile_says() {
    let mut compared = 0;
    for (name, platform) in Platforms::shipped().iter() {
        let machine = platform.machine(&NodeName::from("node-1"));
        for function in machine.functions.values() {
            for (declared, gpu) in function.topo.iter().zip(machine.gpus.iter()) {
                if gpu.pci.domain != function.pci.domain {
                    // No bridge connects two domains: GB200 and GB300.
                    continue;
                }
                let (nic, gpu_at) = ((&*function.bus, function.numa), (&*gpu.bus, gpu.numa));
                let derived = level(&machine, nic, gpu_at);
                assert_eq!(
                    derived, *declared,
                    "{name}: {} and {}",
                    function.pci, gpu.pci
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 2000, "{compared}");
}

#[test]
fn the_buses_below_a_bridge_are_within_those_of_the_bridge_above() {
    for (name, platform) in Platforms::shipped().iter() {
        let machine = platform.machine(&NodeName::from("node-1"));
        let mut taken = BTreeSet::new();
        for bridge in machine.bridges.iter() {
            assert!(
                taken.insert(bridge.pci),
                "{name}: {} is there twice",
                bridge.pci
            );
            assert!(bridge.secondary <= bridge.subordinate, "{name}: {bridge:?}");
            assert!(bridge.pci.bus < bridge.secondary, "{name}: {bridge:?}");
            let above = bridge.bus.rsplit('/').next().expect("a bus has a name");
            let mut bridges = machine.bridges.iter();
            if let Some(above) = bridges.find(|other| other.pci.to_string() == above) {
                assert_eq!(above.secondary, bridge.pci.bus, "{name}: {bridge:?}");
                assert!(
                    bridge.subordinate <= above.subordinate,
                    "{name}: {bridge:?}"
                );
            }
        }
        for function in machine.functions.values() {
            let is_there = taken.contains(&function.pci);
            assert!(!is_there, "{name}: {} is a bridge too", function.pci);
        }
    }
}
