//! The numbers and names that a kernel assigns next.

use crate::{DeviceName, Machine, Rdma};

impl Machine {
    /// The index of the next interface.
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

    /// The lowest number such that no `umad` device has it or a higher one.
    #[must_use]
    pub fn free_umad(&self) -> u32 {
        let ports = self.rdma().flat_map(|rdma| rdma.ports.values());
        ports
            .filter_map(|port| port.umad)
            .max()
            .map_or(0, |last| last + 1)
    }

    /// The lowest `mlx5_<n>` that no device has.
    #[must_use]
    pub(crate) fn free_device_name(&self) -> DeviceName {
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
