//! Mounting and unmounting.

use std::{
    ffi::CString,
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    os::fd::AsRawFd,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use rustix::{
    io::Errno,
    mount::{MountFlags, mount},
    process::geteuid,
};
use simfs::{Fs, MomentId, RuleId};
use simfs_fuse::{HoldId, MomentAnswer, MountError, Observer, Options, Server};

use crate::support::{Process, Setting, fuse_or_skip, list, read, two_devices};

/// An observer that does nothing.
struct Nobody;

impl Observer for Nobody {
    fn gate(&self, _: HoldId, _: u32) {}
    fn hung(&self, _: HoldId, _: u32, _: RuleId, _: &str) {}
    fn moment(&self, _: &mut Fs, _: MomentId, _: u32) -> MomentAnswer {
        MomentAnswer::Go
    }
    fn stuck(&self, _: HoldId, _: u32) {}
    fn killed(&self, _: HoldId, _: u32) {}
}

fn serve(at: &Path, options: Options) -> Result<Server, MountError> {
    Server::mount(
        Arc::new(Mutex::new(two_devices())),
        at,
        options,
        Arc::new(Nobody),
    )
}

fn open_options() -> Options {
    Options {
        gate: false,
        ..Options::default()
    }
}

fn is_mounted(at: &Path) -> bool {
    fs::read_to_string("/proc/self/mountinfo")
        .unwrap()
        .contains(at.to_str().unwrap())
}

#[test]
fn a_mount_whose_server_died_is_taken_away_by_the_next() {
    if fuse_or_skip(two_devices(), Setting::default()).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/fuse")
        .unwrap();
    let options = format!(
        "fd={},rootmode=40000,user_id=0,group_id=0",
        device.as_raw_fd()
    );
    let mounted = mount(
        "simfs",
        folder.path(),
        "fuse",
        MountFlags::empty(),
        &*CString::new(options).unwrap(),
    );
    if mounted.is_err() {
        // Only fusermount3 may mount here, which cannot leave a stale mount behind.
        return;
    }
    drop(device);
    assert_eq!(list(folder.path()), Err(107));
    let server = serve(folder.path(), open_options()).unwrap();
    assert_eq!(
        read(&folder.path().join("class/a/state")).unwrap(),
        "4: ACTIVE\n"
    );
    server.unmount().unwrap();
    assert!(!is_mounted(folder.path()));
}

#[test]
fn a_dropped_server_leaves_no_mount_and_an_empty_folder() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    drop(stage);
    let server = serve(folder.path(), open_options()).unwrap();
    assert!(is_mounted(folder.path()));
    drop(server);
    assert!(!is_mounted(folder.path()));
    assert_eq!(list(folder.path()).unwrap(), [""; 0]);
}

#[test]
fn a_panic_leaves_no_mount() {
    if fuse_or_skip(two_devices(), Setting::default()).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_owned();
    let panicked = thread::spawn(move || {
        let _server = serve(&at, open_options()).unwrap();
        std::panic::resume_unwind(Box::new("a story went wrong"));
    });
    assert!(panicked.join().is_err());
    assert!(!is_mounted(folder.path()));
}

#[test]
fn a_file_that_is_still_open_after_the_unmount_is_not_connected() {
    if fuse_or_skip(two_devices(), Setting::default()).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path(), open_options()).unwrap();
    let mut held = File::open(folder.path().join("class/a/state")).unwrap();
    server.unmount().unwrap();
    assert!(!is_mounted(folder.path()));
    let error = held.read(&mut [0; 16]).unwrap_err();
    assert_eq!(
        error.raw_os_error(),
        Some(Errno::NOTCONN.raw_os_error()),
        "{error}"
    );
}

/// A process in a mount namespace of its own, which therefore has a copy of every mount. It opens a
/// file, says so, and after a line of input reads the file and lists its folder.
fn copier(path: &Path) -> Process {
    let script = r#"exec 3<"$1/class/a/state"; echo open; read go; cat <&3; ls "$1/class""#;
    let namespaces = if geteuid().is_root() { "-m" } else { "-Urm" };
    let child = Command::new("unshare")
        .args([namespaces, "sh", "-c", script, "sh"])
        .arg(path)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    Process(child.unwrap())
}

#[test]
fn a_process_with_a_copy_of_the_mount_delays_no_unmount_and_is_not_connected() {
    if fuse_or_skip(two_devices(), Setting::default()).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path(), open_options()).unwrap();
    let mut copier = copier(folder.path());
    let mut said = BufReader::new(copier.0.stdout.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "open");
    server.unmount().unwrap();
    assert!(!copier.ended());
    writeln!(copier.0.stdin.take().unwrap()).unwrap();
    assert!(
        said.next().is_none(),
        "it read from a server that has ended"
    );
    let complaints = io::read_to_string(copier.0.stderr.take().unwrap()).unwrap();
    // Of the file that it has open, of its end, and of the path.
    let refused = |line: &str| line.ends_with("Transport endpoint is not connected");
    assert!(
        complaints.starts_with("cat: -: ")
            && complaints.contains("ls: cannot open")
            && complaints.lines().all(refused),
        "{complaints}"
    );
}

#[test]
fn what_was_mounted_below_is_there_after_the_unmount() {
    if fuse_or_skip(two_devices(), Setting::default()).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let below = serve(folder.path(), open_options()).unwrap();
    let above = serve(folder.path(), open_options()).unwrap();
    above.unmount().unwrap();
    assert_eq!(list(&folder.path().join("class")).unwrap(), ["a", "b"]);
    below.unmount().unwrap();
    assert!(!is_mounted(folder.path()));
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = serve(Path::new("/nowhere/at/all"), open_options())
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "cannot mount on `/nowhere/at/all`: no such folder"
    );
}

#[test]
fn a_cpu_that_is_not_there_is_an_error_and_no_mount() {
    if fuse_or_skip(two_devices(), Setting::default()).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        cpu: Some(1023),
        ..open_options()
    };
    assert!(matches!(
        serve(folder.path(), options),
        Err(MountError::Thread(_))
    ));
    assert!(!is_mounted(folder.path()));
}
