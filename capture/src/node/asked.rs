//! The files that a capture opens, and no others: `docs/platform.md` has the same table, which a
//! test compares with the opened files.

/// Files of an RDMA device; the kernel serves all of them from memory.
pub(super) const DEVICE: &[&str] = &["board_id", "fw_ver", "hca_type", "hw_rev", "node_type"];

/// Files of an RDMA device that identify it: read on request only.
pub(super) const DEVICE_IDENTIFIERS: &[&str] = &["node_desc", "node_guid", "sys_image_guid"];

/// Files of a port. All but `link_layer` query the card's firmware, once each, as every poll of a
/// monitor does.
pub(super) const PORT: &[&str] = &["link_layer", "phys_state", "rate", "state"];

/// Folders of a port's counters: read on request only, because every file in them is a query to the
/// firmware.
pub(super) const COUNTERS: &[&str] = &["counters", "hw_counters"];

/// Files of a PCI function.
pub(super) const FUNCTION: &[&str] = &[
    "class",
    "device",
    "local_cpulist",
    "max_link_speed",
    "max_link_width",
    "numa_node",
    "revision",
    "sriov_totalvfs",
    "sriov_vf_device",
    "subsystem_device",
    "subsystem_vendor",
    "vendor",
];

/// Links of a PCI function.
pub(super) const FUNCTION_LINKS: &[&str] = &["driver", "physfn"];

/// Files of a function that may be a GPU, which determine whether it is one.
pub(super) const ANY_FUNCTION: &[&str] = &["class", "vendor"];

/// Files of every interface.
pub(super) const INTERFACE: &[&str] = &["dev_port", "ifindex"];

/// Files of every interface that identify it: read on request only.
pub(super) const INTERFACE_IDENTIFIERS: &[&str] = &["address"];

/// Files of an interface that does not belong to an RDMA device. For a NIC's interface they would
/// query the firmware.
pub(super) const OTHER_INTERFACE: &[&str] = &["speed"];

/// Files of the node.
pub(super) const NODE: &[(&str, &str)] = &[
    ("proc/net/route", "route"),
    ("var/lib/nvsentinel/gpu_metadata.json", "gpu_metadata.json"),
];
