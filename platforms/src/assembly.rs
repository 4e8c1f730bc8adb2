//! Builds a machine from a platform. Every field that profile and drivers do not state is derived
//! from the node's name and the position on the bus, so that the same platform on the same node
//! always gives the same machine, byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::bridges::{Endpoint, EndpointRole, Layout, link_speed};
use crate::ids::{Ids, boot_id, hash, uuid};
use crate::profile::{Device, Interface, Model, Vfs};
use crate::rest::CountersAtRest;
use crate::{
    Clock, Counters, DeviceName, Driver, Function, Gpu, LinkCondition, LinkLayer, LinkView,
    Machine, Metadata, MetadataFile, NetDev, NodeName, PciAddress, Platform, Port, PortNumber,
    PortState, Rate, Rdma, Route, Routes,
};

/// Wall time at which every world begins: 2025-03-01T00:00:00Z, in nanoseconds since 1970.
pub const WORLD_START_WALL_NS: u64 = 1_740_787_200 * 1_000_000_000;

/// Uptime of a machine at rest: ten minutes, in nanoseconds. Chosen.
pub const UPTIME_AT_REST_NS: u64 = 600 * 1_000_000_000;

impl Platform {
    /// The machine at rest: cabled ports are up, the others are down in their driver's way.
    #[must_use]
    pub fn machine(&self, node: &NodeName) -> Machine {
        let profile = &self.profile;
        let layout = self.layout();
        let gpus = profile.gpus.pci.iter().zip(&profile.gpus.numa).zip(0_u64..);
        let mut machine = Machine {
            node: node.clone(),
            boot_id: boot_id(node, 0),
            cpus: self.numa_nodes().into(),
            gpus: gpus
                .map(|((pci, numa), number)| self.gpu(node, layout.bus(pci), (*pci, *numa), number))
                .collect::<Vec<_>>()
                .into(),
            bridges: layout.bridges.clone().into(),
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
        let mut devices: Vec<&Device> = profile.devices.iter().collect();
        devices.sort_by_key(|device| device.pci);
        for device in devices {
            let bus = layout.bus(&device.pci);
            let function = Making::of(self, &machine, device, None).function(bus);
            machine.functions.insert(device.pci, function.into());
        }
        for (pf, count) in self.vfs_at_rest() {
            for number in 0..count {
                self.add_vf(&mut machine, pf, number);
            }
        }
        profile.identifiers.keep(&mut machine);
        machine.metadata = MetadataFile::Written(self.collect(&machine).into());
        machine
    }

    /// What the metadata collector would write for this machine now.
    #[must_use]
    pub fn collect(&self, machine: &Machine) -> Metadata {
        let collected = Metadata::collect(
            machine,
            &self.profile.gpus.driver_version,
            "2025-03-01T00:00:00Z",
        );
        Metadata {
            node: self.profile.identifiers.host_or(&machine.node),
            ..collected
        }
    }

    /// Adds the virtual function of this number (from 0) to a physical one, unassigned, under the
    /// lowest free name; returns its address. `None` if there is no such physical function, or it
    /// cannot have this virtual function.
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
        let pci = pf.routed(owner.sriov_offset.saturating_add(number));
        let vf = Device {
            name: machine.free_device_name().0,
            pci,
            netdevs: device
                .netdevs
                .iter()
                .map(|netdev| format!("{netdev}v{number}"))
                .collect(),
            cabled: Vec::new(),
            ..device.clone()
        };
        let bus = Arc::clone(&owner.bus);
        let function = Making::of(self, machine, &vf, Some(owner)).function(bus);
        machine.functions.insert(pci, function.into());
        machine.functions.get_mut(&pf)?.virtfns.push(pci);
        Some(pci)
    }

    /// The bridges, and where every function is below them.
    fn layout(&self) -> Layout {
        let profile = &self.profile;
        let gpus = profile.gpus.pci.iter().zip(&profile.gpus.numa).enumerate();
        let (pcie_speed, pcie_width) = self.gpu_link();
        let gpus = gpus.map(|(number, (pci, numa))| Endpoint {
            pci: *pci,
            numa: *numa,
            cpus: self.cpus(*numa),
            pcie_speed: pcie_speed.clone(),
            pcie_width,
            role: EndpointRole::Gpu(number),
        });
        let nics = profile.devices.iter().map(|device| {
            let model = self.model(device);
            Endpoint {
                pci: device.pci,
                numa: device.numa,
                cpus: self.cpus(device.numa),
                pcie_speed: model.pcie_speed.clone(),
                pcie_width: model.pcie_width,
                role: EndpointRole::Nic(device.topo.0.clone()),
            }
        });
        Layout::of(&nics.chain(gpus).collect::<Vec<_>>())
    }

    /// The NUMA nodes with CPUs, and those that GPUs and NICs name.
    fn numa_nodes(&self) -> BTreeMap<i32, String> {
        let profile = &self.profile;
        let devices = profile.devices.iter().map(|device| device.numa);
        let named = profile.gpus.numa.iter().copied().chain(devices);
        let mut nodes: BTreeMap<i32, String> = named.map(|node| (node, String::new())).collect();
        nodes.extend(profile.cpus.clone());
        nodes
    }

    fn model(&self, device: &Device) -> &Model {
        let model = self.profile.models.get(&device.model);
        model.expect("names of models are looked up when a platform is read")
    }

    /// Profiles do not state the links of GPUs: they are as fast as the fastest NIC's, with 16 lanes. Chosen.
    fn gpu_link(&self) -> (String, u8) {
        let models = self.profile.models.values();
        let fastest = models.max_by_key(|model| link_speed(&model.pcie_speed));
        let speed = fastest.map(|model| model.pcie_speed.clone());
        (speed.unwrap_or_default(), 16)
    }

    fn gpu(
        &self,
        node: &NodeName,
        bus: Arc<str>,
        (pci, numa): (PciAddress, i32),
        number: u64,
    ) -> Gpu {
        let id = hash(&[node.as_str(), "gpu", &pci.to_string()]);
        let (pcie_speed, pcie_width) = self.gpu_link();
        Gpu {
            pci,
            bus,
            numa,
            vendor: self.profile.gpus.vendor,
            device: self.profile.gpus.device,
            driver: Some(self.profile.gpus.kernel_driver.clone()),
            model: self.profile.gpus.model.clone(),
            uuid: format!("GPU-{}", uuid(id, number)),
            serial: format!("16{:011}", id % 100_000_000_000),
            cpus: self.cpus(numa),
            pcie_speed,
            pcie_width,
        }
    }

    fn cpus(&self, numa: i32) -> Option<String> {
        self.profile.cpus.get(&numa).cloned()
    }

    /// The default route and the network it leads through, 10.10.0.0/16.
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
}

/// A function that is being built.
struct Making<'a> {
    platform: &'a Platform,
    machine: &'a Machine,
    device: &'a Device,
    driver: &'a Driver,
    counters: &'a CountersAtRest,
    model: &'a Model,
    /// The physical function, if a virtual one is built.
    owner: Option<&'a Function>,
    ids: Ids,
}

impl<'a> Making<'a> {
    fn of(
        platform: &'a Platform,
        machine: &'a Machine,
        device: &'a Device,
        owner: Option<&'a Function>,
    ) -> Self {
        let known = "names of drivers and models are looked up when a platform is read";
        Self {
            platform,
            machine,
            device,
            driver: platform.drivers.get(&device.driver).expect(known),
            counters: platform.counters.get(&device.driver).expect(known),
            model: platform.model(device),
            owner,
            ids: Ids::of(&machine.node, &device.pci, platform.model(device).vendor, 0),
        }
    }

    fn function(&self, bus: Arc<str>) -> Function {
        let Self {
            platform,
            machine,
            device,
            driver,
            model,
            owner,
            ..
        } = self;
        let is_vf = owner.is_some();
        let mut netdevs = Vec::new();
        for ((name, port), ifindex) in device
            .netdevs
            .iter()
            .zip(self.ports())
            .zip(machine.next_ifindex()..)
        {
            netdevs.push(self.netdev(name, port, ifindex));
        }
        let hca_type = if is_vf {
            &model.vf_hca_type
        } else {
            &model.hca_type
        };
        let image = owner
            .and_then(|owner| owner.rdma.as_ref())
            .map(|rdma| rdma.sys_image_guid);
        let rdma = Rdma {
            name: DeviceName(device.name.clone()),
            incarnation: 0,
            hca_type: hca_type.clone(),
            fw_ver: model.fw_ver.clone(),
            board_id: model.board_id.clone(),
            hw_rev: model.hw_rev.clone(),
            node_desc: format!("{} {}", machine.node, device.name),
            node_guid: self.ids.node_guid(),
            sys_image_guid: image.unwrap_or(self.ids.sys_image_guid()),
            node_type: driver.node_type.clone(),
            files: driver.device_files.clone(),
            uverbs: machine.free_uverbs(),
            missing: BTreeSet::new(),
            ports: self
                .ports()
                .map(|port| (port, self.port(port).into()))
                .collect(),
        };
        let vf_device = model.vf_device.unwrap_or(model.device);
        Function {
            pci: device.pci,
            bus,
            incarnation: 0,
            vendor: model.vendor,
            device: if is_vf { vf_device } else { model.device },
            subsystem_vendor: model.subsystem_vendor,
            subsystem_device: model.subsystem_device,
            class: driver.pci_class,
            revision: model.revision,
            numa: device.numa,
            cpus: platform.cpus(device.numa),
            pcie_speed: model.pcie_speed.clone(),
            pcie_width: model.pcie_width,
            driver: Some(driver.kernel_driver.clone()),
            driver_file: driver.name.as_str().into(),
            sriov_totalvfs: if is_vf { None } else { model.sriov_totalvfs },
            sriov_offset: if is_vf { 0 } else { self.vf_offset() },
            sriov_vf_device: if is_vf { 0 } else { vf_device },
            virtfns: Vec::new(),
            physfn: owner.map(|owner| owner.pci),
            topo: if is_vf {
                Vec::new()
            } else {
                device.topo.0.clone()
            },
            rdma: Some(rdma),
            netdevs,
            in_other_namespace: false,
        }
    }

    fn ports(&self) -> impl Iterator<Item = PortNumber> + use<> {
        (1..=self.device.ports).map(PortNumber)
    }

    /// Virtual functions follow the last physical function of their card, those of the first before
    /// those of the second.
    fn vf_offset(&self) -> u16 {
        let card = self.device.pci.card();
        let devices = self.platform.profile.devices.iter();
        let mut siblings: Vec<PciAddress> = devices
            .map(|device| device.pci)
            .filter(|pci| pci.card() == card)
            .collect();
        siblings.sort_unstable();
        let place = siblings
            .iter()
            .position(|pci| *pci == self.device.pci)
            .unwrap_or(0);
        let small = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let total = self.model.sriov_totalvfs.unwrap_or(0);
        let before = small(place).saturating_mul(total.saturating_sub(1));
        small(siblings.len()).saturating_add(before)
    }

    /// The port view and rate at rest. An unassigned virtual function's port is down.
    fn at_rest(&self, port: PortNumber) -> (&'a LinkView, Rate) {
        let condition = match self.device.cabled.contains(&port.0) {
            _ if self.owner.is_some() => LinkCondition::Disabled,
            true => LinkCondition::Active,
            false => LinkCondition::Polling,
        };
        let view = self.driver.view(condition);
        (
            view,
            if view.rate {
                self.device.rate
            } else {
                Rate::WITHOUT_SPEED
            },
        )
    }

    fn netdev(&self, name: &str, port: PortNumber, ifindex: u32) -> NetDev {
        let (view, rate) = self.at_rest(port);
        NetDev {
            name: name.to_owned(),
            ifindex,
            arp_type: self.driver.arp_type,
            address: self.ids.hardware_address(self.driver.arp_type, port),
            mtu: self.driver.mtu,
            admin_up: self.owner.is_none(),
            operstate: view.operstate.clone(),
            carrier: view.carrier,
            speed_mbps: Some(if view.carrier {
                i64::from(rate.gbps()) * 1000
            } else {
                -1
            }),
            carrier_up_count: u64::from(view.carrier),
            carrier_down_count: u64::from(view.carrier),
            dev_port: u16::from(port.0) - 1,
            statistics: self.counters.statistics.clone(),
            lowers: Vec::new(),
        }
    }

    fn port(&self, port: PortNumber) -> Port {
        let Self {
            driver,
            counters,
            ids,
            device,
            ..
        } = self;
        let (view, rate) = self.at_rest(port);
        let managed = view.state == PortState::ACTIVE && driver.layer == LinkLayer::InfiniBand;
        let place = usize::from(port.0) - 1;
        Port {
            layer: driver.layer,
            layer_text: driver.link_layer_text.as_deref().map(Into::into),
            state: view.state,
            phys_state: view.phys_state,
            rate,
            lid: if managed { ids.lid(port) } else { 0 },
            sm_lid: u16::from(managed),
            lid_mask_count: 0,
            sm_sl: 0,
            cap_mask: driver.cap_mask,
            gids: ids.gids(
                driver.layer,
                port,
                (place < device.netdevs.len()).then_some(place),
            ),
            gid_table: driver.gid_table,
            pkeys: partition_keys(driver.pkey_table),
            umad: driver
                .has_umad
                .then(|| self.machine.free_umad() + u32::from(port.0) - 1),
            counters: counters.counters.clone(),
            hw_counters: counters.hw_counters.clone(),
            files: driver.port_files.clone().into(),
            query_error: None,
        }
    }
}

/// A table of this length with the default partition, full membership.
fn partition_keys(length: u16) -> Vec<u16> {
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
        statistics: Counters::default(),
        lowers: Vec::new(),
    }
}

fn plain_interface(node: &NodeName, interface: &Interface, ifindex: u32) -> NetDev {
    let id = hash(&[node.as_str(), "interface", &interface.name]).to_be_bytes();
    NetDev {
        name: interface.name.clone(),
        ifindex,
        arp_type: 1,
        // Locally administered.
        address: [&[0x02], &id[3..8]].concat(),
        mtu: 1500,
        operstate: "up".to_owned(),
        speed_mbps: interface.speed_mbps,
        carrier_up_count: 1,
        carrier_down_count: 1,
        lowers: interface.lowers.clone(),
        ..loopback()
    }
}
