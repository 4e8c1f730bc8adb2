//! Captures of the shipped machines, of trees in memory and on a disk.

use std::{collections::BTreeSet, fs, path::Path};

use platforms::{NodeName, Platform, render};
use rstest::rstest;
use simfs::{Edit, Fs, Refused, Value};

use super::*;
use crate::{CLASS_INFINIBAND, suite::NODE};

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
    fn list(&mut self, folder: &str) -> Vec<String> {
        self.fs.list(&format!("/{folder}")).unwrap_or_default()
    }

    fn read(&mut self, file: &str) -> Option<Result<String, String>> {
        let read = self.fs.read(&format!("/{file}"));
        match read {
            Err(Refused::Errno(errno)) if errno == simfs::Errno::ENOENT => None,
            other => {
                self.opened.insert(pattern(file));
                let text = other.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                Some(text.map_err(|refused| format!("{refused:?}")))
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

fn captured(guest: &mut dyn Guest) -> Captured {
    of_node(guest, None, "captured", true, &Platforms::shipped()).expect("it has NICs")
}

/// Bytes, links and kinds of everything in the tree.
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

/// What the reference monitor finds is what the shipped profiles declare, where it starts and
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
    let mut root = LiveRoot::new(folder.path(), READ_LIMIT);
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

/// The table of `docs/platform.md`: what is opened, and what only if asked.
fn documented() -> (BTreeSet<String>, BTreeSet<String>) {
    let document = include_str!("../../../docs/platform.md");
    let (_, rest) = document.split_once("<!-- opened -->").expect("the table");
    let (table, _) = rest.split_once("<!-- /opened -->").expect("its end");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = rows.filter_map(|line| line.split_once('`'));
    let (asked, always): (Vec<_>, Vec<_>) = rows.partition(|(_, rest)| rest.contains("--counters"));
    let paths = |rows: Vec<(&str, &str)>| rows.iter().map(|(path, _)| (*path).to_owned()).collect();
    (paths(always), paths(asked))
}

#[test]
fn what_is_opened_is_what_the_document_lists() {
    let (always, asked) = documented();
    let opened = |with_counters| {
        let mut opened = BTreeSet::new();
        for (_, platform) in Platforms::shipped().iter() {
            let mut tree = Tree::of(platform);
            read(&mut tree, with_counters);
            opened.extend(tree.opened);
        }
        opened
    };
    assert_eq!(opened(false), always);
    let all: BTreeSet<String> = always.union(&asked).cloned().collect();
    assert_eq!(opened(true), all);
}

#[test]
fn a_node_without_nics_is_told_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut root = LiveRoot::new(folder.path(), READ_LIMIT);
    let known = Platforms::shipped();
    let failed = of_node(&mut root, None, "captured", false, &known).expect_err("no NICs");
    let told = failed.to_string();
    assert!(
        told.starts_with("there are no NICs of interest: "),
        "{told}"
    );
}

#[test]
fn a_read_that_hangs_is_given_up_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let device = folder.path().join("sys/class/infiniband/mlx5_0");
    fs::create_dir_all(device.join("ports/1")).expect("a folder");
    // Opening a pipe that nobody writes to does not come back.
    let pipe = device.join("board_id");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    fs::write(device.join("hca_type"), "MT4129\n").expect("a file");
    let mut root = LiveRoot::new(folder.path(), Duration::from_millis(50));
    let snapshot = read(&mut root, false);
    assert_eq!(snapshot.text("infiniband/mlx5_0/hca_type"), Some("MT4129"));
    let unread: Vec<_> = snapshot.unread().collect();
    assert_eq!(
        unread,
        [("infiniband/mlx5_0/board_id", "no answer within 50 ms")]
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
    let captured = of_dump(DUMP, Some(MATRIX), "captured", &Platforms::shipped());
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

/// A monitor takes a NIC without a row for one that is far from every GPU.
#[test]
fn a_nic_that_the_matrix_lacks_is_far_from_every_gpu_and_marked() {
    let second = DUMP
        .replace("mlx5_0", "mlx5_7")
        .replace("MT4129", "hca_type");
    let both = format!("{DUMP}{second}");
    let captured = of_dump(&both, Some(MATRIX), "captured", &Platforms::shipped());
    let platform = again(&captured.expect("it has NICs"));
    let row = &platform.profile().devices[1].topo.0;
    assert_eq!(row, &[platforms::TopoLevel::SYS; 2]);
    let mark = platform.provenance("devices.mlx5_7.topo");
    assert_eq!(mark.map(|(mark, _)| mark.word()), Some("plausible"));
    assert_eq!(platform.check(), []);
}

#[test]
fn a_dump_without_a_matrix_says_that_a_monitor_must_refuse() {
    let captured = of_dump(DUMP, None, "captured", &Platforms::shipped());
    let captured = captured.expect("it has a NIC");
    assert!(captured.notes[0].contains("a monitor must refuse to start"));
    assert_eq!(
        again(&captured).refusal(),
        Some(platforms::Refusal::NoTopology)
    );
}
