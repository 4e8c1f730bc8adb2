//! Rendered values compared with facts captured from real machines and from the kernel's source.
//!
//! The captures are not part of the project; without them these tests are skipped with a message.
//! What they check is also checked, value by value, in the other tests.

use std::collections::{BTreeMap, BTreeSet};

use platforms::{
    LaneSpeed, LinkCondition, LinkLayer, Machine, NodeName, PhysState, Platforms, PortState, Rate,
    render,
};
use serde_json::Value as Json;
use simfs::{Edit, FileValue};

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::print_stderr,
    reason = "a test of a pure room may read what was captured elsewhere"
)]
fn captured(path: &str) -> Option<String> {
    let full = format!("{}/../../shared/data/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(full).ok();
    if text.is_none() {
        eprintln!("skipped: the capture {path} is not at hand");
    }
    text
}

fn captured_json(path: &str) -> Option<Json> {
    captured(path).map(|text| serde_json::from_str(&text).expect("captures in .json are JSON"))
}

fn machine(platform: &str) -> Machine {
    let platforms = Platforms::shipped();
    platforms
        .get(platform)
        .expect(platform)
        .machine(&NodeName::from("node-1"))
}

/// The content of each file, by path; `None` if reading fails.
fn files(machine: &Machine) -> BTreeMap<String, Option<String>> {
    let file = |edit: &Edit| match edit {
        Edit::File {
            path,
            value: FileValue::Bytes(bytes),
        } => Some((
            path.to_string(),
            Some(String::from_utf8_lossy(bytes).into_owned()),
        )),
        Edit::File {
            path,
            value: FileValue::Fails(_),
        } => Some((path.to_string(), None)),
        _ => None,
    };
    render(machine).iter().filter_map(file).collect()
}

fn below<'a>(
    files: &'a BTreeMap<String, Option<String>>,
    folder: &'a str,
) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    files.iter().filter_map(move |(path, text)| {
        Some((
            path.strip_prefix(folder)?.strip_prefix('/')?,
            text.as_deref(),
        ))
    })
}

fn map(json: &Json) -> impl Iterator<Item = (&str, &Json)> {
    json.as_object()
        .expect("an object")
        .iter()
        .map(|(key, value)| (key.as_str(), value))
}

/// The folder of the function at this address.
fn folder(machine: &Machine, pci: &str) -> String {
    let function = &machine.functions[&pci.parse().expect("an address")];
    format!("sys/devices/{}/{pci}", function.bus)
}

#[test]
fn states_are_spelt_as_the_kernel_spells_them() {
    let Some(facts) = captured_json("kernel/ib-sysfs-strings.json") else {
        return;
    };
    for (number, word) in map(&facts["state"]["values"]) {
        let word = word.as_str().expect("a word");
        let state = PortState(number.parse().expect("a number"));
        assert_eq!(state.to_string(), format!("{number}: {word}"));
        assert_eq!(PortState::by_word(word), Some(state));
    }
    assert_eq!(PortState(9).to_string(), "9: UNKNOWN");
    for (number, word) in map(&facts["phys_state"]["values"]) {
        let word = word.as_str().expect("a word");
        let state = PhysState(number.parse().expect("a number"));
        assert_eq!(state.to_string(), format!("{number}: {word}"));
        assert_eq!(PhysState::by_word(word), Some(state));
    }
    for other in [0, 8, 255] {
        assert_eq!(PhysState(other).to_string(), format!("{other}: <unknown>"));
    }
    let layers: Vec<&str> = facts["link_layer"]["values"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Json::as_str)
        .collect();
    for layer in [LinkLayer::InfiniBand, LinkLayer::Ethernet] {
        assert!(layers.contains(&layer.to_string().as_str()));
    }
}

#[test]
fn rates_are_spelt_as_the_kernel_spells_them() {
    let Some(facts) = captured_json("kernel/ib-sysfs-strings.json") else {
        return;
    };
    for (suffix, fact) in map(&facts["rate"]["speed"]) {
        let deci = fact["deci"].as_u64().expect("a number");
        for width in [1_u64, 2, 4, 8, 12] {
            let rate = Rate::by_words(&format!("{width}X {suffix}")).expect(suffix);
            let half = if (deci * width).is_multiple_of(10) {
                ""
            } else {
                ".5"
            };
            let expected = format!("{}{half} Gb/sec ({width}X {suffix})", deci * width / 10);
            assert_eq!(rate.to_string(), expected);
        }
    }
    assert_eq!(
        Rate {
            width: 1,
            speed: LaneSpeed::SDR
        }
        .to_string(),
        "2.5 Gb/sec (1X SDR)"
    );
    assert_eq!(Rate::WITHOUT_SPEED.to_string(), "40 Gb/sec (4X QDR)");
}

#[test]
fn counters_are_as_wide_as_the_kernel_says() {
    let Some(facts) = captured_json("kernel/ib-sysfs-strings.json") else {
        return;
    };
    let platforms = Platforms::shipped();
    let platform = platforms.get("dgx-h100").expect("shipped");
    for driver in ["mlx5-ib", "mlx5-eth"] {
        let driver = platform.driver(driver).expect("shipped");
        let narrow = map(&facts["pma_counter_width_bits"])
            .filter_map(|(name, bits)| Some((name, bits.as_u64()?)));
        for (name, bits) in narrow {
            let file = driver.counter(name).expect(name);
            assert_eq!(u64::from(file.bits), bits, "{name}");
        }
    }
}

#[test]
fn hca_types_belong_to_their_device_ids() {
    let Some(facts) = captured_json("kernel/ib-sysfs-strings.json") else {
        return;
    };
    for (_, platform) in Platforms::shipped().iter() {
        for (name, model) in &platform.profile().models {
            // The drivers of NVIDIA's cards always have the file; others have another text in it.
            if model.vendor != 0x15b3 {
                continue;
            }
            let hca_type = model.hca_type.as_deref().expect(name);
            let known = facts["hca_type_by_device"][hca_type]
                .as_str()
                .expect(hca_type);
            assert!(
                known.contains(&format!("0x{:04x}", model.device)),
                "{name}: {known}"
            );
        }
    }
}

#[test]
fn an_mlx5_device_has_the_files_of_a_real_one() {
    let Some(dump) = captured("sysfs/gpud-h100-class-infiniband.txt") else {
        return;
    };
    let mut machine = machine("dgx-h100");
    for function in machine.functions.values_mut() {
        if let Some(rdma) = &mut function.rdma {
            rdma.fw_ver = "28.41.1000".to_owned();
        }
    }
    let files = files(&machine);
    let device = folder(&machine, "0000:18:00.0") + "/infiniband/mlx5_0";
    let ours: BTreeMap<_, _> = below(&files, &device).collect();
    let theirs: BTreeMap<&str, &str> = dump
        .lines()
        .filter_map(|line| line.strip_prefix("mlx5_0/")?.split_once(" = "))
        .collect();
    assert!(theirs.len() > 50, "the capture has a whole device");
    for (name, text) in &theirs {
        let own = ours
            .get(name)
            .unwrap_or_else(|| panic!("{name} is missing"))
            .expect("readable");
        if !name.contains("counters/") {
            assert_eq!(own, format!("{text}\n"), "{name}");
        }
    }
    for folder in ["ports/1/counters/", "ports/1/hw_counters/"] {
        let own: BTreeSet<_> = ours
            .keys()
            .filter(|name| name.starts_with(folder))
            .collect();
        let real: BTreeSet<_> = theirs
            .keys()
            .filter(|name| name.starts_with(folder))
            .collect();
        assert_eq!(own, real);
    }
}

#[test]
fn an_interface_that_is_down_fails_to_read_where_a_real_one_does() {
    let Some(dump) = captured_json("sysfs/gcm-learn_ib_intf_operstate_down.json") else {
        return;
    };
    let mut machine = machine("dgx-a100");
    let function = machine
        .functions
        .values_mut()
        .find(|function| function.netdevs.iter().any(|netdev| netdev.name == "ib4"));
    let netdev = &mut function.expect("ib4 is there").netdevs[0];
    netdev.admin_up = false;
    netdev.operstate = "down".to_owned();
    let files = files(&machine);
    let interface = folder(&machine, "0000:8d:00.0") + "/net/ib4";
    let ours: BTreeMap<_, _> = below(&files, &interface).collect();
    let mut compared = 0;
    for (path, text) in map(&dump) {
        let Some((_, name)) = path.split_once("/net/ib4/") else {
            continue;
        };
        let own = ours
            .get(name)
            .unwrap_or_else(|| panic!("{name} is missing"));
        // The dump has unreadable files as empty texts.
        let unread = text.as_str() == Some("") && name != "ifalias";
        assert_eq!(own.is_none(), unread, "{name}");
        compared += 1;
    }
    assert!(compared > 20, "the capture has a whole interface");
}

#[test]
fn a_device_of_a_real_a100_node_has_no_file_that_ours_lacks() {
    let Some(dump) = captured_json("sysfs/gcm-learn_ib_intf_operstate_down.json") else {
        return;
    };
    let machine = machine("dgx-a100");
    let files = files(&machine);
    let device = folder(&machine, "0000:8d:00.0") + "/infiniband/mlx5_6";
    let ours: BTreeSet<&str> = below(&files, &device).map(|(name, _)| name).collect();
    let theirs = map(&dump).filter_map(|(path, _)| path.split_once("/infiniband/mlx5_6/"));
    let theirs: BTreeSet<&str> = theirs.map(|(_, name)| name).collect();
    // Two folders of the vendor's own driver package, which the kernel does not have.
    let lacking: BTreeSet<&str> = theirs.difference(&ours).copied().collect();
    assert_eq!(lacking, BTreeSet::from(["tc/1/traffic_class", "ttl/1/ttl"]));
}

fn rows(text: &str) -> Vec<Vec<&str>> {
    let matrix = text.lines().take_while(|line| !line.starts_with("Legend"));
    matrix
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|row| !row.is_empty())
        .collect()
}

#[test]
fn the_topology_of_a_dgx_a100_is_the_one_that_was_posted() {
    let Some(posted) = captured("topo/a100-sxm4-80gb-x8-nic12-sglang1923.txt") else {
        return;
    };
    let platforms = Platforms::shipped();
    let platform = platforms.get("dgx-a100").expect("shipped");
    let text = platform.topo_text(&platform.machine(&NodeName::from("node-1")));
    assert_eq!(rows(&text), rows(&posted));
}

#[test]
fn the_topology_of_an_oem_h100_is_the_one_that_was_posted() {
    let Some(posted) = captured("topo/h100-80gb-hbm3-x8-nic12-sglang2778.txt") else {
        return;
    };
    let platforms = Platforms::shipped();
    let platform = platforms.get("oem-h100").expect("shipped");
    let text = platform.topo_text(&platform.machine(&NodeName::from("node-1")));
    // Between two NICs behind one switch the tool prints PIX here, where the levels to GPUs imply
    // PXB.
    let gpu_rows = |text: &str| -> Vec<Vec<String>> {
        let rows = rows(text).into_iter().skip(1).take(8);
        rows.map(|row| row.into_iter().map(str::to_owned).collect())
            .collect()
    };
    assert_eq!(gpu_rows(&text), gpu_rows(&posted));
}

#[test]
fn the_topology_of_an_oci_h100_is_the_one_that_was_posted() {
    let Some(posted) = captured_json("topo/expected/h100-80gb-hbm3-x8-nic18-sglang4188.json")
    else {
        return;
    };
    let machine = machine("h100-oci");
    for function in machine.functions.values() {
        let name = &function.rdma.as_ref().expect("a device").name;
        let own: Vec<String> = function.topo.iter().map(ToString::to_string).collect();
        let real = &posted["relationships"][name.as_str()];
        assert_eq!(serde_json::json!(own), *real, "{name}");
    }
}

#[test]
fn roce_shows_two_pairs_only_and_infiniband_the_rest() {
    let platforms = Platforms::shipped();
    let platform = platforms.get("dgx-h100").expect("shipped");
    let pairs = |driver: &str| {
        let driver = platform.driver(driver).expect("shipped");
        let views = LinkCondition::ALL
            .iter()
            .map(|condition| driver.view(*condition));
        views
            .map(|view| format!("{}, {}", view.state, view.phys_state))
            .collect::<BTreeSet<_>>()
    };
    let roce = BTreeSet::from([
        "1: DOWN, 3: Disabled".to_owned(),
        "4: ACTIVE, 5: LinkUp".to_owned(),
    ]);
    assert_eq!(pairs("mlx5-eth"), roce);
    assert_eq!(pairs("mlx5-ib").len(), 9);
}
