//! Wrong decisions about which devices are monitored.

use std::collections::BTreeSet;

use checks::{Policy, Right};

use crate::mutant::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        decides,
        ExcludedIsVanished,
        "excluded-is-vanished",
        "a change of the exclusion list that fabricates a disappearance (field bug B18)"
    ),
    mutant!(
        decides,
        IgnoresTheDefaultRoute,
        "ignores-the-default-route",
        "a management NIC monitored like any other, and its faults fatal"
    ),
    mutant!(
        decides,
        KnowsOneBluefield,
        "knows-one-bluefield",
        "a table of device types that a new generation has outgrown: wrong role on one platform"
    ),
    mutant!(
        decides,
        KnowsTheDriversNamesOnly,
        "knows-the-drivers-names-only",
        "names dealt by udev: on a machine that renames its NICs nobody is monitored"
    ),
    mutant!(
        decides,
        NoTotalvfsMeansVirtual,
        "no-totalvfs-means-virtual",
        "the mark of 8.5 read as the only one: a guest's NICs are not monitored at all"
    ),
    mutant!(
        decides,
        NumaUnknownPasses,
        "numa-unknown-passes",
        "-1 taken for node 0"
    ),
    mutant!(
        decides,
        ReportsVirtualFunctions,
        "reports-virtual-functions",
        "unassigned virtual functions, dark by design, taken for dead ports (8.6: sixteen false alarms)"
    ),
    mutant!(
        decides,
        UnreadableRouteIsNoRoute,
        "unreadable-route-is-no-route",
        "an error of one read that puts the management NIC into the scope"
    ),
    mutant!(
        decides,
        WatchesEveryMake,
        "watches-every-make",
        "an Omni-Path port that replaces a machine by the rules for NVIDIA's NICs"
    ),
];

/// Treats a newly excluded device as disappeared.
#[derive(Debug, Default)]
struct ExcludedIsVanished;

impl Policy for ExcludedIsVanished {
    fn sees_excluded(&self) -> bool {
        false
    }
}

/// Monitors the NIC that carries the default route.
#[derive(Debug, Default)]
struct IgnoresTheDefaultRoute;

impl Policy for IgnoresTheDefaultRoute {
    fn skips_default_route(&self) -> bool {
        false
    }
}

/// Does not know the `hca_type` of `BlueField`-3.
#[derive(Debug, Default)]
struct KnowsOneBluefield;

impl Policy for KnowsOneBluefield {
    fn is_bluefield(&self, hca_type: &str) -> bool {
        Right.is_bluefield(hca_type) && !hca_type.starts_with("MT41692")
    }
}

/// Monitors only devices with the driver's default names.
#[derive(Debug, Default)]
struct KnowsTheDriversNamesOnly;

impl Policy for KnowsTheDriversNamesOnly {
    fn is_ours(&self, _: bool) -> bool {
        false
    }
}

/// Treats a function without `sriov_totalvfs` as a virtual one.
#[derive(Debug, Default)]
struct NoTotalvfsMeansVirtual;

impl Policy for NoTotalvfsMeansVirtual {
    fn requires_totalvfs(&self) -> bool {
        true
    }
}

/// Monitors a NIC on an unknown NUMA node.
#[derive(Debug, Default)]
struct NumaUnknownPasses;

impl Policy for NumaUnknownPasses {
    fn is_near_gpu(&self, numa_node: i64, gpu_nodes: &BTreeSet<i64>) -> bool {
        numa_node < 0 || gpu_nodes.contains(&numa_node)
    }
}

/// Does not check whether a function is virtual.
#[derive(Debug, Default)]
struct ReportsVirtualFunctions;

impl Policy for ReportsVirtualFunctions {
    fn skips_virtual_functions(&self) -> bool {
        false
    }
}

/// Treats an unreadable route table as one without a default route.
#[derive(Debug, Default)]
struct UnreadableRouteIsNoRoute;

impl Policy for UnreadableRouteIsNoRoute {
    fn takes_unreadable_route_for_none(&self) -> bool {
        true
    }
}

/// Monitors NICs of every vendor.
#[derive(Debug, Default)]
struct WatchesEveryMake;

impl Policy for WatchesEveryMake {
    fn is_ours(&self, _: bool) -> bool {
        true
    }
}
