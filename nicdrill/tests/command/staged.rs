//! The stage of a run, where the machine gives little: no capabilities, long paths, a run that was killed.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use crate::scratch::{NICDRILL, Ran, Scratch, can_play_processes, command, is_root};

const DRILL: &str = "start/baseline@h100-oci";

#[test]
fn without_capabilities_the_process_arm_is_skipped_and_the_other_one_plays() {
    let scratch = Scratch::new();
    let none = [
        "--bounding-set=-all",
        "--inh-caps=-all",
        "--ambient-caps=-all",
    ];
    let mut command = command(Path::new("setpriv"), &scratch.path(""));
    // Only root has a bounding set that it can empty.
    command.args(is_root().then_some(none).into_iter().flatten());
    command.args([NICDRILL, "run", DRILL]);
    let ran = Ran::of(&command.output().expect("util-linux is there"));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("memory arm: 1 of 1 run"), "{ran}");
    if is_root() {
        assert!(ran.out.contains("private namespaces are refused"), "{ran}");
    }
}

#[test]
fn a_long_path_of_the_folder_for_temporary_files_does_not_matter() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let long = scratch.path(&"long".repeat(30));
    fs::create_dir(&long).expect("a folder");
    let words = ["run", DRILL, "--require", "process"];
    let ran = scratch.run_with(&words, &[("TMPDIR", &long.to_string_lossy())]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(fs::read_dir(long).expect("it is there").count(), 0);
}

#[test]
fn what_a_killed_run_leaves_is_only_its_users_and_the_next_run_removes_it() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let temporary = scratch.path("temporary");
    fs::create_dir(&temporary).expect("a folder");
    let mut command = command(Path::new(NICDRILL), &scratch.path(""));
    command
        .args(["run", "--full", "--arm", "process"])
        .env("TMPDIR", &temporary)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut run = command.spawn().expect("it starts");
    let passed = scratch.path("nicdrill.out/passed.txt");
    while !fs::read(&passed).is_ok_and(|bytes| !bytes.is_empty()) {
        assert!(run.try_wait().expect("it is a child").is_none());
        thread::yield_now();
    }
    run.kill().expect("it runs");
    run.wait().expect("it ends");
    let left: Vec<_> = fs::read_dir(&temporary)
        .expect("a folder")
        .flatten()
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let mode = left[0]
        .metadata()
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    let words = ["run", DRILL, "--out", "next"];
    let next = scratch.run_with(&words, &[("TMPDIR", &temporary.to_string_lossy())]);
    assert_eq!(next.code, 0, "{next}");
    assert_eq!(fs::read_dir(&temporary).expect("a folder").count(), 0);
}

#[test]
fn a_mount_that_fails_leaves_no_folder() {
    let scratch = Scratch::new();
    // A node in a user namespace cannot mount where it has no mount namespace of its own.
    let mut command = Command::new("unshare");
    command
        .args(["--user", NICDRILL, "mount", "h100-oci", "here"])
        .current_dir(scratch.path(""));
    command.stdin(Stdio::null());
    let ran = Ran::of(&command.output().expect("util-linux is there"));
    assert_eq!(ran.code, 102, "{ran}");
    assert!(!scratch.path("here").exists(), "{ran}");
}
