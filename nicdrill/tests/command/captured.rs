//! Captures a mounted node by the command in a process of its own: the result is the same machine, and
//! only documented files were opened.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use harness::sandbox::Sandbox;
use platforms::{Platform, Platforms};

use crate::scratch::{Scratch, can_play_processes};

/// A node at a path: its kind and mode; its target or content.
#[derive(Debug, PartialEq, Eq)]
enum Stands {
    Folder {
        mode: u32,
    },
    Link {
        target: String,
    },
    File {
        mode: u32,
        size: u64,
        reads: Result<Vec<u8>, Option<i32>>,
    },
}

/// Everything below a folder, by path, without what changes over time.
fn tree(root: &Path) -> BTreeMap<String, Stands> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        for entry in entries {
            let path = entry.expect("an entry").path();
            let stands = stands(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            if let Stands::Folder { .. } = stands {
                folders.push(path.clone());
            }
            let below = path.strip_prefix(root).expect("it is below");
            found.insert(below.display().to_string(), stands);
        }
    }
    // Time passes on a mount.
    found.remove("nicdrill/clock");
    found
}

fn stands(path: &Path) -> io::Result<Stands> {
    let metadata = fs::symlink_metadata(path)?;
    let mode = metadata.mode();
    Ok(if metadata.is_dir() {
        Stands::Folder { mode }
    } else if metadata.is_symlink() {
        let target = fs::read_link(path)?.display().to_string();
        Stands::Link { target }
    } else {
        let reads = fs::read(path).map_err(|error| error.raw_os_error());
        let size = metadata.size();
        Stands::File { mode, size, reads }
    })
}

fn mounted<T>(platform: &Platform, root: &Path, look: impl FnOnce(&Sandbox) -> T) -> T {
    let sandbox = Sandbox::mount(platform, root).expect("a mount");
    let seen = look(&sandbox);
    gone(sandbox, root);
    seen
}

/// Unmounts a sandbox. The drills of other tests, which have copies of the mount, do not delay it.
pub(crate) fn gone(sandbox: Sandbox, root: &Path) {
    sandbox.unmount().expect("an unmount");
    let left = fs::read_dir(root).expect("the folder").count();
    assert_eq!(left, 0, "something is still mounted");
}

/// Every shipped platform is mounted, captured by a process, and the capture mounted in its place.
#[test]
fn the_capture_of_a_mounted_platform_is_the_same_tree() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let root = scratch.path("root");
    fs::create_dir(&root).expect("a folder");
    // A machine that stalls longer than the limit of a read would make files unreadable.
    let words: Vec<&str> = ["platform", "capture", "--root", "root", "--counters"]
        .into_iter()
        .chain(["--read-limit", "10m", "--name", "captured", "--out", "-"])
        .collect();
    let shipped = Platforms::shipped();
    assert!(shipped.iter().count() > 25, "all that ship");
    for (name, platform) in shipped.iter() {
        let (before, made) = mounted(platform, &root, |_| (tree(&root), scratch.run(&words)));
        assert_eq!(made.code, 0, "{name}: {made}");
        let again = Platforms::read(&[("captured.yaml", &made.out)]).expect(name);
        let again = again.get("captured").expect("its name");
        let mark = again.provenance("devices.*").map(|(mark, _)| mark.word());
        assert_eq!(mark, Some("captured"), "{name}");
        let after = mounted(again, &root, |_| tree(&root));
        assert!(before.len() > 100, "{name} shows {} paths", before.len());
        let paths = |tree: &BTreeMap<String, Stands>| tree.keys().cloned().collect::<Vec<_>>();
        assert_eq!(paths(&before), paths(&after), "{name}");
        for (path, stands) in &before {
            assert_eq!(
                after.get(path),
                Some(stands),
                "{name}: {path}\n{}",
                made.out
            );
        }
    }
}

/// The first column of a table in `docs/platform.md`, without rows that contain `omit`.
fn listed(table: &str, omit: &str) -> BTreeSet<String> {
    let document = include_str!("../../../docs/platform.md");
    let (_, rest) = document
        .split_once(&format!("<!-- {table} -->\n"))
        .expect(table);
    let (rows, _) = rest.split_once(&format!("<!-- /{table} -->")).expect(table);
    let rows = rows.lines().filter(|row| !row.contains(omit));
    let rows = rows.filter_map(|row| row.strip_prefix("| `")?.split_once('`'));
    rows.map(|(path, _)| path.to_owned()).collect()
}

/// Whether a row of the document covers a path.
fn means(row: &str, path: &str) -> bool {
    let (row, path): (Vec<&str>, Vec<&str>) = (row.split('/').collect(), path.split('/').collect());
    row.len() == path.len()
        && row
            .iter()
            .zip(&path)
            .all(|(row, name)| *row == "*" || row == name)
}

/// The mount's trace shows what the process opened.
#[test]
fn a_capture_opens_what_the_document_lists_and_nothing_else() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let root = scratch.path("root");
    fs::create_dir(&root).expect("a folder");
    let shipped = Platforms::shipped();
    let platform = shipped.get("l40s-onprem").expect("it is shipped");
    let nics: BTreeSet<String> = platform
        .profile()
        .devices
        .iter()
        .flat_map(|it| it.netdevs.clone())
        .collect();
    let (made, opened, there) = mounted(platform, &root, |sandbox| {
        drop(sandbox.files_read());
        let made = scratch.run(&["platform", "capture", "--root", "root", "--out", "-"]);
        let opened = sandbox.files_read();
        (made, opened, tree(&root))
    });
    assert_eq!(made.code, 0, "{made}");
    let (rows, never) = (
        listed("opened", "only with `--"),
        listed("not opened", "of a NIC"),
    );
    for path in &opened {
        assert!(
            rows.iter().any(|row| means(row, path)),
            "{path} is not listed"
        );
        assert!(
            !never.iter().any(|row| means(row, path)),
            "{path} asks the firmware"
        );
        let netdev = path
            .strip_prefix("sys/class/net/")
            .and_then(|it| it.strip_suffix("/speed"));
        assert!(
            netdev.is_none_or(|netdev| !nics.contains(netdev)),
            "{path} asks the firmware"
        );
    }
    for row in rows
        .iter()
        .filter(|row| !row.contains("sriov") && !row.ends_with("/speed"))
    {
        assert!(
            opened.iter().any(|path| means(row, path)),
            "{row} was not opened"
        );
    }
    // A documented file that no machine has would not be tested.
    for row in &never {
        let last = row
            .trim_end_matches("/*")
            .rsplit('/')
            .next()
            .expect("a name");
        let has = |path: &&String| path.contains(&format!("/{last}"));
        assert!(there.keys().any(|path| has(&path)), "{row} is nowhere");
    }
}

/// A dump of a node with a card whose driver nobody described, amid an incident.
const DUMP: &str = "\
/sys/class/infiniband/mlx5_0/fw_ver:28.41.1000
/sys/class/infiniband/mlx5_0/hca_type:MT4129
/sys/class/infiniband/mlx5_0/ports/1/link_layer:InfiniBand
/sys/class/infiniband/mlx5_0/ports/1/phys_state:5: LinkUp
/sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)
/sys/class/infiniband/mlx5_0/ports/1/state:2: INIT
/sys/class/infiniband/mlx4_0/ports/1/link_layer:InfiniBand
/sys/class/infiniband/mlx4_0/ports/1/phys_state:5: LinkUp
/sys/class/infiniband/mlx4_0/ports/1/rate:56 Gb/sec (4X FDR)
/sys/class/infiniband/mlx4_0/ports/1/state:4: ACTIVE
/sys/devices/pci0000:00/pci_bus/0000:00/cpuaffinity:ff
";

const MATRIX: &str = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\tPIX\tPIX\t0-47\t0\t\tN/A
GPU1\tNV17\t X \tSYS\tSYS\t48-95\t1\t\tN/A
NIC0\tPIX\tSYS\t X \tPIX\t\t\t
NIC1\tPIX\tSYS\tPIX\t X \t\t\t

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_7
";

#[test]
fn what_a_capture_assumed_is_told_on_the_terminal_and_by_the_check() {
    let scratch = Scratch::new();
    scratch.file("dump.txt", DUMP);
    scratch.file("topo.txt", MATRIX);
    let words = [
        "platform",
        "capture",
        "--from-dump",
        "dump.txt",
        "--topo",
        "topo.txt",
    ];
    let made = scratch.run(&[&words[..], &["--name", "mine", "--out", "mine.yaml"]].concat());
    assert_eq!(made.code, 0, "{made}");
    let text = fs::read_to_string(scratch.path("mine.yaml")).expect("it is written");
    for note in [
        "Port mlx5_0/1 was not at rest when it was read (state 2: INIT, phys_state 5: LinkUp): taken for a port with a cable.",
        "Device mlx4_0 is skipped: no driver file is about `unknown` with link layer `InfiniBand` (device `mlx4_0`).",
        "The matrix has NICs that sysfs lacks: mlx5_7.",
        "In the matrix GPU0 shows `NV18` to GPU1, and GPU1 `NV17` to GPU0: one end has lost NVLinks, or a cell was changed.",
    ] {
        assert!(
            made.err.contains(&format!("note: {note}\n")),
            "{note}: {made}"
        );
        assert!(text.contains(note), "{note}: {text}");
    }
    assert!(!text.contains("interfaces:"), "{text}");
    assert!(text.contains("cabled: [1]"), "{text}");
    let checked = scratch.run(&["platform", "check", "./mine.yaml"]);
    assert_eq!(checked.code, 2, "{checked}");
    let problem = "device `mlx4_0` was skipped by the capture: no driver file is about `unknown`";
    assert!(checked.out.contains(problem), "{checked}");
    let topo = scratch.run(&["platform", "topo", "./topo.txt"]);
    assert_eq!(topo.code, 0, "{topo}");
    assert!(topo.err.contains("GPU0 shows `NV18` to GPU1"), "{topo}");
}

#[test]
fn a_root_that_is_not_there_is_told_and_not_taken_for_a_node_without_devices() {
    let scratch = Scratch::new();
    let captured = ["platform", "capture", "--root", "nowhere"];
    let recorded = ["record", "--platform", "h100-oci", "--root", "nowhere"];
    for words in [&captured[..], &recorded[..]] {
        let ran = scratch.run(words);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(
            ran.err.contains("there is no folder `nowhere`\nhint: "),
            "{ran}"
        );
    }
    scratch.file("file", "");
    let ran = scratch.run(&["platform", "capture", "--root", "file"]);
    assert!(ran.err.contains("`--root file` is no folder"), "{ran}");
}

#[test]
fn what_is_no_text_of_a_tool_is_refused_with_the_tools() {
    let scratch = Scratch::new();
    scratch.file("dump.txt", DUMP);
    let words = [
        "platform",
        "capture",
        "--from-dump",
        "dump.txt",
        "--topo",
        "topo.txt",
    ];
    for text in [
        "{\"system\": {\"(Topology) Weight between DRM devices 0 and 1\": \"40\"}}\n",
        "device,(Topology) Numa Node,(Topology) Numa Affinity\ncard0,0,0\n",
        "====== Weight between two GPUs ======\n       GPU0 GPU1\nGPU0   0    40\nGPU1   40   0\n",
    ] {
        scratch.file("topo.txt", text);
        let ran = scratch.run(&words);
        assert_eq!(ran.code, 2, "{ran}");
        for part in [
            "found another output than the text",
            "`rocm-smi --showtopo` or `amd-smi topology`",
        ] {
            assert!(ran.err.contains(part), "{part}: {ran}");
        }
    }
}

/// A function of a card, as `grep -r` prints its files. The link to its owner is not among them.
fn function(name: &str, pci: &str, device: &str, hca_type: &str) -> String {
    let class = format!("/sys/class/infiniband/{name}");
    [
        format!("{class} -> ../../devices/pci0000:07/{pci}/infiniband/{name}"),
        format!("{class}/hca_type:{hca_type}"),
        format!("{class}/ports/1/state:4: ACTIVE"),
        format!("{class}/ports/1/phys_state:5: LinkUp"),
        format!("{class}/ports/1/rate:400 Gb/sec (4X NDR)"),
        format!("{class}/ports/1/link_layer:InfiniBand"),
        format!("{class}/device/vendor:0x15b3"),
        format!("{class}/device/device:{device}\n"),
    ]
    .join("\n")
}

/// 101e is the id of the virtual functions of ConnectX cards (PCI ID Repository).
#[test]
fn a_virtual_function_without_its_link_is_no_model_of_its_own() {
    let owner = function("mlx5_0", "0000:0c:00.0", "0x1021", "MT4129");
    let other = function("mlx5_1", "0000:0c:00.1", "0x1021", "MT4129");
    let virtual_one = function("mlx5_2", "0000:0c:00.2", "0x101e", "MT4126");
    let capture = |dump: &str| {
        let scratch = Scratch::new();
        scratch.file("dump.txt", dump);
        let made = scratch.run(&[
            "platform",
            "capture",
            "--from-dump",
            "dump.txt",
            "--name",
            "mine",
            "--out",
            "-",
        ]);
        assert_eq!(made.code, 0, "{made}");
        made
    };
    let of_one = capture(&format!("{owner}{virtual_one}"));
    assert!(
        of_one.err.contains(
            "Device mlx5_2 has the PCI id of a virtual function: taken for one of 0000:0c:00.0."
        ),
        "{of_one}"
    );
    assert!(
        of_one.out.contains("vfs:") && !of_one.out.contains("device: 0x101e"),
        "{of_one}"
    );
    let of_several = capture(&format!("{owner}{other}{virtual_one}"));
    let why =
        "Device mlx5_2 is skipped: it is a virtual function, and its link `physfn` was not read.";
    assert!(of_several.err.contains(why), "{of_several}");
    // In a guest a virtual function is all that there is.
    let of_guest = capture(&virtual_one);
    assert!(of_guest.out.contains("device: 0x101e"), "{of_guest}");
}
