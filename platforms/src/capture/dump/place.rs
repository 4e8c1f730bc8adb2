//! What a path of a dump is about: a file of an RDMA device, of an interface, of a PCI function, or of
//! the node.

use std::collections::BTreeSet;

use crate::PciAddress;

/// Files and folders that only an RDMA device has (`drivers/infiniband/core/sysfs.c`, and the drivers').
const RDMA_FILES: &[&str] = &[
    "board_id",
    "fw_ver",
    "hca_type",
    "hw_rev",
    "node_desc",
    "node_guid",
    "node_type",
    "ports",
    "sys_image_guid",
];

/// Files and folders of an interface (`net/core/net-sysfs.c`).
const NET_FILES: &[&str] = &[
    "addr_assign_type",
    "addr_len",
    "address",
    "broadcast",
    "carrier",
    "carrier_changes",
    "carrier_down_count",
    "carrier_up_count",
    "dev_id",
    "dev_port",
    "device",
    "dormant",
    "duplex",
    "flags",
    "ifalias",
    "ifindex",
    "iflink",
    "link_mode",
    "mtu",
    "name_assign_type",
    "netdev_group",
    "operstate",
    "phys_port_id",
    "phys_port_name",
    "phys_switch_id",
    "proto_down",
    "speed",
    "statistics",
    "testing",
    "tx_queue_len",
    "type",
    "uevent",
];

/// Files of the node, by the end of their path.
const NODE_FILES: &[(&str, &str)] = &[
    ("proc/net/route", "route"),
    ("gpu_metadata.json", "gpu_metadata.json"),
];

/// The place of a path in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The device, interface or function, as in `infiniband/mlx5_0`; empty for a file of the node.
    pub(super) owner: String,
    /// The path below it; empty for the owner itself.
    pub(super) rest: String,
    /// The address of the owner's function, if the path has it.
    pub(super) address: Option<String>,
    /// The device whose function the owner is of, as in `infiniband/mlx5_0/device/net/ib0`.
    pub(super) parent: Option<String>,
}

impl Place {
    /// The place of a path; `None` if it is about something else. `rdma` has the RDMA devices that other
    /// paths name.
    pub(super) fn of(path: &str, rdma: &BTreeSet<String>) -> Option<Self> {
        if let Some((_, file)) = NODE_FILES.iter().find(|(end, _)| path.ends_with(end)) {
            return Some(Self {
                owner: String::new(),
                rest: (*file).to_owned(),
                address: None,
                parent: None,
            });
        }
        let names: Vec<&str> = path.trim_matches('/').split('/').collect();
        let is_class = |name: &&str| matches!(*name, "infiniband" | "net");
        let owner_at = |class: &str, at: usize| Self {
            owner: format!("{class}/{}", names[at]),
            rest: names[at + 1..].join("/"),
            address: None,
            parent: None,
        };
        if let Some(class) = names.iter().rposition(is_class) {
            let address = names[..class].iter().rev().find(|name| is_address(name));
            let parent = match names[..class] {
                [.., above, name, "device"] if is_class(&above) => Some(format!("{above}/{name}")),
                _ => None,
            };
            return (class + 1 < names.len()).then(|| Self {
                parent,
                address: address.map(|it| (*it).to_owned()),
                ..owner_at(names[class], class + 1)
            });
        }
        if let Some(function) = names.iter().rposition(|name| is_address(name)) {
            return Some(owner_at("pci", function));
        }
        // A path from the root that names no class is about a bus, a CPU, a switch …
        let second = names.get(1)?;
        let is_lower = second.starts_with("lower_");
        if path.starts_with('/') || names[0] == "sys" {
            None
        } else if RDMA_FILES.contains(second) || rdma.contains(names[0]) {
            Some(owner_at("infiniband", 0))
        } else {
            (NET_FILES.contains(second) || is_lower).then(|| owner_at("net", 0))
        }
    }

    /// The path in a snapshot.
    pub(super) fn path(&self) -> String {
        if self.owner.is_empty() {
            return self.rest.clone();
        }
        format!("{}/{}", self.owner, self.rest)
    }
}

/// The RDMA device that a path names by a file that only such a device has.
pub(super) fn rdma_owner(path: &str) -> Option<&str> {
    let (owner, rest) = path.split_once('/')?;
    let file = rest.split('/').next()?;
    (!owner.is_empty() && RDMA_FILES.contains(&file)).then_some(owner)
}

/// The last PCI address in a path.
pub(super) fn address_in(path: &str) -> Option<&str> {
    path.split('/').rev().find(|name| is_address(name))
}

fn is_address(name: &str) -> bool {
    name.parse::<PciAddress>().is_ok()
}

/// Whether this is a PCI address (`0000:0c:00.0`), or the name of a bus as in `pci0000:00` or `0000:0c`.
pub(super) fn is_bus_name(name: &str) -> bool {
    let bus = name.strip_prefix("pci").unwrap_or(name);
    let is_bus = bus.split_once(':').is_some_and(|(domain, bus)| {
        let hex = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
        domain.len() == 4 && bus.len() == 2 && hex(domain) && hex(bus)
    });
    is_bus || is_address(name)
}
