//! CPUs and memory nodes: `devices/system/cpu` and `devices/system/node` (`drivers/base/topology.c`,
//! `drivers/base/node.c`).
//!
//! A profile states the CPUs of each NUMA node. One node is taken for one package. If a node's list has two
//! ranges of equal length, the second one's CPUs are the second threads of the first one's cores, as kernels
//! number them on x86.

use std::collections::BTreeMap;

use super::{
    cpu_list::{cpus_of, mask},
    nodes::Nodes,
};
use crate::Machine;

/// The memory of each node, in KiB: 512 GiB. Chosen.
const MEMORY_KIB: u64 = 512 << 20;

pub(super) fn nodes(machine: &Machine, nodes: &mut Nodes) {
    let numa = numa(machine);
    nodes.folder("");
    nodes.folder("cpu");
    nodes.folder("node");
    let mut all: Vec<u16> = numa.values().flatten().copied().collect();
    all.sort_unstable();
    let every = list(&all);
    for name in ["online", "possible", "present"] {
        nodes.file(format!("cpu/{name}"), &every);
    }
    nodes.file("cpu/offline", "");
    let numbers: Vec<u16> = numa.keys().copied().collect();
    for name in [
        "online",
        "possible",
        "has_cpu",
        "has_memory",
        "has_normal_memory",
    ] {
        nodes.file(format!("node/{name}"), list(&numbers));
    }
    for (number, cpus) in &numa {
        node(*number, cpus, &numbers, nodes);
        package(*number, cpus, nodes);
    }
}

/// The CPUs of each node. A machine without stated CPUs has one for each node.
fn numa(machine: &Machine) -> BTreeMap<u16, Vec<u16>> {
    let mut numa: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for (number, cpus) in machine.cpus.iter() {
        // A machine that does not know the nodes of its devices has one node.
        let number = u16::try_from(*number).unwrap_or(0);
        numa.entry(number).or_default().extend(cpus_of(cpus));
    }
    if numa.is_empty() {
        numa.insert(0, Vec::new());
    }
    if numa.values().all(Vec::is_empty) {
        for (cpu, cpus) in (0..).zip(numa.values_mut()) {
            cpus.push(cpu);
        }
    }
    numa
}

fn node(number: u16, cpus: &[u16], all: &[u16], nodes: &mut Nodes) {
    let root = format!("node/node{number}");
    nodes.folder(root.clone());
    let cpus = list(cpus);
    nodes.file(format!("{root}/cpumap"), mask(&cpus));
    nodes.file(format!("{root}/cpulist"), cpus);
    // `LOCAL_DISTANCE`, and 21 across, as firmware usually says.
    let distance = all
        .iter()
        .map(|other| if *other == number { "10" } else { "21" });
    let distance: Vec<&str> = distance.collect();
    nodes.file(format!("{root}/distance"), distance.join(" "));
    let memory = format!(
        "Node {number} MemTotal:       {MEMORY_KIB} kB\nNode {number} MemFree:        {MEMORY_KIB} kB"
    );
    nodes.file(format!("{root}/meminfo"), memory);
}

/// The CPUs of one package.
fn package(number: u16, cpus: &[u16], nodes: &mut Nodes) {
    let whole = list(cpus);
    let whole_mask = mask(&whole);
    let (cores, threads) = match cpus.split_at(cpus.len() / 2) {
        (first, second) if first.len() == second.len() && is_apart(first, second) => {
            (first, second)
        }
        _ => (cpus, &[][..]),
    };
    for (core, cpu) in cores.iter().enumerate() {
        let siblings: Vec<u16> = [Some(cpu), threads.get(core)]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let text = list(&siblings);
        let bits = mask(&text);
        for cpu in siblings {
            let root = format!("cpu/cpu{cpu}/topology");
            nodes.file(format!("{root}/core_id"), core);
            nodes.file(format!("{root}/physical_package_id"), number);
            nodes.file(format!("{root}/thread_siblings"), &bits);
            nodes.file(format!("{root}/thread_siblings_list"), &text);
            nodes.file(format!("{root}/core_siblings"), &whole_mask);
            nodes.file(format!("{root}/core_siblings_list"), &whole);
        }
    }
}

/// Whether the second list begins after a gap.
fn is_apart(first: &[u16], second: &[u16]) -> bool {
    match (first.last(), second.first()) {
        (Some(last), Some(next)) => last + 1 < *next,
        _ => false,
    }
}

/// Sorted numbers as a list of ranges: `0-3,8` (`%*pbl`).
fn list(numbers: &[u16]) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let texts: Vec<String> = ranges
        .into_iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_the_kernels_list() {
        assert_eq!(list(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(list(&[]), "");
    }
}
