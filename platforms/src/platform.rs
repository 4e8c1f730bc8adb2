//! A platform: a profile with one of its variants applied, and its declarations.
//!
//! Stories select ports by these declarations, independently of a monitor. `assembly.rs` builds machines.
//! Start at [`Platform::ports`] and [`Platform::machine`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::machine::NetDev;
use crate::profile::{Device, Profile, Roles};
use crate::provenance::{self, Mark};
use crate::rest::CountersAtRest;
use crate::source::Source;
use crate::{
    Card, DeviceName, Driver, Identifiers, LinkLayer, NicRole, NodeName, PciAddress, PortNumber,
    TopoLevel,
};

/// A platform, which can build machines.
#[derive(Clone, Debug)]
pub struct Platform {
    pub(crate) profile: Arc<Profile>,
    pub(crate) variant: Option<String>,
    pub(crate) drivers: Arc<BTreeMap<String, Driver>>,
    /// The counters of each driver at rest.
    pub(crate) counters: Arc<BTreeMap<String, CountersAtRest>>,
    /// PCI vendors whose cards the monitor under test watches.
    pub(crate) vendors: Arc<BTreeSet<u16>>,
    /// Whether it watches the cards too that their name or driver alone makes NVIDIA's.
    pub(crate) by_name: bool,
    /// Whether the monitor under test tells NICs apart by the matrix of GPUs and NICs.
    pub(crate) needs_topology: bool,
    /// The file it was read from.
    pub(crate) source: Arc<Source>,
}

/// A port as the platform declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortFacts {
    /// The function of the port.
    pub pci: PciAddress,
    /// The device's name at rest.
    pub device: DeviceName,
    /// Its number.
    pub port: PortNumber,
    /// Its declared role.
    pub role: NicRole,
    /// Its link layer.
    pub layer: LinkLayer,
    /// Whether it has a cable at rest.
    pub cabled: bool,
    /// Its card: the address without the function.
    pub card: Card,
    /// Its index among the cabled ports of its role, from 0; `None` without a cable.
    pub rail: Option<usize>,
    /// The driver file, such as `mlx5-eth`.
    pub driver_file: String,
    /// Its interface at rest.
    pub netdev: Option<String>,
    /// Whether the node's default route leads through one of its device's interfaces.
    pub has_default_route: bool,
    /// Whether its function has a NUMA node; -1 is none.
    pub has_numa_node: bool,
    /// Whether a PCIe switch connects its device to a GPU (`PIX` or `PXB`).
    pub is_near_gpu: bool,
    /// Whether it belongs to a virtual function.
    pub is_vf: bool,
    /// Whether its card is one that the monitor under test watches by its vendor ([`Platform::watches`]; NVIDIA's by default).
    pub is_of_vendor: bool,
    /// Whether the monitor under test starts on its machine: it has the data to classify NICs, or the monitor needs none.
    pub is_told_apart: bool,
}

impl PortFacts {
    /// Whether a monitor must monitor it: its vendor is watched, it is neither management nor virtual,
    /// and a monitor starts on its machine.
    #[must_use]
    pub fn is_monitored(&self) -> bool {
        self.is_told_apart && self.is_of_vendor && self.role != NicRole::Management && !self.is_vf
    }
}

/// Why a monitor must refuse to start on a machine: it could not distinguish a management NIC from others
/// (`lsd 4.1.2`, `lsd 12.2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no matrix of GPUs and NICs, as with GPUs that `nvidia-smi` does not support.
    #[error("the metadata has no NIC topology")]
    NoTopology,
    /// No GPU has a known NUMA node, as in many virtual machines.
    #[error("no GPU has a known NUMA node")]
    NoGpuNuma,
}

impl Platform {
    /// The texts that it was read from: that of its file, and those of the files of its devices' drivers, by their names.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        let devices = self.profile.devices.iter();
        let used: BTreeSet<&str> = devices.map(|device| device.driver.as_str()).collect();
        let drivers = used.into_iter().filter_map(|name| self.driver(name));
        let drivers = drivers.map(|driver| driver.source.text.as_str());
        [self.source.text.as_str()]
            .into_iter()
            .chain(drivers)
            .collect()
    }

    /// The file it was read from.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.source.file
    }

    /// Whether the two are copies of one platform. If `false`, they may still be equal.
    #[must_use]
    pub fn is_same_copy(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.profile, &other.profile)
            && Arc::ptr_eq(&self.drivers, &other.drivers)
            && self.variant == other.variant
            && self.vendors == other.vendors
            && self.by_name == other.by_name
            && self.needs_topology == other.needs_topology
    }

    /// The PCI vendors whose cards the monitor under test watches.
    #[must_use]
    pub fn vendors(&self) -> &BTreeSet<u16> {
        &self.vendors
    }

    /// Whether the monitor under test watches the card of a function with this address at rest, of this PCI vendor: the
    /// vendor is one of its own, or, where NVIDIA's is, the device is called `mlx5_<n>` at rest or its driver is `mlx5_core`
    /// (`lsd 5.3`; docs/decisions.md, 11).
    #[must_use]
    pub fn watches(&self, pci: PciAddress, vendor: u16) -> bool {
        let is_named = |device: &Device| {
            let number = device.name.strip_prefix("mlx5_");
            let driver = self.driver(&device.driver);
            number.is_some_and(|number| number.parse::<u32>().is_ok())
                || driver.is_some_and(|driver| driver.kernel_driver == "mlx5_core")
        };
        let mut devices = self.profile.devices.iter();
        self.vendors.contains(&vendor)
            || self.by_name && devices.any(|device| device.pci == pci && is_named(device))
    }

    /// Why the monitor under test must refuse to start here; `None` if it must start, as one that does not classify NICs
    /// by the matrix of GPUs and NICs must everywhere.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        self.documented_refusal().filter(|_| self.needs_topology)
    }

    /// Why a monitor by the documents must refuse to start here, whatever the monitor under test needs.
    #[must_use]
    pub fn documented_refusal(&self) -> Option<Refusal> {
        let Profile { gpus, devices, .. } = &*self.profile;
        if devices.iter().all(|device| device.topo.0.is_empty()) {
            Some(Refusal::NoTopology)
        } else if gpus.numa.iter().all(|numa| *numa < 0) {
            Some(Refusal::NoGpuNuma)
        } else {
            None
        }
    }

    /// The same platform without the identifiers of a captured machine, for worlds of several such
    /// machines.
    #[must_use]
    pub fn anonymous(&self) -> Self {
        if self.profile.identifiers.is_empty() {
            return self.clone();
        }
        let profile = Profile {
            identifiers: Identifiers::default(),
            ..(*self.profile).clone()
        };
        Self {
            profile: Arc::new(profile),
            ..self.clone()
        }
    }

    /// Notes for the reader.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.profile.notes.iter().map(String::as_str)
    }

    /// Its name; a variant follows a colon.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}:{variant}", self.profile.name),
            None => self.profile.name.clone(),
        }
    }

    /// A one-sentence description.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.profile.about
    }

    /// The file it was read from, with its variant applied.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The driver of this file name, such as `mlx5-eth`.
    #[must_use]
    pub fn driver(&self, file: &str) -> Option<&Driver> {
        self.drivers.get(file)
    }

    /// Every driver in the catalogue, by file name.
    pub fn drivers(&self) -> impl Iterator<Item = &Driver> {
        self.drivers.values()
    }

    /// The declared number of functions with each role.
    #[must_use]
    pub fn roles(&self) -> Roles {
        self.profile.roles
    }

    /// Every port of the machine at rest, in the order of the bus, as declared.
    #[must_use]
    pub fn ports(&self) -> Vec<PortFacts> {
        let machine = self.machine(&NodeName::from("any"));
        let mut rails: BTreeMap<NicRole, usize> = BTreeMap::new();
        let mut ports = Vec::new();
        let is_told_apart = self.refusal().is_none();
        let route = self.profile.default_route.as_deref();
        let is_of_route = |netdev: &NetDev| Some(netdev.name.as_str()) == route;
        let is_near = |level: &TopoLevel| matches!(level, TopoLevel::PIX | TopoLevel::PXB);
        for function in machine.functions.values() {
            let owner = function.physfn.unwrap_or(function.pci);
            let device = self
                .profile
                .devices
                .iter()
                .find(|device| device.pci == owner);
            let device = device.expect("every function at rest, or its physical one, is declared");
            let Some(rdma) = &function.rdma else { continue };
            for (number, port) in &rdma.ports {
                let is_vf = function.physfn.is_some();
                let cabled = !is_vf && device.cabled.contains(&number.0);
                let rail = cabled.then(|| {
                    let next = rails.entry(device.role).or_default();
                    *next += 1;
                    *next - 1
                });
                ports.push(PortFacts {
                    pci: function.pci,
                    device: rdma.name.clone(),
                    port: *number,
                    role: device.role,
                    layer: port.layer,
                    cabled,
                    card: function.card(),
                    rail,
                    driver_file: device.driver.clone(),
                    netdev: function
                        .netdevs
                        .get(usize::from(number.0) - 1)
                        .map(|netdev| netdev.name.clone()),
                    has_default_route: function.netdevs.iter().any(is_of_route),
                    has_numa_node: function.numa >= 0,
                    is_near_gpu: device.topo.0.iter().any(is_near),
                    is_vf,
                    is_of_vendor: self.watches(owner, function.vendor),
                    is_told_apart,
                });
            }
        }
        ports
    }

    /// The provenance of the value at `path` of the profile: the mark and its text. Paths are as in
    /// [`crate::provenance`]; `None` if no entry covers it.
    #[must_use]
    pub fn provenance(&self, path: &str) -> Option<(Mark, &str)> {
        provenance::of_path(&self.profile.provenance, path)?.mark()
    }
}
