//! Mounting and unmounting.

use std::{
    ffi::CString,
    fs::{self, File, OpenOptions},
    os::fd::AsRawFd,
    path::Path,
    sync::{Arc, Mutex},
    thread,
};

use rustix::mount::{MountFlags, mount};
use simfs::{Fs, MomentId, RuleId};
use simfs_fuse::{HoldId, MomentAnswer, MountError, Observer, Options, Server};

use crate::support::{Setting, fuse_or_skip, list, read, two_devices};

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
fn an_unmount_says_that_a_process_still_holds_a_file() {
    if fuse_or_skip(two_devices(), Setting::default()).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path(), open_options()).unwrap();
    let held = File::open(folder.path().join("class/a/state")).unwrap();
    assert!(matches!(server.unmount(), Err(MountError::InUse(_))));
    assert!(!is_mounted(folder.path()));
    drop(held);
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
