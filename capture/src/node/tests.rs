//! Captures of the shipped machines, of trees in memory and on a disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use platforms::{Guid, HardwareAddress, MetadataFile, NodeName, Platform, render};
use rstest::rstest;
use simfs::{Edit, Fs, Refused, Value};

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
            value: Value::Bytes(bytes),
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
        let link_local = matches!(edit, Edit::File { value: Value::Bytes(bytes), .. }
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
