//! What `nvidia-smi topo -m` prints on a machine: the matrix that a metadata collector parses.
//!
//! Cells between GPUs and NICs, and between GPUs, are the profile's; those between two NICs are
//! derived: `PIX` on one card, `PXB` where both are behind a switch of one GPU, `NODE` on one NUMA
//! node unless the platform has no such relation at all, else `SYS`.

use crate::{Function, Machine, Platform, TopoLevel};

/// The legend under the matrix, as the tool prints it.
const LEGEND: &str = "
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
";

impl Platform {
    /// The tool's output for this machine, with tabs between the columns as on a pipe.
    #[must_use]
    pub fn topo_text(&self, machine: &Machine) -> String {
        let nics: Vec<&Function> = machine
            .functions
            .values()
            .map(|function| &**function)
            .filter(|function| function.rdma.is_some() && !function.topo.is_empty())
            .collect();
        let gpus = &machine.gpus;
        let labels = || {
            let gpus = (0..gpus.len()).map(|gpu| format!("GPU{gpu}"));
            gpus.chain((0..nics.len()).map(|nic| format!("NIC{nic}")))
        };
        let mut text = String::new();
        for label in labels() {
            text += &format!("\t{label}");
        }
        text += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
        for (row, gpu) in gpus.iter().enumerate() {
            text += &format!("GPU{row}");
            for (column, other) in gpus.iter().enumerate() {
                text += &cell(self.between_gpus((row, gpu.numa), (column, other.numa)));
            }
            for nic in &nics {
                text += &cell(level(nic, row));
            }
            let numa = match self.profile.gpus.numa_texts.get(&gpu.numa) {
                Some(text) => text.clone(),
                None if gpu.numa < 0 => "N/A".to_owned(),
                None => gpu.numa.to_string(),
            };
            text += &format!("\t{}\t{numa}\t\tN/A\n", gpu.cpus);
        }
        for (row, nic) in nics.iter().enumerate() {
            text += &format!("NIC{row}");
            for gpu in 0..gpus.len() {
                text += &cell(level(nic, gpu));
            }
            for other in &nics {
                text += &cell(between_nics(nic, other));
            }
            text.push('\n');
        }
        text += LEGEND;
        text += "\nNIC Legend:\n\n";
        for (number, rdma) in nics.iter().filter_map(|nic| nic.rdma.as_ref()).enumerate() {
            text += &format!("  NIC{number}: {}\n", rdma.name);
        }
        text
    }

    fn between_gpus(&self, (row, numa): (usize, i32), (column, other): (usize, i32)) -> TopoLevel {
        match self.profile.gpus.between {
            _ if row == column => TopoLevel::X,
            Some(level) => level,
            None if numa == other => TopoLevel::NODE,
            None => TopoLevel::SYS,
        }
    }
}

/// A cell; the tool pads the diagonal.
fn cell(level: TopoLevel) -> String {
    match level {
        TopoLevel::X => "\t X ".to_owned(),
        level => format!("\t{level}"),
    }
}

fn level(nic: &Function, gpu: usize) -> TopoLevel {
    nic.topo.get(gpu).copied().unwrap_or(TopoLevel::SYS)
}

fn between_nics(a: &Function, b: &Function) -> TopoLevel {
    let near = |level: &TopoLevel| matches!(level, TopoLevel::PIX | TopoLevel::PXB);
    let share_a_switch = a.topo.iter().zip(&b.topo).any(|(a, b)| near(a) && near(b));
    let has_nodes = |nic: &Function| nic.topo.contains(&TopoLevel::NODE);
    if a.pci == b.pci {
        TopoLevel::X
    } else if a.card() == b.card() {
        TopoLevel::PIX
    } else if share_a_switch {
        TopoLevel::PXB
    } else if a.numa == b.numa && has_nodes(a) && has_nodes(b) {
        TopoLevel::NODE
    } else {
        TopoLevel::SYS
    }
}
