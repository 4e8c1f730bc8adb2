//! Descriptors that a process keeps open and uses again: each use is a read or a listing of its
//! own.

use std::{
    fs::{self, File},
    mem::MaybeUninit,
    os::unix::fs::FileExt,
};

use rustix::fs::{RawDir, SeekFrom, seek};
use simfs::{
    Edit, Errno, MomentId, Op, OpMoment, Rule, RuleId, Spot, TreePath, Turn, Verdict, When, Within,
};
use simfs_fuse::MomentAnswer;

use crate::support::{Setting, file, fuse_or_skip, read, remove, two_devices};

fn read_again(file: &File) -> Result<String, i32> {
    let mut bytes = [0; 64];
    let count = file
        .read_at(&mut bytes, 0)
        .map_err(|error| error.raw_os_error().unwrap())?;
    Ok(String::from_utf8(bytes[..count].to_vec()).unwrap())
}

fn list_again(folder: &File) -> Result<Vec<String>, i32> {
    seek(folder, SeekFrom::Start(0)).unwrap();
    let mut buffer = [MaybeUninit::uninit(); 512];
    let mut listing = RawDir::new(folder, &mut buffer);
    let mut names = Vec::new();
    while let Some(entry) = listing.next() {
        let name = entry.map_err(|errno| errno.raw_os_error())?;
        names.push(name.file_name().to_str().unwrap().to_owned());
    }
    names.retain(|name| name != "." && name != "..");
    Ok(names)
}

fn fails(ops: Op, pattern: &str, when: When, errno: Errno) -> Rule {
    Rule {
        id: RuleId(1),
        ops: ops.into(),
        pattern: pattern.into(),
        when,
        verdict: Verdict::Fail(errno),
    }
}

#[test]
fn each_read_at_the_start_is_a_read_that_rules_count() {
    let mut fs = two_devices();
    fs.arm(fails(Op::Read, "class/b/state", When::Nth(2), Errno::EIO));
    let Some(stage) = fuse_or_skip(fs, Setting::default()) else {
        return;
    };
    let held = File::open(stage.path("class/b/state")).unwrap();
    let read: Vec<_> = (0..3).map(|_| read_again(&held)).collect();
    let active = || Ok("4: ACTIVE\n".to_owned());
    assert_eq!(read, [active(), Err(5), active()]);
    let trace = ["10", "EIO", "10"].map(|end| format!("read class/b/state: {end}"));
    assert_eq!(stage.trace(), trace);
}

#[test]
fn each_listing_from_the_start_is_a_listing_that_rules_count() {
    let mut fs = two_devices();
    for (pattern, nth, errno) in [
        ("devices/a", 2, Errno::EIO),
        ("devices/a", 3, Errno::ENOENT),
    ] {
        let rule = fails(Op::List, pattern, When::Nth(nth), errno);
        fs.arm(Rule {
            id: RuleId(nth),
            ..rule
        });
    }
    let Some(stage) = fuse_or_skip(fs, Setting::default()) else {
        return;
    };
    let held = File::open(stage.path("devices/a")).unwrap();
    let names = list_again(&held).unwrap();
    assert!(names.contains(&"state".to_owned()), "{names:?}");
    assert_eq!(list_again(&held), Err(5));
    assert_eq!(list_again(&held), Err(2));
    stage.edit(&[file("devices/a/lid", "0x1\n")]);
    let now = list_again(&held).unwrap();
    assert_eq!(now.len(), names.len() + 1);
    let (before, after) = (names.len(), now.len());
    assert_eq!(
        stage.trace(),
        [
            format!("list class/a: {before}"),
            "list class/a: EIO".to_owned(),
            "list class/a: ENOENT".to_owned(),
            format!("list class/a: {after}"),
        ]
    );
}

#[test]
fn what_has_gone_is_neither_read_nor_listed_by_who_holds_it() {
    let mut fs = two_devices();
    fs.arm(fails(Op::Read, "class/a/state", When::Nth(2), Errno::EIO));
    let Some(stage) = fuse_or_skip(fs, Setting::default()) else {
        return;
    };
    let state = File::open(stage.path("class/a/state")).unwrap();
    let folder = File::open(stage.path("devices/a")).unwrap();
    read_again(&state).unwrap();
    list_again(&folder).unwrap();
    let traced = stage.trace().len();
    assert_eq!(traced, 2);
    stage.edit(&[remove("class/a"), remove("devices/a")]);
    assert_eq!(read_again(&state), Err(19));
    assert_eq!(list_again(&folder), Ok(Vec::new()));
    assert_eq!(stage.trace(), Vec::<String>::new());
}

/// The moment comes before the second read; a process that then finds the file removed and opens it
/// by path does not meet the moment again, and the third read counts as the third.
#[test]
fn a_file_that_went_just_before_a_read_is_read_by_its_path_as_if_it_had_not_been_held() {
    let mut fs = two_devices();
    fs.arm_moment(OpMoment {
        id: MomentId(7),
        turn: Turn::Before(Spot::new(Op::Read, "class/b/state")),
        nth: 2,
        within: Within::Drill,
    });
    fs.arm_moment(OpMoment {
        id: MomentId(8),
        turn: Turn::Before(Spot::new(Op::Read, "class/b/state")),
        nth: 3,
        within: Within::Drill,
    });
    let setting = Setting {
        on_moment: Box::new(|fs, moment| {
            let path = TreePath::new("devices/b/state");
            let bytes = if moment == MomentId(7) {
                "1: DOWN\n"
            } else {
                "2: INIT\n"
            };
            fs.apply(&[Edit::Remove(path), file("devices/b/state", bytes)]);
            MomentAnswer::Go
        }),
        ..Setting::default()
    };
    let Some(stage) = fuse_or_skip(fs, setting) else {
        return;
    };
    let path = stage.path("class/b/state");
    let held = File::open(&path).unwrap();
    assert_eq!(read_again(&held).unwrap(), "4: ACTIVE\n");
    assert_eq!(read_again(&held), Err(19));
    assert_eq!(read(&path).unwrap(), "1: DOWN\n");
    assert_eq!(read(&path).unwrap(), "2: INIT\n");
    assert_eq!(fs::metadata(&path).unwrap().len(), 4096);
    let trace = ["10", "8", "8"].map(|len| format!("read class/b/state: {len}"));
    assert_eq!(stage.trace(), trace);
}
