//! `root: /`: a node's tree over its host's own files, for programs whose paths are fixed.
//!
//! The tree's `sys` is mounted over `/sys`, and what language runtimes read there (CPUs, cgroups, huge pages)
//! is mounted into it again from the host. For that the tree has folders, which, apart from `devices/system`, only a
//! monitor under `root: /` has in its tree. Start at [`HostRoot`]; the namespace is that of `mount_space.rs`.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rustix::{
    fs::CWD,
    mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree},
};
use simfs::{Edit, NodeKind, Tree, TreePath};

use super::binds::{self, Bind, attach, copied};

/// The folders of `/sys` that stay those of the host.
const PASSED: [&str; 8] = [
    "fs",
    "kernel",
    "module",
    "firmware",
    "power",
    "dev",
    "block",
    "devices/system",
];

/// What is bound to the same path of the host, if the tree has it: the boot id, the kernel's log, the
/// metadata and the folder of the monitor's own state.
const BOUND: [&str; 4] = [
    "proc/sys/kernel/random/boot_id",
    "dev/kmsg",
    "var/lib/nvsentinel",
    "var/run/nic_health_monitor",
];

/// The classes whose entries have a character device of the same name in [`DEVICES`] (`ib_uverbs`, `ib_umad`).
const CHARACTER_CLASSES: [&str; 2] = ["sys/class/infiniband_verbs", "sys/class/infiniband_mad"];

/// The folder of the character devices of RDMA.
const DEVICES: &str = "/dev/infiniband";

/// The folders that the tree must have.
pub(super) fn folders() -> Vec<Edit> {
    let paths = PASSED.iter().map(|passed| format!("sys/{passed}"));
    paths
        .map(|path| Edit::Folder(TreePath::new(&path)))
        .collect()
}

/// A tree that is put over the files of a host.
#[derive(Clone, Debug)]
pub(super) struct HostRoot {
    /// The mount of the tree.
    mount: PathBuf,
    /// What it has of [`BOUND`].
    bound: Vec<&'static str>,
    /// What it has in `/proc/net`.
    net: BTreeSet<String>,
    /// Its character devices.
    devices: BTreeSet<String>,
}

impl HostRoot {
    /// The tree as it is now. It is not read through its mount, because each read there counts as one of the
    /// monitor's.
    pub(super) fn new(mount: &Path, tree: &Tree) -> Self {
        let node = |path: &str| tree.get(&TreePath::new(path));
        let entries = |folder: &str| node(folder).map(|folder| tree.children(folder));
        let mut net = BTreeSet::from(["route".to_owned()]);
        let of_tree = entries("proc/net").into_iter().flatten();
        net.extend(of_tree.map(|(name, _)| name.to_owned()));
        let classes = CHARACTER_CLASSES.iter().filter_map(|class| entries(class));
        // Beside its devices a class has the file `abi_version`.
        let devices = classes
            .flatten()
            .filter(|(_, entry)| tree.kind(*entry) != Some(NodeKind::File));
        Self {
            mount: mount.to_owned(),
            bound: BOUND
                .into_iter()
                .filter(|path| node(path).is_some())
                .collect(),
            net,
            devices: devices.map(|(name, _)| name.to_owned()).collect(),
        }
    }

    /// Puts the tree there, in the mount namespace of the calling thread. `made` is the path of a folder for
    /// what is made for this, `scratch` is for [`binds::place`].
    ///
    /// # Errors
    /// What cannot be mounted, and the error of the refused system call.
    pub(super) fn place(&self, made: &Path, scratch: &Path) -> io::Result<()> {
        let of = |what: &'static str| {
            move |error: io::Error| {
                let text = format!("the tree cannot be put over `{what}`: {error}");
                io::Error::new(error.kind(), text)
            }
        };
        fs::create_dir_all(made)?;
        place_sys(&self.mount.join("sys")).map_err(of("/sys"))?;
        self.place_net(made).map_err(of("/proc/net"))?;
        let bound = self.bound.iter().map(|path| Bind {
            at: Path::new("/").join(path),
            from: self.mount.join(path),
        });
        let mut binds: Vec<_> = bound.collect();
        if !self.devices.is_empty() {
            let devices = made.join("infiniband");
            fs::create_dir(&devices)?;
            // Empty files, because programs only look whether they are there (`ibv_get_device_list(3)`).
            for name in &self.devices {
                File::create_new(devices.join(name))?;
            }
            binds.push(Bind {
                at: DEVICES.into(),
                from: devices,
            });
        }
        binds::place(&binds, scratch)
    }

    /// `/proc/net` is a link to `self/net`, where nothing stays mounted (`observe::Descriptor::problem`). So
    /// another link is mounted over the link; it leads to a folder of links, to the tree's files where it has
    /// them and otherwise to the process's own.
    fn place_net(&self, made: &Path) -> io::Result<()> {
        let folder = made.join("net");
        fs::create_dir(&folder)?;
        for name in &self.net {
            symlink(self.mount.join("proc/net").join(name), folder.join(name))?;
        }
        let own = Path::new("/proc/self/net");
        // In the `/proc` of a monitor's pid namespace this process has no folder of its own; the first one has the same network.
        let listed = match own.exists() {
            true => own,
            false => Path::new("/proc/1/net"),
        };
        for entry in fs::read_dir(listed)? {
            let name = entry?.file_name();
            if !name.to_str().is_some_and(|name| self.net.contains(name)) {
                symlink(own.join(&name), folder.join(&name))?;
            }
        }
        let link = made.join("net-link");
        symlink(&folder, &link)?;
        let itself = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
        let link = open_tree(CWD, &link, itself)?;
        let whole = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        Ok(move_mount(&link, "", CWD, "/proc/net", whole)?)
    }
}

fn place_sys(sys: &Path) -> io::Result<()> {
    let host = Path::new("/sys");
    let tree = copied(sys, true)?;
    let mut passed = Vec::new();
    for folder in PASSED.map(|passed| host.join(passed)) {
        if folder.is_dir() {
            // With everything below: inside a user namespace a part cannot be copied without it.
            passed.push((copied(&folder, true)?, folder));
        }
    }
    attach(&tree, host)?;
    passed
        .iter()
        .try_for_each(|(copy, folder)| attach(copy, folder))
}
