//! The shipped platforms: their content, their consistency, and the provenance of every value.

use std::collections::{BTreeMap, BTreeSet};

use files::{FileError, yaml};
use platforms::profile::Roles;
use platforms::provenance::{self, Entry};
use platforms::{LinkLayer, NicRole, NodeName, Platform, Platforms, PortFacts, Refusal};
use rstest::rstest;

fn platform(name: &str) -> Platform {
    Platforms::shipped()
        .get(name)
        .unwrap_or_else(|| panic!("{name} is shipped"))
        .clone()
}

/// Platforms with known roles: management, compute and storage functions of each.
const TABLE: &[(&str, [usize; 3])] = &[
    ("dgx-a100", [4, 8, 0]),
    ("dgx-a100:dual-function", [4, 16, 0]),
    ("dgx-a100:two-port", [4, 8, 0]),
    ("a100-oci", [2, 16, 0]),
    ("a100-oci:vfs", [2, 16, 0]),
    ("h100-oci", [1, 16, 1]),
    ("h100-oci:no-default-route", [0, 16, 2]),
    ("h100-oci:storage-up", [1, 16, 1]),
    ("h100-oci:vfs", [1, 16, 1]),
    ("dgx-h100", [0, 8, 4]),
    ("dgx-h100:ib-storage", [0, 12, 0]),
    ("l40s-oci", [1, 0, 5]),
    ("l40s-oci:no-default-route", [0, 0, 6]),
    ("l40s-onprem", [0, 4, 1]),
    ("l40s-onprem:default-route", [1, 4, 0]),
    ("l40s-onprem:guest", [0, 4, 1]),
    ("l40-onprem", [0, 4, 0]),
    ("opa-cn5000", [0, 8, 0]),
    ("two-rail-vm", [0, 2, 2]),
    ("aws-p5", [0, 32, 0]),
    ("azure-ndv5", [0, 8, 1]),
    ("b200-oci", [1, 8, 3]),
    ("bnxt-h100", [0, 8, 0]),
    ("gb300", [2, 8, 0]),
    ("h100-vm", [0, 8, 0]),
    ("mi300x", [1, 8, 1]),
    ("oem-h100", [0, 12, 0]),
    ("gb200-nvl4", [2, 4, 0]),
    ("gb200-nvl4:node-layout", [0, 4, 4]),
    ("gb200-nvl4:lag", [2, 4, 0]),
];

#[test]
fn roles_are_as_in_the_table() {
    for (name, [management, compute, storage]) in TABLE.iter().copied() {
        let platform = platform(name);
        let roles = Roles {
            management,
            compute,
            storage,
        };
        assert_eq!(platform.roles(), roles, "{name}");
        assert_eq!(platform.check(), [], "{name}");
    }
}

/// The rows of the document's tables of roles; whether a monitor finds them is tested elsewhere.
#[rstest]
#[case("a100-oci", &["mlx5_0", "mlx5_13"], NicRole::Management)]
#[case("a100-oci", &["mlx5_1", "mlx5_12", "mlx5_14", "mlx5_17"], NicRole::Compute)]
#[case("h100-oci:no-default-route", &["mlx5_2", "mlx5_11"], NicRole::Storage)]
#[case("h100-oci:no-default-route", &["mlx5_0", "mlx5_1", "mlx5_3", "mlx5_17"], NicRole::Compute)]
#[case("l40s-oci:no-default-route", &["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_5", "mlx5_7"], NicRole::Storage)]
#[case("l40s-onprem", &["mlx5_0"], NicRole::Storage)]
#[case("l40s-onprem", &["mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4"], NicRole::Compute)]
#[case("l40s-onprem:default-route", &["mlx5_0"], NicRole::Management)]
#[case("gb200-nvl4", &["ibp3s0", "ibP2p3s0", "ibP16p3s0", "ibP18p3s0"], NicRole::Compute)]
#[case("gb200-nvl4", &["roceP6p3s0", "roceP22p3s0"], NicRole::Management)]
fn rows_of_the_documents_tables(
    #[case] name: &str,
    #[case] devices: &[&str],
    #[case] role: NicRole,
) {
    let platform = platform(name);
    for device in devices {
        let roles: Vec<NicRole> = platform
            .ports()
            .iter()
            .filter(|facts| facts.device.to_string() == *device)
            .map(|facts| facts.role)
            .collect();
        assert_eq!(roles, [role], "{name} {device}");
    }
}

/// A matrix without NICs, and GPUs without NUMA nodes: a monitor could not classify NICs ("NIC Health Monitor: Link
/// State Detection", 4.1.2 and 12.2). On all other machines it must start.
#[test]
fn a_monitor_must_refuse_to_start_on_two_machines() {
    let platforms = Platforms::shipped();
    let refused: Vec<_> = platforms
        .iter()
        .filter_map(|(name, platform)| Some((name, platform.refusal()?)))
        .collect();
    assert_eq!(
        refused,
        [
            ("h100-vm", Refusal::NoGpuNuma),
            ("mi300x", Refusal::NoTopology)
        ]
    );
    for (name, _) in refused {
        assert!(!platform(name).ports().iter().any(PortFacts::is_monitored));
        assert_ne!(platform(name).notes().count(), 0, "{name}");
    }
}

/// Adapters of other vendors are not monitored: only NVIDIA's are.
#[rstest]
#[case("aws-p5", 32)]
#[case("bnxt-h100", 8)]
#[case("opa-cn5000", 8)]
fn nobody_is_to_watch_the_ports_of_other_makes(#[case] name: &str, #[case] ports: usize) {
    let facts = platform(name).ports();
    assert_eq!(facts.len(), ports);
    assert!(!facts.iter().any(PortFacts::is_monitored));
}

/// The IEEE's organizations: Cornelis' Omni-Path adapters do not bear NVIDIA's.
#[rstest]
#[case("opa-cn5000", 0x00d0_066a)]
#[case("dgx-a100", 0x0094_6dae)]
fn a_card_bears_its_maker_s_guids(#[case] name: &str, #[case] organization: u64) {
    let machine = platform(name).machine(&"node-1".into());
    let devices = machine.functions.values();
    let devices: Vec<_> = devices
        .filter_map(|function| function.rdma.as_ref())
        .collect();
    assert!(!devices.is_empty());
    for rdma in devices {
        assert_eq!(rdma.node_guid >> 40, organization);
        assert_eq!(rdma.sys_image_guid >> 40, organization);
        for port in rdma
            .ports
            .values()
            .filter(|port| port.layer == LinkLayer::InfiniBand)
        {
            let [.., a, b, c, _, _, _, _, _] = port.gids[&0].bytes;
            assert_eq!(u64::from(u32::from_be_bytes([0, a, b, c])), organization);
        }
    }
}

#[test]
fn every_value_of_every_shipped_driver_says_where_it_comes_from() {
    let drivers = Platforms::shipped_texts().filter(|(file, _)| file.starts_with("drivers/"));
    let mut values = 0;
    for (file, text) in drivers {
        let mut document: BTreeMap<String, serde_json::Value> = yaml::read(&file, text).unwrap();
        let entries = document.remove("provenance").expect("it has entries");
        let entries: Vec<Entry> = serde_json::from_value(entries).unwrap();
        let document = serde_json::Value::Object(document.into_iter().collect());
        for path in provenance::paths(&document) {
            let entry =
                provenance::of_path(&entries, &path).unwrap_or_else(|| panic!("{file}: {path}"));
            assert!(entry.mark().is_some(), "{file}: {path}");
            values += 1;
        }
    }
    assert!(values > 300, "{values} values are two whole drivers");
}

#[test]
fn the_a100_with_virtual_functions_has_34_nics() {
    let machine = platform("a100-oci:vfs").machine(&NodeName::from("n"));
    assert_eq!(machine.functions.len(), 34);
    let vfs: Vec<_> = machine
        .functions
        .values()
        .filter(|function| function.physfn.is_some())
        .collect();
    assert_eq!(vfs.len(), 16);
    let mut names: Vec<String> = vfs
        .iter()
        .filter_map(|vf| vf.rdma.as_ref())
        .map(|rdma| rdma.name.to_string())
        .collect();
    names.sort();
    let mut expected: Vec<String> = (18..34).map(|number| format!("mlx5_{number}")).collect();
    expected.sort();
    assert_eq!(names, expected);
}

#[test]
fn a_monitored_port_without_a_cable_is_down_and_every_other_is_up() {
    let platforms = Platforms::shipped();
    for (name, platform) in platforms.iter() {
        let machine = platform.machine(&NodeName::from("n"));
        for facts in platform.ports() {
            let function = &machine.functions[&facts.pci];
            let rdma = function.rdma.as_ref().expect("a device");
            assert_eq!(
                rdma.ports[&facts.port].is_up(),
                facts.cabled,
                "{name} {}",
                facts.device
            );
        }
    }
}

#[test]
fn one_platform_starts_with_a_counter_at_its_maximum() {
    let machine = platform("dgx-h100").machine(&NodeName::from("n"));
    let function = machine.functions.values().next().expect("a function");
    let port = function
        .rdma
        .as_ref()
        .expect("a device")
        .ports
        .values()
        .next()
        .expect("a port");
    assert_eq!(
        port.counters["excessive_buffer_overrun_errors"],
        platforms::CounterValue::Count(15)
    );
}

#[test]
fn two_nodes_of_one_platform_share_no_guid() {
    let platform = platform("a100-oci:vfs");
    let guids = |node: &str| {
        let machine = platform.machine(&NodeName::from(node));
        let rdma = machine
            .functions
            .values()
            .filter_map(|function| function.rdma.as_ref());
        rdma.map(|rdma| rdma.node_guid).collect::<BTreeSet<_>>()
    };
    let (a, b) = (guids("node-1"), guids("node-2"));
    assert_eq!(a.len(), 34);
    assert!(a.is_disjoint(&b));
}

#[test]
fn rails_count_the_cabled_ports_of_a_role() {
    let ports = platform("h100-oci").ports();
    let rails: Vec<_> = ports
        .iter()
        .filter(|port| port.role == NicRole::Compute)
        .map(|port| port.rail)
        .collect();
    assert_eq!(rails, (0..16).map(Some).collect::<Vec<_>>());
    let aux = ports
        .iter()
        .find(|port| port.device.as_str() == "mlx5_11")
        .expect("mlx5_11");
    assert_eq!(
        (aux.cabled, aux.rail, aux.layer),
        (false, None, LinkLayer::Ethernet)
    );
}

const NINTH: &str = r#"
platform_version: 1
name: ninth
about: a machine of a vendor's own
gpus: { model: GPU, device: 0x2330, driver_version: "1", pci: ["0000:01:00.0"], numa: [0] }
models:
  m: { vendor: 0x15b3, device: 0x1021, subsystem_vendor: 0x15b3, subsystem_device: 1, fw_ver: "1", board_id: B, hw_rev: "0", pcie_speed: 32.0 GT/s PCIe, pcie_width: 16 }
devices:
  - { name: mlx5_0, pci: "0000:02:00.0", model: m, driver: mlx5-ib, numa: 0, netdevs: [ib0], rate: 4X NDR, role: compute, topo: PIX }
roles: { management: 0, compute: 1, storage: 0 }
provenance: [{ of: ["*"], plausible: made up for a test }]
"#;

#[test]
fn a_ninth_platform_is_read_from_a_text() {
    let platforms = Platforms::read(&[("ninth.yaml", NINTH)]).unwrap();
    let ninth = platforms.get("ninth").expect("it was read");
    assert_eq!(ninth.check(), []);
    assert_eq!(ninth.machine(&NodeName::from("n")).functions.len(), 1);
    assert!(platforms.get("h100-oci").is_some(), "the shipped ones stay");
}

#[rstest]
#[case(
    "driver: mlx5-ib",
    "driver: mlx5-ip",
    "ninth.yaml:9:60: platform `ninth` names driver `mlx5-ip`, which does not exist\n",
    "\nhint: did you mean `mlx5-ib`?"
)]
#[case(
    "model: m,",
    "model: n,",
    "ninth.yaml:9:49: platform `ninth` names model `n`, which does not exist\n",
    "\nhint: did you mean `m`?"
)]
#[case(
    "platform_version: 1",
    "platform_version: 2",
    "ninth.yaml:2:19: version 2 is not known\n",
    "\nhint: write `platform_version: 1`"
)]
#[case(
    "name: ninth",
    "name: h100-oci",
    "ninth.yaml:3:7: `h100-oci` is described twice\n",
    "\nhint: give it another name"
)]
fn a_platform_that_leads_nowhere_is_refused(
    #[case] from: &str,
    #[case] to: &str,
    #[case] begins: &str,
    #[case] ends: &str,
) {
    let text = NINTH.replace(from, to);
    let error: FileError = Platforms::read(&[("ninth.yaml", &text)]).expect_err(to);
    let rendered = error.to_string();
    assert!(
        rendered.starts_with(begins) && rendered.ends_with(ends),
        "{rendered}"
    );
}

#[rstest]
#[case(
    "topo: PIX",
    "topo: PIX SYS",
    "device `mlx5_0` has 2 topology levels for 1 GPUs"
)]
#[case(
    "compute: 1",
    "compute: 2",
    "`roles` says 0/2/0, the devices are 0/1/0"
)]
#[case(
    "numa: [0] }",
    "numa: [0, 1] }",
    "there are 1 GPU addresses and 2 GPU NUMA nodes"
)]
#[case("0000:02:00.0", "0000:01:00.0", "duplicate address `0000:01:00.0`")]
#[case(
    "topo: PIX }",
    "topo: PIX, cabled: [2] }",
    "has a cable in port 2, but 1 ports"
)]
#[case(
    "netdevs: [ib0]",
    "netdevs: []",
    "device `mlx5_0` has 1 ports and 0 interfaces"
)]
#[case(
    "roles:",
    "default_route: eth9\nroles:",
    "names interface `eth9`, which does not exist"
)]
#[case(
    "roles:",
    "counters: { link_drowned: 1 }\nroles:",
    "`counters` names `link_drowned`"
)]
#[case(
    "roles:",
    "vfs: { each: 2, of: [mlx5_0] }\nroles:",
    "to have 2 virtual functions and can have 0"
)]
#[case(
    "plausible: made up",
    "sourced: x, plausible: made up",
    "has not exactly one of"
)]
#[case(
    "about: a machine of a vendor's own",
    "about: .inf",
    "ninth.yaml:4:8: "
)]
fn check_names_what_no_machine_can_be(
    #[case] from: &str,
    #[case] to: &str,
    #[case] expected: &str,
) {
    let text = NINTH.replace(from, to);
    let platforms = Platforms::read(&[("ninth.yaml", &text)]).unwrap();
    let problems = platforms.get("ninth").expect("it was read").check();
    let rendered: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(
        rendered.iter().any(|problem| problem.contains(expected)),
        "{rendered:?}"
    );
}

#[test]
fn names_of_platforms_are_their_keys() {
    let platforms = Platforms::shipped();
    let by_name: BTreeMap<String, &str> = platforms
        .iter()
        .map(|(key, platform)| (platform.name(), key))
        .collect();
    assert!(by_name.iter().all(|(name, key)| name == key));
}

/// Without a GPU nothing can be said of 18 rows and NUMA nodes: it is said once.
#[test]
fn a_machine_without_gpus_is_one_problem() {
    let mut texts = Platforms::shipped_texts();
    let (_, text) = texts
        .find(|(file, _)| file == "profiles/h100-oci.yaml")
        .expect("it is shipped");
    let (head, devices) = text.split_once("\nmodels:\n").expect("it has models");
    let mut lines: Vec<&str> = head.lines().collect();
    for line in &mut lines {
        match line.trim_start().split(':').next() {
            Some("pci") => *line = "  pci: []",
            Some("numa") => *line = "  numa: []",
            _ => {}
        }
    }
    let text = format!("{}\nmodels:\n{devices}", lines.join("\n"));
    let text = text.replace("name: h100-oci\n", "name: without\n");
    let platforms = Platforms::read(&[("without.yaml", &text)]).unwrap();
    let problems = platforms.get("without").expect("it was read").check();
    let told: Vec<String> = problems.iter().map(|it| it.problem.to_string()).collect();
    assert_eq!(
        told,
        ["there is no GPU, and NICs are told apart by how near they are to GPUs"]
    );
}

/// A function of a card with four planes: twelve ports, of which every third has a cable.
#[test]
fn a_device_of_four_planes_has_twelve_ports() {
    let netdevs: Vec<String> = (0..12).map(|port| format!("eth{port}")).collect();
    let ports = format!(
        "netdevs: [{}], ports: 12, cabled: [3, 6, 9, 12]",
        netdevs.join(", ")
    );
    let text = NINTH.replace("netdevs: [ib0]", &ports);
    let platforms = Platforms::read(&[("ninth.yaml", &text)]).unwrap();
    let ninth = platforms.get("ninth").expect("it was read");
    assert_eq!(ninth.check(), []);
    let ports = ninth.ports().into_iter();
    let cabled: Vec<u8> = ports
        .filter(|port| port.cabled)
        .map(|port| port.port.0)
        .collect();
    assert_eq!(cabled, [3, 6, 9, 12]);
}

#[rstest]
#[case(
    "role: compute",
    "role: compte",
    "ninth.yaml:9:114: unknown word `compte`\n",
    "\nhint: did you mean `compute`? allowed: `compute`, `management`, `storage`"
)]
#[case(
    "topo: PIX",
    "topo: PIG",
    "ninth.yaml:9:129: invalid topology level `PIG`\n",
    "\nhint: write levels"
)]
#[case(
    "rate: 4X NDR",
    "rate: 4X NRD",
    "ninth.yaml:9:100: invalid rate `4X NRD`\n",
    "\nhint: write lanes"
)]
#[case(
    "0000:02:00.0",
    "0000:02:00",
    "ninth.yaml:9:26: invalid PCI address `0000:02:00`\n",
    "\nhint: write domain"
)]
#[case(
    "numa: 0,",
    "numa: zero,",
    "ninth.yaml:9:75: this cannot be read as a whole number",
    "^"
)]
#[case(
    "netdevs:",
    "netdev:",
    "ninth.yaml:9:78: unknown key `netdev`",
    "did you mean `netdevs`?"
)]
#[case(
    "name: ninth",
    "name: ninth\nname: tenth",
    "ninth.yaml:4:1: duplicate key `name`",
    "^"
)]
fn an_error_has_its_place_and_a_hint(
    #[case] from: &str,
    #[case] to: &str,
    #[case] begins: &str,
    #[case] has: &str,
) {
    let text = NINTH.replacen(from, to, 1);
    let rendered = Platforms::read(&[("ninth.yaml", &text)])
        .expect_err(to)
        .to_string();
    assert!(rendered.starts_with(begins), "{rendered}");
    assert!(rendered.contains(has), "{rendered}");
}

#[test]
fn a_value_without_a_source_is_found() {
    let text = NINTH.replace("\"*\"", "devices.*");
    let platforms = Platforms::read(&[("ninth.yaml", &text)]).unwrap();
    let problems = platforms.get("ninth").expect("it was read").check();
    let rendered: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(
        rendered
            .iter()
            .any(|problem| problem.contains("`gpus.numa`")),
        "{rendered:?}"
    );
    assert!(
        !rendered.iter().any(|problem| problem.contains("devices.")),
        "{rendered:?}"
    );
}

#[test]
fn a_platform_says_where_a_value_comes_from() {
    let platform = platform("h100-oci");
    let mark = |path| platform.provenance(path).map(|(mark, _)| mark.word());
    assert_eq!(mark("devices.mlx5_0.pci"), Some("sourced"));
    assert_eq!(mark("devices.mlx5_2.pci"), Some("plausible"));
    assert_eq!(mark("no.such.path"), None);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_broken_file_is_an_error_and_never_a_panic(at in 0..NINTH.len(), insert in "[a-z0-9:,{}\\[\\]&*\n -]{0,6}", cut in 0_usize..12) {
        let (start, end) = (at, (at + cut).min(NINTH.len()));
        let text = format!("{}{insert}{}", &NINTH[..start], &NINTH[end..]);
        if let Ok(platforms) = Platforms::read(&[("ninth.yaml", &text)]) {
            for (_, platform) in platforms.iter() {
                let rendered = platform.topo_text(&platform.machine(&NodeName::from("n")));
                // A file that has lost its provenance is reported once for each of its values, of which there are
                // fewer.
                proptest::prop_assert!(platform.check().len() < 100 && rendered.contains("Legend"));
            }
        }
    }
}
