//! Reads that do not return.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::geteuid;
use simfs::{Errno, Op, Rule, RuleId, Verdict, When};

use crate::support::{LIMIT, Process, Seen, Setting, Stage, file, fuse_or_skip, read, two_devices};

fn hanging(killable: bool) -> Option<Stage> {
    let mut fs = two_devices();
    fs.arm(Rule {
        id: RuleId(3),
        ops: Op::Read.into(),
        pattern: "class/a/state".into(),
        when: When::Nth(1),
        verdict: Verdict::Hang { killable },
    });
    fuse_or_skip(fs, Setting::default())
}

/// The state letter of a process; `D` if it cannot be interrupted.
fn state(pid: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let at = stat.rfind(')').unwrap();
    stat[at + 2..].chars().next().unwrap()
}

#[test]
fn a_killed_process_leaves_a_killable_hang_at_once() {
    let Some(stage) = hanging(true) else { return };
    let mut cat = Process::cat(&stage.path("class/a/state"));
    let pid = cat.0.id();
    let hold = match stage.seen() {
        Seen::Hung(hold, seen, RuleId(3), path) if seen == pid && path == "class/a/state" => hold,
        other => panic!("expected the hang of {pid}, was told {other:?}"),
    };
    cat.kill();
    let took = cat.ends_within(LIMIT);
    assert_eq!(stage.seen(), Seen::Killed(hold));
    assert!(took < Duration::from_millis(500), "it took {took:?}");
    assert_eq!(stage.server.holds(), []);
    assert_eq!(stage.trace(), ["read class/a/state: hangs"]);
}

#[test]
fn a_killed_process_stays_in_a_hang_that_is_not_killable_until_released() {
    let Some(stage) = hanging(false) else { return };
    let mut cat = Process::cat(&stage.path("class/a/state"));
    let hold = stage.hung();
    cat.kill();
    // Reported only once the watcher has seen the pending signal.
    assert_eq!(stage.seen(), Seen::Stuck(hold));
    assert!(!cat.ended());
    assert_eq!(state(cat.0.id()), 'D');
    assert!(stage.server.release(hold));
    cat.ends_within(LIMIT);
    assert!(!stage.server.release(hold));
}

#[test]
fn a_released_read_gives_what_is_there_at_its_release() {
    let Some(stage) = hanging(true) else { return };
    let cat = Process::cat(&stage.path("class/a/state"));
    let hold = stage.hung();
    stage.edit(&[file("devices/a/state", "1: DOWN\n")]);
    assert!(stage.server.release(hold));
    assert_eq!(cat.end(), (true, "1: DOWN\n".to_owned()));
    assert_eq!(stage.trace(), ["read class/a/state: hangs"]);
}

#[test]
fn a_held_read_can_be_ended_with_an_error() {
    let Some(stage) = hanging(true) else { return };
    let path = stage.path("class/a/state");
    let reader = thread::spawn(move || read(&path));
    let hold = stage.hung();
    assert!(stage.server.answer(hold, Errno::ETIMEDOUT));
    assert_eq!(reader.join().unwrap(), Err(110));
}

#[test]
fn a_hang_blocks_no_other_reader_and_no_edit() {
    let Some(stage) = hanging(true) else { return };
    let cat = Process::cat(&stage.path("class/a/state"));
    let hold = stage.hung();
    let start = Instant::now();
    stage.edit(&[
        simfs::Edit::Remove("class/a".into()),
        simfs::Edit::Remove("devices/a".into()),
    ]);
    assert_eq!(read(&stage.path("class/b/state")).unwrap(), "4: ACTIVE\n");
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "an edit waited for a held read"
    );
    stage.server.release(hold);
    assert!(
        !cat.end().0,
        "the device has gone: its read ends with ENODEV"
    );
}

#[test]
fn an_unmount_ends_what_hangs() {
    let Some(stage) = hanging(false) else { return };
    let cat = Process::cat(&stage.path("class/a/state"));
    stage.hung();
    let mountpoint = stage.server.mountpoint().to_owned();
    drop(stage.server);
    cat.end();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(mountpoint.to_str().unwrap()));
}

/// The variable by which the test below is told that it is the process that is to be killed.
const SERVES_ITSELF: &str = "SIMFS_SERVES_ITSELF";

#[test]
fn a_killed_process_that_reads_its_own_mount_ends_with_all_its_threads() {
    if env::var_os(SERVES_ITSELF).is_some() {
        return serve_and_read();
    }
    if hanging(false).is_none() {
        return;
    }
    // In a mount namespace of its own, so that the mount ends with it.
    let namespaces = if geteuid().is_root() { "-m" } else { "-Urm" };
    let name = thread::current()
        .name()
        .expect("a test has a name")
        .to_owned();
    let child = Command::new("unshare")
        .arg(namespaces)
        .arg(env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env(SERVES_ITSELF, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = Process(child.unwrap());
    let out = BufReader::new(child.0.stdout.take().unwrap());
    assert!(out.lines().any(|line| line.unwrap() == "it hangs"));
    child.kill();
    child.ends_within(LIMIT);
}

/// Reads a file of its own mount, which is not answered, until the process is killed.
fn serve_and_read() {
    let stage = hanging(false).expect("it could be mounted a moment ago");
    let path = stage.path("class/a/state");
    thread::spawn(move || {
        simfs_fuse::leave_devices().unwrap();
        read(&path)
    });
    stage.hung();
    let mut out = std::io::stdout();
    writeln!(out, "it hangs").unwrap();
    // Until it is killed, or whoever would do so has ended.
    let _ = std::io::stdin().read_line(&mut String::new());
}
