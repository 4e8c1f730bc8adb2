//! Binds: files and folders of a node's tree that a monitor finds at other paths of its host.
//!
//! A path that the host lacks gets a new file or folder. The folder that is to hold it is replaced, in
//! the monitor's mount namespace alone, by one in memory, in which every entry of the old one is mounted
//! again. Start at [`place`]; the namespace is that of `mount_space.rs`.

use std::{
    collections::BTreeSet,
    env,
    ffi::{CStr, OsString},
    fs::{self, File},
    io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rustix::{
    fd::OwnedFd,
    fs::CWD,
    mount::{
        MountFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_move, move_mount,
        open_tree, unmount,
    },
    process::{chdir, pivot_root},
};

/// The options of a folder that replaces one of the host: what a monitor writes into it is bounded.
const REPLACING: &CStr = c"mode=0755,size=256m";

#[derive(Clone, Debug)]
pub(super) struct Bind {
    /// The path at which the monitor finds it.
    pub(super) at: PathBuf,
    /// The file or folder of the tree.
    pub(super) from: PathBuf,
}

/// Puts every bind at its path, in the mount namespace of the calling thread. `scratch` is a path for a
/// folder that does not exist yet.
///
/// # Errors
/// The bind, and the error of a refused system call.
pub(super) fn place(binds: &[Bind], scratch: &Path) -> io::Result<()> {
    let mut own = BTreeSet::new();
    for bind in binds {
        place_one(bind, scratch, &mut own).map_err(|error| {
            let (at, from) = (bind.at.display(), bind.from.display());
            io::Error::new(
                error.kind(),
                format!("`{from}` cannot be bound to `{at}`: {error}"),
            )
        })?;
    }
    Ok(())
}

fn place_one(bind: &Bind, scratch: &Path, own: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let folder = fs::metadata(&bind.from)?.is_dir();
    let tree = copied(&bind.from, true)?;
    match fs::metadata(&bind.at) {
        Ok(there) if there.is_dir() != folder => {
            let what = if folder { "a file" } else { "a folder" };
            return Err(io::Error::other(format!(
                "the host has {what} at this path"
            )));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(&bind.at, folder, scratch, own)?;
        }
        Err(error) => return Err(error),
    }
    attach(&tree, &bind.at)
}

/// Makes an empty file or folder, and the folders on the way to it.
fn make(at: &Path, folder: bool, scratch: &Path, own: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let missing = |path: &Path| !path.is_dir();
    let above: Vec<&Path> = at.ancestors().skip(1).collect();
    let base = above.iter().find(|path| !missing(path));
    let base = base.ok_or(io::ErrorKind::NotFound)?.canonicalize()?;
    if own.insert(base.clone()) {
        replace(&base, scratch)?;
    }
    for path in above.into_iter().rev().filter(|path| missing(path)) {
        fs::create_dir(path)?;
        own.insert(path.canonicalize()?);
    }
    if folder {
        fs::create_dir(at)?;
        own.insert(at.canonicalize()?);
    } else {
        File::create_new(at)?;
    }
    Ok(())
}

/// An entry of a folder that is replaced.
enum Entry {
    Link(PathBuf),
    /// A file or a folder with everything mounted below it.
    Tree {
        folder: bool,
        tree: OwnedFd,
    },
}

/// Replaces a folder by one in memory with the same entries.
fn replace(folder: &Path, scratch: &Path) -> io::Result<()> {
    let entries = entries(folder)?;
    fs::create_dir_all(scratch)?;
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    mount("nicdrill", scratch, "tmpfs", plain, REPLACING)?;
    for (name, entry) in entries {
        let path = scratch.join(name);
        match entry {
            Entry::Link(target) => symlink(target, path)?,
            Entry::Tree { folder, tree } => {
                if folder {
                    fs::create_dir(&path)?;
                } else {
                    File::create_new(&path)?;
                }
                attach(&tree, &path)?;
            }
        }
    }
    if folder != Path::new("/") {
        return Ok(mount_move(scratch, folder)?);
    }
    // Nothing can be mounted over the root, so the process gets another one (`pivot_root(2)`).
    let work = env::current_dir()?;
    chdir(scratch)?;
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(chdir(work)?)
}

fn entries(folder: &Path) -> io::Result<Vec<(OsString, Entry)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        let copy = if kind.is_symlink() {
            Entry::Link(fs::read_link(path)?)
        } else {
            Entry::Tree {
                folder: kind.is_dir(),
                tree: copied(&path, kind.is_dir())?,
            }
        };
        entries.push((entry.file_name(), copy));
    }
    Ok(entries)
}

/// A copy of the mount at a path, and with `whole` of those below it. Inside a user namespace a part of
/// what is mounted at a folder cannot be copied (`mount_namespaces(7)`).
pub(super) fn copied(path: &Path, whole: bool) -> io::Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    if whole {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    Ok(open_tree(CWD, path, flags)?)
}

/// Mounts a copy at a path.
pub(super) fn attach(tree: &OwnedFd, at: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_SYMLINKS;
    Ok(move_mount(tree, "", CWD, at, flags)?)
}
