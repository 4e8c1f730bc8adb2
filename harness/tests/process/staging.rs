//! The private stage: whichever process is killed, nothing is left; and the probe on it.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use harness::{
    Player as _,
    process::{Entered, ProbeCause, ProcessArm, ProcessOptions, Stage, enter},
};
use observe::{Broken, Descriptor, Exit, Protocol};
use rustix::process::{Pid, Signal, kill_process};

use crate::{story, toy};

/// The time limit for the kernel's cleanup.
const LIMIT: Duration = Duration::from_secs(5);

/// The entry point of the child program: a drill on a private stage with a monitor that never
/// polls.
pub(crate) fn inside() -> ExitCode {
    let stage = match enter(false) {
        Ok(Entered::Inside(stage)) => stage,
        Ok(Entered::Outside(code)) => return ExitCode::from(code),
        Err(reason) => {
            println!("skipped {reason}");
            return ExitCode::SUCCESS;
        }
    };
    println!("playing {}", stage.folder().display());
    let mut arm = ProcessArm::new(
        &stage,
        0,
        ProcessOptions {
            limit: LIMIT * 10,
            ..ProcessOptions::default()
        },
    )
    .unwrap();
    let played = arm.play(
        &story("timeline:\nuntil: 1s\nheal: never\nbecause: a test\n"),
        &toy("hang", ""),
    );
    match played.recording.broken {
        Some(Broken::Interrupted) => ExitCode::from(42),
        other => panic!("{other:?}"),
    }
}

struct Run {
    outer: Child,
    /// The stage's folder, which appears in every command line and mount of the drill.
    folder: String,
}

impl Run {
    /// Starts the child program and waits until mount and monitor exist.
    fn start() -> Self {
        let mut outer = Command::new(env::current_exe().unwrap())
            .arg("inside")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(outer.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let folder = line
            .trim()
            .strip_prefix("playing ")
            .expect(&line)
            .to_owned();
        let run = Self { outer, folder };
        run.until("the drill is on", || {
            run.monitors() == 1 && run.mounts() > 0
        });
        run
    }

    /// How many processes have the stage's folder in their command line.
    fn monitors(&self) -> usize {
        processes()
            .filter(|pid| read(pid, "cmdline").contains(&self.folder))
            .count()
    }

    /// How many processes see a mount of a simulated file system in it.
    fn mounts(&self) -> usize {
        let seen = |pid: &String| {
            read(pid, "mounts")
                .lines()
                .any(|line| line.contains(&self.folder))
        };
        processes().filter(seen).count()
    }

    /// The inner process: the first of its pid namespace.
    fn inner(&self) -> Pid {
        let children =
            fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.outer.id())).unwrap();
        Pid::from_raw(children.trim().parse().unwrap()).unwrap()
    }

    fn until(&self, what: &str, done: impl Fn() -> bool) {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
            thread::yield_now();
        }
    }

    fn check_end(mut self, target: Pid, signal: Signal, code: Option<i32>) {
        kill_process(target, signal).unwrap();
        assert_eq!(self.outer.wait().unwrap().code(), code);
        self.until("no monitor is left", || self.monitors() == 0);
        self.until("no mount is left", || self.mounts() == 0);
        // SIGKILL leaves an empty folder.
        if let Ok(mut left) = fs::read_dir(&self.folder) {
            assert!(left.next().is_none());
            fs::remove_dir(&self.folder).unwrap();
        }
    }
}

fn processes() -> impl Iterator<Item = String> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Processes may end while they are read.
fn read(pid: &str, file: &str) -> String {
    fs::read(format!("/proc/{pid}/{file}"))
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}

pub(crate) fn sigkill_of_the_outer_process_leaves_nothing() {
    let run = Run::start();
    let outer = Pid::from_child(&run.outer);
    run.check_end(outer, Signal::KILL, None);
}

pub(crate) fn sigkill_of_the_inner_process_leaves_nothing() {
    let run = Run::start();
    let inner = run.inner();
    run.check_end(inner, Signal::KILL, Some(128 + 9));
}

pub(crate) fn ctrl_c_leaves_nothing() {
    let run = Run::start();
    let outer = Pid::from_child(&run.outer);
    run.check_end(outer, Signal::INT, Some(42));
}

pub(crate) fn the_probe_tells_who_cannot_be_drilled() {
    let stage = Stage::here().unwrap();
    thread::spawn(move || {
        let limit = Duration::from_millis(500);
        let mut arm = ProcessArm::new(
            &stage,
            0,
            ProcessOptions {
                limit,
                ..ProcessOptions::default()
            },
        )
        .unwrap();
        let platforms = platforms::Platforms::shipped();
        let (_, platform) = platforms
            .iter()
            .find(|(name, _)| *name == "dgx-h100")
            .unwrap();
        let mut probe = |descriptor: &Descriptor| arm.probe(platform, descriptor);
        assert!(probe(&toy("plain", "")).is_ok());
        let mute = probe(&toy("mute", "")).expect_err("it never calls");
        let silent = ProbeCause::SaidNothing {
            polls: 13,
            by: Protocol::PlatformConnector,
        };
        assert_eq!(mute.cause, silent);
        assert!(
            mute.reads
                .iter()
                .any(|read| read.starts_with("list sys/class/infiniband: ")),
            "{mute}"
        );
        let hang = probe(&toy("hang", "")).expect_err("it does not poll");
        match &hang.cause {
            ProbeCause::Broken(Broken::Hung {
                tick: 0,
                waiting_for,
            }) => assert!(waiting_for.contains("first listing"), "{waiting_for}"),
            other => panic!("{other:?}"),
        }
        let exit = probe(&toy("exit", "")).expect_err("it ends");
        assert!(
            matches!(
                exit.cause,
                ProbeCause::Broken(Broken::Crashed {
                    tick: 0,
                    exit: Exit::Code(3),
                    ..
                })
            ),
            "{exit}"
        );
        assert_eq!(exit.output, ["no reason to stay"]);
        let silent = probe(&Descriptor::of_program("/bin/true")).expect_err("it ends");
        assert!(
            matches!(
                silent.cause,
                ProbeCause::Broken(Broken::Crashed {
                    exit: Exit::Code(0),
                    ..
                })
            ),
            "{silent}"
        );
        assert_eq!(silent.output, [""; 0]);
        let absent = probe(&Descriptor::of_program("/no/such/program")).unwrap_err();
        assert!(absent.is_of_the_stage(), "{absent}");
    })
    .join()
    .unwrap();
}
