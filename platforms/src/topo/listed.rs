//! GPUs as AMD's tools list them, which print how near GPUs are to each other and no NIC: `rocm-smi --showtopo` with
//! numbers and NUMA nodes, `amd-smi topology` with addresses. Start at [`listed_gpus`].
//!
//! Of the tables only the GPUs are taken. The forms are those of `rocm_smi.py` (`showHwTopology`) and `amdsmi_commands.py`
//! (`topology`), recalled; no output of a node was at hand.

use std::collections::BTreeMap;

use crate::PciAddress;

/// What a tool tells of a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListedGpu {
    /// Its address, by `amd-smi`.
    pub pci: Option<PciAddress>,
    /// Its NUMA node, by `rocm-smi`; -1 if it has none.
    pub numa_node: Option<i32>,
    /// The first line of the text about it, from 1.
    pub line: usize,
}

/// The GPUs in the output of `rocm-smi --showtopo` or `amd-smi topology`, in their order; `None` if the text is neither.
pub(super) fn listed_gpus(text: &str) -> Option<Vec<ListedGpu>> {
    let found = of_rocm_smi(text);
    let found = if found.is_empty() {
        of_amd_smi(text)
    } else {
        found
    };
    (!found.is_empty()).then_some(found)
}

/// Lines such as `GPU[0]  : (Topology) Numa Node: 0`.
fn of_rocm_smi(text: &str) -> Vec<ListedGpu> {
    let mut gpus: BTreeMap<usize, ListedGpu> = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let Some((number, rest)) = numbered(text) else {
            continue;
        };
        let Some((what, value)) = rest.rsplit_once(':') else {
            continue;
        };
        let listed = || ListedGpu {
            line,
            ..ListedGpu::default()
        };
        let gpu = gpus.entry(number).or_insert_with(listed);
        if what.ends_with("Numa Node") {
            gpu.numa_node = value.trim().parse().ok();
        }
    }
    gpus.into_values().collect()
}

/// The number of a GPU at the beginning of a line about the topology, and what follows it.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let (number, rest) = line.trim_start().strip_prefix("GPU[")?.split_once(']')?;
    let is_about_it = rest.contains("(Topology)");
    is_about_it.then_some((number.parse().ok()?, rest))
}

/// The rows of the first table: an address, and a cell for each GPU.
fn of_amd_smi(text: &str) -> Vec<ListedGpu> {
    let is_title = |text: &str| text.trim_end().ends_with("TABLE:");
    let lines = (1..).zip(text.lines());
    let mut lines = lines.skip_while(|(_, text)| !is_title(text));
    lines.next();
    let rows = lines.take_while(|(_, text)| !is_title(text));
    let rows = rows.filter_map(|(line, text)| {
        let mut words = text.split_whitespace();
        let pci: PciAddress = words.next()?.parse().ok()?;
        let is_row = words.next()?.parse::<PciAddress>().is_err();
        is_row.then_some(ListedGpu {
            pci: Some(pci),
            numa_node: None,
            line,
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Option<&str>, Option<i32>, usize)]) {
        let found = listed_gpus(text).unwrap_or_default();
        let expected: Vec<ListedGpu> = expected
            .iter()
            .map(|(pci, numa_node, line)| ListedGpu {
                pci: pci.map(|pci| pci.parse().unwrap()),
                numa_node: *numa_node,
                line: *line,
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn rocm_smi_tells_the_numa_nodes_of_numbered_gpus() {
        let text = "\
============================ ROCm System Management Interface ============================
================================ Link Type between two GPUs ==============================
       GPU0         GPU1
GPU0   0            XGMI
GPU1   XGMI         0
======================================= Numa Nodes =======================================
GPU[0]\t\t: (Topology) Numa Node: 0
GPU[0]\t\t: (Topology) Numa Affinity: 0
GPU[1]\t\t: (Topology) Numa Node: 1
GPU[1]\t\t: (Topology) Numa Affinity: 1
================================== End of ROCm SMI Log ===================================
";
        check(text, &[(None, Some(0), 7), (None, Some(1), 9)]);
    }

    #[test]
    fn amd_smi_tells_the_addresses_of_gpus() {
        let text = "\
ACCESS TABLE:
             0000:11:00.0 0000:2f:00.0
0000:11:00.0 ENABLED      ENABLED
0000:2f:00.0 ENABLED      ENABLED

LINK TYPE TABLE:
             0000:11:00.0 0000:2f:00.0
0000:11:00.0 SELF         XGMI
0000:2f:00.0 XGMI         SELF
";
        check(
            text,
            &[
                (Some("0000:11:00.0"), None, 3),
                (Some("0000:2f:00.0"), None, 4),
            ],
        );
    }

    #[test]
    fn a_matrix_of_nvidia_smi_is_no_such_list() {
        check("\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPIX\t X \n", &[]);
    }
}
