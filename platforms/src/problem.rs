//! What is wrong with a platform although it could be read: `nicdrill platform check`.

use std::collections::{BTreeMap, BTreeSet};

use crate::profile::Roles;
use crate::yaml::{self, YamlError};
use crate::{NodeName, Platform, Role, provenance};

/// Something in a platform that no machine can be, or that says two things.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Two devices, interfaces or functions share what only one can have.
    #[error("{what} `{value}` is there twice\nhint: each needs its own")]
    Twice {
        /// Device name, interface name, address or GUID.
        what: &'static str,
        /// The shared value.
        value: String,
    },
    /// A row of the topology has not one level for each GPU.
    #[error(
        "device `{device}` has {levels} topology levels for {gpus} GPUs\nhint: one level for each GPU, in their order"
    )]
    TopoLength {
        /// The device.
        device: String,
        /// How many levels its row has.
        levels: usize,
        /// How many GPUs there are.
        gpus: usize,
    },
    /// GPU addresses and NUMA nodes do not pair up.
    #[error(
        "there are {pci} GPU addresses and {numa} GPU NUMA nodes\nhint: one of each for every GPU"
    )]
    GpuCount {
        /// Addresses.
        pci: usize,
        /// NUMA nodes.
        numa: usize,
    },
    /// The roles of the devices do not add up to what `roles` says.
    #[error(
        "`roles` says {said}, the devices are {are} (management/compute/storage)\nhint: one of the two is wrong"
    )]
    Roles {
        /// The declared counts.
        said: String,
        /// The counts over the devices.
        are: String,
    },
    /// A port has a cable and is not there.
    #[error(
        "device `{device}` has a cable in port {port}, but {ports} ports\nhint: ports are numbered from 1"
    )]
    NoSuchPort {
        /// The device.
        device: String,
        /// The port's number.
        port: u8,
        /// How many ports the device has.
        ports: u8,
    },
    /// A port has no interface.
    #[error(
        "device `{device}` has {ports} ports and {netdevs} interfaces\nhint: one interface for each port"
    )]
    Interfaces {
        /// The device.
        device: String,
        /// How many ports it has.
        ports: u8,
        /// How many interfaces it has.
        netdevs: usize,
    },
    /// The default route leads through an interface that is not there.
    #[error(
        "`default_route` names interface `{0}`, which is not there\nhint: name one of the devices' `netdevs` or one of `interfaces`"
    )]
    NoSuchInterface(String),
    /// A counter that no driver of the platform has.
    #[error("`counters` names `{0}`, which no driver of this platform has")]
    NoSuchCounter(String),
    /// More virtual functions than a device can have.
    #[error("device `{device}` is to have {asked} virtual functions and can have {total}")]
    TooManyVfs {
        /// The physical function's device.
        device: String,
        /// How many it is to have.
        asked: u16,
        /// How many it can have.
        total: u16,
    },
    /// Nothing says where a value comes from.
    #[error(
        "nothing says where `{0}` comes from\nhint: name it under `provenance` as sourced, inferred or plausible"
    )]
    NoProvenance(String),
    /// A value has no form of its own, such as an infinite number where a text stands.
    #[error(transparent)]
    Unclear(YamlError),
    /// An entry under `provenance` has not exactly one mark.
    #[error("the provenance of `{0}` has not exactly one of `sourced`, `inferred`, `plausible`")]
    NotOneMark(String),
}

impl Platform {
    /// What is wrong with it, in the order of the file; empty if nothing is.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.check_gpus(&mut problems);
        self.check_devices(&mut problems);
        self.check_roles(&mut problems);
        self.check_names(&mut problems);
        self.check_vfs(&mut problems);
        for entry in &self.profile.provenance {
            if entry.mark().is_none() {
                problems.push(Problem::NotOneMark(entry.of.join(", ")));
            }
        }
        problems.extend(self.without_provenance());
        problems
    }

    /// Every value of the file that no entry of its `provenance` covers. The text is read once more
    /// as it stands, so that a value cannot escape by not being used.
    fn without_provenance(&self) -> Vec<Problem> {
        let (file, text) = &*self.source;
        let mut document: BTreeMap<String, serde_json::Value> = match yaml::read(file, text) {
            Ok(document) => document,
            Err(error) => return vec![Problem::Unclear(error)],
        };
        document.remove("provenance");
        let document = serde_json::Value::Object(document.into_iter().collect());
        let paths = provenance::paths(&document).into_iter();
        let covered = |path: &String| provenance::of_path(&self.profile.provenance, path).is_some();
        paths
            .filter(|path| !covered(path))
            .map(Problem::NoProvenance)
            .collect()
    }

    fn check_gpus(&self, problems: &mut Vec<Problem>) {
        let (pci, numa) = (self.profile.gpus.pci.len(), self.profile.gpus.numa.len());
        if pci != numa {
            problems.push(Problem::GpuCount { pci, numa });
        }
    }

    fn check_devices(&self, problems: &mut Vec<Problem>) {
        let gpus = self.profile.gpus.pci.len();
        for device in &self.profile.devices {
            let name = || device.name.clone();
            let levels = device.topo.0.len();
            if levels != gpus {
                problems.push(Problem::TopoLength {
                    device: name(),
                    levels,
                    gpus,
                });
            }
            for port in device
                .cabled
                .iter()
                .filter(|port| !(1..=device.ports).contains(*port))
            {
                let (port, ports) = (*port, device.ports);
                problems.push(Problem::NoSuchPort {
                    device: name(),
                    port,
                    ports,
                });
            }
            let netdevs = device.netdevs.len();
            if netdevs != usize::from(device.ports) {
                problems.push(Problem::Interfaces {
                    device: name(),
                    ports: device.ports,
                    netdevs,
                });
            }
        }
    }

    fn check_roles(&self, problems: &mut Vec<Problem>) {
        let count = |role| {
            self.profile
                .devices
                .iter()
                .filter(|device| device.role == role)
                .count()
        };
        let are = Roles {
            management: count(Role::Management),
            compute: count(Role::Compute),
            storage: count(Role::Storage),
        };
        if are != self.profile.roles {
            problems.push(Problem::Roles {
                said: self.profile.roles.to_string(),
                are: are.to_string(),
            });
        }
    }

    fn check_names(&self, problems: &mut Vec<Problem>) {
        let machine = self.machine(&NodeName::from("any"));
        let profile = &self.profile;
        let devices = profile.devices.iter().map(|device| device.name.clone());
        twice("device", devices, problems);
        let gpus = profile.gpus.pci.iter().map(ToString::to_string);
        let slots = profile.devices.iter().map(|device| device.pci.to_string());
        twice("address", gpus.chain(slots), problems);
        let own = machine
            .functions
            .values()
            .flat_map(|function| &function.netdevs);
        let own = own.map(|netdev| netdev.name.clone());
        let interfaces = profile
            .interfaces
            .iter()
            .map(|interface| interface.name.clone());
        twice("interface", own.chain(interfaces), problems);
        let rdma = machine
            .functions
            .values()
            .filter_map(|function| function.rdma.as_ref());
        twice(
            "node GUID",
            rdma.map(|rdma| format!("{:016x}", rdma.node_guid)),
            problems,
        );

        let known = || {
            let own = machine
                .functions
                .values()
                .flat_map(|function| &function.netdevs);
            own.map(|netdev| &netdev.name)
                .chain(machine.interfaces.keys())
        };
        if let Some(route) = &profile.default_route
            && !known().any(|name| name == route)
        {
            problems.push(Problem::NoSuchInterface(route.clone()));
        }
        let drivers = || {
            profile
                .devices
                .iter()
                .filter_map(|device| self.driver(&device.driver))
        };
        for counter in profile.counters.keys() {
            if !drivers().any(|driver| driver.counter(counter).is_some()) {
                problems.push(Problem::NoSuchCounter(counter.clone()));
            }
        }
    }

    fn check_vfs(&self, problems: &mut Vec<Problem>) {
        let Some(vfs) = &self.profile.vfs else { return };
        for device in self
            .profile
            .devices
            .iter()
            .filter(|device| vfs.of.contains(&device.name))
        {
            let total = self
                .profile
                .models
                .get(&device.model)
                .and_then(|model| model.sriov_totalvfs);
            let total = total.unwrap_or(0);
            if vfs.each > total {
                let device = device.name.clone();
                problems.push(Problem::TooManyVfs {
                    device,
                    asked: vfs.each,
                    total,
                });
            }
        }
    }
}

fn twice(what: &'static str, values: impl Iterator<Item = String>, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    let mut told = BTreeSet::new();
    for value in values {
        if !seen.insert(value.clone()) && told.insert(value.clone()) {
            problems.push(Problem::Twice { what, value });
        }
    }
}
