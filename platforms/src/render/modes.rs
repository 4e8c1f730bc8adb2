//! Permission bits of files that are not read-only.

/// The files of `/sys` that can be written, by name, with their permission bits: `DEVICE_ATTR_RW` and
/// `DEVICE_ATTR_WO` of the kernel's sources that are named in front of each group. All others have 0444.
pub const MODES: &[(&str, u16)] = &[
    // drivers/pci/pci-sysfs.c, drivers/pci/iov.c
    ("config", 0o644),
    ("enable", 0o644),
    ("numa_node", 0o644),
    ("sriov_drivers_autoprobe", 0o644),
    ("sriov_numvfs", 0o644),
    // drivers/base/core.c
    ("uevent", 0o644),
    // net/core/net-sysfs.c
    ("carrier", 0o644),
    ("flags", 0o644),
    ("gro_flush_timeout", 0o644),
    ("ifalias", 0o644),
    ("mtu", 0o644),
    ("netdev_group", 0o644),
    ("proto_down", 0o644),
    ("tx_queue_len", 0o644),
    // drivers/infiniband/ulp/ipoib
    ("mode", 0o644),
    ("umcast", 0o644),
    // drivers/infiniband/core/sysfs.c
    ("lifespan", 0o644),
    ("node_desc", 0o644),
];
