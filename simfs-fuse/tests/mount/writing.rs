//! The writable folder, used like a program's folder for its state file.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process::{Command, Stdio},
};

use simfs::{
    Edit, Errno, Fs, MomentId, Op, OpMoment, Refused, Rule, RuleId, Spot, Turn, Verdict, When,
    Within,
};
use simfs_fuse::MomentAnswer;

use crate::support::{
    LIMIT, Process, Seen, Setting, file, fuse_or_skip, in_memory, list, read, remove, two_devices,
};

const STATE: &str = "var/state/state.json";
const NEW: &str = "var/state/state.json.new";

/// Saves durably: a new, flushed file replaces the old one.
fn save(root: &Path, text: &str) -> io::Result<()> {
    let (state, new) = (root.join(STATE), root.join(NEW));
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, &state)?;
    File::open(state.parent().unwrap())?.sync_all()
}

/// The same in memory.
fn save_in_memory(fs: &mut Fs, text: &str) -> Result<(), Refused> {
    fs.create(NEW)?;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match fs.write(NEW, rest)? {
            0 => return Err(Refused::Errno(Errno::EIO)),
            taken => rest = &rest[taken..],
        }
    }
    fs.fsync(NEW)?;
    fs.rename(NEW, STATE)?;
    fs.fsync_folder("var/state")
}

fn rule(op: Op, when: When, verdict: Verdict) -> Rule {
    Rule {
        id: RuleId(1),
        ops: op.into(),
        pattern: "var/state/*".into(),
        when,
        verdict,
    }
}

/// Saves three times in both arms, which must agree in results, trace and disk.
fn check(rules: Vec<Rule>) -> Option<Vec<Result<(), i32>>> {
    let mut memory = two_devices();
    rules.into_iter().for_each(|rule| memory.arm(rule));
    let stage = fuse_or_skip(memory.clone(), Setting::default())?;
    let texts = ["one", "two and more", "three"];
    let errno = |error: io::Error| error.raw_os_error().unwrap();
    let outcomes: Vec<_> = texts
        .iter()
        .map(|text| save(stage.server.mountpoint(), text).map_err(errno))
        .collect();
    let in_memory_outcomes: Vec<_> = texts
        .iter()
        .map(|text| in_memory(save_in_memory(&mut memory, text)))
        .collect();
    assert_eq!(outcomes, in_memory_outcomes);
    let trace: Vec<String> = memory
        .take_trace()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(stage.trace(), trace);
    assert_eq!(stage.server.with_fs(|fs| fs.disk()), memory.disk());
    Some(outcomes)
}

#[test]
fn a_state_file_is_saved_with_the_same_trace_in_both_arms() {
    let Some(outcomes) = check(vec![]) else {
        return;
    };
    assert_eq!(outcomes, [Ok(()); 3]);
}

#[test]
fn enospc_comes_at_the_nth_write() {
    let full = rule(Op::Write, When::Nth(2), Verdict::Fail(Errno::ENOSPC));
    let Some(outcomes) = check(vec![full]) else {
        return;
    };
    assert_eq!(outcomes, [Ok(()), Err(28), Ok(())]);
}

#[test]
fn a_short_write_is_taken_up_where_it_ended() {
    let Some(outcomes) = check(vec![rule(Op::Write, When::Nth(2), Verdict::ShortWrite(3))]) else {
        return;
    };
    assert_eq!(outcomes, [Ok(()); 3]);
}

#[test]
fn every_step_of_saving_can_fail() {
    for op in [Op::Create, Op::Write, Op::Fsync, Op::Rename] {
        let Some(outcomes) = check(vec![rule(op, When::Nth(3), Verdict::Fail(Errno::EROFS))])
        else {
            return;
        };
        assert_eq!(outcomes, [Ok(()), Ok(()), Err(30)], "{op}");
    }
}

#[test]
fn everything_outside_the_writable_folder_is_read_only() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let errno = |result: io::Result<()>| result.unwrap_err().raw_os_error();
    assert_eq!(errno(fs::write(stage.path("class/a/state"), "x")), Some(30));
    assert_eq!(errno(fs::write(stage.path("class/new"), "x")), Some(30));
    assert_eq!(
        errno(fs::remove_file(stage.path("devices/a/state"))),
        Some(30)
    );
    assert_eq!(errno(fs::create_dir(stage.path("class/new"))), Some(30));
    assert_eq!(errno(fs::remove_dir_all(stage.path("devices/a"))), Some(30));
    assert_eq!(
        errno(fs::rename(stage.path("class/a"), stage.path("class/c"))),
        Some(30)
    );
    assert_eq!(
        errno(fs::rename(stage.path("class/a"), stage.path("var/state/a"))),
        Some(30)
    );
    assert_eq!(read(&stage.path("class/a/state")).unwrap(), "4: ACTIVE\n");
    assert!(
        stage
            .server
            .with_fs(|fs| fs.disk().files().next().is_none())
    );
}

#[test]
fn a_file_has_the_plain_semantics_of_a_local_disk() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let path = stage.path("var/state/log");
    fs::write(&path, "one").unwrap();
    let mut both_ends = OpenOptions::new().append(true).open(&path).unwrap();
    both_ends.write_all(b" two").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 7);
    assert_eq!(read(&path).unwrap(), "one two");
    both_ends.set_len(5).unwrap();
    assert_eq!(read(&path).unwrap(), "one t");
    both_ends.set_len(7).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one t\0\0");
    fs::write(&path, "new").unwrap();
    both_ends.write_all(b"er").unwrap();
    assert_eq!(read(&path).unwrap(), "newer");
    let exclusive = OpenOptions::new().write(true).create_new(true).open(&path);
    assert_eq!(exclusive.unwrap_err().raw_os_error(), Some(17));
    fs::create_dir(stage.path("var/state/sub")).unwrap();
    fs::rename(&path, stage.path("var/state/sub/log")).unwrap();
    assert_eq!(list(&stage.path("var/state")).unwrap(), ["sub"]);
    assert_eq!(
        fs::remove_dir(stage.path("var/state/sub"))
            .unwrap_err()
            .raw_os_error(),
        Some(39)
    );
    fs::remove_dir_all(stage.path("var/state/sub")).unwrap();
    assert_eq!(list(&stage.path("var/state")).unwrap(), [] as [&str; 0]);
}

#[test]
fn a_file_without_a_name_lives_while_it_is_open() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let path = stage.path(STATE);
    fs::write(&path, "old").unwrap();
    let mut held = File::open(&path).unwrap();
    save(stage.server.mountpoint(), "new").unwrap();
    let mut text = String::new();
    held.read_to_string(&mut text).unwrap();
    assert_eq!((&*text, &*read(&path).unwrap()), ("old", "new"));
    let nodes = stage.server.with_fs(|fs| fs.tree().node_count());
    drop(held);
    // The kernel reports the close afterwards; a later request on the single session thread is
    // processed after it.
    let mut left = nodes;
    let start = std::time::Instant::now();
    while left == nodes && start.elapsed() < LIMIT {
        left = stage.server.with_fs(|fs| fs.tree().node_count());
    }
    assert_eq!(left, nodes - 1);
}

#[test]
fn permissions_of_a_state_file_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    let path = stage.path(STATE);
    drop(
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .unwrap(),
    );
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o600
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o640
    );
}

#[test]
fn a_story_can_cut_corrupt_and_delete_a_state_file() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    save(stage.server.mountpoint(), "state").unwrap();
    stage.edit(&[file(STATE, "st")]);
    assert_eq!(read(&stage.path(STATE)).unwrap(), "st");
    assert_eq!(fs::metadata(stage.path(STATE)).unwrap().len(), 2);
    stage.edit(&[remove(STATE)]);
    assert_eq!(read(&stage.path(STATE)), Err(2));
    save(stage.server.mountpoint(), "again").unwrap();
    assert_eq!(read(&stage.path(STATE)).unwrap(), "again");
}

#[test]
fn a_disk_survives_its_file_system() {
    let Some(stage) = fuse_or_skip(two_devices(), Setting::default()) else {
        return;
    };
    save(stage.server.mountpoint(), "kept").unwrap();
    let disk = stage.server.with_fs(|fs| fs.disk());
    let mut fresh = two_devices();
    fresh.set_disk(&disk);
    let Some(stage) = fuse_or_skip(fresh, Setting::default()) else {
        return;
    };
    assert_eq!(read(&stage.path(STATE)).unwrap(), "kept");
}

/// A shell that writes three lines, each with one write, and is killed at a moment.
fn killed_at(turn: Turn) -> Option<String> {
    let mut fs = two_devices();
    fs.arm_moment(OpMoment {
        id: MomentId(1),
        turn,
        nth: 2,
        within: Within::Drill,
    });
    let stage = fuse_or_skip(
        fs,
        Setting {
            on_moment: Box::new(|_, _| MomentAnswer::Hold),
            ..Setting::default()
        },
    )?;
    let script = "exec >> \"$0\"; echo one; echo two; echo three";
    let shell = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(stage.path(STATE))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut shell = Process(shell);
    assert_eq!(stage.seen(), Seen::Moment(MomentId(1)));
    shell.kill();
    shell.ends_within(LIMIT);
    assert!(matches!(stage.seen(), Seen::Killed(_)));
    Some(read(&stage.path(STATE)).unwrap())
}

#[test]
fn a_process_can_be_killed_just_before_its_nth_write() {
    let Some(left) = killed_at(Turn::Before(Spot::new(Op::Write, STATE))) else {
        return;
    };
    assert_eq!(left, "one\n");
}

#[test]
fn a_process_can_be_killed_just_after_its_nth_write() {
    let Some(left) = killed_at(Turn::After(Spot::new(Op::Write, STATE))) else {
        return;
    };
    assert_eq!(left, "one\ntwo\n");
}

#[test]
fn a_folder_changed_at_a_moment_of_its_own_rename_does_not_stick() {
    let mut fs = two_devices();
    fs.apply(&[file("var/state/other", "x")]);
    let turn = Turn::Before(Spot::new(Op::Rename, NEW));
    fs.arm_moment(OpMoment {
        id: MomentId(1),
        turn,
        nth: 1,
        within: Within::Drill,
    });
    let on_moment = Box::new(|fs: &mut Fs, _| {
        fs.apply(&[Edit::Remove("var/state/other".into())]);
        MomentAnswer::Go
    });
    let Some(stage) = fuse_or_skip(
        fs,
        Setting {
            on_moment,
            ..Setting::default()
        },
    ) else {
        return;
    };
    assert_eq!(read(&stage.path("var/state/other")).unwrap(), "x");
    save(stage.server.mountpoint(), "saved").unwrap();
    assert_eq!(read(&stage.path(STATE)).unwrap(), "saved");
    assert_eq!(read(&stage.path("var/state/other")), Err(2));
}
