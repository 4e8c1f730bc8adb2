//! A PCIe bridge (`drivers/pci/pci-sysfs.c`, `pci_bridge_attrs`).

use super::{config_space::Shape, header::FunctionHeader};
use crate::{Bridge, BridgePort};

/// Root port of a Xeon (Intel 352a). Chosen: profiles do not state the make of bridges.
const ROOT_PORT: [u16; 2] = [0x8086, 0x352a];

/// PEX890xx switch (Broadcom c030). Chosen.
const SWITCH: [u16; 2] = [0x1000, 0xc030];

/// The attributes of a bridge.
pub(super) fn header(bridge: &Bridge) -> FunctionHeader<'_> {
    FunctionHeader {
        pci: bridge.pci,
        bus: &bridge.bus,
        id: match bridge.port {
            BridgePort::Root => ROOT_PORT,
            BridgePort::Upstream | BridgePort::Downstream => SWITCH,
        },
        subsystem: [0, 0],
        // A PCI-to-PCI bridge, decoded normally.
        class: 0x06_04_00,
        revision: 0,
        shape: Shape::Bridge(
            bridge.port,
            [bridge.pci.bus, bridge.secondary, bridge.subordinate],
        ),
        numa: bridge.numa,
        cpus: bridge.cpus.as_deref(),
        link: (&bridge.pcie_speed, bridge.pcie_width),
        driver: Some("pcieport"),
        sriov: None,
    }
}
