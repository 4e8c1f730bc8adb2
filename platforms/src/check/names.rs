//! Checks of names and addresses: unique values, and references to things that do not exist.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use crate::ProblemKind;
use crate::problem::NODE_GUID;

impl Check<'_> {
    pub(super) fn names(&mut self) {
        self.devices_twice();
        self.addresses();
        self.interfaces_twice();
        self.guids();
        self.dangling();
    }

    fn devices_twice(&mut self) {
        let devices = &self.platform.profile.devices;
        let names = devices.iter().map(|device| device.name.clone());
        for (number, value) in twice(names) {
            self.flag_device(
                number,
                "name",
                ProblemKind::Twice {
                    what: "device",
                    value,
                },
            );
        }
    }

    fn addresses(&mut self) {
        let profile = &self.platform.profile;
        let gpus = profile.gpus.pci.len();
        let slots = profile.devices.iter().map(|device| device.pci);
        let all = profile.gpus.pci.iter().copied().chain(slots);
        let what = "address";
        for (number, value) in twice(all.map(|pci| pci.to_string())) {
            match number.checked_sub(gpus) {
                Some(device) => self.flag_device(device, "pci", ProblemKind::Twice { what, value }),
                None => {
                    self.flag(
                        &format!("gpus.pci.{number}"),
                        ProblemKind::Twice { what, value },
                    );
                }
            }
        }
        // A virtual function needs an address of its own.
        let Some(machine) = self.machine else { return };
        let vfs = profile.vfs.as_ref();
        let asked = vfs.map_or(0, |vfs| usize::from(vfs.each) * vfs.of.len());
        let slots: BTreeSet<_> = profile.devices.iter().map(|device| device.pci).collect();
        if asked > 0 && machine.functions.len() < slots.len() + asked {
            let problem = ProblemKind::VfsCollide { asked };
            self.flag("vfs", problem);
        }
    }

    fn interfaces_twice(&mut self) {
        let profile = &self.platform.profile;
        let mut places = Vec::new();
        let mut names = Vec::new();
        for (number, device) in profile.devices.iter().enumerate() {
            for (place, name) in device.netdevs.iter().enumerate() {
                places.push(Some((number, place)));
                names.push(name.clone());
            }
        }
        let own = names.len();
        names.extend(profile.interfaces.iter().map(|it| it.name.clone()));
        let what = "interface";
        for (number, value) in twice(names.into_iter()) {
            match places.get(number).copied().flatten() {
                Some((device, place)) => {
                    let key = format!("netdevs.{place}");
                    self.flag_device(device, &key, ProblemKind::Twice { what, value });
                }
                None => {
                    let path = format!("interfaces.{}.name", number - own);
                    self.flag(&path, ProblemKind::Twice { what, value });
                }
            }
        }
    }

    fn guids(&mut self) {
        let Some(machine) = self.machine else { return };
        let rdma = machine.functions.values().filter_map(|it| it.rdma.as_ref());
        let what = NODE_GUID;
        for (_, value) in twice(rdma.map(|rdma| format!("{:016x}", rdma.node_guid))) {
            self.flag("devices", ProblemKind::Twice { what, value });
        }
    }

    /// Reports lower interfaces that do not exist.
    fn dangling(&mut self) {
        let profile = &self.platform.profile;
        let Some(machine) = self.machine else { return };
        let own = machine.functions.values().flat_map(|it| &it.netdevs);
        let own = own.map(|netdev| netdev.name.clone());
        let known: BTreeSet<String> = own.chain(machine.interfaces.keys().cloned()).collect();
        if let Some(route) = profile
            .default_route
            .clone()
            .filter(|it| !known.contains(it))
        {
            self.flag("default_route", ProblemKind::NoSuchInterface(route));
        }
        for (number, interface) in profile.interfaces.iter().enumerate() {
            for lower in interface.lowers.iter().filter(|it| !known.contains(*it)) {
                let problem = ProblemKind::DanglingLower {
                    interface: interface.name.clone(),
                    lower: lower.clone(),
                };
                self.flag(&format!("interfaces.{number}.lowers"), problem);
            }
        }
    }
}

/// The duplicate values, each once, with the index of the second occurrence.
fn twice(values: impl Iterator<Item = String>) -> Vec<(usize, String)> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (number, value) in values.enumerate() {
        let times = times.entry(value.clone()).or_default();
        *times += 1;
        if *times == 2 {
            found.push((number, value));
        }
    }
    found
}
