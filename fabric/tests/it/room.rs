//! A world of one node, and helpers to act on it and to read its state.

use std::collections::BTreeMap;

use fabric::{Action, DeviceAction, Fabric, FunctionRef, NodeAction, Timing};
use platforms::{LinkLayer, NetDev, NodeName, PciAddress, Platforms, Port, PortNumber, SlotRef};
use simfs::SimTime;

/// The name of the only node.
pub(crate) fn node() -> NodeName {
    NodeName::from("node-1")
}

#[expect(
    clippy::disallowed_types,
    reason = "read once for hundreds of worlds; never changed"
)]
static SHIPPED: std::sync::LazyLock<Platforms> = std::sync::LazyLock::new(Platforms::shipped);

/// A world of one node of this platform, at rest.
pub(crate) fn world(platform: &str) -> Fabric {
    world_timed(platform, Timing::default())
}

/// The same with this timing.
pub(crate) fn world_timed(platform: &str, timing: Timing) -> Fabric {
    let platform = SHIPPED.get(platform).expect("the platform ships").clone();
    Fabric::new(vec![(node(), platform)], timing)
}

/// A world whose ports speak this layer.
pub(crate) fn world_of(layer: LinkLayer) -> Fabric {
    world(match layer {
        LinkLayer::InfiniBand => "dgx-a100",
        LinkLayer::Ethernet => "h100-oci",
    })
}

/// A world of one node of this platform, and its first port.
pub(crate) fn first(platform: &str) -> (Fabric, SlotRef) {
    let world = world(platform);
    let slot = slot(&world, 0);
    (world, slot)
}

/// The port of the first function that should be up, counted from 0.
pub(crate) fn slot(world: &Fabric, nth: usize) -> SlotRef {
    let mut up = world
        .ports(&node())
        .into_iter()
        .filter(|port| port.should_be_up);
    up.nth(nth)
        .expect("the platform has that many cabled ports")
        .slot
}

/// The function behind a port.
pub(crate) fn function(slot: &SlotRef) -> FunctionRef {
    FunctionRef {
        node: slot.node.clone(),
        pci: slot.pci,
    }
}

/// A firmware reset of the function of a port.
pub(crate) fn firmware_reset(slot: &SlotRef, takes_s: u64) -> Action {
    DeviceAction::FirmwareReset {
        takes: SimTime::from_secs(takes_s),
    }
    .on(function(slot))
}

/// The node's driver is loaded, and its devices get the names given by the naming rule.
pub(crate) fn driver_load() -> Action {
    NodeAction::DriverLoad {
        names: BTreeMap::new(),
    }
    .on(node())
}

/// Performs an action, which must be possible.
pub(crate) fn act(world: &mut Fabric, action: Action) {
    world
        .act(&action)
        .unwrap_or_else(|error| panic!("{action:?}: {error}"));
}

/// Advances to this many milliseconds after the start.
pub(crate) fn to_ms(world: &mut Fabric, ms: u64) {
    world.advance(SimTime::from_ms(ms));
}

/// The port as the kernel shows it.
pub(crate) fn port(world: &Fabric, slot: &SlotRef) -> Option<Port> {
    let machine = world.machine(&slot.node)?;
    let rdma = machine.functions.get(&slot.pci)?.rdma.as_ref()?;
    rdma.ports.get(&slot.port).map(|port| (**port).clone())
}

/// Its net device as the kernel shows it.
pub(crate) fn netdev(world: &Fabric, slot: &SlotRef) -> Option<NetDev> {
    let machine = world.machine(&slot.node)?;
    let netdevs = &machine.functions.get(&slot.pci)?.netdevs;
    netdevs
        .iter()
        .find(|netdev| netdev.dev_port + 1 == u16::from(slot.port.0))
        .cloned()
}

/// Its two states, as `state/phys_state`, or `gone`.
pub(crate) fn states(world: &Fabric, slot: &SlotRef) -> String {
    let shown = port(world, slot);
    shown.map_or("gone".to_owned(), |port| {
        format!("{}/{}", port.state.word(), port.phys_state.word())
    })
}

/// The value of a counter's file.
pub(crate) fn count(world: &Fabric, slot: &SlotRef, name: &str) -> u64 {
    let port = port(world, slot).expect("the port is there");
    let statistics = netdev(world, slot)
        .map(|netdev| netdev.statistics)
        .unwrap_or_default();
    let value = port
        .counters
        .get(name)
        .or(port.hw_counters.get(name))
        .or(statistics.get(name));
    match value {
        Some(platforms::CounterValue::Count(count)) => *count,
        other => panic!("{name} of {slot} is {other:?}"),
    }
}

/// Checks the states of a port at each of these times in milliseconds.
pub(crate) fn check(world: &mut Fabric, slot: &SlotRef, expected: &[(u64, &str)]) {
    for (ms, states_then) in expected {
        to_ms(world, *ms);
        assert_eq!(states(world, slot), *states_then, "{slot} at {ms} ms");
    }
}

/// A PCI address.
pub(crate) fn pci(text: &str) -> PciAddress {
    text.parse().expect("a PCI address")
}

/// Port 1 of a function.
pub(crate) fn port_one(pci: PciAddress) -> SlotRef {
    SlotRef {
        node: node(),
        pci,
        port: PortNumber(1),
    }
}
