//! `nvidia-smi topo -m`: the matrix of GPUs and NICs as a value, and its text.
//!
//! A [`Topology`] has the level between every two devices of the matrix, and what the tool prints
//! beside the GPUs. [`parse`] accepts texts that were copied from terminals or edited, but never
//! guesses: an ambiguous text is rejected with its place. Displaying a topology gives the tool's
//! text, and [`parse`] of that gives the same value.
//! [`Platform::topology`](crate::Platform::topology) computes a machine's own.
//!
//! The matrix has no addresses, UUIDs and serial numbers; [`Topology::metadata`] leaves them empty.
//! Roles of NICs are not derived here.
//!
//! GPUs that AMD's tools list without NICs are [`ListedGpu`]s.
//!
//! Start at [`read`], which takes the output of any of these tools, and [`parse`], which takes a matrix; `sheet.rs` finds the lines, `affinity.rs` reads the fields beside a GPU.

mod affinity;
mod error;
mod glyphs;
mod legend;
mod listed;
mod matrix_text;
mod parse;
mod sheet;
mod to_metadata;

pub use error::{TopoError, TopoFault};
pub use listed::ListedGpu;
pub use parse::parse;

use crate::{DeviceName, TopoLevel};

/// What a tool printed of a node's topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Printed {
    /// The matrix of `nvidia-smi topo -m`.
    Matrix(Topology),
    /// The GPUs of `rocm-smi --showtopo` or `amd-smi topology`, which list no NIC.
    Gpus(Vec<ListedGpu>),
}

/// Reads the output of one of these tools.
///
/// # Errors
/// As [`parse`], of a text that is none of AMD's tools.
pub fn read(text: &str) -> Result<Printed, TopoError> {
    match listed::listed_gpus(text) {
        Some(gpus) => Ok(Printed::Gpus(gpus)),
        None => parse(text).map(Printed::Matrix).map_err(|error| {
            if is_of_another_form(text) {
                let fault = TopoFault::OtherForm;
                return TopoError { fault, ..error };
            }
            error
        }),
    }
}

/// Whether a text that is no matrix is JSON, CSV, or a part of what `rocm-smi --showtopo` prints: the titles of its tables are
/// those of `rocm_smi.py` (`showHwTopology`).
fn is_of_another_form(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let is_data = first.is_some_and(|line| {
        let line = line.trim_start();
        line.starts_with(['{', '[']) || line.matches(',').count() > 1
    });
    let titles = [
        "ROCm System Management",
        "between two GPUs",
        "Numa Nodes",
        "GPU[0]",
    ];
    is_data || titles.iter().any(|title| text.contains(title))
}

/// The matrix, and what the tool prints around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    gpus: Vec<TopoGpu>,
    nics: Vec<TopoNic>,
    /// Rows of the GPUs, then of the NICs; with `X` on the diagonal only, and symmetric except for
    /// `asymmetries`.
    levels: Vec<Vec<TopoLevel>>,
    asymmetries: Vec<NvLinkAsymmetry>,
}

/// Two GPUs of which one shows other NVLinks to the other than the other to it: a link that one end
/// takes for up and the other for down. The NICs' levels do not depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvLinkAsymmetry {
    /// The GPU of the upper row.
    pub gpu: String,
    /// The level in its row.
    pub level: TopoLevel,
    /// The GPU of the lower row.
    pub other: String,
    /// The level in that row.
    pub mirrored: TopoLevel,
}

impl std::fmt::Display for NvLinkAsymmetry {
    /// As a sentence without its end.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            gpu,
            level,
            other,
            mirrored,
        } = self;
        write!(
            f,
            "{gpu} shows `{level}` to {other}, and {other} `{mirrored}` to {gpu}: one end has lost NVLinks, or a cell was changed"
        )
    }
}

/// What the tool prints beside a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopoGpu {
    /// `CPU Affinity`, as printed; the tool truncates long lists. `None` if nothing or `N/A` is
    /// printed.
    pub cpus: Option<String>,
    /// `NUMA Affinity`, as printed: a node, or a list of nodes such as `0-1` or `0,2-17`. `None` if
    /// it is `N/A` or empty, or if the driver has no such column.
    pub numa: Option<String>,
    /// `GPU NUMA ID`: the node of the GPU's own memory. `None` if it is `N/A` or not a column.
    pub numa_id: Option<u32>,
}

impl TopoGpu {
    /// The NUMA node for the metadata: the first of the printed list, -1 if unknown.
    ///
    /// On Grace the list is the CPU's node followed by those of the GPU's memory, so the first is
    /// the node of the NICs.
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
    /// The label of its row and column: `NIC3`; older drivers print the device's name.
    pub label: String,
    /// The RDMA device; `None` if the label is such as `NIC3` and no legend resolves it.
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
    /// The matrix of these devices. `between` returns the level of a pair, with the GPUs numbered
    /// first and the NICs after them; it is called once for each pair, with the lower number first.
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
        Self {
            gpus,
            nics,
            levels,
            asymmetries: Vec::new(),
        }
    }

    /// The pairs of GPUs whose NVLinks differ between their two cells.
    #[must_use]
    pub fn asymmetries(&self) -> &[NvLinkAsymmetry] {
        &self.asymmetries
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

    /// The NICs without a legend entry, which a monitor that reads the metadata does not know.
    pub fn unnamed(&self) -> impl Iterator<Item = &TopoNic> {
        self.nics.iter().filter(|nic| nic.name.is_none())
    }
}
