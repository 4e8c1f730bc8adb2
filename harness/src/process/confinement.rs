//! The confinement of a monitor: it can write to its own folders only, and gets no privileges.
//!
//! The host's file systems are read-only in its mount namespace, and it lacks the capabilities by which it
//! could change that. What it finds in its node's tree is not part of the host. This protects the host from
//! mistakes of a program, not from one that looks for a way out: a program of root can still write to a disk's
//! device. Start at [`Confinement`]; the namespace is that of `mount_space.rs`, the network that of
//! `network.rs`.

use std::{
    collections::BTreeMap,
    env, fs, io,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
};

use observe::Size;
use rustix::{
    fd::OwnedFd,
    io::Errno,
    mount::{MountFlags, mount, mount_remount},
    process::chdir,
    thread::{CapabilitySet, remove_capability_from_bounding_set, set_no_new_privs},
};

use super::{
    binds::{attach, copied},
    job_folder,
};

/// The mounts of the calling thread's namespace (`proc_pid_mountinfo(5)`).
const MOUNTS: &str = "/proc/thread-self/mountinfo";

/// The folder of shared memory, of which the monitor gets an empty one of its own (`shm_overview(7)`).
const SHARED_MEMORY: &str = "/dev/shm";

/// The capabilities that it lacks: those to mount, to load modules, to get at memory and devices, to set the
/// clock, to end the machine, and to use the files of a more privileged process by way of `/proc`.
const LACKED: [CapabilitySet; 7] = [
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_MODULE,
    CapabilitySet::SYS_RAWIO,
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::SYS_BOOT,
    CapabilitySet::SYS_TIME,
    CapabilitySet::MKNOD,
];

/// How a monitor is confined.
#[derive(Clone, Debug)]
pub(super) struct Confinement {
    /// The host's files and folders to which it can write.
    pub(super) writable: Vec<PathBuf>,
}

/// The files and folders that stay writable, as they were before.
pub(super) struct Kept(Vec<(OwnedFd, PathBuf)>);

impl Confinement {
    /// Makes what is mounted in the namespace of the calling thread read-only.
    ///
    /// # Errors
    /// What is not there, or cannot be made read-only.
    pub(super) fn close(&self) -> io::Result<Kept> {
        let mut kept = Vec::new();
        for path in &self.writable {
            let copy = fs::metadata(path).and_then(|there| copied(path, there.is_dir()));
            kept.push((copy.map_err(|error| at(path, error))?, path.clone()));
        }
        for (path, flags) in writable_mounts(&fs::read(MOUNTS)?) {
            let flags = flags | MountFlags::BIND | MountFlags::RDONLY;
            match mount_remount(&path, flags, c"") {
                // A mount that another one covers, or that lies in a folder of somebody else, cannot be
                // reached, by the monitor neither. A dead server of files lets nobody write.
                Ok(()) | Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
                Err(Errno::NOTCONN | Errno::STALE) => {}
                Err(errno) => return Err(at(&path, errno.into())),
            }
        }
        Ok(Kept(kept))
    }
}

impl Kept {
    /// Opens the monitor's own folders again; that of shared memory can hold `space`.
    ///
    /// # Errors
    /// What cannot be mounted.
    pub(super) fn open(self, space: Size) -> io::Result<()> {
        for (copy, path) in &self.0 {
            attach(copy, path)?;
        }
        let work = env::current_dir();
        if Path::new(SHARED_MEMORY).is_dir() {
            let plain = MountFlags::NOSUID | MountFlags::NODEV;
            let options = job_folder::options("1777", space)?;
            mount("nicdrill", SHARED_MEMORY, "tmpfs", plain, &*options)
                .map_err(|errno| at(SHARED_MEMORY.as_ref(), errno.into()))?;
        }
        // The thread is still in the folder as it was before; a folder that has been removed has no path.
        work.map_or(Ok(()), |work| Ok(chdir(work)?))
    }
}

/// Takes the privileges from the calling thread; the monitor inherits that.
///
/// # Errors
/// What the kernel refuses.
pub(super) fn take_privileges() -> io::Result<()> {
    for capability in LACKED {
        remove_capability_from_bounding_set(capability)?;
    }
    Ok(set_no_new_privs(true)?)
}

/// An error with the path that it is about.
fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

/// The mounts that are writable, with the flags that a remount must repeat. Of mounts on the same path it is
/// the uppermost. The flags about access times stay if none is given (`do_mount`, fs/namespace.c).
fn writable_mounts(mounts: &[u8]) -> Vec<(PathBuf, MountFlags)> {
    let mut uppermost = BTreeMap::new();
    for line in mounts.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        if let (Some(path), Some(options)) = (fields.next(), fields.next()) {
            uppermost.insert(unescaped(path), options);
        }
    }
    let writable = uppermost.into_iter().filter_map(|(path, options)| {
        let mut flags = MountFlags::empty();
        for option in options.split(|byte| *byte == b',') {
            flags |= match option {
                b"ro" => return None,
                b"nosuid" => MountFlags::NOSUID,
                b"nodev" => MountFlags::NODEV,
                b"noexec" => MountFlags::NOEXEC,
                b"nosymfollow" => MountFlags::NOSYMFOLLOW,
                _ => MountFlags::empty(),
            };
        }
        Some((path, flags))
    });
    writable.collect()
}

/// A path of `/proc/self/mountinfo`, in which a blank, a tab, a line feed and a backslash are written in octal.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\');
        let number = octal.and_then(|digits| {
            let digits = str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        let (byte, left) = number.map_or((*first, after), |number| (number, &after[3..]));
        path.push(byte);
        rest = left;
    }
    std::ffi::OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uppermost_mount_of_a_path_counts_with_the_flags_that_it_has() {
        let mounts = b"22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
            23 22 0:5 / /mnt/a\\040b rw,nosuid,nodev - tmpfs x rw\n\
            24 22 0:6 / /sys ro,nosuid - sysfs sysfs rw\n\
            25 22 0:7 / /run rw - tmpfs x rw\n\
            26 25 0:8 / /run ro - tmpfs x rw\n\
            27 22 0:9 / /data rw,noexec,nosymfollow,noatime - xfs x rw\n";
        let path = |text: &str| PathBuf::from(text);
        assert_eq!(
            writable_mounts(mounts),
            [
                (path("/"), MountFlags::empty()),
                (path("/data"), MountFlags::NOEXEC | MountFlags::NOSYMFOLLOW),
                (path("/mnt/a b"), MountFlags::NOSUID | MountFlags::NODEV),
            ]
        );
    }

    #[test]
    fn a_backslash_in_a_path_is_written_in_octal() {
        assert_eq!(unescaped(b"/a\\134b\\"), PathBuf::from("/a\\b\\"));
    }
}
