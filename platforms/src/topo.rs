//! `nvidia-smi topo -m`: the matrix of GPUs and NICs, as a value, as text, and read back.
//!
//! A [`Topology`] says how near every device of the matrix is to every other, and what the tool
//! prints beside the GPUs. [`parse`] reads one from text that went through terminals and hands; its
//! rule is *never silently wrong*: what has two readings is refused with its place. Printing one
//! gives the tool's text, and [`parse`] of that gives the same value. A machine's own is
//! [`Platform::topology`](crate::Platform::topology).
//!
//! What is known only from elsewhere (addresses, UUIDs, serial numbers) is not in the matrix;
//! [`Topology::metadata`] leaves it empty. Nothing here judges what a NIC is for.
//!
//! Start at [`parse`]; `sheet.rs` finds the lines, `affinity.rs` reads what stands beside a GPU.

mod affinity;
mod error;
mod glyphs;
mod legend;
mod metadata;
mod parse;
mod render;
mod sheet;

pub use error::{TopoError, TopoFault};
pub use parse::parse;

use crate::{DeviceName, TopoLevel};

/// The matrix, and what the tool prints around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    gpus: Vec<TopoGpu>,
    nics: Vec<TopoNic>,
    /// Row by row over the GPUs, then the NICs; symmetric, `X` on the diagonal and nowhere else.
    levels: Vec<Vec<TopoLevel>>,
}

/// What the tool prints beside a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopoGpu {
    /// `CPU Affinity`, as printed; the tool cuts long lists. `None` if nothing or `N/A` is printed.
    pub cpus: Option<String>,
    /// `NUMA Affinity`, as printed: a node, or a list of nodes such as `0-1` or `0,2-17`. `None`
    /// if it is `N/A`, empty, or a driver has no such column.
    pub numa: Option<String>,
    /// `GPU NUMA ID`: the node of the GPU's own memory. `None` if it is `N/A` or not a column.
    pub numa_id: Option<u32>,
}

impl TopoGpu {
    /// The NUMA node for the metadata: the first of the printed list, -1 if unknown.
    ///
    /// On Grace the list is the CPU's node and then those of the GPU's memory, so the first is the
    /// node to which NICs belong.
    #[must_use]
    pub fn numa_node(&self) -> i32 {
        let first = self
            .numa
            .as_deref()
            .and_then(|list| list.split([',', '-']).next());
        first.and_then(|node| node.parse().ok()).unwrap_or(-1)
    }
}

/// A NIC of the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopoNic {
    /// How its row and its column are named: `NIC3`; older drivers print the device's name.
    pub label: String,
    /// The RDMA device; `None` if it is labelled `NIC3` and no legend says which that is.
    pub name: Option<DeviceName>,
}

impl TopoNic {
    /// The device's name, or the label if no name is known.
    #[must_use]
    pub fn device(&self) -> DeviceName {
        let label = || DeviceName(self.label.clone());
        self.name.clone().unwrap_or_else(label)
    }
}

impl Topology {
    /// The matrix of these devices. `between` gives the level of each pair, the GPUs being the
    /// first numbers and the NICs the next; it is asked once for each pair, the lower number first.
    #[must_use]
    pub fn new(
        gpus: Vec<TopoGpu>,
        nics: Vec<TopoNic>,
        mut between: impl FnMut(usize, usize) -> TopoLevel,
    ) -> Self {
        let devices = gpus.len() + nics.len();
        let mut levels = vec![vec![TopoLevel::X; devices]; devices];
        let pairs = (0..devices).flat_map(|a| (a + 1..devices).map(move |b| (a, b)));
        for (a, b) in pairs {
            let level = between(a, b);
            levels[a][b] = level;
            levels[b][a] = level;
        }
        Self { gpus, nics, levels }
    }

    /// The GPUs, in the order of their numbers.
    #[must_use]
    pub fn gpus(&self) -> &[TopoGpu] {
        &self.gpus
    }

    /// The NICs, in the order of the matrix.
    #[must_use]
    pub fn nics(&self) -> &[TopoNic] {
        &self.nics
    }

    /// The whole matrix, row by row: the GPUs, then the NICs.
    #[must_use]
    pub fn levels(&self) -> &[Vec<TopoLevel>] {
        &self.levels
    }

    /// For each NIC, in the order of the matrix, its levels in the order of the GPUs.
    pub fn nic_levels(&self) -> impl Iterator<Item = (&TopoNic, &[TopoLevel])> {
        let gpus = self.gpus.len();
        let rows = self.levels[gpus..].iter();
        self.nics.iter().zip(rows.map(move |row| &row[..gpus]))
    }

    /// The NICs that no legend names: a monitor that reads the metadata will not know them.
    pub fn unnamed(&self) -> impl Iterator<Item = &TopoNic> {
        self.nics.iter().filter(|nic| nic.name.is_none())
    }
}
