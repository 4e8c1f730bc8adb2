//! The metadata collector's result for a node: its GPUs, and the level of each NIC to each GPU.
//!
//! The file's format is NVSentinel's (`data-models/pkg/model/gpu_metadata.go`, `lsd 12.2`). Names
//! are those at the time of collection; a later rename makes them stale.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{DeviceName, Machine, NodeName, TopoLevel};

/// The collector's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The node.
    pub node: NodeName,
    /// The time of collection, in the format of RFC 3339.
    pub timestamp: String,
    /// The GPU driver's version.
    pub driver_version: String,
    /// The GPUs.
    pub gpus: Vec<MetadataGpu>,
    /// For each NIC, its level to each GPU.
    pub nic_topology: BTreeMap<DeviceName, Vec<TopoLevel>>,
}

/// A GPU in the collector's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MetadataGpu {
    /// Its number, from 0.
    pub gpu_id: u32,
    /// Its UUID.
    pub uuid: String,
    /// Its address on the bus.
    pub pci_address: String,
    /// Its serial number.
    pub serial_number: String,
    /// Its product name.
    pub device_name: String,
    /// Its NUMA node; -1 if unknown.
    pub numa_node: i32,
}

impl Metadata {
    /// The result of a collector that runs now on this machine.
    ///
    /// A device is in the topology if `topo -m` lists it: virtual functions, and functions without
    /// an RDMA device here, are not.
    #[must_use]
    pub fn collect(machine: &Machine, driver_version: &str, timestamp: &str) -> Self {
        let gpus = (0..)
            .zip(machine.gpus.iter())
            .map(|(gpu_id, gpu)| MetadataGpu {
                gpu_id,
                uuid: gpu.uuid.clone(),
                pci_address: gpu.pci.to_string(),
                serial_number: gpu.serial.clone(),
                device_name: gpu.model.clone(),
                numa_node: gpu.numa,
            });
        let seen = machine.functions.values().filter(|function| {
            machine.class_present && !function.in_other_namespace && !function.topo.is_empty()
        });
        let rows = seen.filter_map(|function| {
            Some((function.rdma.as_ref()?.name.clone(), function.topo.clone()))
        });
        Self {
            node: machine.node.clone(),
            timestamp: timestamp.to_owned(),
            driver_version: driver_version.to_owned(),
            gpus: gpus.collect(),
            nic_topology: rows.collect(),
        }
    }

    /// The text of the file: JSON, indented by two spaces, as the collector writes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct File<'a> {
            version: &'a str,
            timestamp: &'a str,
            node_name: &'a str,
            driver_version: &'a str,
            chassis_serial: Option<&'a str>,
            gpus: &'a [MetadataGpu],
            nvswitches: [String; 0],
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            nic_topology: BTreeMap<&'a DeviceName, Vec<String>>,
        }
        let rows = self.nic_topology.iter();
        let file = File {
            version: "1.0",
            timestamp: &self.timestamp,
            node_name: self.node.as_str(),
            driver_version: &self.driver_version,
            chassis_serial: None,
            gpus: &self.gpus,
            nvswitches: [],
            nic_topology: rows
                .map(|(name, row)| (name, row.iter().map(ToString::to_string).collect()))
                .collect(),
        };
        serde_json::to_string_pretty(&file).expect("texts and numbers under text keys are JSON")
    }
}
