//! Devices that disappear and return.

use std::{
    fs::{self, File},
    io::Read,
    mem::MaybeUninit,
    os::unix::fs::{FileExt, MetadataExt},
    path::Path,
};

use rustix::fs::RawDir;
use simfs::{MomentId, Op, OpMoment, Rule, RuleId, Spot, TreePath, Turn, Verdict, When, Within};
use simfs_fuse::MomentAnswer;

use crate::support::{
    Setting, below_descriptor, device, file, fuse_or_skip, list, read, remove, two_devices,
};

/// Lists a folder with getdents buffers for a few names, and calls `notify` for each name with the
/// number of its chunk; returns the number of chunks.
pub(crate) fn in_small_buffers(path: &Path, mut notify: impl FnMut(usize, &str)) -> usize {
    let folder = File::open(path).unwrap();
    let mut buffer = [MaybeUninit::uninit(); 100];
    let mut names = RawDir::new(&folder, &mut buffer);
    let mut chunk = 0;
    while let Some(entry) = names.next() {
        let name = entry.unwrap().file_name().to_str().unwrap().to_owned();
        if name != "." && name != ".." {
            notify(chunk, &name);
        }
        chunk += usize::from(names.is_buffer_empty());
    }
    chunk
}

fn gone(name: &str) -> Vec<simfs::Edit> {
    vec![
        remove(&format!("class/{name}")),
        remove(&format!("devices/{name}")),
    ]
}

#[test]
fn a_held_descriptor_of_a_removed_device_gives_enodev_for_ever() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let held = File::open(stage.path("class/a/state")).unwrap();
    let mut bytes = [0; 64];
    assert!(held.read_at(&mut bytes, 0).is_ok());
    stage.edit(&gone("a"));
    assert_eq!(
        held.read_at(&mut bytes, 0).unwrap_err().raw_os_error(),
        Some(19)
    );
    stage.edit(&device("a"));
    assert_eq!(
        held.read_at(&mut bytes, 0).unwrap_err().raw_os_error(),
        Some(19)
    );
    assert_eq!(held.metadata().unwrap().len(), 4096);
}

#[test]
fn a_held_folder_of_a_removed_device_lists_as_empty_and_opens_nothing() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let folder = stage.path("devices/a");
    let (unread, listed) = (File::open(&folder).unwrap(), File::open(&folder).unwrap());
    let mut buffer = [MaybeUninit::uninit(); 512];
    let mut names = RawDir::new(&listed, &mut buffer);
    assert!(names.next().is_some());
    stage.edit(&gone("a"));
    let mut buffer = [MaybeUninit::uninit(); 512];
    assert!(RawDir::new(&unread, &mut buffer).next().is_none());
    assert_eq!(read(&below_descriptor(&unread, "state")), Err(2));
    assert_eq!(read(&stage.path("class/a/state")), Err(2));
    assert_eq!(read(&stage.path("devices/a/state")), Err(2));
    assert_eq!(list(&folder), Err(2));
}

#[test]
fn a_device_that_returns_is_seen_at_once_and_has_a_new_inode() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let state = stage.path("class/a/state");
    let before = fs::metadata(&state).unwrap().ino();
    stage.edit(&gone("a"));
    assert_eq!(read(&state), Err(2));
    stage.edit(&device("a"));
    assert_eq!(read(&state).unwrap(), "4: ACTIVE\n");
    assert_ne!(fs::metadata(&state).unwrap().ino(), before);
}

#[test]
fn a_name_that_goes_in_mid_listing_is_not_listed_and_no_other_comes_twice() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    stage.edit(
        &(0..20)
            .flat_map(|n| device(&format!("d{n:02}")))
            .collect::<Vec<_>>(),
    );
    let mut seen = Vec::new();
    in_small_buffers(&stage.path("class"), |_, name| {
        if seen.is_empty() {
            // The edit waits for the kernel's invalidation of the name: a stuck notification would
            // stop the test here.
            stage.edit(&gone("d13"));
        }
        seen.push(name.to_owned());
    });
    let expected: Vec<String> = ["a".to_owned(), "b".to_owned()]
        .into_iter()
        .chain((0..20).filter(|n| *n != 13).map(|n| format!("d{n:02}")))
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_device_that_vanishes_by_a_rule_is_listed_and_then_not_found() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    assert_eq!(read(&stage.path("class/b/state")).unwrap(), "4: ACTIVE\n");
    stage.server.with_fs(|fs| {
        fs.arm(Rule {
            id: RuleId(1),
            ops: Op::List.into(),
            pattern: "class".into(),
            when: When::Nth(1),
            verdict: Verdict::Vanish {
                paths: vec![TreePath::new("class/b"), TreePath::new("devices/b")],
                after_names: None,
            },
        });
    });
    let mut seen = Vec::new();
    in_small_buffers(&stage.path("class"), |_, name| seen.push(name.to_owned()));
    assert_eq!(seen, ["a", "b"]);
    assert_eq!(read(&stage.path("class/b/state")), Err(2));
    assert_eq!(list(&stage.path("class")).unwrap(), ["a"]);
}

fn between_listing_and_read() -> OpMoment {
    OpMoment {
        id: MomentId(7),
        turn: Turn::Between {
            after: Spot::new(Op::List, "class"),
            before: Spot::new(Op::Read, "class/b/state"),
        },
        nth: 1,
        within: Within::Poll,
    }
}

#[test]
fn a_device_goes_between_the_listing_and_the_read() {
    let mut fs = two_devices();
    fs.arm_moment(between_listing_and_read());
    let setting = Setting {
        on_moment: Box::new(|fs, _| {
            fs.apply(&gone("b"));
            MomentAnswer::Go
        }),
        ..Setting::default()
    };
    let Some(stage) = fuse_or_skip(fs, setting) else {
        return;
    };
    assert_eq!(read(&stage.path("class/b/state")).unwrap(), "4: ACTIVE\n");
    assert_eq!(list(&stage.path("class")).unwrap(), ["a", "b"]);
    assert_eq!(read(&stage.path("class/b/state")), Err(2));
    assert_eq!(stage.trace(), ["read class/b/state: 10", "list class: 2"]);
}

#[test]
fn a_device_replaced_just_before_its_read_is_read_as_the_new_one() {
    let mut fs = two_devices();
    fs.arm_moment(between_listing_and_read());
    let setting = Setting {
        on_moment: Box::new(|fs, _| {
            fs.apply(&gone("b"));
            fs.apply(&[device("b"), vec![file("devices/b/state", "1: DOWN\n")]].concat());
            MomentAnswer::Go
        }),
        ..Setting::default()
    };
    let Some(stage) = fuse_or_skip(fs, setting) else {
        return;
    };
    assert_eq!(read(&stage.path("class/b/state")).unwrap(), "4: ACTIVE\n");
    assert_eq!(list(&stage.path("class")).unwrap(), ["a", "b"]);
    assert_eq!(read(&stage.path("class/b/state")).unwrap(), "1: DOWN\n");
}

#[test]
fn a_descriptor_opened_before_its_device_went_reads_enodev_by_a_rule_at_that_read() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    stage.server.with_fs(|fs| {
        fs.arm(Rule {
            id: RuleId(1),
            ops: Op::Read.into(),
            pattern: "class/b/state".into(),
            when: When::Always,
            verdict: Verdict::Vanish {
                paths: vec![TreePath::new("devices/b")],
                after_names: None,
            },
        });
    });
    let mut opened = File::open(stage.path("class/b/state")).unwrap();
    assert_eq!(
        opened.read(&mut [0; 8]).unwrap_err().raw_os_error(),
        Some(19)
    );
    assert_eq!(read(&stage.path("class/b/state")), Err(2));
}
