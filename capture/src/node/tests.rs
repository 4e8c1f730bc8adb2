//! Captures of the shipped machines, of trees in memory and on a disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use platforms::{Guid, HardwareAddress, MetadataFile, NodeName, Platform, render};
use rstest::rstest;
use simfs::{Edit, FileValue, Fs, Refused};

use super::*;
use fabric::NODE;
use memory::roles_found;
use platforms::CLASS_INFINIBAND;

/// No read of these trees hangs, however slow the machine is.
const PATIENT: Duration = Duration::from_secs(600);

/// A tree in memory, and what was opened in it.
struct Tree {
    fs: Fs,
    opened: BTreeSet<String>,
}

impl Tree {
    fn of(platform: &Platform) -> Self {
        let mut fs = Fs::new();
        fs.alias_folder(CLASS_INFINIBAND);
        fs.apply(&render(&platform.machine(&NodeName::from(NODE))));
        Self {
            fs,
            opened: BTreeSet::new(),
        }
    }
}

impl Guest for Tree {
    fn list(&mut self, folder: &str) -> Option<Result<Vec<String>, Unread>> {
        self.fs.list(&format!("/{folder}")).ok().map(Ok)
    }

    fn read(&mut self, file: &str) -> Option<Result<String, Unread>> {
        let read = self.fs.read(&format!("/{file}"));
        match read {
            Err(Refused::Errno(errno)) if errno == simfs::Errno::ENOENT => None,
            other => {
                self.opened.insert(pattern(file));
                let text = other.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                Some(text.map_err(|refused| Unread {
                    cause: format!("{refused:?}"),
                    errno: None,
                }))
            }
        }
    }

    fn link(&mut self, path: &str) -> Option<String> {
        self.fs.read_link(&format!("/{path}")).ok()
    }
}

/// A path with `*` for the names that differ from node to node.
fn pattern(path: &str) -> String {
    let mut names: Vec<&str> = path.split('/').collect();
    let free: &[usize] = match names.get(..3) {
        Some(["sys", "class", "infiniband"]) if names.get(4) == Some(&"ports") => match names.len()
        {
            8 => &[3, 5, 7],
            _ => &[3, 5],
        },
        Some(["sys", "class", _]) => &[3],
        Some(["sys", "bus", "pci"]) => &[4],
        _ => &[],
    };
    for place in free {
        names[*place] = "*";
    }
    names.join("/")
}

fn again(captured: &Captured) -> Platform {
    let platforms = Platforms::read(&[("captured.yaml", &captured.yaml)]);
    let platforms = platforms.unwrap_or_else(|error| panic!("{error}\n{}", captured.yaml));
    platforms.get("captured").expect("its name").clone()
}

const COUNTERS: Asked = Asked {
    counters: true,
    identifiers: false,
};

const EVERYTHING: Asked = Asked {
    counters: true,
    identifiers: true,
};

fn captured_with(guest: &mut dyn Guest, asked: Asked) -> Captured {
    of_node(
        guest,
        None,
        "captured",
        asked,
        &Platforms::shipped(),
        &roles_found,
    )
    .expect("it has NICs")
}

fn captured(guest: &mut dyn Guest) -> Captured {
    captured_with(guest, COUNTERS)
}

/// Content, links and kinds of everything in the tree.
fn edits(platform: &Platform) -> Vec<Edit> {
    render(&platform.machine(&NodeName::from(NODE)))
}

#[test]
fn the_capture_of_every_shipped_platform_renders_the_same_tree() {
    for (name, platform) in Platforms::shipped().iter() {
        let captured = captured(&mut Tree::of(platform));
        let again = again(&captured);
        let (before, after) = (edits(platform), edits(&again));
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before, after, "{name}\n{}", captured.yaml);
        }
        assert_eq!(before.len(), after.len(), "{name}");
        let findings: Vec<String> = again.check().iter().map(ToString::to_string).collect();
        assert_eq!(findings, [""; 0], "{name}\n{}", captured.yaml);
    }
}

/// The reference monitor finds the roles that the shipped profiles declare, on machines where it
/// starts and watches such cards.
/// watches such cards at all.
#[test]
fn the_capture_of_a_shipped_platform_has_its_roles() {
    for (name, platform) in Platforms::shipped().iter() {
        let is_watched = platform.ports().iter().any(|port| port.is_monitored());
        if is_watched {
            let again = again(&captured(&mut Tree::of(platform)));
            assert_eq!(again.roles(), platform.roles(), "{name}");
        }
    }
}

#[rstest]
#[case("dgx-a100")]
#[case("l40s-oci")]
#[case("aws-p5")]
fn a_tree_on_a_disk_gives_the_same_capture_as_the_tree_in_memory(#[case] name: &str) {
    let platforms = Platforms::shipped();
    let platform = platforms.get(name).expect("it is shipped");
    let folder = tempfile::tempdir().expect("a folder");
    for edit in edits(platform) {
        write(folder.path(), &edit);
    }
    let mut root = LiveRoot::new(folder.path(), PATIENT);
    assert_eq!(captured(&mut root), captured(&mut Tree::of(platform)));
}

fn write(root: &Path, edit: &Edit) {
    let path = root.join(edit.path().as_str());
    let above = path.parent().expect("it is below the root");
    fs::create_dir_all(above).expect("the folder above");
    match edit {
        Edit::Folder(_) => fs::create_dir_all(&path).expect("a folder"),
        Edit::File {
            value: FileValue::Bytes(bytes),
            ..
        } => fs::write(&path, bytes).expect("a file"),
        Edit::Link { target, .. } => std::os::unix::fs::symlink(target, &path).expect("a link"),
        // A disk has no files that fail to read; a capture opens none of them.
        Edit::File { .. } | Edit::Remove(_) | Edit::Stream(_) | Edit::Append { .. } => {}
    }
}

/// The tables of `docs/platform.md`: files that are opened always, with counters, and with
/// identifiers.
fn documented() -> [BTreeSet<String>; 3] {
    let document = include_str!("../../../docs/platform.md");
    let (_, rest) = document.split_once("<!-- opened -->").expect("the table");
    let (table, _) = rest.split_once("<!-- /opened -->").expect("its end");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = rows.filter_map(|line| line.split_once('`'));
    let rows: Vec<(&str, &str)> = rows.collect();
    let without = |flags: &[&str]| {
        let rendered = |rest: &str| flags.iter().any(|flag| rest.contains(flag));
        let rows = rows.iter().filter(|(_, rest)| !rendered(rest));
        rows.map(|(path, _)| (*path).to_owned()).collect()
    };
    [
        without(&["--counters", "--keep-identifiers"]),
        without(&["--keep-identifiers"]),
        without(&[]),
    ]
}

#[test]
fn what_is_opened_is_what_the_document_lists() {
    let opened = |asked| {
        let mut opened = BTreeSet::new();
        for (_, platform) in Platforms::shipped().iter() {
            let mut tree = Tree::of(platform);
            read(&mut tree, asked);
            opened.extend(tree.opened);
        }
        opened
    };
    for (asked, listed) in [Asked::default(), COUNTERS, EVERYTHING]
        .into_iter()
        .zip(documented())
    {
        assert_eq!(opened(asked), listed, "{asked:?}");
    }
}

/// The files that identify a machine.
fn identities(platform: &Platform, node: &str) -> Vec<Edit> {
    let worth_a_step = ["node_desc", "node_guid", "sys_image_guid", "address"];
    let machine = platform.machine(&NodeName::from(node));
    let functions = machine.functions.values();
    // Without an interface, a port other than an InfiniBand port has an address that no file
    // contains.
    let mute = functions.filter(|it| it.netdevs.is_empty() && it.class != 0x02_07_00);
    let mute: Vec<String> = mute.map(|it| format!("/{}/", it.pci)).collect();
    let is_worth_a_step = |edit: &Edit| {
        let path = edit.path().as_str();
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_mute = mute.iter().any(|function| path.contains(function));
        let link_local = matches!(edit, Edit::File { value: FileValue::Bytes(bytes), .. }
            if path.contains("/gids/") && bytes.starts_with(b"fe80"));
        worth_a_step.contains(&name)
            || link_local && !is_mute
            || path.ends_with("gpu_metadata.json")
    };
    render(&machine)
        .into_iter()
        .filter(is_worth_a_step)
        .collect()
}

/// On another node, where a platform generates other identifiers.
#[test]
fn kept_identifiers_are_those_of_the_node_wherever_the_machine_is_made() {
    for (name, platform) in Platforms::shipped().iter() {
        let captured = captured_with(&mut Tree::of(platform), EVERYTHING);
        let again = again(&captured);
        let before = identities(platform, NODE);
        assert!(before.len() > 3, "{name}");
        assert_ne!(before, identities(platform, "elsewhere"), "{name}");
        for (kept, shown) in before.iter().zip(identities(&again, "elsewhere")) {
            assert_eq!(*kept, shown, "{name}");
        }
        assert_eq!(edits(platform), edits(&again), "{name}");
        let findings: Vec<String> = again.check().iter().map(ToString::to_string).collect();
        assert_eq!(findings, [""; 0], "{name}\n{}", captured.yaml);
        let nobody = again.anonymous().machine(&NodeName::from("elsewhere"));
        assert_eq!(
            nobody,
            platform.machine(&NodeName::from("elsewhere")),
            "{name}"
        );
    }
}

/// Masked values are equal where the real ones are equal: the functions of one card share a number.
#[test]
fn a_capture_carries_no_identity_unless_asked() {
    for (name, platform) in Platforms::shipped().iter() {
        let machine = platform.machine(&NodeName::from(NODE));
        let yaml = captured(&mut Tree::of(platform)).yaml;
        let MetadataFile::Written(metadata) = &machine.metadata else {
            panic!("{name} has no metadata");
        };
        let mut rendered = vec![metadata.node.to_string()];
        for gpu in &metadata.gpus {
            rendered.extend([gpu.uuid.clone(), gpu.serial_number.clone()]);
        }
        let mut images: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        let elsewhere = again(&captured(&mut Tree::of(platform)));
        let elsewhere = elsewhere.machine(&NodeName::from("elsewhere"));
        for (function, other) in machine.functions.values().zip(elsewhere.functions.values()) {
            let (Some(rdma), Some(other)) = (&function.rdma, &other.rdma) else {
                continue;
            };
            rendered.push(rdma.node_desc.clone());
            rendered
                .extend([rdma.node_guid, rdma.sys_image_guid].map(|guid| Guid(guid).to_string()));
            assert_ne!(rdma.node_guid, other.node_guid, "{name}");
            let of_card = images.entry(Guid(rdma.sys_image_guid).to_string());
            of_card.or_default().insert(other.sys_image_guid);
            let addresses = function.netdevs.iter().map(|it| it.address.clone());
            rendered.extend(addresses.map(|it| HardwareAddress(it).to_string()));
        }
        for rendered in rendered {
            assert!(
                !yaml.contains(&rendered),
                "{name} tells `{rendered}`:\n{yaml}"
            );
        }
        assert!(
            images.values().all(|image| image.len() == 1),
            "{name}: {images:?}"
        );
    }
}

#[test]
fn a_node_without_nics_is_told_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut root = LiveRoot::new(folder.path(), PATIENT);
    let known = Platforms::shipped();
    let failed = of_node(
        &mut root,
        None,
        "captured",
        Asked::default(),
        &known,
        &roles_found,
    )
    .expect_err("no NICs");
    let rendered = failed.to_string();
    assert!(
        rendered.starts_with("there are no NICs of interest: "),
        "{rendered}"
    );
}

#[test]
fn a_read_that_hangs_is_given_up_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let device = folder.path().join("sys/class/infiniband/mlx5_0");
    fs::create_dir_all(device.join("ports/1")).expect("a folder");
    // Opening a pipe without a writer blocks.
    let pipe = device.join("board_id");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    fs::write(device.join("hca_type"), "MT4129\n").expect("a file");
    let mut root = LiveRoot::new(folder.path(), Duration::from_secs(1));
    let snapshot = read(&mut root, Asked::default());
    assert_eq!(snapshot.text("infiniband/mlx5_0/hca_type"), Some("MT4129"));
    let unread: Vec<_> = snapshot.unread().collect();
    assert_eq!(
        unread,
        [("infiniband/mlx5_0/board_id", "no answer within 1000 ms")]
    );
}

const DUMP: &str = "\
mlx5_0/board_id = MT_0000000838
mlx5_0/fw_ver = 28.41.1000
mlx5_0/hca_type = MT4129
mlx5_0/ports/1/counters/port_rcv_errors = 14
mlx5_0/ports/1/link_layer = InfiniBand
mlx5_0/ports/1/phys_state = 5: LinkUp
mlx5_0/ports/1/rate = 400 Gb/sec (4X NDR)
mlx5_0/ports/1/state = 4: ACTIVE
";

const MATRIX: &str = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\tPIX\t0-47\t0\t\tN/A
GPU1\tNV18\t X \tSYS\t48-95\t1\t\tN/A
NIC0\tPIX\tSYS\t X \t\t\t

Legend:

NIC Legend:

  NIC0: mlx5_0
";

#[test]
fn a_dump_and_a_matrix_are_a_platform_whose_choices_are_marked() {
    let captured = of_dump(
        DUMP,
        Some(MATRIX),
        "captured",
        COUNTERS,
        &Platforms::shipped(),
        &roles_found,
    );
    let captured = captured.expect("it has a NIC");
    let platform = again(&captured);
    assert_eq!(platform.check(), []);
    assert_eq!(platform.roles().to_string(), "0/1/0");
    let mark = |path| platform.provenance(path).map(|(mark, _)| mark.word());
    assert_eq!(mark("devices.mlx5_0.rate"), Some("captured"));
    assert_eq!(mark("models.mt4129.fw_ver"), Some("captured"));
    for path in [
        "devices.mlx5_0.pci",
        "devices.mlx5_0.netdevs",
        "gpus.pci",
        "models.mt4129.pcie_speed",
    ] {
        assert_eq!(mark(path), Some("plausible"), "{path}");
    }
    assert_eq!(platform.profile().counters["port_rcv_errors"], 14);
    assert_eq!(platform.refusal(), None);
}

#[test]
fn a_firmware_version_that_could_not_be_read_was_not_captured() {
    let dump = DUMP.replace("fw_ver = 28.41.1000", "fw_ver =");
    let captured = dumped(&dump, "mlx5_0").expect("it has a NIC");
    let mark = again(&captured);
    let mark = mark.provenance("models.mt4129.fw_ver");
    assert_eq!(mark.map(|(mark, _)| mark.word()), Some("plausible"));
}

/// A monitor treats a NIC without a row as far from every GPU.
#[test]
fn a_nic_that_the_matrix_lacks_is_far_from_every_gpu_and_marked() {
    let second = DUMP
        .replace("mlx5_0", "mlx5_7")
        .replace("MT4129", "hca_type");
    let both = format!("{DUMP}{second}");
    let captured = of_dump(
        &both,
        Some(MATRIX),
        "captured",
        COUNTERS,
        &Platforms::shipped(),
        &roles_found,
    );
    let platform = again(&captured.expect("it has NICs"));
    let row = &platform.profile().devices[1].topo.0;
    assert_eq!(row, &[platforms::TopoLevel::SYS; 2]);
    let mark = platform.provenance("devices.mlx5_7.topo");
    assert_eq!(mark.map(|(mark, _)| mark.word()), Some("plausible"));
    assert_eq!(platform.check(), []);
}

#[test]
fn a_dump_without_a_matrix_says_that_a_monitor_must_refuse() {
    let captured = of_dump(
        DUMP,
        None,
        "captured",
        COUNTERS,
        &Platforms::shipped(),
        &roles_found,
    );
    let captured = captured.expect("it has a NIC");
    assert!(captured.notes[0].contains("a monitor must refuse to start"));
    assert_eq!(
        again(&captured).refusal(),
        Some(platforms::Refusal::NoTopology)
    );
}

/// A tree of a node with eight devices on eight functions, and eight subdevices on the same: one reason says that the latter
/// are left out, and the file is sound apart from it.
#[test]
fn a_second_device_on_a_function_is_skipped_with_one_reason() {
    let of = |name: String, number: u8| {
        let pci = format!("0000:{:02x}:00.0", 0x1f + number);
        let ids = ["0x15b3", "0x1021"];
        function(
            &name,
            &pci,
            "mlx5_core",
            ids,
            "InfiniBand",
            "400 Gb/sec (4X NDR)",
        )
    };
    let dump: String = (0..8)
        .flat_map(|number| {
            [
                of(format!("mlx5_{number}"), number),
                of(format!("aux_{number}"), number),
            ]
        })
        .collect();
    // The matrix names `mlx5_0`; of the others the first by name stays.
    let captured = dumped(&dump, "mlx5_0").expect("it has NICs");
    let platform = again(&captured);
    let names: Vec<&str> = platform
        .profile()
        .devices
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "mlx5_0", "aux_1", "aux_2", "aux_3", "aux_4", "aux_5", "aux_6", "aux_7"
        ]
    );
    let why = "another RDMA device is on its PCI function, as with planes, and a platform has one for each";
    let others = [
        "aux_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7",
    ];
    noted(
        &captured,
        &format!("Devices {} are skipped: {why}.", others.join(", ")),
    );
    let expected = format!(
        "devices `{}` were skipped by the capture: {why}",
        others.join("`, `")
    );
    assert_eq!(found(&platform), [expected], "{}", captured.yaml);
}

/// The parent of a subfunction's device is an auxiliary device.
#[test]
fn a_device_of_a_subfunction_is_skipped() {
    let name = "mlx5_9";
    let below = format!(
        "/sys/class/infiniband/{name}/device -> ../../../mlx5_core.sf.4\n\
         /sys/class/infiniband/{name}/ports/1/state:4: ACTIVE\n\
         /sys/class/infiniband/{name}/ports/1/rate:400 Gb/sec (4X NDR)\n"
    );
    let captured = dumped(&(DUMP.to_owned() + &below), "mlx5_0").expect("the other can be read");
    let why = "it is on no PCI function of its own, as those of subfunctions are not";
    noted(&captured, &format!("Device {name} is skipped: {why}."));
    let expected = format!("device `{name}` was skipped by the capture: {why}");
    assert_eq!(found(&again(&captured)), [expected], "{}", captured.yaml);
    let refused = dumped(&below, name)
        .expect_err("nothing is left")
        .to_string();
    let told = "`mlx5_9` is on no PCI function of its own";
    assert!(refused.contains(told), "{refused}");
    // On a live node the entry of the class leads to it.
    let folder = tempfile::tempdir().expect("a folder");
    let device = "devices/pci0000:00/0000:0c:00.0/mlx5_core.sf.4/infiniband/mlx5_9";
    let sys = folder.path().join("sys");
    fs::create_dir_all(sys.join(device).join("ports/1")).expect("a folder");
    fs::create_dir_all(sys.join("class/infiniband")).expect("a folder");
    std::os::unix::fs::symlink(
        format!("../../{device}"),
        sys.join("class/infiniband/mlx5_9"),
    )
    .expect("a link");
    let mut root = LiveRoot::new(folder.path(), PATIENT);
    let known = Platforms::shipped();
    let refused = of_node(&mut root, None, "captured", COUNTERS, &known, &roles_found);
    let refused = refused.expect_err("nothing is left").to_string();
    assert!(refused.contains(told), "{refused}");
}

/// The interfaces of a card with four planes say which of twelve ports they are for.
#[test]
fn an_interface_is_at_the_port_that_it_is_for() {
    let pci = "0000:1f:00.0";
    let ids = ["0x15b3", "0x1023"];
    let class = "/sys/class/infiniband/roce_r0";
    let mut dump = function(
        "roce_r0",
        pci,
        "mlx5_core",
        ids,
        "Ethernet",
        "400 Gb/sec (4X NDR)",
    );
    for port in 2..=12 {
        let (state, phys_state) = match port % 3 {
            0 => ("4: ACTIVE", "5: LinkUp"),
            _ => ("1: DOWN", "3: Disabled"),
        };
        dump += &format!(
            "{class}/ports/{port}/state:{state}\n{class}/ports/{port}/phys_state:{phys_state}\n\
             {class}/ports/{port}/link_layer:Ethernet\n{class}/ports/{port}/rate:400 Gb/sec (4X NDR)\n"
        );
    }
    dump = dump
        .replace("ports/1/state:4: ACTIVE", "ports/1/state:1: DOWN")
        .replace(
            "ports/1/phys_state:5: LinkUp",
            "ports/1/phys_state:3: Disabled",
        );
    for plane in 0..4 {
        let netdev = format!("/sys/class/net/eth_r0_p{plane}");
        dump += &format!(
            "{netdev} -> ../../devices/pci0000:00/{pci}/net/eth_r0_p{plane}\n{netdev}/dev_port:{}\n",
            3 * plane + 2
        );
    }
    let captured = dumped(&dump, "roce_r0").expect("it has a NIC");
    let platform = again(&captured);
    assert_eq!(found(&platform), [""; 0], "{}", captured.yaml);
    let device = &platform.profile().devices[0];
    assert_eq!(device.cabled, [3, 6, 9, 12]);
    for plane in 0..4 {
        assert_eq!(device.netdevs[3 * plane + 2], format!("eth_r0_p{plane}"));
    }
}

/// AMD's tools list GPUs and no NIC, so no monitor by the documents starts there, and roles are what the default route, NUMA
/// nodes and rates suggest: those of the shipped machine.
#[test]
fn a_node_without_a_matrix_is_captured_with_its_likely_roles() {
    let shipped = Platforms::shipped();
    for name in ["mi300x", "h100-vm"] {
        let platform = shipped.get(name).expect("it is shipped");
        let captured = captured(&mut Tree::of(platform));
        let again = again(&captured);
        let roles = |of: &Platform| {
            let ports = of.ports().into_iter();
            let roles = ports.map(|port| (port.device.to_string(), port.role));
            roles.collect::<BTreeMap<_, _>>()
        };
        assert_eq!(roles(&again), roles(platform), "{name}");
        let mark = again
            .provenance("devices.mlx5_1.role")
            .map(|(mark, _)| mark.word());
        assert_eq!(mark, Some("plausible"), "{name}");
    }
}

/// What a tool of AMD prints is taken beside a dump, in which no GPU is; what neither tells is invented, and marked.
#[rstest]
#[case::amd_smi(
    "ACCESS TABLE:\n             0000:05:00.0 0000:26:00.0\n0000:05:00.0 ENABLED ENABLED\n0000:26:00.0 ENABLED ENABLED\n",
    ["0000:05:00.0", "0000:26:00.0"],
    [-1, -1],
    ["captured", "plausible"]
)]
#[case::rocm_smi(
    "GPU[0]\t\t: (Topology) Numa Node: 0\nGPU[1]\t\t: (Topology) Numa Node: 1\n",
    ["0000:c0:00.0", "0000:c1:00.0"],
    [0, 1],
    ["plausible", "captured"]
)]
fn gpus_that_a_tool_of_amd_lists_are_those_of_the_platform(
    #[case] listed: &str,
    #[case] pci: [&str; 2],
    #[case] numa: [i32; 2],
    #[case] marks: [&str; 2],
) {
    let known = Platforms::shipped();
    let captured = of_dump(
        DUMP,
        Some(listed),
        "captured",
        COUNTERS,
        &known,
        &roles_found,
    );
    let captured = captured.expect("it has a NIC");
    let platform = again(&captured);
    let gpus = &platform.profile().gpus;
    let addresses: Vec<String> = gpus.pci.iter().map(ToString::to_string).collect();
    assert_eq!(
        (&addresses[..], &gpus.numa[..]),
        (&pci.map(str::to_owned)[..], &numa[..])
    );
    assert_eq!(
        (gpus.vendor, gpus.kernel_driver.as_str()),
        (0x1002, "amdgpu")
    );
    let mark = |path| platform.provenance(path).map(|(mark, _)| mark.word());
    assert_eq!([mark("gpus.pci"), mark("gpus.numa")], marks.map(Some));
    assert_eq!(mark("gpus.device"), Some("plausible"));
    let is_invented = captured
        .notes
        .iter()
        .any(|note| note.contains("are invented"));
    assert_eq!(is_invented, marks[0] == "plausible", "{:?}", captured.notes);
    assert_eq!(platform.refusal(), Some(platforms::Refusal::NoTopology));
}

/// The bus of a node with AMD's GPUs has those of the tool's output, or the output is another node's.
#[test]
fn a_gpu_that_a_tool_lists_and_the_bus_does_not_have_is_noted_with_its_line() {
    let known = Platforms::shipped();
    let platform = known.get("mi300x").expect("the platform ships");
    let gpu = platform.profile().gpus.pci[0];
    let listed = format!(
        "ACCESS TABLE:\n             {gpu} 0000:fe:00.0\n{gpu} ENABLED ENABLED\n0000:fe:00.0 ENABLED ENABLED\n"
    );
    let captured = of_node(
        &mut Tree::of(platform),
        Some(&listed),
        "captured",
        COUNTERS,
        &known,
        &roles_found,
    );
    let notes = captured.expect("it has NICs").notes;
    let strange =
        "Line 4 of the tool's output lists a GPU at 0000:fe:00.0, where the bus has none.";
    let told: Vec<&String> = notes
        .iter()
        .filter(|note| note.starts_with("Line "))
        .collect();
    assert_eq!(told, [strange], "{notes:#?}");
}

#[test]
fn a_matrix_of_nvidia_is_not_taken_for_that_of_amds_gpus() {
    let known = Platforms::shipped();
    let of = |name: &str| known.get(name).expect("the platform ships");
    let nvidia = of("dgx-h100");
    let machine = nvidia.machine(&NodeName::from("node-a"));
    let matrix = nvidia.topology(&machine).to_string();
    let captured = of_node(
        &mut Tree::of(of("mi300x")),
        Some(&matrix),
        "captured",
        COUNTERS,
        &known,
        &roles_found,
    );
    let error = captured.expect_err("the GPUs are others").to_string();
    let told = "the matrix is one of `nvidia-smi topo -m`, and the node's GPUs are AMD's\nhint: leave `--topo` out";
    assert!(error.starts_with(told), "{error}");
}

/// A matrix has no addresses of GPUs, no model and no driver: what a file has of them without the bus is invented.
#[test]
fn what_a_matrix_does_not_tell_of_gpus_is_marked_value_by_value() {
    let captured = dumped(DUMP, "mlx5_0").expect("it has a NIC");
    let platform = again(&captured);
    let mark = |path| platform.provenance(path).map(|(mark, _)| mark.word());
    for path in [
        "gpus.pci",
        "gpus.model",
        "gpus.device",
        "gpus.driver_version",
    ] {
        assert_eq!(mark(path), Some("plausible"), "{path}");
    }
    for path in ["gpus.numa", "gpus.between"] {
        assert_eq!(mark(path), Some("captured"), "{path}");
    }
    noted(&captured, "The addresses of the 2 GPUs are invented");
    // On the bus their addresses are read, and their names are not.
    let bus = "/sys/bus/pci/devices/0000:0f:00.0";
    let ids = |pci: &str| {
        let bus = bus.replace("0000:0f:00.0", pci);
        format!(
            "{bus}/class:0x030200\n{bus}/vendor:0x10de\n{bus}/device:0x2330\n{bus}/numa_node:0\n"
        )
    };
    let dump = function(
        "mlx5_0",
        "0000:1f:00.0",
        "mlx5_core",
        ["0x15b3", "0x1021"],
        "InfiniBand",
        "400 Gb/sec (4X NDR)",
    ) + &ids("0000:0f:00.0")
        + &ids("0000:2d:00.0");
    let captured = dumped(&dump, "mlx5_0").expect("it has a NIC");
    let platform = again(&captured);
    let mark = |path| platform.provenance(path).map(|(mark, _)| mark.word());
    for (path, expected) in [
        ("gpus.pci", "captured"),
        ("gpus.device", "captured"),
        ("gpus.model", "plausible"),
        ("gpus.driver_version", "plausible"),
    ] {
        assert_eq!(mark(path), Some(expected), "{path}");
    }
}

/// The notes and the file's text, in which each note stands too.
fn noted(captured: &Captured, part: &str) {
    let found = captured.notes.iter().find(|note| note.contains(part));
    let note = found.unwrap_or_else(|| panic!("no note `{part}`: {:#?}", captured.notes));
    let quoted = serde_json::to_string(note).expect("a text");
    assert!(
        captured.yaml.contains(&quoted),
        "{note}:\n{}",
        captured.yaml
    );
}

fn dumped(dump: &str, device: &str) -> Result<Captured, Failed> {
    let matrix = MATRIX.replace("mlx5_0", device);
    let known = Platforms::shipped();
    of_dump(
        dump,
        Some(&matrix),
        "captured",
        COUNTERS,
        &known,
        &roles_found,
    )
}

fn found(platform: &Platform) -> Vec<String> {
    platform
        .check()
        .iter()
        .map(|it| it.problem.to_string())
        .collect()
}

fn cable_mark(platform: &Platform) -> Option<&str> {
    let mark = platform.provenance("devices.mlx5_0.cabled");
    mark.map(|(mark, _)| mark.word())
}

/// A node is captured amid an incident: only a port that shows what its driver shows without a cable
/// has none.
#[rstest]
#[case::active("4: ACTIVE", "5: LinkUp", true, false)]
#[case::unplugged("1: DOWN", "2: Polling", false, false)]
#[case::waiting_for_the_subnet_manager("2: INIT", "5: LinkUp", true, true)]
#[case::armed("3: ARMED", "5: LinkUp", true, true)]
#[case::disabled("1: DOWN", "3: Disabled", true, true)]
#[case::training("1: DOWN", "4: PortConfigurationTraining", true, true)]
#[case::recovering("4: ACTIVE", "6: LinkErrorRecovery", true, true)]
#[case::state_unreadable("", "5: LinkUp", true, true)]
#[case::nothing_readable("", "", true, true)]
#[case::phys_state_unreadable("1: DOWN", "", true, true)]
#[case::garbled("ACTIVE", "5: LinkUp", true, true)]
fn an_infiniband_port_without_a_cable_is_down_and_polls(
    #[case] state: &str,
    #[case] phys_state: &str,
    #[case] is_cabled: bool,
    #[case] is_noted: bool,
) {
    let dump = DUMP
        .replace("4: ACTIVE", state)
        .replace("5: LinkUp", phys_state);
    let captured = dumped(&dump, "mlx5_0").expect("it has a NIC");
    let platform = again(&captured);
    let cabled: &[u8] = if is_cabled { &[1] } else { &[] };
    assert_eq!(platform.profile().devices[0].cabled, cabled);
    assert_eq!(found(&platform), [""; 0], "{}", captured.yaml);
    if is_noted {
        noted(&captured, "Port mlx5_0/1 was not at rest when it was read");
        assert_eq!(cable_mark(&platform), Some("plausible"));
    } else {
        let notes = captured.notes.concat();
        assert!(!notes.contains("not at rest"), "{notes}");
    }
}

/// A RoCE port of mlx5 shows DOWN and Disabled without a cable.
#[rstest]
#[case("1: DOWN", "3: Disabled", false)]
#[case("1: DOWN", "2: Polling", true)]
#[case("2: INIT", "5: LinkUp", true)]
fn a_roce_port_without_a_cable_is_down_and_disabled(
    #[case] state: &str,
    #[case] phys_state: &str,
    #[case] is_cabled: bool,
) {
    let dump = DUMP
        .replace("4: ACTIVE", state)
        .replace("5: LinkUp", phys_state);
    let dump = dump.replace("= InfiniBand", "= Ethernet");
    let captured = dumped(&dump, "mlx5_0").expect("it has a NIC");
    let cabled: &[u8] = if is_cabled { &[1] } else { &[] };
    assert_eq!(again(&captured).profile().devices[0].cabled, cabled);
    assert_eq!(captured.notes.concat().contains("not at rest"), is_cabled);
}

/// A port that is down shows no rate of a link, so that of its like is taken.
#[test]
fn a_port_that_was_down_has_the_rate_of_another_device_of_its_model() {
    let down = DUMP
        .replace("4: ACTIVE", "1: DOWN")
        .replace("5: LinkUp", "3: Disabled");
    let down = down.replace("400 Gb/sec (4X NDR)", "10 Gb/sec (4X SDR)");
    let both = down + &DUMP.replace("mlx5_0", "mlx5_1");
    let captured = dumped(&both, "mlx5_0").expect("it has NICs");
    let platform = again(&captured);
    let rates = platform
        .profile()
        .devices
        .iter()
        .map(|it| it.rate.to_string());
    assert_eq!(rates.collect::<Vec<_>>(), ["400 Gb/sec (4X NDR)"; 2]);
    let mark = platform.provenance("devices.mlx5_0.rate");
    assert_eq!(mark.map(|(mark, _)| mark.word()), Some("plausible"));
}

/// As `grep -r` prints the tree of a node.
fn function(
    name: &str,
    pci: &str,
    driver: &str,
    ids: [&str; 2],
    layer: &str,
    rate: &str,
) -> String {
    let class = format!("/sys/class/infiniband/{name}");
    let bus = format!("/sys/bus/pci/devices/{pci}");
    let [vendor, device] = ids;
    format!(
        "{class} -> ../../devices/pci0000:00/{pci}/infiniband/{name}\n\
         {class}/fw_ver:1.2.3\n{class}/ports/1/state:4: ACTIVE\n{class}/ports/1/phys_state:5: LinkUp\n\
         {class}/ports/1/link_layer:{layer}\n{class}/ports/1/rate:{rate}\n\
         {bus}/vendor:{vendor}\n{bus}/device:{device}\n{bus}/subsystem_vendor:{vendor}\n{bus}/subsystem_device:0x0001\n\
         {bus}/max_link_speed:32.0 GT/s PCIe\n{bus}/max_link_width:16\n{bus}/numa_node:0\n{bus}/class:0x020700\n\
         {bus}/driver -> ../../../../bus/pci/drivers/{driver}\n\
         /sys/devices/pci0000:00/pci_bus/0000:00/cpuaffinity:ff\n"
    )
}

#[rstest]
#[case::nvidia("mlx5_0", "mlx5_core", ["0x15b3", "0x1021"], "InfiniBand", "400 Gb/sec (4X NDR)", "mlx5-ib")]
#[case::omni_path("hfi1_0", "hfi1", ["0x8086", "0x24f0"], "InfiniBand", "100 Gb/sec (4X EDR)", "hfi1")]
#[case::broadcom("bnxt_re0", "bnxt_en", ["0x14e4", "0x1750"], "Ethernet", "200 Gb/sec (4X HDR)", "bnxt_re")]
#[case::efa("rdmap0s6", "efa", ["0x1d0f", "0xefa1"], "Unknown", "100 Gb/sec (4X EDR)", "efa")]
fn a_dump_tells_whose_card_it_is(
    #[case] name: &str,
    #[case] module: &str,
    #[case] ids: [&str; 2],
    #[case] layer: &str,
    #[case] rate: &str,
    #[case] driver: &str,
) {
    let dump = function(name, "0000:1f:00.0", module, ids, layer, rate);
    let captured = dumped(&dump, name).expect("it has a NIC");
    let platform = again(&captured);
    let profile = platform.profile();
    let model = profile.models.values().next().expect("a model");
    let hex = [model.vendor, model.device].map(|id| format!("{id:#06x}"));
    assert_eq!(hex, ids);
    let device = &profile.devices[0];
    assert_eq!((device.driver.as_str(), device.numa), (driver, 0));
    assert_eq!(device.pci.to_string(), "0000:1f:00.0");
    assert_eq!(profile.interfaces, [], "{}", captured.yaml);
    let mark = platform.provenance("models.x.vendor");
    assert_eq!(mark.map(|(mark, _)| mark.word()), Some("captured"));
    assert_eq!(found(&platform), [""; 0], "{}", captured.yaml);
}

/// Without any file of its function, a card's vendor is that of its driver's cards, and a guess.
#[rstest]
#[case::efa("rdmap0s6", "Unknown", "efa", 0x1d0f)]
#[case::broadcom("bnxt_re0", "Ethernet", "bnxt_re", 0x14e4)]
#[case::omni_path("hfi1_0", "InfiniBand", "hfi1", 0x434e)]
fn a_dump_without_pci_files_assumes_no_vendor(
    #[case] name: &str,
    #[case] layer: &str,
    #[case] driver: &str,
    #[case] vendor: u16,
) {
    let lines = "N/fw_ver = 1\nN/ports/1/state = 4: ACTIVE\nN/ports/1/phys_state = 5: LinkUp\n\
        N/ports/1/rate = 100 Gb/sec (4X EDR)\nN/ports/1/link_layer = ";
    let dump = lines.replace("N/", &format!("{name}/")) + layer + "\n";
    let captured = dumped(&dump, name).expect("it has a NIC");
    let platform = again(&captured);
    let (key, model) = platform.profile().models.iter().next().expect("a model");
    assert_eq!(model.vendor, vendor);
    assert_eq!(platform.profile().devices[0].driver, driver);
    let mark = platform.provenance(&format!("models.{key}.vendor"));
    assert_eq!(mark.map(|(mark, _)| mark.word()), Some("plausible"));
    assert_eq!(found(&platform), [""; 0], "{}", captured.yaml);
}

/// A tree with `hfi1_0` and `mlx4_0` beside `mlx5_0`: one device is skipped, not the node.
#[test]
fn a_device_of_an_unknown_driver_is_skipped_with_a_placeholder() {
    let dump = function(
        "mlx5_0",
        "0000:1f:00.0",
        "mlx5_core",
        ["0x15b3", "0x1021"],
        "InfiniBand",
        "400 Gb/sec (4X NDR)",
    ) + &function(
        "hfi1_0",
        "0000:2f:00.0",
        "hfi1",
        ["0x8086", "0x24f0"],
        "InfiniBand",
        "100 Gb/sec (4X EDR)",
    ) + &function(
        "mlx4_0",
        "0000:3f:00.0",
        "mlx4_core",
        ["0x15b3", "0x1007"],
        "InfiniBand",
        "56 Gb/sec (4X FDR)",
    );
    let captured = dumped(&dump, "mlx5_0").expect("it has NICs");
    let platform = again(&captured);
    let names = platform.profile().devices.iter().map(|it| it.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["mlx5_0", "hfi1_0"]);
    let why = "no driver file is about `mlx4_core` with link layer `InfiniBand` (device `mlx4_0`)";
    noted(&captured, &format!("Device mlx4_0 is skipped: {why}."));
    let expected = format!("device `mlx4_0` was skipped by the capture: {why}");
    assert_eq!(found(&platform), [expected], "{}", captured.yaml);
    let skipped = &platform.profile().skipped[0];
    assert_eq!(
        skipped.pci.map(|it| it.to_string()).as_deref(),
        Some("0000:3f:00.0")
    );
}

/// The same on a live tree.
#[test]
fn a_live_node_with_cards_of_three_drivers_is_captured() {
    let shipped = Platforms::shipped();
    let platform = shipped.get("dgx-a100").expect("it is shipped");
    let folder = tempfile::tempdir().expect("a folder");
    for edit in edits(platform) {
        write(folder.path(), &edit);
    }
    let gpu_node = platform.profile().gpus.numa[0].to_string();
    for (name, pci, driver, vendor, rate) in [
        (
            "hfi1_0",
            "0000:f1:00.0",
            "hfi1",
            "0x8086",
            "100 Gb/sec (4X EDR)",
        ),
        (
            "mlx4_0",
            "0000:f2:00.0",
            "mlx4_core",
            "0x15b3",
            "56 Gb/sec (4X FDR)",
        ),
    ] {
        let sys = folder.path().join("sys");
        let function = sys.join("devices/pci0000:f0").join(pci);
        let port = function.join("infiniband").join(name).join("ports/1");
        fs::create_dir_all(&port).expect("a folder");
        for (file, text) in [
            ("state", "4: ACTIVE"),
            ("phys_state", "5: LinkUp"),
            ("link_layer", "InfiniBand"),
            ("rate", rate),
        ] {
            fs::write(port.join(file), format!("{text}\n")).expect("a file");
        }
        for (file, text) in [
            ("vendor", vendor),
            ("device", "0x24f0"),
            ("class", "0x020800"),
            ("numa_node", &gpu_node),
            ("max_link_speed", "16.0 GT/s PCIe"),
            ("max_link_width", "16"),
            ("subsystem_vendor", vendor),
            ("subsystem_device", "0x0001"),
        ] {
            fs::write(function.join(file), format!("{text}\n")).expect("a file");
        }
        let link = |target: String, path: std::path::PathBuf| {
            std::os::unix::fs::symlink(target, path).expect("a link");
        };
        link(
            format!("../../../bus/pci/drivers/{driver}"),
            function.join("driver"),
        );
        let below = format!("devices/pci0000:f0/{pci}");
        link(
            format!("../../../{below}"),
            sys.join("bus/pci/devices").join(pci),
        );
        link(
            format!("../../{below}/infiniband/{name}"),
            sys.join("class/infiniband").join(name),
        );
    }
    let captured = captured(&mut LiveRoot::new(folder.path(), PATIENT));
    let again = again(&captured);
    let devices = &again.profile().devices;
    assert_eq!(devices.len(), platform.profile().devices.len() + 1);
    let hfi1 = devices.iter().find(|it| it.name == "hfi1_0").expect("it");
    assert_eq!(hfi1.driver, "hfi1");
    assert_eq!(again.profile().models[&hfi1.model].vendor, 0x8086);
    noted(
        &captured,
        "Device mlx4_0 is skipped: no driver file is about `mlx4_core`",
    );
    assert_eq!(found(&again).len(), 1, "{:?}", found(&again));
}

#[rstest]
#[case::rate(
    "rate = 400 Gb/sec (4X NDR)",
    "rate =",
    "the rate of device `mlx5_1` could not be read"
)]
#[case::no_rate(
    "rate = 400 Gb/sec (4X NDR)",
    "rate = fast",
    "device `mlx5_1` has rate `fast`"
)]
#[case::layer(
    "link_layer = InfiniBand",
    "link_layer =",
    "the link layer of device `mlx5_1` could not be read"
)]
fn a_device_whose_port_cannot_be_read_is_skipped(
    #[case] read: &str,
    #[case] unread: &str,
    #[case] why: &str,
) {
    let broken = DUMP.replace("mlx5_0", "mlx5_1").replace(read, unread);
    let both = DUMP.to_owned() + &broken;
    let captured = dumped(&both, "mlx5_0").expect("the other can be read");
    let platform = again(&captured);
    assert_eq!(platform.profile().devices.len(), 1);
    noted(&captured, &format!("Device mlx5_1 is skipped: {why}."));
    let expected = format!("device `mlx5_1` was skipped by the capture: {why}");
    assert_eq!(found(&platform), [expected], "{}", captured.yaml);
    // Alone it is no platform.
    let refused = dumped(&broken, "mlx5_1")
        .expect_err("nothing is left")
        .to_string();
    assert!(refused.starts_with(why), "{refused}");
}

/// By `topo -m`, and by the metadata collector's file.
#[test]
fn a_nic_that_only_the_matrix_knows_is_noted() {
    let captured = dumped(DUMP, "mlx5_9").expect("it has a NIC");
    noted(&captured, "The matrix has NICs that sysfs lacks: mlx5_9.");
    let platforms = Platforms::shipped();
    let platform = platforms.get("dgx-a100").expect("it is shipped");
    let mut tree = Tree::of(platform);
    let snapshot = read(&mut tree, COUNTERS);
    let mut text = snapshot
        .text("gpu_metadata.json")
        .expect("it is there")
        .to_owned();
    let first = platform.profile().devices[0].name.clone();
    text = text.replace(&format!("\"{first}\""), "\"mlx5_99\"");
    let mut snapshot = snapshot;
    snapshot.file("gpu_metadata.json", text);
    let known = Platforms::shipped();
    let captured = made(&snapshot, None, "captured", COUNTERS, &known, &roles_found);
    let captured = captured.expect("it has NICs");
    noted(&captured, "The matrix has NICs that sysfs lacks: mlx5_99.");
}

#[test]
fn gpus_that_see_their_nvlinks_differently_are_noted() {
    let matrix = MATRIX.replace("GPU1\tNV18", "GPU1\tNV17");
    let known = Platforms::shipped();
    let captured = of_dump(
        DUMP,
        Some(&matrix),
        "captured",
        COUNTERS,
        &known,
        &roles_found,
    );
    noted(
        &captured.expect("it has a NIC"),
        "In the matrix GPU0 shows `NV18` to GPU1, and GPU1 `NV17` to GPU0",
    );
}
