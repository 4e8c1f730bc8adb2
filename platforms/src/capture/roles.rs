//! The likely roles of devices on a machine where no matrix of GPUs and NICs tells them apart, as with AMD's tools, which
//! list GPUs only. Start at [`likely`].

use std::collections::BTreeMap;

use crate::NicRole;
use crate::profile::{Device, Profile};

/// Where the roles come from, in the words of `provenance`.
pub(super) const WHY: &str = "no matrix tells NICs apart: management is the device of the default route, and one on a NUMA node \
    without a GPU; of the others the fastest are compute, slower ones storage";

/// The role of each device, by its name. Chosen after the machines whose roles are known: jobs have the fastest ports.
pub(super) fn likely(profile: &Profile) -> BTreeMap<String, NicRole> {
    let gpus = &profile.gpus.numa;
    let are_nodes_known = gpus.iter().any(|node| *node >= 0);
    let is_management = |device: &Device| {
        let route = profile.default_route.as_ref();
        let has_route = route.is_some_and(|route| device.netdevs.contains(route));
        has_route || are_nodes_known && device.numa >= 0 && !gpus.contains(&device.numa)
    };
    let others = profile
        .devices
        .iter()
        .filter(|device| !is_management(device));
    let fastest = others.map(|device| device.rate.gbps()).max();
    let role = |device: &Device| {
        if is_management(device) {
            NicRole::Management
        } else if Some(device.rate.gbps()) == fastest {
            NicRole::Compute
        } else {
            NicRole::Storage
        }
    };
    let devices = profile.devices.iter();
    devices
        .map(|device| (device.name.clone(), role(device)))
        .collect()
}
