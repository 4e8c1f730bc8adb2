//! The rendered tree, and the law that `diff` converts one tree to the other.

use std::collections::BTreeMap;

use platforms::{
    CharDevice, CounterValue, DeviceName, Machine, NodeName, PhysState, Platforms, PortNumber,
    PortState, Routes, diff, render,
};
use proptest::prelude::*;
use simfs::{Edit, FileValue, Tree, TreePath};

/// A node of the model tree.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Folder,
    File(FileValue),
    Link(String),
}

/// A minimal tree: nodes by path.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model(BTreeMap<String, Node>);

impl Model {
    fn of(machine: &Machine) -> Self {
        let mut model = Self::default();
        model.apply(&render(machine));
        model
    }

    fn apply(&mut self, edits: &[Edit]) {
        for edit in edits {
            let path = edit.path().as_str().to_owned();
            let node = match edit {
                Edit::Remove(_) => {
                    let below = format!("{path}/");
                    self.0
                        .retain(|at, _| *at != path && !at.starts_with(&below));
                    continue;
                }
                Edit::Folder(_) => Node::Folder,
                Edit::File { value, .. } => Node::File(value.clone()),
                Edit::Link { target, .. } => Node::Link(target.clone()),
                Edit::Stream(_) | Edit::Append { .. } => panic!("a machine at rest has no stream"),
            };
            for (at, _) in path.match_indices('/') {
                let above = self.0.entry(path[..at].to_owned()).or_insert(Node::Folder);
                assert_eq!(
                    *above,
                    Node::Folder,
                    "{} is in the way of {path}",
                    &path[..at]
                );
            }
            self.0.insert(path, node);
        }
    }

    fn text(&self, path: &str) -> String {
        match self.0.get(path) {
            Some(Node::File(FileValue::Bytes(bytes))) => {
                String::from_utf8_lossy(bytes).into_owned()
            }
            other => panic!("{path} is {other:?}"),
        }
    }
}

fn machine(platform: &str) -> Machine {
    let platforms = Platforms::shipped();
    platforms
        .get(platform)
        .expect(platform)
        .machine(&NodeName::from("node-1"))
}

/// The folder of the function at this address.
fn folder(machine: &Machine, pci: &str) -> String {
    let function = &machine.functions[&pci.parse().expect("an address")];
    format!("sys/devices/{}/{pci}", function.bus)
}

/// Changes of every kind that a story can make, by number.
fn change(machine: &mut Machine, kind: u8, nth: usize) {
    let keys: Vec<_> = machine.functions.keys().copied().collect();
    let Some(pci) = keys.get(nth % keys.len().max(1)).copied() else {
        return;
    };
    let function = machine.functions.get_mut(&pci).expect("listed");
    match kind {
        0 => {
            machine.functions.remove(&pci);
        }
        1 => function.incarnation += 1,
        2 => function.rdma = None,
        3 => function.netdevs.clear(),
        4 => function.in_other_namespace = !function.in_other_namespace,
        5 => machine.class_present = !machine.class_present,
        6 => machine.routes = Routes::Missing,
        7 => machine.clock.wall_ns += 1,
        8 => function.driver = None,
        9 => {
            for netdev in &mut function.netdevs {
                netdev.admin_up = false;
                netdev.operstate = "down".to_owned();
            }
        }
        10 => {
            for netdev in &mut function.netdevs {
                netdev.ifindex += 100;
            }
        }
        20 => {
            for netdev in &mut function.netdevs {
                netdev.name = format!("{}x", netdev.name);
            }
        }
        21 => {
            let other = keys[(nth + 1) % keys.len()];
            let name = |machine: &Machine, pci| {
                machine
                    .functions
                    .get(pci)?
                    .rdma
                    .as_ref()
                    .map(|rdma| rdma.name.clone())
            };
            let (Some(a), Some(b)) = (name(machine, &pci), name(machine, &other)) else {
                return;
            };
            for (pci, name) in [(pci, b), (other, a)] {
                let function = machine.functions.get_mut(&pci).expect("listed");
                function.rdma.as_mut().expect("it has a name").name = name;
            }
        }
        22 => {
            let platforms = Platforms::shipped();
            let platform = platforms.get("h100-oci").expect("shipped");
            let number = u16::try_from(function.virtfns.len()).expect("few");
            platform.add_vf(machine, pci, number);
        }
        kind => {
            let Some(rdma) = &mut function.rdma else {
                return;
            };
            match kind {
                11 => rdma.incarnation += 1,
                12 => rdma.name = DeviceName(format!("{}x", rdma.name)),
                13 => rdma.ports.clear(),
                23 => {
                    rdma.missing.insert(CharDevice::Umad(PortNumber(1)));
                    rdma.missing.insert(CharDevice::Uverbs);
                }
                _ => {
                    let Some(port) = rdma.ports.get_mut(&PortNumber(1)) else {
                        return;
                    };
                    match kind {
                        14 => port.state = PortState::DOWN,
                        15 => port.phys_state = PhysState::POLLING,
                        16 => port.query_error = Some(simfs::Errno::EIO),
                        17 => port.gids.clear(),
                        18 => port.umad = None,
                        _ => {
                            port.counters
                                .insert("link_downed".into(), CounterValue::Count(7));
                            port.hw_counters.remove("lifespan");
                        }
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_difference_leads_from_one_tree_to_the_other(
        flavour: bool,
        before in prop::collection::vec((0_u8..24, 0_usize..40), 0..6),
        after in prop::collection::vec((0_u8..24, 0_usize..40), 0..6),
    ) {
        let mut old = machine(if flavour { "h100-oci" } else { "dgx-a100:two-port" });
        for (kind, nth) in before {
            change(&mut old, kind, nth);
        }
        let mut new = old.clone();
        for (kind, nth) in after {
            change(&mut new, kind, nth);
        }
        let mut tree = Model::of(&old);
        tree.apply(&diff(&old, &new));
        prop_assert!(tree == Model::of(&new));
        tree.apply(&diff(&new, &old));
        prop_assert!(tree == Model::of(&old));
    }
}

/// The target of a link, from the tree's root.
fn target(at: &str, link: &str) -> String {
    let folder = at.rfind('/').map_or("", |slash| &at[..slash]);
    TreePath::new(folder).join(link).as_str().to_owned()
}

#[test]
fn every_link_of_every_platform_leads_to_a_node() {
    for (name, platform) in Platforms::shipped().iter() {
        let tree = Model::of(&platform.machine(&NodeName::from("node-1")));
        for (path, node) in &tree.0 {
            let Node::Link(link) = node else { continue };
            let leads = target(path, link);
            let there = tree.0.contains_key(&leads);
            assert!(there, "{name}: {path} leads to {leads}");
        }
    }
}

#[test]
fn a_virtual_function_points_to_its_physical_one() {
    let machine = machine("a100-oci:vfs");
    let tree = Model::of(&machine);
    let vf = machine
        .functions
        .values()
        .find(|function| function.physfn.is_some())
        .expect("a vf");
    let root = format!("sys/devices/{}/{}", vf.bus, vf.pci);
    let physfn = vf.physfn.expect("found by it");
    assert_eq!(
        tree.0.get(&format!("{root}/physfn")),
        Some(&Node::Link(format!("../{physfn}")))
    );
    assert!(!tree.0.contains_key(&format!("{root}/sriov_totalvfs")));
    let owner = format!("sys/devices/{}/{physfn}", vf.bus);
    assert_eq!(tree.text(&format!("{owner}/sriov_numvfs")), "1\n");
    assert_eq!(
        tree.0.get(&format!("{owner}/virtfn0")),
        Some(&Node::Link(format!("../{}", vf.pci)))
    );
}

#[test]
fn the_default_route_is_a_row_as_the_kernel_prints_it() {
    let text = Model::of(&machine("h100-oci")).text("proc/net/route");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0][..4], ["Iface", "Destination", "Gateway", "Flags"]);
    assert_eq!(
        rows[1],
        [
            "eth0", "00000000", "01000A0A", "0003", "0", "0", "100", "00000000", "0", "0", "0"
        ]
    );
    assert_eq!(
        rows[2],
        [
            "eth0", "00000A0A", "00000000", "0001", "0", "0", "100", "0000FFFF", "0", "0", "0"
        ]
    );
    let none = Model::of(&machine("h100-oci:no-default-route")).text("proc/net/route");
    assert_eq!(none.lines().count(), 1);
}

#[test]
fn the_metadata_is_the_collectors() {
    let text = Model::of(&machine("l40-onprem")).text("var/lib/nvsentinel/gpu_metadata.json");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["version"], "1.0");
    assert_eq!(json["node_name"], "node-1");
    assert_eq!(json["gpus"][3]["numa_node"], 1);
    assert_eq!(json["gpus"][0]["pci_address"], "0000:31:00.0");
    assert_eq!(
        json["nic_topology"]["mlx5_2"],
        serde_json::json!(["SYS", "SYS", "NODE", "NODE"])
    );
    assert!(text.starts_with("{\n  \"version\""), "indented by two");
}

// Acceptance case OP-31 of the link model.
#[test]
fn an_omni_path_device_has_files_of_its_own_and_no_hca_type() {
    let machine = machine("opa-cn5000");
    let tree = Model::of(&machine);
    let device = folder(&machine, "0000:18:00.0") + "/infiniband/hfi1_0";
    assert_eq!(tree.text(&format!("{device}/nctxts")), "32\n");
    assert_eq!(tree.text(&format!("{device}/hw_rev")), "11\n");
    let port = format!("{device}/ports/1");
    assert_eq!(tree.text(&format!("{port}/link_layer")), "InfiniBand\n");
    assert_eq!(tree.text(&format!("{port}/rate")), "400 Gb/sec (4X NDR)\n");
    assert!(!tree.0.contains_key(&format!("{device}/hca_type")));
}

/// Missing files that would confuse a monitor that relies on them (`drivers/infiniband/hw/efa`).
#[test]
fn an_elastic_fabric_adapter_has_neither_counters_nor_interface_nor_management_datagrams() {
    let machine = machine("aws-p5");
    let tree = Model::of(&machine);
    let function = folder(&machine, "0000:4f:00.0");
    let device = format!("{function}/infiniband/rdmap79s0");
    assert_eq!(
        tree.text(&format!("{device}/ports/1/link_layer")),
        "Unknown\n"
    );
    assert_eq!(
        tree.text(&format!("{device}/node_type")),
        "7: unspecified\n"
    );
    assert_eq!(
        tree.text(&format!("{device}/ports/1/rate")),
        "100 Gb/sec (4X EDR)\n"
    );
    assert_eq!(
        tree.text(&format!("{device}/ports/1/hw_counters/rx_drops")),
        "0\n"
    );
    for name in ["board_id", "hw_rev", "hca_type", "ports/1/counters"] {
        assert!(!tree.0.contains_key(&format!("{device}/{name}")), "{name}");
    }
    for class in ["net", "infiniband_mad"] {
        assert!(
            !tree.0.contains_key(&format!("{function}/{class}")),
            "{class}"
        );
    }
}

#[test]
fn gpus_of_another_make_show_their_own_vendor_and_no_matrix() {
    let machine = machine("mi300x");
    let tree = Model::of(&machine);
    let gpu = format!("sys/devices/{}/0000:11:00.0", machine.gpus[0].bus);
    assert_eq!(tree.text(&format!("{gpu}/vendor")), "0x1002\n");
    let json = tree.text("var/lib/nvsentinel/gpu_metadata.json");
    assert!(json.contains("\"numa_node\": 0"), "{json}");
    assert!(!json.contains("nic_topology"), "{json}");
}

#[test]
fn character_devices_are_listed_as_the_kernel_lists_them() {
    let machine = machine("l40s-onprem");
    let tree = Model::of(&machine);
    assert_eq!(tree.text("sys/class/infiniband_mad/abi_version"), "5\n");
    let device = folder(&machine, "0000:1a:00.0");
    assert_eq!(
        tree.text(&format!("{device}/infiniband_verbs/uverbs0/ibdev")),
        "mlx5_0\n"
    );
    assert_eq!(
        tree.text(&format!("{device}/infiniband_mad/umad0/port")),
        "1\n"
    );
    assert!(tree.0.contains_key("sys/class/infiniband_mad/umad0"));
    assert!(
        !tree.0.contains_key("sys/class/infiniband_mad/issm0"),
        "RoCE has no issm"
    );
    assert!(tree.0.contains_key("sys/class/infiniband_mad/issm1"));
}

#[test]
fn a_port_that_flips_keeps_its_nodes_and_a_device_that_returned_does_not() {
    let old = machine("h100-oci");
    let state = "sys/class/infiniband/mlx5_0/ports/1/state";
    let mut tree = Tree::new();
    tree.apply(&render(&old));
    let first = tree.resolve(state).unwrap();

    let pci = *old.functions.keys().next().expect("a function");
    let mut flipped = old.clone();
    let function = flipped.functions.get_mut(&pci).expect("listed");
    let rdma = function.rdma.as_mut().expect("a device");
    rdma.ports.get_mut(&PortNumber(1)).expect("a port").state = PortState::DOWN;
    let edits = diff(&old, &flipped);
    assert_eq!(edits.len(), 1, "one file says another thing: {edits:?}");
    tree.apply(&edits);
    assert_eq!(tree.resolve(state), Ok(first));
    assert_eq!(tree.value(first), Some(&FileValue::line("1: DOWN")));

    let mut returned = flipped.clone();
    returned
        .functions
        .get_mut(&pci)
        .expect("listed")
        .incarnation += 1;
    tree.apply(&diff(&flipped, &returned));
    assert_ne!(tree.resolve(state).unwrap(), first);
}

#[test]
fn nothing_changed_is_no_edit() {
    let machine = machine("h100-oci");
    assert_eq!(diff(&machine, &machine.clone()), []);
}

#[test]
fn a_device_that_returned_has_new_nodes() {
    let old = machine("h100-oci");
    let mut new = old.clone();
    let pci = *old.functions.keys().next().expect("a function");
    new.functions.get_mut(&pci).expect("listed").incarnation += 1;
    let edits = diff(&old, &new);
    let root = folder(&old, &pci.to_string());
    assert!(
        edits.contains(&Edit::Remove(root.as_str().into())),
        "{edits:?}"
    );
    let made = edits
        .iter()
        .filter(|edit| edit.path().starts_with(&format!("{root}/")));
    assert!(made.count() > 100);
}

#[test]
fn swapped_names_leave_both_slots_whole() {
    let old = machine("h100-oci");
    let mut new = old.clone();
    let keys: Vec<_> = old.functions.keys().copied().take(2).collect();
    for (pci, name) in [(keys[0], "mlx5_1"), (keys[1], "mlx5_0")] {
        let function = new.functions.get_mut(&pci).expect("listed");
        function.rdma.as_mut().expect("a device").name = name.into();
    }
    let mut tree = Model::of(&old);
    tree.apply(&diff(&old, &new));
    assert!(tree == Model::of(&new));
}

#[test]
fn a_port_reads_as_the_kernel_prints_it() {
    let machine = machine("h100-oci");
    let tree = Model::of(&machine);
    let bus = "pci0000:09/0000:09:01.0/0000:0a:00.0/0000:0b:00.0";
    let device = folder(&machine, "0000:0c:00.0");
    assert_eq!(device, format!("sys/devices/{bus}/0000:0c:00.0"));
    let port = format!("{device}/infiniband/mlx5_0/ports/1");
    for (name, text) in [
        ("state", "4: ACTIVE\n"),
        ("phys_state", "5: LinkUp\n"),
        ("rate", "200 Gb/sec (4X HDR)\n"),
        ("link_layer", "Ethernet\n"),
        ("counters/link_downed", "0\n"),
        ("gid_attrs/types/1", "RoCE v2\n"),
        ("gid_attrs/ndevs/0", "rdma0\n"),
    ] {
        assert_eq!(tree.text(&format!("{port}/{name}")), text, "{name}");
    }
    assert_eq!(
        tree.0.get("sys/class/infiniband/mlx5_0"),
        Some(&Node::Link(format!(
            "../../devices/{bus}/0000:0c:00.0/infiniband/mlx5_0"
        )))
    );
    assert_eq!(
        tree.0.get("sys/class/net/rdma0/device"),
        None,
        "class entries are links"
    );
    assert_eq!(
        tree.0.get(&format!("{device}/net/rdma0/device")),
        Some(&Node::Link("../../../0000:0c:00.0".to_owned()))
    );
}

fn bytes<'t>(tree: &'t Model, path: &str) -> &'t [u8] {
    match tree.0.get(path) {
        Some(Node::File(FileValue::Bytes(bytes))) => bytes,
        other => panic!("{path} is {other:?}"),
    }
}

/// The PCI Express capability: speed and lanes in its link status (`PCI_EXP_LNKSTA`).
fn link_status(config: &[u8]) -> (u8, u16) {
    let mut at = usize::from(config[0x34]);
    while config[at] != 0x10 {
        at = usize::from(config[at + 1]);
        assert_ne!(at, 0, "every function has the capability");
    }
    let status = u16::from_le_bytes([config[at + 0x12], config[at + 0x13]]);
    (config[at + 0x12] & 0xf, status >> 4 & 0x3f)
}

#[test]
fn the_link_in_the_configuration_space_is_that_of_the_attributes() {
    for (name, platform) in Platforms::shipped().iter() {
        let machine = platform.machine(&NodeName::from("node-1"));
        let tree = Model::of(&machine);
        for function in machine.functions.values() {
            let folder = folder(&machine, &function.pci.to_string());
            let config = bytes(&tree, &format!("{folder}/config"));
            assert_eq!(config.len(), 4096, "{name}");
            let (speed, lanes) = link_status(config);
            let speeds = ["2.5", "5.0", "8.0", "16.0", "32.0", "64.0"];
            let speed = format!("{} GT/s PCIe\n", speeds[usize::from(speed) - 1]);
            let attribute = |name: &str| tree.text(&format!("{folder}/{name}"));
            assert_eq!(attribute("current_link_speed"), speed, "{name}");
            assert_eq!(
                attribute("current_link_width"),
                format!("{lanes}\n"),
                "{name}"
            );
        }
    }
}

#[test]
fn the_ids_of_a_virtual_function_are_in_its_attributes_only() {
    let machine = machine("h100-oci:vfs");
    let tree = Model::of(&machine);
    let vf = machine
        .functions
        .values()
        .find(|function| function.physfn.is_some());
    let folder = folder(&machine, &vf.expect("a vf").pci.to_string());
    assert_eq!(bytes(&tree, &format!("{folder}/config"))[..4], [0xff; 4]);
    assert_eq!(tree.text(&format!("{folder}/vendor")), "0x15b3\n");
}

/// `sed -n 3,4p /proc/net/dev` of a Linux 6.18 has this shape.
#[test]
fn interfaces_are_listed_with_their_statistics_as_the_kernel_lists_them() {
    let mut machine = machine("dgx-h100");
    let pci = "0000:18:00.0".parse().expect("an address");
    let function = machine.functions.get_mut(&pci).expect("listed");
    let statistics = &mut function.netdevs[0].statistics;
    for (name, count) in [
        ("rx_bytes", 1234567890),
        ("rx_crc_errors", 2),
        ("rx_over_errors", 3),
        ("tx_packets", 7),
    ] {
        statistics.insert(name.into(), CounterValue::Count(count));
    }
    let text = Model::of(&machine).text("proc/net/dev");
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(
        rows[2],
        "    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0"
    );
    let row = rows.iter().find(|row| row.contains("ibp24s0:"));
    assert_eq!(
        *row.expect("an interface"),
        "ibp24s0: 1234567890       0    0    0    0     5          0         0        0       7    0    0    0     0       0          0"
    );
    assert_eq!(
        rows.len(),
        2 + 2 + machine.functions.len(),
        "lo, eno3, and one for each function"
    );
}

#[test]
fn processors_are_those_that_the_profile_states_for_each_node() {
    let tree = Model::of(&machine("dgx-a100"));
    let system = |name: &str| tree.text(&format!("sys/devices/system/{name}"));
    assert_eq!(system("node/online"), "0-1,3-5,7\n");
    assert_eq!(system("node/node3/cpulist"), "48-63,176-191\n");
    assert_eq!(system("node/node1/distance"), "21 10 21 21 21 21\n");
    assert_eq!(
        system("cpu/cpu48/topology/thread_siblings_list"),
        "48,176\n"
    );
    assert_eq!(system("cpu/cpu176/topology/physical_package_id"), "3\n");
    // A guest whose GPUs have no node has one node.
    let tree = Model::of(&machine("h100-vm"));
    assert_eq!(tree.text("sys/devices/system/node/online"), "0\n");
    assert_eq!(tree.text("sys/devices/system/cpu/online"), "0-191\n");
}

/// The folders of `drivers/infiniband/hw/hfi1/sysfs.c`, and no other driver's.
#[test]
fn a_port_of_an_hfi1_has_the_folders_of_its_driver() {
    let machine_of = |platform: &str| Model::of(&machine(platform));
    let omni_path = machine_of("opa-cn5000");
    let files = |model: &Model, folder: &str| {
        let paths = model.0.keys();
        let within = paths.filter(|path| path.contains(&format!("/ports/1/{folder}/")));
        within
            .filter(|path| path.contains("/infiniband/hfi1_0/"))
            .count()
    };
    for (folder, count) in [("CCMgtA", 1), ("sc2vl", 32), ("sl2sc", 32), ("vl2mtu", 16)] {
        assert_eq!(files(&omni_path, folder), count, "{folder}");
        let others = machine_of("dgx-a100");
        assert!(
            !others
                .0
                .keys()
                .any(|path| path.ends_with(&format!("/{folder}")))
        );
    }
    let text = |name: &str| {
        let path = omni_path.0.keys().find(|path| path.ends_with(name));
        omni_path.text(path.expect(name))
    };
    assert_eq!(text("hfi1_0/ports/1/sc2vl/15"), "15\n");
    assert_eq!(text("hfi1_0/ports/1/sc2vl/8"), "0\n");
    assert_eq!(text("hfi1_0/ports/1/vl2mtu/0"), "10240\n");
    assert_eq!(text("hfi1_0/ports/1/CCMgtA/cc_prescan"), "off\n");
}
