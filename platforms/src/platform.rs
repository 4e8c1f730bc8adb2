//! A platform: a profile with one of its variants applied, and the machine it makes.
//!
//! Start at [`Platforms::shipped`], then [`Platforms::get`] and [`Platform::machine`].

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::profile::{Change, Device, Interface, Profile, Roles, Variant, Vfs};
use crate::yaml::{self, YamlError};
use crate::{
    Clock, CounterValue, DeviceName, Driver, Face, Function, Gid, GidKind, Gpu, LinkCondition,
    LinkLayer, Machine, Metadata, MetadataFile, NetDev, NodeName, PciAddress, Port, PortNumber,
    Rate, Rdma, Role, Route, Routes,
};

/// Wall time at which every world begins: 2025-03-01T00:00:00Z, nanoseconds since 1970.
pub const WORLD_START_WALL_NS: u64 = 1_740_787_200 * 1_000_000_000;

/// How long a machine at rest has been up: ten minutes, nanoseconds. Chosen.
pub const UPTIME_AT_REST_NS: u64 = 600 * 1_000_000_000;

/// Every platform known, shipped ones and a vendor's own.
#[derive(Clone, Debug)]
pub struct Platforms {
    all: BTreeMap<String, Platform>,
}

/// A machine's description, ready to make machines of.
#[derive(Clone, Debug)]
pub struct Platform {
    profile: Profile,
    variant: Option<String>,
    drivers: Arc<BTreeMap<String, Driver>>,
}

/// Why a platform could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlatformError {
    /// The text is not what it should be.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// Two files describe platforms, or drivers, of one name.
    #[error("`{name}` is described twice: the second time in `{file}`\nhint: give it another name")]
    Twice {
        /// The name.
        name: String,
        /// The second file.
        file: String,
    },
    /// The form's version is not known.
    #[error(
        "`{file}` has version {version}, only 1 is known\nhint: write `platform_version: 1` (or `driver_version: 1`)"
    )]
    Version {
        /// The file.
        file: String,
        /// Its version.
        version: u32,
    },
    /// A driver lacks a face, a timing or the like.
    #[error(
        "driver `{driver}` says nothing about `{missing}`\nhint: every condition needs a face, every duration a value, every restart its `keeps`"
    )]
    Incomplete {
        /// The driver.
        driver: String,
        /// What is missing.
        missing: String,
    },
    /// A name leads nowhere.
    #[error("platform `{platform}` names {what} `{name}`, which is not there\nhint: {hint}")]
    Unknown {
        /// The platform, with its variant.
        platform: String,
        /// What is named: `driver`, `model`, `device` …
        what: &'static str,
        /// The name.
        name: String,
        /// The names that are there.
        hint: String,
    },
}

/// A port as the platform declares it, by which stories choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortFacts {
    /// The function it belongs to.
    pub pci: PciAddress,
    /// The device's name at rest.
    pub device: DeviceName,
    /// Its number.
    pub port: PortNumber,
    /// What it is declared to be for.
    pub role: Role,
    /// Its link layer.
    pub layer: LinkLayer,
    /// Whether it has a cable at rest.
    pub cabled: bool,
    /// Its card: the address without the function.
    pub card: String,
    /// Its place among the cabled ports of its role, from 0; `None` without a cable.
    pub rail: Option<usize>,
    /// The driver file, such as `mlx5-eth`.
    pub driver_file: String,
    /// Its interface at rest.
    pub netdev: Option<String>,
    /// Whether it is a virtual function's.
    pub is_vf: bool,
}

impl PortFacts {
    /// Whether a monitor is to watch it: neither management nor virtual.
    #[must_use]
    pub fn is_monitored(&self) -> bool {
        self.role != Role::Management && !self.is_vf
    }
}

const SHIPPED: &[(&str, &str)] = &[
    (
        "drivers/mlx5-ib.yaml",
        include_str!("../drivers/mlx5-ib.yaml"),
    ),
    (
        "drivers/mlx5-eth.yaml",
        include_str!("../drivers/mlx5-eth.yaml"),
    ),
    (
        "profiles/h100-oci.yaml",
        include_str!("../profiles/h100-oci.yaml"),
    ),
];

impl Platforms {
    /// The platforms that ship with nicdrill.
    ///
    /// # Panics
    /// If a shipped file is broken, which a test rules out.
    #[must_use]
    pub fn shipped() -> Self {
        Self::of_texts(SHIPPED).expect("the shipped platforms are read by a test")
    }

    /// The shipped platforms and those in `texts`: file name and text of each file of a vendor's
    /// folder. A file is a driver if it has the key `driver_version`, else a platform.
    ///
    /// # Errors
    /// The first file that cannot be read or does not fit the others.
    pub fn read(texts: &[(&str, &str)]) -> Result<Self, PlatformError> {
        let all: Vec<(&str, &str)> = SHIPPED.iter().chain(texts).copied().collect();
        Self::of_texts(&all)
    }

    /// Every platform and variant, by name (`h100-oci`, `h100-oci:no-default-route`).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Platform)> {
        self.all
            .iter()
            .map(|(name, platform)| (name.as_str(), platform))
    }

    /// The platform of this name; a variant follows a colon.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Platform> {
        self.all.get(name)
    }

    fn of_texts(texts: &[(&str, &str)]) -> Result<Self, PlatformError> {
        let is_driver = |text: &str| text.lines().any(|line| line.starts_with("driver_version:"));
        let mut drivers: BTreeMap<String, Driver> = BTreeMap::new();
        for (file, text) in texts.iter().filter(|(_, text)| is_driver(text)) {
            let driver: Driver = yaml::read(file, text)?;
            versioned(file, driver.driver_version)?;
            driver.complete()?;
            unique(file, &driver.name, drivers.contains_key(&driver.name))?;
            drivers.insert(driver.name.clone(), driver);
        }
        let drivers = Arc::new(drivers);
        let mut all: BTreeMap<String, Platform> = BTreeMap::new();
        for (file, text) in texts.iter().filter(|(_, text)| !is_driver(text)) {
            let profile: Profile = yaml::read(file, text)?;
            versioned(file, profile.platform_version)?;
            unique(file, &profile.name, all.contains_key(&profile.name))?;
            let base = Platform {
                profile,
                variant: None,
                drivers: Arc::clone(&drivers),
            };
            for platform in base.with_variants()? {
                platform.resolve()?;
                all.insert(platform.name(), platform);
            }
        }
        Ok(Self { all })
    }
}

fn versioned(file: &str, version: u32) -> Result<(), PlatformError> {
    match version {
        1 => Ok(()),
        _ => Err(PlatformError::Version {
            file: file.to_owned(),
            version,
        }),
    }
}

fn unique(file: &str, name: &str, known: bool) -> Result<(), PlatformError> {
    match known {
        false => Ok(()),
        true => Err(PlatformError::Twice {
            name: name.to_owned(),
            file: file.to_owned(),
        }),
    }
}

impl Platform {
    /// Its name; a variant follows a colon.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}:{variant}", self.profile.name),
            None => self.profile.name.clone(),
        }
    }

    /// What machine it is, in a sentence.
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

    /// How many functions are declared to have each role.
    #[must_use]
    pub fn roles(&self) -> Roles {
        self.profile.roles
    }

    /// Every port of the machine at rest, in the order of the bus, as declared.
    #[must_use]
    pub fn ports(&self) -> Vec<PortFacts> {
        let machine = self.machine(&NodeName::from("any"));
        let mut rails: BTreeMap<Role, usize> = BTreeMap::new();
        let mut ports = Vec::new();
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
                    is_vf,
                });
            }
        }
        ports
    }

    /// The machine at rest: cabled ports up, the others down as their driver shows it.
    #[must_use]
    pub fn machine(&self, node: &NodeName) -> Machine {
        let profile = &self.profile;
        let gpus = profile.gpus.pci.iter().zip(&profile.gpus.numa).zip(0_u64..);
        let mut machine = Machine {
            node: node.clone(),
            boot_id: boot_id(node, 0),
            gpus: gpus
                .map(|((pci, numa), number)| self.gpu(node, *pci, *numa, number))
                .collect(),
            functions: BTreeMap::new(),
            interfaces: BTreeMap::new(),
            class_present: true,
            routes: self.routes(),
            metadata: MetadataFile::Missing,
            clock: Clock {
                wall_ns: WORLD_START_WALL_NS,
                boot_ns: UPTIME_AT_REST_NS,
            },
        };
        machine
            .interfaces
            .insert("lo".to_owned(), loopback().into());
        for interface in &profile.interfaces {
            let netdev = plain_interface(node, interface, machine.next_ifindex());
            machine
                .interfaces
                .insert(interface.name.clone(), netdev.into());
        }
        for device in &profile.devices {
            let function = self.function(&machine, device);
            machine.functions.insert(device.pci, function.into());
        }
        for (pf, count) in self.vfs_at_rest() {
            for number in 0..count {
                self.add_vf(&mut machine, pf, number);
            }
        }
        machine.metadata = MetadataFile::Written(self.collect(&machine).into());
        machine
    }

    /// What the metadata collector would write for this machine now.
    #[must_use]
    pub fn collect(&self, machine: &Machine) -> Metadata {
        Metadata::collect(
            machine,
            &self.profile.gpus.driver_version,
            "2025-03-01T00:00:00Z",
        )
    }

    /// Adds the virtual function of this number (from 0) to a physical one, unassigned, under the
    /// lowest free name; returns its address. `None` if there is no such physical function, or it
    /// can have no such virtual one.
    pub fn add_vf(&self, machine: &mut Machine, pf: PciAddress, number: u16) -> Option<PciAddress> {
        let owner = machine.functions.get(&pf)?;
        if owner.sriov_totalvfs.is_none_or(|total| number >= total) {
            return None;
        }
        let device = self
            .profile
            .devices
            .iter()
            .find(|device| device.pci == pf)?;
        let pci = pf.routed(owner.sriov_offset + number);
        let name = machine.free_device_name();
        let suffix = format!("v{number}");
        let vf = Device {
            name: name.0,
            pci,
            netdevs: device
                .netdevs
                .iter()
                .map(|netdev| format!("{netdev}{suffix}"))
                .collect(),
            cabled: Vec::new(),
            ..device.clone()
        };
        let image = owner.rdma.as_ref().map(|rdma| rdma.sys_image_guid);
        let mut function = self.function(machine, &vf);
        let model = &self.profile.models[&device.model];
        function.device = model.vf_device.unwrap_or(model.device);
        function.sriov_totalvfs = None;
        function.sriov_offset = 0;
        function.physfn = Some(pf);
        function.topo = Vec::new();
        if let Some(rdma) = &mut function.rdma {
            rdma.sys_image_guid = image.unwrap_or(rdma.sys_image_guid);
            rdma.hca_type = model.vf_hca_type.clone().or_else(|| model.hca_type.clone());
        }
        machine.functions.insert(pci, function.into());
        let owner = machine.functions.get_mut(&pf).expect("it was there above");
        owner.virtfns.push(pci);
        Some(pci)
    }

    fn gpu(&self, node: &NodeName, pci: PciAddress, numa: i32, number: u64) -> Gpu {
        let id = hash(&[node.as_str(), "gpu", &pci.to_string()]);
        Gpu {
            pci,
            numa,
            device: self.profile.gpus.device,
            model: self.profile.gpus.model.clone(),
            uuid: format!("GPU-{}", uuid(id, number)),
            serial: format!("16{:011}", id % 100_000_000_000),
            cpus: self.cpus(numa),
        }
    }

    fn cpus(&self, numa: i32) -> String {
        self.profile.cpus.get(&numa).cloned().unwrap_or_default()
    }

    fn routes(&self) -> Routes {
        let Some(interface) = &self.profile.default_route else {
            return Routes::Rows(Vec::new());
        };
        let row = |destination, gateway, prefix| Route {
            interface: interface.clone(),
            destination,
            gateway,
            prefix,
            metric: 100,
        };
        Routes::Rows(vec![
            row([0; 4], [10, 10, 0, 1], 0),
            row([10, 10, 0, 0], [0; 4], 16),
        ])
    }

    fn vfs_at_rest(&self) -> Vec<(PciAddress, u16)> {
        let Some(Vfs { each, of }) = &self.profile.vfs else {
            return Vec::new();
        };
        let devices = self
            .profile
            .devices
            .iter()
            .filter(|device| of.contains(&device.name));
        devices.map(|device| (device.pci, *each)).collect()
    }

    fn function(&self, machine: &Machine, device: &Device) -> Function {
        let driver = &self.drivers[&device.driver];
        let model = &self.profile.models[&device.model];
        let card = device.pci.card();
        let siblings: Vec<&Device> = self
            .profile
            .devices
            .iter()
            .filter(|other| other.pci.card() == card)
            .collect();
        let place = siblings
            .iter()
            .position(|other| other.pci == device.pci)
            .unwrap_or(0);
        let total = model.sriov_totalvfs.unwrap_or(0);
        let small = |number: usize| u16::try_from(number).expect("a card has at most 8 functions");
        let ports = (1..=device.ports).map(PortNumber);
        let mut netdevs: Vec<NetDev> = Vec::new();
        for (name, number) in device.netdevs.iter().zip(ports.clone()) {
            let index = machine.next_ifindex() + u32::from(number.0) - 1;
            netdevs.push(self.netdev(machine, device, driver, name, number, index));
        }
        let ids = Ids::of(&machine.node, &device.pci, 0);
        let ports = ports.map(|number| {
            (
                number,
                self.port(machine, device, driver, number, &netdevs, &ids)
                    .into(),
            )
        });
        let rdma = Rdma {
            name: DeviceName(device.name.clone()),
            incarnation: 0,
            hca_type: model.hca_type.clone(),
            fw_ver: model.fw_ver.clone(),
            board_id: model.board_id.clone(),
            hw_rev: model.hw_rev.clone(),
            node_desc: format!("{} {}", machine.node, device.name),
            node_guid: ids.node_guid(),
            sys_image_guid: ids.sys_image_guid(),
            node_type: driver.node_type.clone(),
            uverbs: machine.free_uverbs(),
            ports: ports.collect(),
        };
        Function {
            pci: device.pci,
            incarnation: 0,
            vendor: model.vendor,
            device: model.device,
            subsystem_vendor: model.subsystem_vendor,
            subsystem_device: model.subsystem_device,
            class: driver.pci_class,
            revision: model.revision,
            numa: device.numa,
            cpus: self.cpus(device.numa),
            driver: Some(driver.kernel_driver.clone()),
            driver_file: driver.name.as_str().into(),
            sriov_totalvfs: model.sriov_totalvfs,
            sriov_offset: small(siblings.len()) + small(place) * total.saturating_sub(1),
            virtfns: Vec::new(),
            physfn: None,
            topo: device.topo.0.clone(),
            rdma: Some(rdma),
            netdevs,
            in_other_namespace: false,
        }
    }

    fn netdev(
        &self,
        machine: &Machine,
        device: &Device,
        driver: &Driver,
        name: &str,
        number: PortNumber,
        ifindex: u32,
    ) -> NetDev {
        let (face, rate) = at_rest(device, driver, number);
        let ids = Ids::of(&machine.node, &device.pci, 0);
        let files = driver.statistics.iter();
        NetDev {
            name: name.to_owned(),
            ifindex,
            arp_type: driver.arp_type,
            address: ids.hardware_address(driver.arp_type, number),
            mtu: driver.mtu,
            admin_up: true,
            operstate: face.operstate.clone(),
            carrier: face.carrier,
            speed_mbps: Some(if face.carrier {
                i64::from(rate.gbps()) * 1000
            } else {
                -1
            }),
            carrier_up_count: u64::from(face.carrier),
            carrier_down_count: u64::from(face.carrier),
            dev_port: u16::from(number.0) - 1,
            statistics: files
                .map(|file| (file.name.as_str().into(), CounterValue::Count(file.initial)))
                .collect(),
            lowers: Vec::new(),
        }
    }

    fn port(
        &self,
        machine: &Machine,
        device: &Device,
        driver: &Driver,
        number: PortNumber,
        netdevs: &[NetDev],
        ids: &Ids,
    ) -> Port {
        let (face, rate) = at_rest(device, driver, number);
        let count = |files: &[crate::CounterFile]| {
            let start = |file: &crate::CounterFile| {
                let value = self
                    .profile
                    .counters
                    .get(&file.name)
                    .copied()
                    .unwrap_or(file.initial);
                (file.name.as_str().into(), CounterValue::Count(value))
            };
            files.iter().map(start).collect()
        };
        let up = face.state == crate::PortState::ACTIVE;
        let managed = up && driver.layer == LinkLayer::InfiniBand;
        let place = usize::from(number.0) - 1;
        Port {
            layer: driver.layer,
            state: face.state,
            phys_state: face.phys_state,
            rate,
            lid: if managed { ids.lid(number) } else { 0 },
            sm_lid: u16::from(managed),
            lid_mask_count: 0,
            sm_sl: 0,
            cap_mask: driver.cap_mask,
            gids: ids.gids(driver.layer, number, netdevs.get(place).map(|_| place)),
            gid_table: driver.gid_table,
            pkeys: partition_keys(driver.pkey_table),
            umad: Some(machine.free_umad() + u32::from(number.0) - 1),
            counters: count(&driver.counters),
            hw_counters: count(&driver.hw_counters),
            query_error: None,
        }
    }

    /// This platform, as its base, then each of its variants.
    fn with_variants(self) -> Result<Vec<Self>, PlatformError> {
        let mut all = Vec::new();
        for (name, variant) in &self.profile.variants {
            let mut platform = self.clone();
            platform.variant = Some(name.clone());
            platform.apply(variant)?;
            all.push(platform);
        }
        all.insert(0, self);
        Ok(all)
    }

    fn apply(&mut self, variant: &Variant) -> Result<(), PlatformError> {
        let unknown = |platform: &Self, name: &str| {
            platform.unknown(
                "device",
                name,
                platform
                    .profile
                    .devices
                    .iter()
                    .map(|device| device.name.as_str()),
            )
        };
        self.profile.about = format!("{}; {}", self.profile.about, variant.about);
        for change in &variant.change {
            for name in &change.devices {
                let Some(place) = self
                    .profile
                    .devices
                    .iter()
                    .position(|device| device.name == *name)
                else {
                    return Err(unknown(self, name));
                };
                change.apply(&mut self.profile.devices[place]);
            }
        }
        for name in &variant.drop {
            if !self
                .profile
                .devices
                .iter()
                .any(|device| device.name == *name)
            {
                return Err(unknown(self, name));
            }
        }
        let profile = &mut self.profile;
        profile
            .devices
            .retain(|device| !variant.drop.contains(&device.name));
        profile.devices.extend(variant.add.iter().cloned());
        profile
            .interfaces
            .extend(variant.interfaces.iter().cloned());
        if let Some(interface) = &variant.default_route {
            profile.default_route = Some(interface.clone()).filter(|name| name != "none");
        }
        if let Some(numa) = &variant.gpu_numa {
            profile.gpus.numa.clone_from(numa);
        }
        if let Some(vfs) = &variant.vfs {
            profile.vfs = Some(vfs.clone());
        }
        if let Some(roles) = variant.roles {
            profile.roles = roles;
        }
        Ok(())
    }

    /// Whether every name leads somewhere, so that making a machine cannot fail.
    fn resolve(&self) -> Result<(), PlatformError> {
        let profile = &self.profile;
        for device in &profile.devices {
            if !self.drivers.contains_key(&device.driver) {
                let known = self.drivers.keys().map(String::as_str);
                return Err(self.unknown("driver", &device.driver, known));
            }
            if !profile.models.contains_key(&device.model) {
                let known = profile.models.keys().map(String::as_str);
                return Err(self.unknown("model", &device.model, known));
            }
        }
        let names = || profile.devices.iter().map(|device| device.name.as_str());
        let of = profile.vfs.iter().flat_map(|vfs| &vfs.of);
        for name in of {
            if !names().any(|known| known == name) {
                return Err(self.unknown("device", name, names()));
            }
        }
        Ok(())
    }

    fn unknown<'a>(
        &self,
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> PlatformError {
        let known: Vec<&str> = known.collect();
        let hint = match yaml::nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", known.join(", ")),
        };
        PlatformError::Unknown {
            platform: self.name(),
            what,
            name: name.to_owned(),
            hint,
        }
    }
}

impl Change {
    fn apply(&self, device: &mut Device) {
        fn set<T: Clone>(field: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                field.clone_from(value);
            }
        }
        set(&mut device.name, &self.name);
        set(&mut device.model, &self.model);
        set(&mut device.driver, &self.driver);
        set(&mut device.netdevs, &self.netdevs);
        set(&mut device.rate, &self.rate);
        set(&mut device.role, &self.role);
        set(&mut device.topo, &self.topo);
        set(&mut device.cabled, &self.cabled);
        set(&mut device.ports, &self.ports);
    }
}

fn at_rest<'a>(device: &Device, driver: &'a Driver, number: PortNumber) -> (&'a Face, Rate) {
    let cabled = device.cabled.contains(&number.0);
    let condition = if cabled {
        LinkCondition::Active
    } else {
        LinkCondition::Polling
    };
    let face = driver.face(condition);
    (
        face,
        if face.rate {
            device.rate
        } else {
            Rate::WITHOUT_SPEED
        },
    )
}

fn partition_keys(length: u16) -> Vec<u16> {
    // The default partition, with full membership.
    (0..length)
        .map(|index| if index == 0 { 0xffff } else { 0 })
        .collect()
}

fn loopback() -> NetDev {
    NetDev {
        name: "lo".to_owned(),
        ifindex: 1,
        arp_type: 772,
        address: vec![0; 6],
        mtu: 65536,
        admin_up: true,
        operstate: "unknown".to_owned(),
        carrier: true,
        speed_mbps: None,
        carrier_up_count: 0,
        carrier_down_count: 0,
        dev_port: 0,
        statistics: BTreeMap::new(),
        lowers: Vec::new(),
    }
}

fn plain_interface(node: &NodeName, interface: &Interface, ifindex: u32) -> NetDev {
    let id = hash(&[node.as_str(), "interface", &interface.name]).to_be_bytes();
    NetDev {
        name: interface.name.clone(),
        ifindex,
        arp_type: 1,
        address: [&[0x02], &id[3..8]].concat(),
        mtu: 1500,
        admin_up: true,
        operstate: "up".to_owned(),
        carrier: true,
        speed_mbps: interface.speed_mbps,
        carrier_up_count: 1,
        carrier_down_count: 1,
        lowers: interface.lowers.clone(),
        ..loopback()
    }
}

/// The numbers burnt into a piece of hardware.
#[derive(Clone, Copy, Debug)]
pub struct Ids {
    /// The card's number, 24 bits, the lowest three bits zero.
    card: u32,
    /// Which function of the card, 0 to 7.
    function: u32,
}

impl Ids {
    /// Of the function at `pci` on `node`; another `generation` is other hardware in that place.
    #[must_use]
    pub fn of(node: &NodeName, pci: &PciAddress, generation: u32) -> Self {
        let card = hash(&[node.as_str(), &pci.card(), &generation.to_string()]);
        Self {
            card: u32::try_from(card & 0x00ff_fff8).expect("24 bits"),
            function: u32::from(pci.function),
        }
    }

    /// The node GUID: NVIDIA's `94:6d:ae`, `0300`, and the function's number.
    #[must_use]
    pub fn node_guid(&self) -> u64 {
        0x946d_ae03_0000_0000 | u64::from(self.card | self.function)
    }

    /// The GUID that all functions of the card share.
    #[must_use]
    pub fn sys_image_guid(&self) -> u64 {
        0x946d_ae03_0000_0000 | u64::from(self.card)
    }

    /// The address of the interface of a port: 6 bytes, 20 for IP over InfiniBand.
    #[must_use]
    pub fn hardware_address(&self, arp_type: u16, port: PortNumber) -> Vec<u8> {
        match arp_type {
            32 => {
                let queue_pair = [0x00, 0x00, 0x10, 0x48];
                let prefix = [0xfe, 0x80, 0, 0, 0, 0, 0, 0];
                [
                    &queue_pair[..],
                    &prefix[..],
                    &self.port_guid(port).to_be_bytes()[..],
                ]
                .concat()
            }
            _ => self.mac(port).to_vec(),
        }
    }

    fn port_guid(&self, port: PortNumber) -> u64 {
        self.node_guid() + (u64::from(port.0) - 1) * 0x0100_0000
    }

    fn mac(&self, port: PortNumber) -> [u8; 6] {
        let [_, high, middle, low] = (self.card | self.function).to_be_bytes();
        [0x94, 0x6d, 0xae ^ (port.0 - 1), high, middle, low]
    }

    /// The local identifier that a subnet manager gives: 1 to 0xbfff.
    fn lid(&self, port: PortNumber) -> u16 {
        let id = hash(&[&self.node_guid().to_string(), &port.to_string()]);
        u16::try_from(2 + id % 0xb000).expect("below 0xbfff")
    }

    /// The GID table of a port whose interface has an address (`lsd 9.1`).
    fn gids(
        &self,
        layer: LinkLayer,
        port: PortNumber,
        netdev: Option<usize>,
    ) -> BTreeMap<u16, Gid> {
        let place = netdev.and_then(|place| u8::try_from(place).ok());
        let local = |id: [u8; 8]| {
            let mut bytes = [0; 16];
            bytes[..2].copy_from_slice(&[0xfe, 0x80]);
            bytes[8..].copy_from_slice(&id);
            bytes
        };
        if layer == LinkLayer::InfiniBand {
            let bytes = local(self.port_guid(port).to_be_bytes());
            return BTreeMap::from([(
                0,
                Gid {
                    bytes,
                    kind: GidKind::RoceV1,
                    netdev: None,
                },
            )]);
        }
        let [a, b, c, d, e, f] = self.mac(port);
        let link_local = local([a ^ 2, b, c, 0xff, 0xfe, d, e, f]);
        let mut mapped = [0; 16];
        let [_, high, middle, low] = (self.card | self.function).to_be_bytes();
        let address = [172, 16 + (high & 0x0f), middle, low];
        mapped[10..12].copy_from_slice(&[0xff, 0xff]);
        mapped[12..].copy_from_slice(&address);
        let pairs = [
            (link_local, GidKind::RoceV1),
            (link_local, GidKind::RoceV2),
            (mapped, GidKind::RoceV1),
            (mapped, GidKind::RoceV2),
        ];
        (0..)
            .zip(pairs.map(|(bytes, kind)| Gid {
                bytes,
                kind,
                netdev: place,
            }))
            .collect()
    }
}

/// The boot id of a node's boot of this number, from 0.
#[must_use]
pub fn boot_id(node: &NodeName, boot: u32) -> String {
    uuid(
        hash(&[node.as_str(), "boot", &boot.to_string()]),
        u64::from(boot),
    )
}

fn uuid(high: u64, salt: u64) -> String {
    let low = hash(&[&high.to_string(), &salt.to_string()]);
    let [a, b, c, d] = [
        high >> 32,
        high >> 16 & 0xffff,
        high & 0x0fff,
        low >> 48 & 0x3fff,
    ];
    format!(
        "{a:08x}-{b:04x}-4{c:03x}-{:04x}-{:012x}",
        d | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

/// FNV-1a over the texts, each closed by a byte that no text has.
fn hash(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xff]));
    let fnv = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // FNV's low bits mix badly for texts that differ in the last letter only.
    (fnv ^ fnv >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ fnv >> 32
}

impl Machine {
    /// The number the next interface gets.
    #[must_use]
    pub fn next_ifindex(&self) -> u32 {
        let own = self
            .functions
            .values()
            .flat_map(|function| &function.netdevs);
        let own = own.map(|netdev| netdev.ifindex);
        1 + self
            .interfaces
            .values()
            .map(|netdev| netdev.ifindex)
            .chain(own)
            .max()
            .unwrap_or(0)
    }

    /// The lowest number that no `uverbs` device has.
    #[must_use]
    pub fn free_uverbs(&self) -> u32 {
        let taken: Vec<u32> = self.rdma().map(|rdma| rdma.uverbs).collect();
        lowest_free(&taken)
    }

    /// The lowest number from which on no `umad` device has one.
    #[must_use]
    pub fn free_umad(&self) -> u32 {
        let ports = self.rdma().flat_map(|rdma| rdma.ports.values());
        ports
            .filter_map(|port| port.umad)
            .max()
            .map_or(0, |last| last + 1)
    }

    /// The lowest `mlx5_<n>` that no device bears.
    #[must_use]
    pub fn free_device_name(&self) -> DeviceName {
        let taken: Vec<u32> = self
            .rdma()
            .filter_map(|rdma| rdma.name.as_str().strip_prefix("mlx5_")?.parse().ok())
            .collect();
        DeviceName(format!("mlx5_{}", lowest_free(&taken)))
    }

    fn rdma(&self) -> impl Iterator<Item = &Rdma> {
        self.functions
            .values()
            .filter_map(|function| function.rdma.as_ref())
    }
}

fn lowest_free(taken: &[u32]) -> u32 {
    (0..)
        .find(|number| !taken.contains(number))
        .expect("there are more numbers than devices")
}
