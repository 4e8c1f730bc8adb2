//! What a capture opens, and nothing else: `docs/platform.md` has the same table, which a test
//! compares with what was opened.

/// Files of an RDMA device: all of them are what the kernel remembers.
pub(super) const DEVICE: &[&str] = &["board_id", "fw_ver", "hca_type", "hw_rev", "node_type"];

/// Files of an RDMA device that tell it from every other: read only if asked.
pub(super) const DEVICE_IDENTIFIERS: &[&str] = &["node_desc", "node_guid", "sys_image_guid"];

/// Files of a port. All but `link_layer` ask the card's firmware, once each, as every poll of a
/// monitor does.
pub(super) const PORT: &[&str] = &["link_layer", "phys_state", "rate", "state"];

/// Folders of a port's counters: read only if asked, since every file in them is a question to the
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

/// Files of a function that may be a GPU: those that tell whether it is.
pub(super) const ANY_FUNCTION: &[&str] = &["class", "vendor"];

/// Files of every interface.
pub(super) const INTERFACE: &[&str] = &["dev_port", "ifindex"];

/// Files of every interface that tell it from every other: read only if asked.
pub(super) const INTERFACE_IDENTIFIERS: &[&str] = &["address"];

/// Files of an interface behind which there is no RDMA device. Of a NIC's own interface they would
/// ask the firmware.
pub(super) const OTHER_INTERFACE: &[&str] = &["speed"];

/// Files of the node.
pub(super) const NODE: &[(&str, &str)] = &[
    ("proc/net/route", "route"),
    ("var/lib/nvsentinel/gpu_metadata.json", "gpu_metadata.json"),
];
