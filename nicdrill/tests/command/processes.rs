//! The process arm through the binary: a process on a FUSE mount, and the messages if FUSE is not
//! available.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use rstest::rstest;
use serde_json::Value;

use crate::scratch::{NICDRILL, Scratch, can_play_processes, reference_descriptor};

#[test]
fn one_story_is_told_alike_in_both_arms() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = scratch.run(&[
        "run",
        "port/cable-pulled@h100-oci",
        "start/baseline@h100-oci",
        "--require",
        "process",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.out
            .contains("memory arm: 2 of 2 run; process arm: 2 of 2 run"),
        "{ran}"
    );
}

#[test]
fn a_good_run_keeps_nothing_of_a_probe_that_failed_before_it() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let drill = ["run", "start/baseline@h100-oci", "--arm", "process"];
    let stopped = scratch.run(&[&drill[..], &["--monitor", "/bin/true"]].concat());
    assert_eq!(stopped.code, 101, "{stopped}");
    assert!(scratch.path("nicdrill.out/probe/command.txt").exists());
    let good = scratch.run(&drill);
    assert_eq!(good.code, 0, "{good}");
    assert!(!scratch.path("nicdrill.out/probe").exists());
    assert!(scratch.path("nicdrill.out.old/probe").exists());
    let accepted = scratch.run(&["accept", "--reason", "r", "--yes"]);
    assert!(
        accepted
            .err
            .contains("nothing to accept: the last run had no finding"),
        "{accepted}"
    );
}

/// A descriptor that makes two listings a poll, of a monitor that lists once.
#[test]
fn a_wrong_number_of_listings_is_noted_with_the_one_that_was_seen() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let text = reference_descriptor();
    assert!(text.contains("listings_per_poll: 1"));
    let text = text.replace("name: reference", "name: miscounted");
    let text = text.replace("listings_per_poll: 1", "listings_per_poll: 2");
    scratch.file("monitor.yaml", &text);
    let drill = [
        "run",
        "start/baseline@h100-oci",
        "--monitor",
        "monitor.yaml",
    ];
    let ran = scratch.run(&[&drill[..], &["--arm", "process"]].concat());
    let note = "NOTE  the monitor: its reads repeat after every 1 listing of `{root}/sys/class/infiniband`, and its \
                descriptor makes 2 a poll: write `listings_per_poll: 1`\n";
    assert!(ran.out.contains(note), "{ran}");
}

/// The probe needs a NIC that the monitor watches; this platform has none.
#[test]
fn a_platform_with_nothing_to_watch_is_drilled_too() {
    if !can_play_processes() {
        return;
    }
    let story = "link/omni-path-is-nobodys-to-watch@opa-cn5000";
    let ran = Scratch::new().run(&["run", story, "--require", "process"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("process arm: 1 of 1 run"), "{ran}");
}

#[rstest]
#[case::ends_at_once("#!/bin/sh\nexit 0\n", 101, "ended by itself")]
#[case::never_connects(
    "#!/bin/sh\nwhile :; do ls \"$NICDRILL_ROOT/sys/class/infiniband\" >/dev/null; done\n",
    102,
    "never called the connector"
)]
#[case::its_own_words(
    "#!/bin/sh\necho no module named grpc >&2; exit 3\n",
    101,
    "its last output:\n    no module named grpc"
)]
#[case::is_told_its_checks(
    "#!/bin/sh\necho \"checks: $NICDRILL_CHECKS\" >&2; exit 3\n",
    101,
    "    checks: InfiniBandStateCheck,EthernetStateCheck\n"
)]
#[case::hangs("#!/bin/sh\nexec sleep 600\n", 101, "made no progress")]
#[case::lists_the_hosts_files(
    "#!/bin/sh\nwhile :; do ls /sys/class/net >/dev/null; sleep 1; done\n",
    101,
    "does it list its root's `sys/class/infiniband`, and not the host's?"
)]
#[case::holds_a_host_file_open(
    "#!/bin/sh\nexec 3</sys/class/net\nexec sleep 600\n",
    101,
    "it uses the host's `/sys/class/net`, and not its root's"
)]
#[case::reports_elsewhere(
    "#!/bin/sh\nwhile :; do cat \"$NICDRILL_ROOT\"/sys/class/infiniband/*/ports/*/state >/dev/null\n\
     echo 'dial unix:///var/run/nvsentinel.sock: no such file' >&2; done\n",
    102,
    "its output names the socket `unix:///var/run/nvsentinel.sock`; the connector listens at `{socket}`"
)]
#[case::runs_no_check(
    "#!/bin/sh\nwhile :; do ls \"$NICDRILL_ROOT/sys/class/infiniband\" >/dev/null; done\n",
    102,
    "is a check left that it runs? The drill is about InfiniBandStateCheck, EthernetStateCheck"
)]
#[case::connects_and_runs_no_check(
    "#!/bin/sh\nperl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un($ENV{NICDRILL_SOCKET}));\
     syswrite(S, \"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n\\0\\0\\0\\4\\0\\0\\0\\0\\0\"); sleep 600' &\n\
     while :; do cat \"$NICDRILL_ROOT\"/sys/class/infiniband/*/ports/*/counters/link_downed >/dev/null; done\n",
    102,
    "hint: it reached the socket and called nothing: is a check left that it runs? The drill is about InfiniBandStateCheck, EthernetStateCheck (`{checks}`, in the environment `NICDRILL_CHECKS`)"
)]
#[case::knows_another_vendor(
    "#!/bin/sh\nwhile :; do cat \"$NICDRILL_ROOT\"/sys/class/infiniband/*/device/vendor >/dev/null; done\n",
    102,
    "does it monitor cards of 0x15b3"
)]
#[case::speaks_another_protocol(
    "#!/bin/sh\nwhile :; do ls \"$NICDRILL_ROOT/sys/class/infiniband\" >/dev/null\n\
     perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un($ENV{NICDRILL_SOCKET}));\
     syswrite(S, \"POST /events HTTP/1.1\\r\\n\\r\\n\"); shutdown(S, 1); sysread(S, $answer, 1)'; done\n",
    102,
    "spoke HTTP/1.1 (`POST /events HTTP/1.1`); refused: gRPC is spoken over HTTP/2"
)]
#[case::waits_between_its_polls(
    "#!/bin/sh\nwhile :; do cat \"$NICDRILL_ROOT\"/sys/class/infiniband/*/ports/*/state >/dev/null; sleep 0.3; done\n",
    102,
    "of real time, and a drill of 50 polls"
)]
#[case::is_ended_by_a_signal(
    "#!/bin/sh\nkill -SEGV $$\n",
    101,
    "ended by itself at poll 0: signal 11"
)]
#[case::lacks_its_interpreter(
    "#!/opt/no/python9\n",
    102,
    "names the interpreter `/opt/no/python9`, which is not there"
)]
#[case::lacks_its_runtime(
    "#!/usr/bin/env no-such-python\n",
    101,
    "exit code 127: a program was not found, such as the runtime of its language"
)]
fn a_monitor_that_cannot_be_drilled_ends_the_run_and_says_why(
    #[case] program: &str,
    #[case] code: i32,
    #[case] why: &str,
) {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.program("monitor.sh", program);
    let words = [
        "run",
        "start/baseline",
        "--monitor",
        "./monitor.sh",
        "--report",
        "junit=run.xml",
    ];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, code, "{ran}");
    assert!(ran.out.contains(why), "{ran}");
    assert!(
        scratch.text("run.xml").contains("<error"),
        "a report without a failure looks green"
    );
    assert!(
        ran.out.contains("all of this is kept in ") && ran.out.contains("nicdrill.out/probe\n"),
        "{ran}"
    );
    for kept in ["command.txt", "log.txt", "reads.txt", "connections.txt"] {
        assert!(
            scratch.path("nicdrill.out/probe").join(kept).exists(),
            "{kept}: {ran}"
        );
    }
}

#[test]
fn a_monitor_that_polls_seldom_is_told_what_a_drill_takes() {
    if !can_play_processes() {
        return;
    }
    let text = reference_descriptor();
    let scratch = Scratch::new();
    let seldom = text.replace("-polling-interval=1us", "-polling-interval=200ms");
    assert_ne!(text, seldom);
    scratch.file("seldom.yaml", &seldom);
    let words = ["run", "start/baseline@h100-oci", "--monitor", "seldom.yaml"];
    let ran = scratch.run(&[&words[..], &["--arm", "process"]].concat());
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.out
            .contains("NOTE  a poll of the monitor takes 0.2 s of real time"),
        "{ran}"
    );
    assert!(!scratch.path("nicdrill.out/probe").exists(), "{ran}");
}

/// As a user who may not open `/dev/fuse`: the reference monitor's run still has its memory arm and
/// reports the skipped one; another monitor cannot be run.
#[test]
fn without_fuse_the_run_says_what_was_skipped() {
    let scratch = Scratch::new();
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    // Other users may not be allowed to read the target folder.
    let program = scratch.path("nicdrill");
    fs::copy(NICDRILL, &program).unwrap();
    fs::set_permissions(scratch.path("."), fs::Permissions::from_mode(0o777)).unwrap();
    let run = |words: &[&str]| {
        let mut command = match is_root {
            true => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                    .arg(&program);
                command
            }
            false => Command::new(&program),
        };
        command
            .args(words)
            .current_dir(scratch.path("."))
            .env_remove("CI");
        let output = command.output().expect("the command starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let anybody_may =
        fs::metadata("/dev/fuse").is_ok_and(|device| device.permissions().mode() & 0o006 == 0o006);
    if anybody_may {
        println!("skipped: anybody may open /dev/fuse here, so there is nothing to skip");
        return;
    }
    let words = [
        "run",
        "start/baseline",
        "--platform",
        "h100-oci",
        "--report",
        "junit=run.xml,json=run.json",
    ];
    let (code, out, err) = run(&words);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("; process arm: 0 of "), "{out}");
    assert!(out.contains("the process arm is skipped: "), "{out}");
    assert!(
        scratch
            .text("run.xml")
            .contains("name=\"process arm\" value=\"0 of "),
        "{out}"
    );
    let json: Value = serde_json::from_str(&scratch.text("run.json")).unwrap();
    assert_eq!(json["summary"]["process"]["run"], 0);

    let (code, out, err) = run(&["run", "start/baseline@h100-oci", "--monitor", "/bin/true"]);
    assert_eq!(code, Some(102), "{out}{err}");
    let (code, out, err) = run(&[
        "run",
        "start/baseline@h100-oci",
        "--monitor",
        "/bin/true",
        "--allow-skips",
    ]);
    // A program that promises nothing is never found right.
    assert_eq!(code, Some(4), "{out}{err}");
    let (code, out, err) = run(&["run", "start/baseline@h100-oci", "--require", "process"]);
    assert_eq!(code, Some(102), "{out}{err}");
}

#[test]
fn a_sandbox_takes_commands_and_leaves_no_mount() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = scratch.shell(
        "state=tree/sys/class/infiniband/mlx5_0/ports/1/state\n\
         mkfifo commands; \"$NICDRILL\" mount h100-oci tree <commands >said & \n\
         exec 3>commands\n\
         until grep -q 'is mounted' said; do :; done\n\
         cat $state\n\
         echo 'disable: mlx5_0' >&3\n\
         until grep -q 'done: disable' said; do :; done\n\
         cat $state\n\
         cut -d';' -f2 tree/dev/kmsg\n\
         echo 'disabel: mlx5_0' >&3\n\
         echo 'monitor: restart' >&3\n\
         exec 3>&-\n\
         wait $!; echo \"ended with $?\"\n",
    );
    let log = "mlx5_core 0000:0c:00.0 rdma0: Link down";
    assert_eq!(
        ran.out,
        format!("4: ACTIVE\n1: DOWN\n{log}\nended with 0\n"),
        "{ran}"
    );
    assert!(
        ran.err.contains("disable"),
        "the nearest word is named: {ran}"
    );
    assert!(ran.err.contains("needs a monitor"), "{ran}");
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(
        !mounts.contains(&scratch.path("tree").display().to_string()),
        "{mounts}"
    );
    assert!(
        !scratch.path("tree").exists(),
        "a folder that was made is taken away"
    );
}
