//! New hardware, in place of old or in an empty slot.
//!
//! Everything with a serial number gets a new one; the model stays the same. Start at
//! [`Node::renew`].

use std::sync::Arc;

use platforms::{
    DeviceName, Driver, Gid, Ids, LinkLayer, NetDev, PciAddress, PortNumber, PortState, Restart,
    SlotRef,
};

use crate::{device::Device, lids, node::Node};

/// ARP hardware type of IP over InfiniBand (`ARPHRD_INFINIBAND`, `include/uapi/linux/if_arp.h`).
const ARP_INFINIBAND: u16 = 32;

impl Node {
    /// Replaces a function that is off the bus by another of the same model, with other GUIDs and
    /// addresses, the next firmware version, and counters at zero.
    pub(crate) fn renew(&mut self, pci: PciAddress) {
        let device = self.device_mut(pci);
        device.replaced += 1;
        device.parked.restart = Some(Restart::Rescan);
        let replaced = device.replaced;
        let ids = self.ids(pci, replaced);
        self.number(pci, &ids);
        if let Some(rdma) = self.rdma_mut(pci) {
            rdma.fw_ver = next_firmware(&rdma.fw_ver);
        }
        for port in self.port_numbers(pci) {
            self.new_counters(pci, port);
        }
    }

    /// Adds a copy of a function, without driver and with its ports down; the caller has looked
    /// both up.
    pub(crate) fn add_like(
        &mut self,
        pci: PciAddress,
        like: PciAddress,
        name: &DeviceName,
        cabled: bool,
        lid: u16,
    ) {
        let (uverbs, umad) = (self.machine.free_uverbs(), self.machine.free_umad());
        let model = self
            .devices
            .get(&like)
            .expect("the function to copy was looked up before");
        let rdma = self.rdma(like).cloned();
        let netdevs: Vec<NetDev> = model
            .jacks
            .keys()
            .filter_map(|port| self.netdev(like, *port))
            .cloned()
            .collect();
        let jack = model.jacks.values().next();
        let jack = jack.expect("a function without ports is refused as a make");
        let (role, driver, rate) = (model.role, Arc::clone(&jack.driver), jack.rate);
        let mut function = self
            .function(like)
            .expect("every device has its function")
            .clone();
        function.pci = pci;
        function.bus = self.machine.bus_of(&pci);
        function.incarnation = 0;
        function.virtfns = Vec::new();
        function.in_other_namespace = false;
        function.rdma = rdma.map(|mut rdma| {
            rdma.name = name.clone();
            rdma.incarnation = 0;
            rdma.uverbs = uverbs;
            for ((port, umad), lid) in rdma.ports.values_mut().zip(umad..).zip(lid..) {
                port.state = PortState::DOWN;
                port.umad = Some(umad);
                let managed = cabled && port.layer == LinkLayer::InfiniBand;
                (port.lid, port.sm_lid) = if managed {
                    (lid, lids::SUBNET_MANAGER)
                } else {
                    (0, 0)
                };
            }
            rdma
        });
        function.netdevs = netdevs;
        for (netdev, number) in function.netdevs.iter_mut().zip(1..) {
            netdev.name = netdev_name(pci, netdev.arp_type, PortNumber(number));
        }
        let mut device = Device::of(&function, role, &driver, rate, |_| cabled);
        device.parked.rdma = function.rdma.take();
        device.parked.netdevs = std::mem::take(&mut function.netdevs);
        device.parked.function = Some(function);
        device.parked.restart = Some(Restart::Rescan);
        self.devices.insert(pci, device);
        self.number(pci, &self.ids(pci, 0));
        for port in self.port_numbers(pci) {
            self.new_counters(pci, port);
        }
    }

    /// The driver of the same kernel module that shows ports of this layer.
    pub(crate) fn driver_for(&self, slot: &SlotRef, layer: LinkLayer) -> Option<Arc<Driver>> {
        let module = &self.jack(slot).ok()?.driver.kernel_driver;
        let mut drivers = self.platform.drivers();
        let driver =
            drivers.find(|driver| driver.layer == layer && driver.kernel_driver == *module);
        driver.cloned().map(Arc::new)
    }

    /// Makes a port whose link is down use another layer: everything that depends on its driver
    /// changes, and its net device is registered again under its name.
    pub(crate) fn speak(
        &mut self,
        slot: &SlotRef,
        layer: LinkLayer,
        driver: Arc<Driver>,
        lid: u16,
    ) {
        let (pci, number) = (slot.pci, slot.port);
        let replaced = self.devices.get(&pci).map_or(0, |device| device.replaced);
        let ids = self.ids(pci, replaced);
        let ifindex = self.take_ifindex();
        if let Some(netdev) = self.netdev_mut(pci, number) {
            (netdev.arp_type, netdev.mtu, netdev.ifindex) = (driver.arp_type, driver.mtu, ifindex);
        }
        self.restart_netdev(pci, number);
        if let Some(port) = self.port_mut(pci, number) {
            (port.layer, port.cap_mask, port.gid_table) =
                (layer, driver.cap_mask, driver.gid_table);
            let managed = layer == LinkLayer::InfiniBand;
            (port.lid, port.sm_lid) = if managed {
                (lid, lids::SUBNET_MANAGER)
            } else {
                (0, 0)
            };
            port.pkeys.resize(usize::from(driver.pkey_table), 0);
            let kept: Vec<Gid> = port
                .gids
                .values()
                .copied()
                .filter(Gid::is_link_local)
                .take(1)
                .collect();
            port.gids = (0..).zip(kept).collect();
        }
        self.function_mut(pci).class = driver.pci_class;
        let jack = self.jack_mut(pci, number);
        (jack.link.layer, jack.driver) = (layer, driver);
        self.number_ports(pci, &ids);
    }

    /// The local identifiers of its ports.
    pub(crate) fn lids(&self) -> impl Iterator<Item = u16> {
        let ports = self
            .devices
            .iter()
            .flat_map(|(pci, device)| device.jacks.keys().map(move |port| (*pci, *port)));
        ports
            .filter_map(|(pci, port)| self.port(pci, port))
            .map(|port| port.lid)
    }

    /// Gives a port of a node at rest another local identifier.
    pub(crate) fn set_lid(&mut self, slot: &SlotRef, lid: u16) {
        for machine in [&mut self.machine, &mut self.rest] {
            let function = machine.functions.get_mut(&slot.pci);
            let rdma = function.and_then(|function| function.rdma.as_mut());
            if let Some(port) = rdma.and_then(|rdma| rdma.ports.get_mut(&slot.port)) {
                port.lid = lid;
            }
        }
    }

    /// The generated identifiers of a function that was replaced this often.
    fn ids(&self, pci: PciAddress, replaced: u32) -> Ids {
        let vendor = self.function(pci).map_or(0, |function| function.vendor);
        Ids::of(self.name(), &pci, vendor, replaced)
    }

    /// Writes these identifiers into all parts of a function.
    fn number(&mut self, pci: PciAddress, ids: &Ids) {
        self.number_ports(pci, ids);
        if let Some(rdma) = self.rdma_mut(pci) {
            rdma.node_guid = ids.node_guid();
            rdma.sys_image_guid = ids.sys_image_guid();
        }
    }

    /// Writes these identifiers into a function's ports and interfaces only.
    fn number_ports(&mut self, pci: PciAddress, ids: &Ids) {
        for number in self.port_numbers(pci) {
            if let Some(netdev) = self.netdev_mut(pci, number) {
                netdev.address = ids.hardware_address(netdev.arp_type, number);
            }
            let Some(port) = self.port_mut(pci, number) else {
                continue;
            };
            let id = ids.interface_id(port.layer, number);
            port.gids.values_mut().for_each(|gid| gid.lend(id));
        }
    }
}

/// The next firmware version: the last number plus one.
fn next_firmware(version: &str) -> String {
    let digits = version.len()
        - version
            .trim_end_matches(|char: char| char.is_ascii_digit())
            .len();
    let (front, last) = version.split_at(version.len() - digits);
    let next = last.parse::<u64>().map_or(0, |number| number + 1);
    format!("{front}{next:0digits$}")
}

/// systemd's path-based name of an interface (`net_id`), in which numbers are decimal.
fn netdev_name(pci: PciAddress, arp_type: u16, port: PortNumber) -> String {
    let prefix = if arp_type == ARP_INFINIBAND {
        "ib"
    } else {
        "en"
    };
    let domain = if pci.domain == 0 {
        String::new()
    } else {
        format!("P{}", pci.domain)
    };
    let PciAddress {
        bus,
        device,
        function,
        ..
    } = pci;
    format!(
        "{prefix}{domain}p{bus}s{device}f{function}np{}",
        u16::from(port.0) - 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_firmware_differs_in_the_last_number_only() {
        assert_eq!(next_firmware("28.41.1000"), "28.41.1001");
        assert_eq!(next_firmware("20.36.0999"), "20.36.1000");
        assert_eq!(next_firmware("unknown"), "unknown0");
    }

    #[test]
    fn an_interface_is_named_by_its_path() {
        let pci = PciAddress {
            domain: 2,
            bus: 0x0c,
            device: 0,
            function: 1,
        };
        assert_eq!(netdev_name(pci, 1, PortNumber(1)), "enP2p12s0f1np0");
    }
}
