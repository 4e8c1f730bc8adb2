//! `lstopo` (hwloc): where PCI functions are, and what is between NICs and GPUs.

use std::collections::BTreeMap;

use platforms::{Machine, TopoLevel};

use crate::{Facts, Program, Unreadable, devices, over_host::OverHost};

pub(crate) const LSTOPO: Program = Program {
    name: "lstopo",
    shown,
    expected,
};

/// An element of hwloc's XML, of which each tag has a line.
struct Object {
    attributes: BTreeMap<String, String>,
    above: Option<usize>,
}

impl Object {
    fn get(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    fn is_pci(&self) -> bool {
        self.get("type") == "PCIDev"
    }
}

/// It reads CPUs, memory and devices of the tree (`--input`).
fn shown(host: &OverHost) -> Facts {
    let input = host.root();
    let command = [
        "lstopo-no-graphics",
        "--input",
        input,
        "--filter",
        "io:all",
        "--of",
        "xml",
    ];
    let mut facts = Facts::new();
    let objects = objects(&host.output(&command), &mut facts);
    for (at, object) in objects
        .iter()
        .enumerate()
        .filter(|(_, object)| object.is_pci())
    {
        let pci = object.get("pci_busid");
        // Such as `0207 [15b3:1021] [15b3:0038] 00`.
        let kind: Vec<&str> = object.get("pci_type").splitn(3, ' ').take(2).collect();
        facts.insert(format!("{pci} type"), kind.join(" "));
        let is_gpu = |object: &&Object| object.get("pci_type").starts_with("0302");
        if is_gpu(&object) {
            continue;
        }
        for (gpu_at, gpu) in objects
            .iter()
            .enumerate()
            .filter(|(_, object)| is_gpu(object))
        {
            let level = level(&objects, at, gpu_at);
            facts.insert(
                format!("{pci} to {}", gpu.get("pci_busid")),
                level.to_string(),
            );
        }
    }
    facts
}

/// Parses the objects; puts CPUs, memory nodes and devices of the operating system into `facts`.
fn objects(text: &str, facts: &mut Facts) -> Vec<Object> {
    let (mut objects, mut open) = (Vec::<Object>::new(), Vec::<usize>::new());
    for line in text.lines().map(str::trim) {
        if line == "</object>" {
            open.pop();
        } else if line.starts_with("<object") {
            let object = Object {
                attributes: attributes(line),
                above: open.last().copied(),
            };
            let above = object
                .above
                .map_or("", |above| objects[above].get("pci_busid"));
            match object.get("type") {
                "OSDev" => {
                    facts.insert(format!("{} is at", object.get("name")), above.to_owned());
                }
                "NUMANode" => {
                    let cpus = cpus_of_mask(object.get("cpuset"));
                    facts.insert(format!("CPUs of node {}", object.get("os_index")), cpus);
                }
                _ => {}
            }
            objects.push(object);
            if !line.ends_with("/>") {
                open.push(objects.len() - 1);
            }
        } else if line.starts_with("<info")
            && let Some(device) = open.last().map(|at| &objects[*at])
            && device.get("type") == "OSDev"
        {
            let info = attributes(line);
            let (name, value) = (&info["name"], &info["value"]);
            if ["NodeGUID", "SysImageGUID", "Port1State", "Port1LID"].contains(&name.as_str()) {
                facts.insert(format!("{} {name}", device.get("name")), value.clone());
            }
        }
    }
    objects
}

/// `name="value"` pairs.
fn attributes(line: &str) -> BTreeMap<String, String> {
    let pairs = line.split("\" ").filter_map(|pair| {
        let (name, value) = pair.split_once("=\"")?;
        let name = name.rsplit(' ').next()?;
        let (value, _) = value.split_once('"').unwrap_or((value, ""));
        Some((name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

/// The numbers of a mask such as `0x00000003,,0x0000000f`, the lowest word last.
fn cpus_of_mask(mask: &str) -> String {
    let words: Vec<u32> = mask
        .split(',')
        .rev()
        .map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0))
        .collect();
    let bits = (0..32 * words.len()).filter(|bit| words[bit / 32] >> (bit % 32) & 1 == 1);
    bits.map(|bit| bit.to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

/// What `nvidia-smi topo -m` calls the way between two functions. A switch is an upstream port, which has bridges
/// below it only, with its downstream ports.
fn level(objects: &[Object], a: usize, b: usize) -> TopoLevel {
    let way = |from: usize| -> Vec<usize> {
        let mut way: Vec<usize> =
            std::iter::successors(Some(from), |at| objects[*at].above).collect();
        way.reverse();
        way
    };
    let (a, b) = (way(a), way(b));
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let nearest = &objects[a[shared - 1]];
    if nearest.get("type") != "Bridge" {
        let one_node = nearest.get("nodeset").matches(['1', '2', '4', '8']).count() == 1;
        return if one_node {
            TopoLevel::NODE
        } else {
            TopoLevel::SYS
        };
    }
    if nearest.get("bridge_type") == "0-1" {
        return TopoLevel::PHB;
    }
    // Below the shared upstream port: one downstream port, or further switches.
    let bridges = |way: &[usize]| way.len() - shared - 1;
    match bridges(&a) <= 1 && bridges(&b) <= 1 {
        true => TopoLevel::PIX,
        false => TopoLevel::PXB,
    }
}

fn expected(machine: &Machine, _: Unreadable) -> Facts {
    let mut facts = Facts::new();
    let kind = |class: u32, vendor: u16, device: u16| {
        format!("{:04x} [{vendor:04x}:{device:04x}]", class >> 8)
    };
    for gpu in machine.gpus.iter() {
        facts.insert(
            format!("{} type", gpu.pci),
            kind(0x03_02_00, gpu.vendor, gpu.device),
        );
    }
    for function in machine.functions.values() {
        let pci = function.pci;
        facts.insert(
            format!("{pci} type"),
            kind(function.class, function.vendor, function.device),
        );
        let owner = function
            .physfn
            .and_then(|owner| machine.functions.get(&owner));
        let topo = &owner.unwrap_or(function).topo;
        for (number, gpu) in machine.gpus.iter().enumerate() {
            let declared = topo.get(number).copied();
            let level = declared.filter(|_| gpu.pci.domain == pci.domain);
            // No bridge connects two PCI domains, whatever `topo -m` prints of them; and hosts with other GPUs
            // have no matrix.
            let level = level.unwrap_or_else(|| by_node(function.numa, gpu.numa));
            facts.insert(format!("{pci} to {}", gpu.pci), level.to_string());
        }
        if !function.in_other_namespace {
            for netdev in &function.netdevs {
                facts.insert(format!("{} is at", netdev.name), pci.to_string());
            }
        }
    }
    for (function, rdma) in devices(machine) {
        let mut put =
            |name: &str, value: String| facts.insert(format!("{} {name}", rdma.name), value);
        put("is at", function.pci.to_string());
        put("NodeGUID", groups(rdma.node_guid));
        put("SysImageGUID", groups(rdma.sys_image_guid));
        if let Some(port) = rdma.ports.iter().find(|(number, _)| number.0 == 1) {
            put("Port1State", port.1.state.0.to_string());
            put("Port1LID", format!("{:#x}", port.1.lid));
        }
    }
    facts.extend(nodes(machine));
    facts
}

fn by_node(a: i32, b: i32) -> TopoLevel {
    if a == b {
        TopoLevel::NODE
    } else {
        TopoLevel::SYS
    }
}

fn groups(guid: u64) -> String {
    let bytes = guid.to_be_bytes();
    let words: Vec<String> = bytes
        .chunks(2)
        .map(|word| format!("{:02x}{:02x}", word[0], word[1]))
        .collect();
    words.join(":")
}

/// The CPUs of each memory node.
fn nodes(machine: &Machine) -> Facts {
    let cpus = machine.cpus.iter().map(|(node, list)| {
        let ranges = list.split(',').filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
        });
        let cpus: Vec<String> = ranges.flatten().map(|cpu| cpu.to_string()).collect();
        (format!("CPUs of node {}", (*node).max(0)), cpus.join(" "))
    });
    cpus.collect()
}
