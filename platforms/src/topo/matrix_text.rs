//! The matrix of a machine, and its text.
//!
//! Cells between GPUs and NICs, and between GPUs, are the profile's; those between two NICs are
//! derived: `PIX` on one card, `PXB` if both are behind a switch of one GPU, `NODE` on one NUMA
//! node unless the platform has no such relation at all, otherwise `SYS`.

use std::fmt;

use super::{TopoGpu, TopoNic, Topology};
use crate::{Function, Machine, Platform, TopoLevel};

/// The legend below the matrix, as the tool prints it.
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

impl fmt::Display for Topology {
    /// With tabs between the columns, as on a pipe.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gpus = (0..self.gpus.len()).map(|gpu| format!("GPU{gpu}"));
        let nics = self.nics.iter().map(|nic| nic.label.clone());
        let labels: Vec<String> = gpus.chain(nics).collect();
        for label in &labels {
            write!(f, "\t{label}")?;
        }
        writeln!(f, "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID")?;
        for (row, label) in labels.iter().enumerate() {
            write!(f, "{label}")?;
            for level in &self.levels[row] {
                match level {
                    // The tool pads the diagonal.
                    TopoLevel::X => write!(f, "\t X ")?,
                    level => write!(f, "\t{level}")?,
                }
            }
            if let Some(gpu) = self.gpus.get(row) {
                let numa = gpu.numa.as_deref().unwrap_or("N/A");
                let numa_id = gpu.numa_id.map_or("N/A".to_owned(), |id| id.to_string());
                let cpus = gpu.cpus.as_deref().unwrap_or_default();
                write!(f, "\t{cpus}\t{numa}\t\t{numa_id}")?;
            }
            writeln!(f)?;
        }
        writeln!(f, "{LEGEND}\nNIC Legend:\n")?;
        for nic in &self.nics {
            if let Some(name) = nic.name.as_ref().filter(|name| name.as_str() != nic.label) {
                writeln!(f, "  {}: {name}", nic.label)?;
            }
        }
        Ok(())
    }
}

impl Platform {
    /// The tool's output for this machine, with tabs between the columns as on a pipe.
    #[must_use]
    pub fn topo_text(&self, machine: &Machine) -> String {
        self.topology(machine).to_string()
    }

    /// The matrix of this machine: its GPUs, and its RDMA devices in the order of the bus.
    #[must_use]
    pub fn topology(&self, machine: &Machine) -> Topology {
        let functions: Vec<(&Function, TopoNic)> = machine
            .functions
            .values()
            .map(|function| &**function)
            .filter(|function| !function.topo.is_empty())
            .filter_map(|function| Some((function, function.rdma.as_ref()?.name.clone())))
            .enumerate()
            .map(|(number, (function, name))| {
                let label = format!("NIC{number}");
                let name = Some(name);
                (function, TopoNic { label, name })
            })
            .collect();
        let gpus = machine.gpus.iter().map(|gpu| TopoGpu {
            cpus: gpu.cpus.clone(),
            numa: match self.profile.gpus.numa_texts.get(&gpu.numa) {
                Some(text) => Some(text.clone()),
                None => (gpu.numa >= 0).then(|| gpu.numa.to_string()),
            },
            numa_id: None,
        });
        let nics = functions.iter().map(|(_, nic)| nic.clone()).collect();
        let nic = |device: usize| functions[device - machine.gpus.len()].0;
        Topology::new(gpus.collect(), nics, |a, b| {
            match (machine.gpus.get(a), machine.gpus.get(b)) {
                (Some(gpu), Some(other)) => self.between_gpus(gpu.numa, other.numa),
                (Some(_), None) => level(nic(b), a),
                _ => between_nics(nic(a), nic(b)),
            }
        })
    }

    fn between_gpus(&self, numa: i32, other: i32) -> TopoLevel {
        match self.profile.gpus.between {
            Some(level) => level,
            None if numa == other => TopoLevel::NODE,
            None => TopoLevel::SYS,
        }
    }
}

fn level(nic: &Function, gpu: usize) -> TopoLevel {
    nic.topo.get(gpu).copied().unwrap_or(TopoLevel::SYS)
}

fn between_nics(a: &Function, b: &Function) -> TopoLevel {
    let near = |level: &TopoLevel| matches!(level, TopoLevel::PIX | TopoLevel::PXB);
    let share_a_switch = a.topo.iter().zip(&b.topo).any(|(a, b)| near(a) && near(b));
    let has_nodes = |nic: &Function| nic.topo.contains(&TopoLevel::NODE);
    if a.card() == b.card() {
        TopoLevel::PIX
    } else if share_a_switch {
        TopoLevel::PXB
    } else if a.numa == b.numa && has_nodes(a) && has_nodes(b) {
        TopoLevel::NODE
    } else {
        TopoLevel::SYS
    }
}
