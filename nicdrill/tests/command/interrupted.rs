//! A command that a signal ends early reports what was judged, and ends with 128 and the number of the signal.

#[cfg(feature = "postgres")]
use std::{cell::RefCell, net::TcpListener};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use rstest::rstest;

use crate::scratch::{NICDRILL, Ran, Scratch, can_play_processes, command};

/// The command in a folder, while it works.
struct Working(Child);

impl Working {
    fn start(scratch: &Scratch, words: &[&str]) -> Self {
        let mut command = command(Path::new(NICDRILL), &scratch.path(""));
        command
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self(command.spawn().expect("the command starts"))
    }

    /// A platform at `here`, once it is mounted.
    fn mount(scratch: &Scratch) -> Self {
        let mut working = Self::start(scratch, &["mount", "h100-oci", "here"]);
        let out = working.0.stdout.take().expect("it is a pipe");
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("a line");
        assert!(line.contains(" is mounted on "), "{line}");
        working
    }

    /// Waits until something is so.
    fn until(mut self, is_so: impl Fn() -> bool) -> Self {
        while !is_so() {
            let ended = self.0.try_wait().expect("it is a child");
            assert_eq!(ended, None, "it ends before it is interrupted");
            thread::yield_now();
        }
        self
    }

    /// Waits until it has begun to play: the process that plays has worked for a while, the inner one if it plays as
    /// processes. A command that reads its files yet is ended by the kernel.
    fn playing(self, as_processes: bool) -> Self {
        let outer = self.0.id();
        let of = |path: String| fs::read_to_string(path).unwrap_or_default();
        // Time on a CPU in hundredths of a second (`proc_pid_stat(5)`).
        let worked = move |pid: &str| {
            let stat = of(format!("/proc/{pid}/stat"));
            let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
            let times = fields.split(' ').skip(11).take(2);
            times
                .filter_map(|time| time.parse::<u64>().ok())
                .sum::<u64>()
        };
        self.until(move || {
            if as_processes {
                let inner = of(format!("/proc/{outer}/task/{outer}/children"));
                inner.split_whitespace().map(worked).sum::<u64>() > 20
            } else {
                worked(&outer.to_string()) > 500
            }
        })
    }

    /// Sends a signal, such as `INT`, and waits for the end.
    fn interrupt(self, signal: &str) -> Ran {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.expect("there is a shell").success());
        Ran::of(&self.0.wait_with_output().expect("it ends"))
    }
}

/// Whether a file has a line.
fn has_a_line(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.contains(&b'\n'))
}

#[rstest]
#[case::ctrl_c_in_memory("memory", "INT", 130)]
#[case::sigterm_in_memory("memory", "TERM", 143)]
#[case::ctrl_c_with_processes("process", "INT", 130)]
#[case::sigterm_with_processes("process", "TERM", 143)]
#[case::a_closed_terminal("process", "HUP", 129)]
fn an_interrupted_run_reports_what_was_judged(
    #[case] arm: &str,
    #[case] signal: &str,
    #[case] code: i32,
) {
    if arm == "process" && !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let words = [
        "run",
        "--full",
        "--arm",
        arm,
        "--report",
        "json=all.json,junit=all.xml",
    ];
    let passed = scratch.path("nicdrill.out/passed.txt");
    let ran = Working::start(&scratch, &words)
        .until(|| has_a_line(&passed))
        .interrupt(signal);
    assert_eq!(ran.code, code, "{ran}");
    assert!(ran.out.contains(" 0 failed, "), "{ran}");
    assert!(ran.out.contains(" not reached"), "{ran}");
    assert!(
        ran.err.contains("asked for an early end") || code == 129,
        "{ran}"
    );
    let events = scratch.text("nicdrill.out/events.jsonl");
    let last = events.lines().last().expect("a line");
    assert!(last.contains("\"event\":\"run-ended\""), "{last}");
    assert!(last.contains(&format!("\"exit_code\":{code}")), "{last}");
    assert!(!events.contains("drill-failed"), "{events}");
    let report = scratch.text("all.json");
    assert!(report.contains("\"not_reached\":"), "{report}");
    let suites = scratch.text("all.xml");
    assert!(suites.contains("</testsuites>"), "{suites}");
    // What passed until then would look like a green run.
    let error = format!("type=\"{code}\"");
    assert!(suites.contains("<error "), "{suites}");
    assert!(suites.contains(&error), "{suites}");
    assert!(suites.contains("message=\"not reached: "), "{suites}");
}

/// The monitor never polls, so that its probe waits.
#[test]
fn an_interrupted_probe_is_told_with_the_code_of_the_signal() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.program("monitor.sh", "#!/bin/sh\nwhile :; do sleep 1; done\n");
    let words = ["run", "start/baseline", "--monitor", "./monitor.sh"];
    let events = scratch.path("nicdrill.out/events.jsonl");
    let ran = Working::start(&scratch, &words)
        .until(|| has_a_line(&events))
        .interrupt("TERM");
    assert_eq!(ran.code, 143, "{ran}");
    let stop = " was not drilled: interrupted before the first drill\n      (143: SIGTERM ";
    assert!(ran.out.contains(stop), "{ran}");
}

#[test]
fn an_interrupted_zoo_calls_nobody_live() {
    let scratch = Scratch::new();
    let ran = Working::start(&scratch, &["zoo", "--full", "--arm", "memory"])
        .playing(false)
        .interrupt("INT");
    assert_eq!(ran.code, 130, "{ran}");
    assert!(!ran.out.contains("not caught"), "{ran}");
    assert!(ran.err.contains("wrong monitors were hunted"), "{ran}");
    assert!(!ran.err.contains("the right monitor fails"), "{ran}");
}

#[rstest]
#[case::fit(&["fit", "reference"])]
#[case::compare(&["compare", "reference", "--needs", "example"])]
#[case::suite_check(&["suite", "check"])]
fn an_interrupted_interview_says_so(#[case] words: &[&str]) {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = Working::start(&scratch, words)
        .playing(true)
        .interrupt("TERM");
    assert_eq!(ran.code, 143, "{ran}");
    let told = [&ran.out, &ran.err];
    assert!(
        told.iter().any(|text| text.contains("interrupted")),
        "{ran}"
    );
}

#[test]
fn a_recording_that_is_interrupted_is_whole() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let mounted = Working::mount(&scratch);
    let words = [
        "record",
        "--root",
        "here",
        "--platform",
        "h100-oci",
        "--out",
        "story.yaml",
    ];
    let story = scratch.path("story.yaml");
    let ran = Working::start(&scratch, &words)
        .until(|| has_a_line(&story))
        .interrupt("INT");
    assert_eq!(ran.code, 130, "{ran}");
    assert!(ran.err.contains("story.yaml is written"), "{ran}");
    assert!(scratch.text("story.yaml").contains("until: "));
    assert_eq!(mounted.interrupt("TERM").code, 143);
}

#[test]
fn an_interrupted_mount_is_taken_away() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = Working::mount(&scratch).interrupt("HUP");
    assert_eq!(ran.code, 129, "{ran}");
    assert!(!scratch.path("here").exists());
}

/// Its server accepts the connection and says nothing.
#[cfg(feature = "postgres")]
#[test]
fn a_run_that_waits_for_its_store_is_ended_by_a_signal() {
    let scratch = Scratch::new();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    silent.set_nonblocking(true).expect("a socket");
    let store = format!("postgres://ann@{}/d", silent.local_addr().expect("bound"));
    let words = [
        "run",
        "start/baseline",
        "--arm",
        "memory",
        "--store",
        &store,
    ];
    let kept = RefCell::new(None);
    let ran = Working::start(&scratch, &words)
        .until(|| {
            silent
                .accept()
                .is_ok_and(|(client, _)| kept.replace(Some(client)).is_none())
        })
        .interrupt("INT");
    assert_eq!(ran.code, 130, "{ran}");
    let told = format!("an early end was asked for before the store `{store}` had answered");
    assert!(ran.err.contains(&told), "{ran}");
}
