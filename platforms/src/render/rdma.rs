//! An RDMA device and its ports (`drivers/infiniband/core/sysfs.c`, `uverbs_main.c`, `user_mad.c`,
//! `drivers/infiniband/hw/mlx5/main.c`).

use simfs::Errno;

use super::{Nodes, Of, Part, nodes::up_from};
use crate::identifiers::{Guid, grouped};
use crate::{
    CharDevice, CounterValue, Counters, Function, GidKind, LinkLayer, NetDev, Port, PortFiles,
    PortNumber, Rdma, Shared,
};

/// A part of an RDMA device.
pub(super) struct RdmaPart<'a> {
    function: &'a Function,
    rdma: &'a Rdma,
    of: RdmaOf<'a>,
}

enum RdmaOf<'a> {
    Device,
    Verbs,
    /// A `umad` or `issm` device: its port, its name, its minor number.
    Mad(PortNumber, String, u32),
    Port(&'a Shared<Port>),
    Gids(&'a Shared<Port>),
    Counters(&'a Shared<Port>),
    HwCounters(&'a Shared<Port>),
    /// The folders of its driver alone.
    OwnFiles(&'a Shared<Port>),
}

/// Every part of an RDMA device of the function whose folder is `device`.
pub(super) fn parts<'a>(
    device: &str,
    function: &'a Function,
    rdma: &'a Rdma,
    parts: &mut Vec<Part<'a>>,
) {
    let mut add = |root: String, of: RdmaOf<'a>| {
        parts.push(Part {
            root,
            of: Of::Rdma(RdmaPart { function, rdma, of }),
        });
    };
    let root = format!("{device}/infiniband/{}", rdma.name);
    for (number, port) in &rdma.ports {
        let root = format!("{root}/ports/{number}");
        add(root.clone(), RdmaOf::Port(port));
        add(root.clone(), RdmaOf::Gids(port));
        // A driver without management datagrams has no such folder (`ib_setup_port_attrs`).
        if !port.counters.is_empty() {
            add(format!("{root}/counters"), RdmaOf::Counters(port));
        }
        add(format!("{root}/hw_counters"), RdmaOf::HwCounters(port));
        if !port.files.is_empty() {
            add(root.clone(), RdmaOf::OwnFiles(port));
        }
        // The minors of `issm` devices are 64 higher; only ports with the subnet management
        // interface have one (`rdma_cap_ib_smi`).
        let umad = port.umad.map(|umad| (format!("umad{umad}"), umad));
        let smi = port.umad.filter(|_| port.layer == LinkLayer::InfiniBand);
        let issm = smi.map(|umad| (format!("issm{umad}"), 64 + umad));
        let umad = umad.filter(|_| !rdma.missing.contains(&CharDevice::Umad(*number)));
        let issm = issm.filter(|_| !rdma.missing.contains(&CharDevice::Issm(*number)));
        for (name, minor) in umad.into_iter().chain(issm) {
            add(
                format!("{device}/infiniband_mad/{name}"),
                RdmaOf::Mad(*number, name, minor),
            );
        }
    }
    add(root, RdmaOf::Device);
    if !rdma.missing.contains(&CharDevice::Uverbs) {
        add(
            format!("{device}/infiniband_verbs/uverbs{}", rdma.uverbs),
            RdmaOf::Verbs,
        );
    }
}

impl RdmaPart<'_> {
    pub(super) fn kind(&self) -> &'static str {
        match &self.of {
            RdmaOf::Device => "device",
            RdmaOf::Verbs => "verbs",
            RdmaOf::Mad(..) => "mad",
            RdmaOf::Port(_) => "port",
            RdmaOf::Gids(_) => "gids",
            RdmaOf::Counters(_) => "counters",
            RdmaOf::HwCounters(_) => "hw_counters",
            RdmaOf::OwnFiles(_) => "own_files",
        }
    }

    pub(super) fn incarnation(&self) -> (u32, u32) {
        (self.function.incarnation, self.rdma.incarnation)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.of, &other.of) {
            (RdmaOf::Device, RdmaOf::Device) => same(self.rdma, other.rdma),
            (RdmaOf::Verbs, RdmaOf::Verbs) => {
                self.rdma.uverbs == other.rdma.uverbs && self.rdma.name == other.rdma.name
            }
            (RdmaOf::Mad(a, ..), RdmaOf::Mad(b, ..)) => a == b && self.rdma.name == other.rdma.name,
            (RdmaOf::Port(a), RdmaOf::Port(b)) => a.is_same_copy(b) || same_attributes(a, b),
            (RdmaOf::Gids(a), RdmaOf::Gids(b)) => {
                same_names(self.function, other.function)
                    && (a.is_same_copy(b)
                        || (a.gids == b.gids && a.gid_table == b.gid_table && a.pkeys == b.pkeys))
            }
            (RdmaOf::Counters(a), RdmaOf::Counters(b)) => {
                a.is_same_copy(b) || a.counters == b.counters
            }
            (RdmaOf::HwCounters(a), RdmaOf::HwCounters(b)) => {
                a.is_same_copy(b) || a.hw_counters == b.hw_counters
            }
            (RdmaOf::OwnFiles(a), RdmaOf::OwnFiles(b)) => a.is_same_copy(b) || a.files == b.files,
            _ => false,
        }
    }

    /// The counters of a part that is made of counters only.
    pub(super) fn counters(&self) -> Option<&Counters> {
        match &self.of {
            RdmaOf::Counters(port) => Some(&port.counters),
            RdmaOf::HwCounters(port) => Some(&port.hw_counters),
            _ => None,
        }
    }

    pub(super) fn nodes(&self, nodes: &mut Nodes) {
        let Self { function, rdma, .. } = self;
        match &self.of {
            RdmaOf::Device => device(function, rdma, nodes),
            RdmaOf::Verbs => verbs(function, rdma, nodes),
            RdmaOf::Mad(port, name, minor) => mad(function, rdma, *port, name, *minor, nodes),
            RdmaOf::Port(port) => self::port(port, nodes),
            RdmaOf::Gids(port) => gids(function, port, nodes),
            RdmaOf::Counters(port) => counters(&port.counters, nodes),
            RdmaOf::HwCounters(port) => counters(&port.hw_counters, nodes),
            RdmaOf::OwnFiles(port) => own_files(&port.files, nodes),
        }
    }
}

fn same_names(a: &Function, b: &Function) -> bool {
    fn name(netdev: &NetDev) -> &str {
        &netdev.name
    }
    a.netdevs.iter().map(name).eq(b.netdevs.iter().map(name))
}

/// Whether the two have the same attributes, apart from their ports.
fn same(a: &Rdma, b: &Rdma) -> bool {
    let Rdma {
        name,
        incarnation,
        hca_type,
        fw_ver,
        board_id,
        hw_rev,
        node_desc,
        node_guid,
        sys_image_guid,
        node_type,
        files,
        uverbs: _,
        missing: _,
        ports: _,
    } = a;
    *name == b.name
        && *incarnation == b.incarnation
        && *hca_type == b.hca_type
        && *fw_ver == b.fw_ver
        && *board_id == b.board_id
        && *hw_rev == b.hw_rev
        && *node_desc == b.node_desc
        && [*node_guid, *sys_image_guid] == [b.node_guid, b.sys_image_guid]
        && *node_type == b.node_type
        && *files == b.files
}

/// Whether the two have the same attributes: counters move in most ticks of a port with traffic, and have parts of their own.
fn same_attributes(a: &Port, b: &Port) -> bool {
    let Port {
        layer,
        layer_text,
        state,
        phys_state,
        rate,
        lid,
        sm_lid,
        lid_mask_count,
        sm_sl,
        cap_mask,
        query_error,
        gids: _,
        gid_table: _,
        pkeys: _,
        umad: _,
        counters: _,
        hw_counters: _,
        files: _,
    } = a;
    *layer == b.layer
        && *layer_text == b.layer_text
        && *state == b.state
        && *phys_state == b.phys_state
        && *rate == b.rate
        && [*lid, *sm_lid] == [b.lid, b.sm_lid]
        && [*lid_mask_count, *sm_sl] == [b.lid_mask_count, b.sm_sl]
        && *cap_mask == b.cap_mask
        && *query_error == b.query_error
}

/// The link of a class entry to the device's folder, and that folder's link to its class.
fn class_links(function: &Function, class: &str, name: &str, nodes: &mut Nodes) {
    let Function { bus, pci, .. } = function;
    nodes.link(
        format!("/sys/class/{class}/{name}"),
        format!("../../devices/{bus}/{pci}/{class}/{name}"),
    );
    nodes.link("device", format!("../../../{pci}"));
    nodes.link("subsystem", format!("{}/class/{class}", up_from(bus, 3)));
}

fn device(function: &Function, rdma: &Rdma, nodes: &mut Nodes) {
    nodes.folder("");
    nodes.folder("ports");
    class_links(function, "infiniband", rdma.name.as_str(), nodes);
    if let Some(hca_type) = &rdma.hca_type {
        nodes.file("hca_type", hca_type);
    }
    nodes.file("fw_ver", &rdma.fw_ver);
    if let Some(board_id) = &rdma.board_id {
        nodes.file("board_id", board_id);
    }
    if let Some(hw_rev) = &rdma.hw_rev {
        nodes.file("hw_rev", hw_rev);
    }
    nodes.file("node_desc", &rdma.node_desc);
    nodes.file("node_guid", Guid(rdma.node_guid));
    nodes.file("sys_image_guid", Guid(rdma.sys_image_guid));
    nodes.file("node_type", &rdma.node_type);
    for (name, text) in &rdma.files {
        nodes.file(name.clone(), text);
    }
    nodes.file("fw_pages", 0);
    nodes.file("reg_pages", 0);
    nodes.file("uevent", format_args!("NAME={}", rdma.name));
}

fn verbs(function: &Function, rdma: &Rdma, nodes: &mut Nodes) {
    let name = format!("uverbs{}", rdma.uverbs);
    nodes.folder("");
    class_links(function, "infiniband_verbs", &name, nodes);
    nodes.file("ibdev", &rdma.name);
    // `MLX5_IB_UVERBS_ABI_VERSION`.
    nodes.file("abi_version", 1);
    // `IB_UVERBS_MAJOR`, `IB_UVERBS_BASE_MINOR`.
    let minor = 192 + rdma.uverbs;
    nodes.file("dev", format_args!("231:{minor}"));
    nodes.file(
        "uevent",
        format_args!("MAJOR=231\nMINOR={minor}\nDEVNAME=infiniband/{name}"),
    );
}

fn mad(
    function: &Function,
    rdma: &Rdma,
    port: PortNumber,
    name: &str,
    minor: u32,
    nodes: &mut Nodes,
) {
    nodes.folder("");
    class_links(function, "infiniband_mad", name, nodes);
    nodes.file("ibdev", &rdma.name);
    nodes.file("port", port);
    // `IB_UMAD_MAJOR`.
    nodes.file("dev", format_args!("231:{minor}"));
    nodes.file(
        "uevent",
        format_args!("MAJOR=231\nMINOR={minor}\nDEVNAME=infiniband/{name}"),
    );
}

fn port(port: &Port, nodes: &mut Nodes) {
    nodes.folder("");
    match &port.layer_text {
        Some(text) => nodes.file("link_layer", text),
        None => nodes.file("link_layer", port.layer),
    }
    let mut queried = |name: &'static str, text: &dyn std::fmt::Display| match port.query_error {
        Some(errno) => nodes.fails(name, errno),
        None => nodes.file(name, text),
    };
    queried("state", &port.state);
    queried("phys_state", &port.phys_state);
    queried("rate", &port.rate);
    queried("lid", &format_args!("{:#x}", port.lid));
    queried("sm_lid", &format_args!("{:#x}", port.sm_lid));
    queried("lid_mask_count", &port.lid_mask_count);
    queried("sm_sl", &port.sm_sl);
    queried("cap_mask", &format_args!("{:#010x}", port.cap_mask));
    nodes.file("has_smi", u8::from(port.layer == LinkLayer::InfiniBand));
}

fn gids(function: &Function, port: &Port, nodes: &mut Nodes) {
    for folder in [
        "gids",
        "gid_attrs",
        "gid_attrs/ndevs",
        "gid_attrs/types",
        "pkeys",
    ] {
        nodes.folder(folder);
    }
    for index in 0..port.gid_table {
        let types = format!("gid_attrs/types/{index}");
        let ndevs = format!("gid_attrs/ndevs/{index}");
        let Some(gid) = port.gids.get(&index) else {
            nodes.file(format!("gids/{index}"), grouped(&[0; 16], 2));
            nodes.fails(types, Errno::EINVAL);
            nodes.fails(ndevs, Errno::EINVAL);
            continue;
        };
        nodes.file(format!("gids/{index}"), grouped(&gid.bytes, 2));
        nodes.file(
            types,
            match gid.kind {
                GidKind::RoceV1 => "IB/RoCE v1",
                GidKind::RoceV2 => "RoCE v2",
            },
        );
        match gid
            .netdev
            .and_then(|place| function.netdevs.get(usize::from(place)))
        {
            Some(netdev) => nodes.file(ndevs, &netdev.name),
            None => nodes.fails(ndevs, Errno::EINVAL),
        }
    }
    for (index, pkey) in port.pkeys.iter().enumerate() {
        nodes.file(format!("pkeys/{index}"), format_args!("{pkey:#06x}"));
    }
}

fn own_files(files: &PortFiles, nodes: &mut Nodes) {
    for (folder, files) in files {
        nodes.folder(folder.clone());
        for (name, text) in files {
            nodes.file(format!("{folder}/{name}"), text);
        }
    }
}

/// Adds the folder of these counters.
pub(super) fn counters(values: &Counters, nodes: &mut Nodes) {
    nodes.folder("");
    for (name, value) in values.iter() {
        counter(name.to_string(), value, nodes);
    }
}

/// Adds a counter's file.
pub(super) fn counter(name: String, value: &CounterValue, nodes: &mut Nodes) {
    match value {
        CounterValue::Count(count) => nodes.file(name, count),
        CounterValue::Text(text) => nodes.file(name, text),
        CounterValue::Fails(errno) => nodes.fails(name, *errno),
    }
}
