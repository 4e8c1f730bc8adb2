//! `gpu_metadata.json`: which NUMA nodes have GPUs, and how near each NIC is to each GPU.
//!
//! Only the required keys are read (`lsd 12.2`); others are ignored. Without this file the monitor
//! refuses to start, because it could not distinguish a management NIC from a compute NIC.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::hands::ReadError;

/// The distance of a NIC to a GPU, as `nvidia-smi topo -m` prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nearness {
    /// PIX or PXB: below one PCIe switch hierarchy.
    Switch,
    /// PHB or NODE: on the same socket.
    Socket,
    /// SYS, X and NVLink: on another socket, or not on PCIe.
    System,
}

/// The levels of the matrix, as a refusal names them (`lsd 12.2`).
const LEVELS: &str = "X, PIX, PXB, PHB, NODE, SYS and NV<n>";

impl Nearness {
    /// The distance of a level; `None` for a text that is no level.
    fn of(level: &str) -> Option<Nearness> {
        match level {
            "PIX" | "PXB" => Some(Nearness::Switch),
            "PHB" | "NODE" => Some(Nearness::Socket),
            "SYS" | "X" => Some(Nearness::System),
            _ => {
                let links = level.strip_prefix("NV")?;
                let is_count = !links.is_empty() && links.bytes().all(|b| b.is_ascii_digit());
                is_count.then_some(Nearness::System)
            }
        }
    }
}

/// What the metadata collector publishes about the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metadata {
    gpu_count: usize,
    gpu_numa_nodes: BTreeSet<i64>,
    /// Each text is a level.
    topology: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    gpus: Option<Vec<Gpu>>,
    #[serde(default)]
    nic_topology: Option<BTreeMap<String, Vec<String>>>,
}

#[derive(Deserialize)]
struct Gpu {
    /// -1, null and absent all mean unknown.
    #[serde(default)]
    numa_node: Option<i64>,
}

/// A device's row of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row<'a> {
    /// One level per GPU.
    Full(&'a [String]),
    /// Fewer levels than GPUs.
    Short,
    /// No row.
    Missing,
}

impl Metadata {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// The cause in one line, without the hint about the path.
    pub(crate) fn read(path: &str, bytes: Result<&[u8], ReadError>) -> Result<Metadata, String> {
        let bytes = bytes.map_err(|error| format!("read gpu metadata at {path}: {error}"))?;
        let file: File = serde_json::from_slice(bytes)
            .map_err(|error| format!("parse gpu metadata at {path}: {error}"))?;
        let gpus = file.gpus.unwrap_or_default();
        let topology = file.nic_topology.unwrap_or_default();
        if gpus.is_empty() {
            return Err(format!(
                "gpu metadata at {path} has empty gpus[] — NIC monitor cannot classify NICs"
            ));
        }
        if topology.is_empty() {
            return Err(format!(
                "gpu metadata at {path} has empty nic_topology — metadata collector must publish \
                 the nvidia-smi topo -m matrix before the NIC monitor can start"
            ));
        }
        let gpu_numa_nodes: BTreeSet<i64> = gpus
            .iter()
            .filter_map(|gpu| gpu.numa_node)
            .filter(|node| *node >= 0)
            .collect();
        if gpu_numa_nodes.is_empty() {
            return Err(format!(
                "gpu metadata at {path} has no GPUs with valid NUMA nodes — the NUMA gate cannot \
                 distinguish management NICs from compute NICs; monitoring everything would risk \
                 false REPLACE_VM on management NIC failures"
            ));
        }
        let mut levels = topology
            .iter()
            .flat_map(|(nic, row)| row.iter().map(move |level| (nic, level)));
        if let Some((nic, level)) = levels.find(|(_, level)| Nearness::of(level).is_none()) {
            return Err(format!(
                "gpu metadata at {path} has unknown topology level {level:?} in \
                 nic_topology[{nic:?}] (a level is one of {LEVELS})"
            ));
        }
        Ok(Metadata {
            gpu_count: gpus.len(),
            gpu_numa_nodes,
            topology,
        })
    }

    /// The NUMA nodes that have a GPU; never empty.
    pub(crate) fn gpu_numa_nodes(&self) -> &BTreeSet<i64> {
        &self.gpu_numa_nodes
    }

    pub(crate) fn row(&self, device: &str) -> Row<'_> {
        match self.topology.get(device) {
            None => Row::Missing,
            Some(row) if row.len() < self.gpu_count => Row::Short,
            Some(row) => Row::Full(row),
        }
    }

    /// The distance of the device to its nearest GPU; a missing or short row counts as all-SYS.
    pub(crate) fn nearness(&self, device: &str) -> Nearness {
        match self.row(device) {
            Row::Full(row) => row.iter().filter_map(|level| Nearness::of(level)).min(),
            Row::Short | Row::Missing => None,
        }
        .unwrap_or(Nearness::System)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn read(text: &str) -> Result<Metadata, String> {
        Metadata::read("/m.json", Ok(text.as_bytes()))
    }

    #[rstest]
    #[case("", "parse gpu metadata at /m.json")]
    #[case("[]", "empty gpus[]")]
    #[case("{}", "empty gpus[]")]
    #[case(r#"{"gpus":[{"numa_node":0}]}"#, "empty nic_topology")]
    #[case(
        r#"{"gpus":[{"numa_node":-1},{}],"nic_topology":{"a":["SYS","SYS"]}}"#,
        "no GPUs with valid NUMA"
    )]
    #[case(
        r#"{"gpus":[{"numa_node":"0"}],"nic_topology":{"a":["SYS"]}}"#,
        "parse gpu metadata"
    )]
    #[case(
        r#"{"gpus":[{"numa_node":0}],"nic_topology":{"mlx5_0":["FOO"]}}"#,
        "unknown topology level \"FOO\" in nic_topology[\"mlx5_0\"] (a level is one of X, PIX, PXB, PHB, NODE, SYS and NV<n>)"
    )]
    #[case(
        r#"{"gpus":[{"numa_node":0}],"nic_topology":{"a":["pix"]}}"#,
        "level \"pix\""
    )]
    #[case(
        r#"{"gpus":[{"numa_node":0}],"nic_topology":{"a":["NV"]}}"#,
        "level \"NV\""
    )]
    #[case(
        r#"{"gpus":[{"numa_node":0}],"nic_topology":{"a":["NV4x"]}}"#,
        "level \"NV4x\""
    )]
    #[case(
        r#"{"gpus":[{"numa_node":0}],"nic_topology":{"a":[""]}}"#,
        "level \"\""
    )]
    #[case(
        r#"{"gpus":[{"numa_node":0}],"nic_topology":{"a":["SYS"],"b":["SYS","FOO"]}}"#,
        "nic_topology[\"b\"]"
    )]
    fn metadata_that_classifies_nothing_is_refused(#[case] text: &str, #[case] part: &str) {
        let cause = read(text).unwrap_err();
        assert!(cause.contains(part), "{cause}");
    }

    #[test]
    fn the_nearest_gpu_decides_and_a_short_row_is_all_sys() {
        let metadata = read(
            r#"{"gpus":[{"numa_node":0},{"numa_node":1}],"nic_topology":{
                "a":["SYS","PXB"],"b":["NODE","SYS"],"c":["SYS","SYS"],"d":["PIX"],"e":["NV18","X"],"g":["PIX","SYS"]}}"#,
        )
        .unwrap();
        let nearness: Vec<Nearness> = ["a", "b", "c", "d", "e", "f", "g"]
            .map(|device| metadata.nearness(device))
            .to_vec();
        assert_eq!(
            nearness,
            [
                Nearness::Switch,
                Nearness::Socket,
                Nearness::System,
                Nearness::System,
                Nearness::System,
                Nearness::System,
                Nearness::Switch
            ]
        );
        assert_eq!(metadata.row("d"), Row::Short);
        assert_eq!(metadata.row("f"), Row::Missing);
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_no_panic(text in "\\PC*") {
            let _ = read(&text);
        }
    }
}
