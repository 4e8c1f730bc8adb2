//! A network interface (`net/core/net-sysfs.c`).

use simfs::Errno;

use super::{Nodes, Of, Part, nodes::up_from, rdma};
use crate::identifiers::grouped;
use crate::{Counters, Function, NetDev};

/// A part of an interface.
pub(super) struct NetPart<'a> {
    function: Option<&'a Function>,
    netdev: &'a NetDev,
    statistics: bool,
}

/// The parts of an interface of the function whose folder is `device`.
pub(super) fn parts<'a>(
    device: &str,
    function: &'a Function,
    netdev: &'a NetDev,
    parts: &mut Vec<Part<'a>>,
) {
    add(
        format!("{device}/net/{}", netdev.name),
        Some(function),
        netdev,
        parts,
    );
}

/// The parts of an interface that does not belong to an RDMA device's function.
pub(super) fn virtual_parts<'a>(netdev: &'a NetDev, parts: &mut Vec<Part<'a>>) {
    add(
        format!("sys/devices/virtual/net/{}", netdev.name),
        None,
        netdev,
        parts,
    );
}

fn add<'a>(
    root: String,
    function: Option<&'a Function>,
    netdev: &'a NetDev,
    parts: &mut Vec<Part<'a>>,
) {
    let part = |statistics| {
        Of::Net(NetPart {
            function,
            netdev,
            statistics,
        })
    };
    parts.push(Part {
        root: root.clone(),
        of: part(false),
    });
    parts.push(Part {
        root: format!("{root}/statistics"),
        of: part(true),
    });
}

impl NetPart<'_> {
    pub(super) fn kind(&self) -> &'static str {
        if self.statistics {
            "statistics"
        } else {
            "netdev"
        }
    }

    pub(super) fn incarnation(&self) -> (u32, u32) {
        (
            self.function.map_or(0, |function| function.incarnation),
            self.netdev.ifindex,
        )
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        if self.statistics {
            self.netdev.statistics == other.netdev.statistics
        } else {
            self.netdev == other.netdev
        }
    }

    /// The counters of a part that is made of counters only.
    pub(super) fn counters(&self) -> Option<&Counters> {
        self.statistics.then_some(&self.netdev.statistics)
    }

    pub(super) fn nodes(&self, nodes: &mut Nodes) {
        if self.statistics {
            rdma::counters(&self.netdev.statistics, nodes);
        } else {
            own(self.function, self.netdev, nodes);
        }
    }
}

fn own(function: Option<&Function>, netdev: &NetDev, nodes: &mut Nodes) {
    let NetDev {
        name,
        ifindex,
        arp_type,
        address,
        mtu,
        admin_up,
        operstate,
        ..
    } = netdev;
    nodes.folder("");
    let class = format!("/sys/class/net/{name}");
    match function {
        Some(function) => {
            let Function { bus, pci, .. } = function;
            nodes.link(class, format!("../../devices/{bus}/{pci}/net/{name}"));
            nodes.link("device", format!("../../../{pci}"));
            nodes.link("subsystem", format!("{}/class/net", up_from(bus, 3)));
        }
        None => {
            nodes.link(class, format!("../../devices/virtual/net/{name}"));
            nodes.link("subsystem", "../../../../class/net");
        }
    }
    nodes.file("type", arp_type);
    nodes.file("ifindex", ifindex);
    nodes.file("iflink", ifindex);
    nodes.file("addr_len", address.len());
    nodes.file("addr_assign_type", 0);
    nodes.file("address", grouped(address, 1));
    nodes.file("broadcast", grouped(&broadcast(netdev), 1));
    nodes.file("mtu", mtu);
    nodes.file("operstate", operstate);
    // `IFF_UP`, `IFF_BROADCAST`, `IFF_MULTICAST`.
    nodes.file(
        "flags",
        format_args!("{:#x}", 0x1002 | u32::from(*admin_up)),
    );
    // `carrier_show`, `speed_show`, `duplex_show`: unreadable while the interface is down.
    if *admin_up {
        nodes.file("carrier", u8::from(netdev.carrier));
        nodes.file("dormant", 0);
    } else {
        nodes.fails("carrier", Errno::EINVAL);
        nodes.fails("dormant", Errno::EINVAL);
    }
    match netdev.speed_mbps.filter(|_| *admin_up) {
        Some(speed) => {
            nodes.file("speed", speed);
            nodes.file("duplex", if speed < 0 { "unknown" } else { "full" });
        }
        None => {
            nodes.fails("speed", Errno::EINVAL);
            nodes.fails("duplex", Errno::EINVAL);
        }
    }
    nodes.file(
        "carrier_changes",
        netdev
            .carrier_up_count
            .saturating_add(netdev.carrier_down_count),
    );
    nodes.file("carrier_up_count", netdev.carrier_up_count);
    nodes.file("carrier_down_count", netdev.carrier_down_count);
    nodes.file("dev_id", "0x0");
    nodes.file("dev_port", netdev.dev_port);
    nodes.file("link_mode", 0);
    nodes.file("netdev_group", 0);
    nodes.file("tx_queue_len", if *arp_type == 32 { 256 } else { 1000 });
    nodes.file("gro_flush_timeout", 0);
    nodes.file("proto_down", 0);
    nodes.bytes("ifalias", Vec::new());
    nodes.file(
        "uevent",
        format_args!("INTERFACE={name}\nIFINDEX={ifindex}"),
    );
    // `EOPNOTSUPP` from drivers without it.
    nodes.fails("phys_port_id", Errno::EOPNOTSUPP);
    nodes.fails("phys_switch_id", Errno::EOPNOTSUPP);
    match function.filter(|_| *arp_type == 1) {
        // `mlx5e_rep_get_phys_port_name`, and udev's renaming.
        Some(function) => {
            nodes.file("phys_port_name", format_args!("p{}", function.pci.function));
            nodes.file("name_assign_type", 4);
        }
        None => {
            nodes.fails("phys_port_name", Errno::EOPNOTSUPP);
            nodes.fails("name_assign_type", Errno::EINVAL);
        }
    }
    if *arp_type == 32 {
        nodes.file("mode", "datagram");
        nodes.file("umcast", 0);
        nodes.file("pkey", "0xffff");
    }
    for lower in &netdev.lowers {
        // The kernel has a link to the lower device here; a plain name is enough, because the class
        // lists the device too.
        let up = match function {
            Some(function) => up_from(&function.bus, 3),
            None => "../../../..".to_owned(),
        };
        nodes.link(format!("lower_{lower}"), format!("{up}/class/net/{lower}"));
    }
}

fn broadcast(netdev: &NetDev) -> Vec<u8> {
    match netdev.arp_type {
        // `ipv4_bcast_addr` of IP over InfiniBand: a queue pair number and a multicast GID.
        32 => {
            let group = [0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff];
            let tail = [0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff];
            [group, tail].concat()
        }
        772 => vec![0; netdev.address.len()],
        _ => vec![0xff; netdev.address.len()],
    }
}
