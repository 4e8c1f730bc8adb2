//! Converts a matrix to the metadata collector's format.

use super::Topology;
use crate::{Metadata, MetadataGpu, NodeName};

impl Topology {
    /// The result of a collector that has only this matrix: the NUMA node of each GPU, and for each
    /// NIC its level to each GPU ("NIC Health Monitor: Link State Detection", 12.2).
    ///
    /// Addresses, UUIDs, serial numbers and product names are not in the matrix and are empty. A
    /// NIC without a legend entry has its label as name, see [`Topology::unnamed`].
    #[must_use]
    pub fn metadata(&self, node: &NodeName, driver_version: &str, timestamp: &str) -> Metadata {
        let gpus = (0..).zip(self.gpus()).map(|(gpu_id, gpu)| MetadataGpu {
            gpu_id,
            uuid: String::new(),
            pci_address: String::new(),
            serial_number: String::new(),
            device_name: String::new(),
            numa_node: gpu.numa_node(),
        });
        Metadata {
            node: node.clone(),
            timestamp: timestamp.to_owned(),
            driver_version: driver_version.to_owned(),
            gpus: gpus.collect(),
            nic_topology: self
                .nic_levels()
                .map(|(nic, levels)| (nic.device(), levels.to_vec()))
                .collect(),
        }
    }
}
