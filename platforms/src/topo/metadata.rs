//! From a matrix to what the metadata collector writes of it.

use super::Topology;
use crate::{Metadata, MetadataGpu, NodeName};

impl Topology {
    /// What a collector knows that has this matrix and nothing else: the NUMA node of each GPU, and
    /// for each NIC a level for each GPU ("NIC Health Monitor: Link State Detection", 12.2).
    ///
    /// Addresses, UUIDs, serial numbers and product names come from the driver's library, not from
    /// the matrix; they are empty. A NIC that no legend names goes by its label, see
    /// [`Topology::unnamed`].
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
