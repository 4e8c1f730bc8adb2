//! A disk that is full: what was there stays, what is written is whole, and there is no harm once there is space again.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::fs;

use crate::scratch::{Ran, Scratch};

const RUN: &str = "\"$NICDRILL\" run port/cable-pulled@dgx-h100 --arm memory";

/// Runs lines of shell in which `disk` is a file system of this size, in a mount namespace of its own; what lies on it is copied
/// to `left` at the end. `fill` fills it, and `free` gives back the space. `None`, with the reason on stdout, where user
/// namespaces are not allowed.
fn on_a_disk(scratch: &Scratch, size: &str, lines: &str) -> Option<Ran> {
    if scratch.shell("unshare -Urm true").code != 0 {
        println!("skipped: user namespaces are not allowed here");
        return None;
    }
    let script = format!(
        "mkdir disk && mount -t tmpfs -o size={size} nicdrill-test disk || exit 99\n\
         fill() {{ head -c 64M /dev/zero >disk/filler 2>/dev/null; }}\n\
         free() {{ rm disk/filler; }}\n\
         {lines}\n\
         rm -f disk/filler; cp -a disk left\n"
    );
    scratch.file("script.sh", &script);
    Some(scratch.shell("unshare -Urm sh script.sh"))
}

#[test]
fn a_folder_for_which_there_was_no_space_is_used_once_there_is() {
    let scratch = Scratch::new();
    let lines = format!(
        "fill; {RUN} --out disk/out; echo first: $?; free; {RUN} --out disk/out; echo second: $?"
    );
    let Some(ran) = on_a_disk(&scratch, "1M", &lines) else {
        return;
    };
    assert!(ran.out.contains("first: 110\n"), "{ran}");
    assert!(ran.err.contains("No space left on device"), "{ran}");
    assert!(ran.out.contains("second: 0\n"), "{ran}");
    assert!(scratch.path("left/out/run.json").is_file(), "{ran}");
}

#[test]
fn a_run_for_which_there_was_no_space_takes_no_place_of_a_good_one() {
    let scratch = Scratch::new();
    let good = format!("{RUN} --out disk/out; echo good: $?");
    let bad = format!("{RUN} --out disk/out; echo bad: $?");
    let Some(ran) = on_a_disk(
        &scratch,
        "1M",
        &format!("{good}; fill; {bad}; {bad}; {bad}"),
    ) else {
        return;
    };
    assert!(ran.out.contains("good: 0\n"), "{ran}");
    assert_eq!(ran.out.matches("bad: 110\n").count(), 3, "{ran}");
    let kept = scratch.text("left/out.old/passed.txt");
    assert_eq!(kept, "port/cable-pulled@dgx-h100\n", "{ran}");
}

#[test]
fn a_report_that_does_not_fit_leaves_the_one_before() {
    let scratch = Scratch::new();
    let reports = "--report json=disk/run.json,junit=disk/run.xml,html=disk/run.html";
    let lines = format!(
        "{RUN} {reports}; echo first: $?; mkdir before; cp disk/run.* before; fill; \
         \"$NICDRILL\" run port --platform dgx-h100 --arm memory {reports}; echo second: $?"
    );
    let Some(ran) = on_a_disk(&scratch, "4M", &lines) else {
        return;
    };
    assert!(ran.out.contains("first: 0\n"), "{ran}");
    assert!(ran.out.contains("second: 110\n"), "{ran}");
    for file in ["run.json", "run.xml", "run.html"] {
        let (before, left) = (format!("before/{file}"), format!("left/{file}"));
        assert!(!scratch.text(&before).is_empty(), "{file}: {ran}");
        assert_eq!(scratch.text(&before), scratch.text(&left), "{file}: {ran}");
    }
    let left = fs::read_dir(scratch.path("left")).expect("a folder");
    assert_eq!(left.count(), 3, "nothing lies beside the reports: {ran}");
}

#[test]
fn a_disk_that_becomes_full_in_a_run_cuts_no_line() {
    let scratch = Scratch::new();
    let lines = "\"$NICDRILL\" run port --platform dgx-h100,h100-oci,dgx-a100 --arm memory --out disk/out; echo code: $?";
    let Some(ran) = on_a_disk(&scratch, "48k", lines) else {
        return;
    };
    assert!(ran.out.contains("code: 110\n"), "{ran}");
    let events = scratch.text("left/out/events.jsonl");
    assert!(events.ends_with('\n'), "{events}");
    for line in events.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect(line);
    }
    for list in ["passed.txt", "failed.txt"] {
        let text = scratch.text(&format!("left/out/{list}"));
        assert!(text.lines().all(|line| line.contains('@')), "{text}");
    }
}

#[test]
fn a_link_to_a_report_or_to_a_run_folder_stays_one() {
    let scratch = Scratch::new();
    let line = format!(
        "mkdir there && ln -s there/run.json report && ln -s there/out out && \
         {RUN} --out out --report json=report && {RUN} --out out --report json=report"
    );
    let ran = scratch.shell(&line);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(scratch.path("report").is_symlink() && scratch.path("out").is_symlink());
    assert!(scratch.text("there/run.json").contains("port/cable-pulled"));
    for folder in ["there/out", "there/out.old"] {
        let run = scratch.path(folder).join("run.json");
        assert!(run.is_file(), "{folder}: {ran}");
    }
}
