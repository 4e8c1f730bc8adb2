//! Builds a platform from what was read of a node.
//!
//! It reads nothing itself: a [`Snapshot`] has the texts, of a live node or of a dump. Missing
//! values are chosen and marked plausible; what a profile cannot express is listed in a note.
//! Identifiers (GUIDs, hardware addresses, serial numbers, the host's name) are left out by default:
//! machines built from the platform generate their own. Start at [`capture`].

mod cards;
mod dump;
mod gpus;
mod kept_identifiers;
mod nics;
mod ports;
mod roles;
mod snapshot;
mod unlinked_vfs;
pub(crate) mod write;

use std::collections::{BTreeMap, BTreeSet};

pub use dump::from_dump;
pub use snapshot::Snapshot;

use crate::profile::{Interface, Profile, Roles};
use crate::provenance::{self, Entry};
use crate::topo::Topology;
use crate::{Identifiers, NicRole, Platforms};

/// Why no platform can be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// There is no RDMA device.
    #[error("there are no NICs of interest: no RDMA device was found\nhint: {hint}", hint = self.hint())]
    NoNics,
    /// Every device is on a function of another kind than PCI's; this is the first.
    #[error("device `{device}` is on no PCI function of its own\nhint: {hint}", hint = self.hint())]
    NoFunction {
        /// The device.
        device: String,
    },
    /// No driver file describes this device's ports.
    #[error("no driver file is about `{driver}` with link layer `{layer}` (device `{device}`)\nhint: {hint}", hint = self.hint())]
    NoDriver {
        /// The device.
        device: String,
        /// Its kernel driver, if known.
        driver: String,
        /// Its link layer.
        layer: String,
    },
    /// No file says which link layer the device has, and its kernel driver has several.
    #[error("the link layer of device `{device}` could not be read\nhint: {hint}", hint = self.hint())]
    NoLayer {
        /// The device.
        device: String,
    },
    /// No file says whose card it is.
    #[error("the PCI vendor of device `{device}` could not be read\nhint: {hint}", hint = self.hint())]
    NoVendor {
        /// The device.
        device: String,
    },
    /// The matrix has GPUs, and those of the bus are not NVIDIA's.
    #[error("the matrix is one of `nvidia-smi topo -m`, and the node's GPUs are AMD's\nhint: {hint}", hint = self.hint())]
    OtherGpus,
    /// A port's rate could not be read.
    #[error("the rate of device `{device}` could not be read\nhint: {hint}", hint = self.hint())]
    NoRate {
        /// The device.
        device: String,
    },
    /// A port's rate has an unknown spelling.
    #[error("device `{device}` has rate `{rate}`\nhint: {hint}", hint = self.hint())]
    Rate {
        /// The device.
        device: String,
        /// The text that was read.
        rate: String,
    },
}

impl CaptureError {
    /// The hint.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoNics => {
                "`/sys/class/infiniband` lists them; is a driver such as `mlx5_core` loaded?"
            }
            Self::NoFunction { .. } => "capture the host: a subfunction's card is described there",
            Self::NoDriver { .. } => {
                "write one, with `nicdrill platform new` as a start, and name its folder with `--platforms`"
            }
            Self::OtherGpus => {
                "leave `--topo` out, or give what `rocm-smi --showtopo` or `amd-smi topology` prints on this node"
            }
            Self::NoLayer { .. } => "`ports/1/link_layer` holds it",
            Self::NoVendor { .. } => {
                "`device/vendor` of the device holds it, or `device/uevent` as `PCI_ID`"
            }
            Self::NoRate { .. } => "`ports/1/rate` holds it",
            Self::Rate { .. } => "a rate is such as `400 Gb/sec (4X NDR)`",
        }
    }
}

impl CaptureError {
    /// The error without its hint.
    pub(super) fn cause(&self) -> String {
        let text = self.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    }
}

/// A captured profile, and notes about it.
#[derive(Clone, Debug)]
pub struct Captured {
    profile: Profile,
}

/// Builds a platform of this name from what was read of a node. `topology` is the output of
/// `nvidia-smi topo -m` on the node; without it, the metadata collector's file is used. `known` has
/// the drivers.
///
/// # Errors
/// If there are no NICs, a NIC has no driver file, or the matrix is of other GPUs.
pub fn capture(
    snapshot: &Snapshot,
    topology: Option<&Topology>,
    name: &str,
    known: &Platforms,
) -> Result<Captured, CaptureError> {
    let mut notes = Vec::new();
    let asymmetries = topology.into_iter().flat_map(Topology::asymmetries);
    notes.extend(asymmetries.map(|it| format!("In the matrix {it}.")));
    let gpus = gpus::gpus(snapshot, topology, &mut notes);
    if topology.is_some_and(|topology| !topology.gpus().is_empty())
        && gpus.profile.vendor == gpus::AMD
    {
        return Err(CaptureError::OtherGpus);
    }
    let nics = nics::nics(snapshot, topology, &gpus, known, &mut notes)?;
    let unread: Vec<&str> = snapshot.unread().map(|(path, _)| path).collect();
    if let Some(first) = unread.first() {
        notes.push(format!(
            "{} files could not be read, such as {first}.",
            unread.len()
        ));
    }
    let chosen_of_gpus: Vec<String> = gpus
        .chosen
        .iter()
        .map(|key| format!("gpus.{key}"))
        .collect();
    let profile = Profile {
        platform_version: 1,
        name: name.to_owned(),
        about: format!("a node with {} and {}", gpus.rendered(), nics.rendered()),
        cpus: cpus(snapshot, &gpus.pci(), &nics.addresses()),
        gpus: gpus.profile,
        models: nics.models,
        devices: nics.devices,
        skipped: nics.skipped,
        default_route: snapshot.text("route").and_then(default_route),
        interfaces: interfaces(snapshot, &nics.netdevs, &mut notes),
        roles: Roles::default(),
        counters: nics.counters,
        vfs: nics.vfs,
        identifiers: Identifiers::default(),
        variants: BTreeMap::new(),
        notes,
        provenance: provenance_of(&nics.chosen, &nics.assumed, &chosen_of_gpus),
    };
    Ok(Captured { profile })
}

impl Captured {
    /// Sets these roles, by device; other devices keep theirs, which is compute at first.
    #[must_use]
    pub fn with_roles(mut self, roles: &BTreeMap<String, NicRole>) -> Self {
        for device in &mut self.profile.devices {
            device.role = roles.get(&device.name).copied().unwrap_or(device.role);
        }
        let count = |role| {
            let devices = self.profile.devices.iter();
            devices.filter(|device| device.role == role).count()
        };
        self.profile.roles = Roles {
            management: count(NicRole::Management),
            compute: count(NicRole::Compute),
            storage: count(NicRole::Storage),
        };
        self
    }

    /// Sets the roles that the default route, the GPUs' NUMA nodes and the rates suggest, and marks them plausible: for a
    /// machine on which no matrix tells NICs apart.
    #[must_use]
    pub fn with_likely_roles(self) -> Self {
        let roles = roles::likely(&self.profile);
        let mut captured = self.with_roles(&roles);
        captured.profile.provenance.push(Entry {
            of: vec!["devices.*.role".to_owned(), "roles.*".to_owned()],
            plausible: Some(roles::WHY.to_owned()),
            ..Entry::default()
        });
        captured
    }

    /// Adds the identifiers of the node, as far as they were read.
    #[must_use]
    pub fn with_identifiers(mut self, snapshot: &Snapshot) -> Self {
        self.profile.identifiers = kept_identifiers::identifiers(snapshot, &self.profile);
        self.profile.provenance.push(Entry {
            of: vec!["identifiers.*".to_owned()],
            captured: Some("read on the node, and kept as it was asked".to_owned()),
            ..Entry::default()
        });
        self
    }

    /// The text of the platform's file.
    #[must_use]
    pub fn yaml(&self) -> String {
        let mut profile = self.profile.clone();
        let paths = provenance::paths_of_text(&write::yaml(&profile));
        for entry in &mut profile.provenance {
            entry.of.retain(|of| provenance::names_one(of, &paths));
        }
        profile.provenance.retain(|entry| !entry.of.is_empty());
        write::yaml(&profile)
    }

    /// Notes for the reader.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.profile.notes
    }
}

/// The CPUs of each NUMA node that a function is on.
fn cpus(
    snapshot: &Snapshot,
    gpus: &[crate::PciAddress],
    nics: &[crate::PciAddress],
) -> BTreeMap<i32, String> {
    let mut cpus = BTreeMap::new();
    for pci in gpus.iter().chain(nics) {
        let numa = snapshot.number(&format!("pci/{pci}/numa_node"));
        let list = snapshot.text(&format!("pci/{pci}/local_cpulist"));
        if let (Some(numa), Some(list)) = (numa.and_then(|it| i32::try_from(it).ok()), list)
            && !list.is_empty()
        {
            cpus.insert(numa, list.to_owned());
        }
    }
    // What is on no known node has the CPUs of all.
    if cpus.len() > 1 {
        cpus.remove(&-1);
    }
    cpus
}

/// The interface of the default route; the one with the lowest metric if there are several.
fn default_route(table: &str) -> Option<String> {
    let rows = table.lines().skip(1).filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_default = columns.get(1) == Some(&"00000000") && columns.get(7) == Some(&"00000000");
        let metric: u32 = columns.get(6)?.parse().ok()?;
        is_default.then(|| (metric, (*columns.first()?).to_owned()).into())?
    });
    let rows: Vec<(u32, String)> = rows.collect();
    rows.into_iter().min().map(|(_, name)| name)
}

/// Prefixes of interfaces of containers and virtual machines, which a machine at rest does not have.
const PASSING: &[&str] = &[
    "br-",
    "cali",
    "cilium",
    "cni",
    "docker",
    "dummy",
    "flannel",
    "gre",
    "ifb",
    "kube",
    "lxc",
    "nodelocaldns",
    "sit",
    "tap",
    "tun",
    "veth",
    "virbr",
    "vnet",
    "vxlan",
];

/// The interfaces that do not belong to an RDMA device, in the order of their indexes.
fn interfaces(
    snapshot: &Snapshot,
    of_nics: &BTreeSet<String>,
    notes: &mut Vec<String>,
) -> Vec<Interface> {
    let others = snapshot.names("net").into_iter();
    let others = others.filter(|name| *name != "lo" && !of_nics.contains(*name));
    let (passing, lasting): (Vec<&str>, Vec<&str>) =
        others.partition(|name| PASSING.iter().any(|prefix| name.starts_with(prefix)));
    if !passing.is_empty() {
        notes.push(format!(
            "{} interfaces of containers and the like are left out.",
            passing.len()
        ));
    }
    let of = |name: &str| {
        let files = snapshot.names(&format!("net/{name}"));
        let lowers = files.iter().filter_map(|file| file.strip_prefix("lower_"));
        Interface {
            name: name.to_owned(),
            lowers: lowers.map(str::to_owned).collect(),
            speed_mbps: snapshot.number(&format!("net/{name}/speed")),
        }
    };
    let mut found: Vec<(i64, Interface)> = lasting
        .into_iter()
        .map(|name| {
            let ifindex = snapshot.number(&format!("net/{name}/ifindex"));
            (ifindex.unwrap_or(i64::MAX), of(name))
        })
        .collect();
    found.sort_by(|(a, one), (b, other)| (a, &one.name).cmp(&(b, &other.name)));
    found.into_iter().map(|(_, interface)| interface).collect()
}

/// The provenance of the values: read on the node, or chosen.
fn provenance_of(
    chosen: &BTreeSet<String>,
    assumed: &BTreeSet<String>,
    chosen_of_gpus: &[String],
) -> Vec<Entry> {
    let entry = |of: &[&str]| Entry {
        of: of.iter().map(|path| (*path).to_owned()).collect(),
        ..Entry::default()
    };
    let mut entries = vec![
        Entry {
            sourced: Some("says what this file is about".to_owned()),
            ..entry(&["platform_version", "name", "about", "notes"])
        },
        Entry {
            captured: Some("read on the node".to_owned()),
            ..entry(&[
                "gpus.*",
                "cpus.*",
                "models.*",
                "devices.*",
                "skipped.*",
                "default_route",
                "interfaces.*",
                "counters.*",
                "vfs.*",
            ])
        },
        Entry {
            inferred: Some(
                "the driver files that fit the kernel driver and the link layer".to_owned(),
            ),
            ..entry(&["devices.*.driver"])
        },
        Entry {
            inferred: Some(
                "what the reference monitor takes each device for; to be confirmed by a person"
                    .to_owned(),
            ),
            ..entry(&["devices.*.role", "roles.*"])
        },
    ];
    for (paths, why) in [
        (chosen_of_gpus.iter().collect(), "not read: chosen"),
        (chosen.iter().collect(), "not read: chosen"),
        (
            assumed.iter().collect::<Vec<_>>(),
            "not at rest when it was read: assumed",
        ),
    ] {
        let paths: Vec<&str> = paths.into_iter().map(String::as_str).collect();
        if !paths.is_empty() {
            entries.push(Entry {
                plausible: Some(why.to_owned()),
                ..entry(&paths)
            });
        }
    }
    entries
}
