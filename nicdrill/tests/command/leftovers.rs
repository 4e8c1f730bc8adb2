//! What a run leaves on the machine: no mount, process, socket or namespace.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    isolation::{LOOK, soon},
    scratch::{NICDRILL, Scratch, can_play_processes},
};

/// The variable by which the processes of a run are recognised, whatever they have become.
const MARK: &str = "NICDRILL_TEST_RUN";

/// The processes of a run, of all its namespaces.
fn processes_of(mark: &str) -> Vec<String> {
    let mark = format!("{MARK}={mark}\0");
    let entries = fs::read_dir("/proc").expect("proc").flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|pid| {
            let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut windows = variables.windows(mark.len());
            windows.any(|window| window == mark.as_bytes())
        })
        .collect()
}

/// The mounts below a folder, in the mount namespaces of all processes.
fn mounts_below(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("proc").flatten();
    entries
        .flat_map(|entry| mounts_of(&entry.path(), folder))
        .collect()
}

/// The mounts at or below a folder in the mount namespace of one process, by its folder in `/proc`.
fn mounts_of(process: &Path, folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let mounts = fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
    let below = mounts.lines().filter(|line| line.contains(&folder));
    below.map(str::to_owned).collect()
}

/// Makes a user namespace in which few namespaces of each kind may exist at once (`namespaces(7)`,
/// `/proc/sys/user`), and waits for the end of its input. One of the runs below needs no more than 8.
const FEW_NAMESPACES: &str = "for kind in mnt net pid user ipc uts; do \
    echo 16 >/proc/sys/user/max_${kind}_namespaces || exit; done; echo ready; read -r end";

/// A user namespace with few namespaces. One that outlives its run counts against the limit, so that later runs fail.
struct FewNamespaces(Child);

impl FewNamespaces {
    /// `None`, with the reason on stdout, where user namespaces are not allowed.
    fn new() -> Option<Self> {
        let mut command = Command::new("unshare");
        command.args(["-Ur", "sh", "-c", FEW_NAMESPACES]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("util-linux is there");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let made = Self(child);
        if line == "ready\n" {
            return Some(made);
        }
        println!("namespaces are not counted: user namespaces are not allowed here");
        None
    }

    /// A command in it.
    fn command(few: Option<&Self>, program: &str) -> Command {
        let Some(Self(child)) = few else {
            return Command::new(program);
        };
        let mut command = Command::new("nsenter");
        command.args(["--user", "--preserve-credentials", "--target"]);
        command.args([&child.id().to_string(), "--", program]);
        command
    }
}

impl Drop for FewNamespaces {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Half of the runs end by SIGKILL at a random instant. `NICDRILL_SHORT_RUNS` is the number of runs.
#[test]
fn short_runs_in_a_row_leave_no_mount_process_socket_or_namespace() {
    if !can_play_processes() {
        return;
    }
    let few = FewNamespaces::new();
    let runs = env::var("NICDRILL_SHORT_RUNS").ok();
    let runs: u32 = runs.and_then(|runs| runs.parse().ok()).unwrap_or(20);
    let mut random = u64::from(std::process::id());
    let mut longest = Duration::from_millis(1);
    for run in 0..runs {
        let scratch = Scratch::new();
        let folder = scratch.path(".").canonicalize().expect("a folder");
        let mark = folder.display().to_string();
        let begun = Instant::now();
        let mut command = FewNamespaces::command(few.as_ref(), NICDRILL);
        command
            .args([
                "run",
                "start/baseline@h100-oci",
                "port/cable-pulled@h100-oci",
            ])
            .args([
                "port/cable-pulled@l40-onprem",
                "--arm",
                "process",
                "--jobs",
                "2",
            ])
            .current_dir(&folder)
            .env("TMPDIR", &folder)
            .env(MARK, &mark)
            .env_remove("CI")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        if run % 2 == 0 {
            assert_eq!(child.wait().expect("it ends").code(), Some(0), "run {run}");
            longest = longest.max(begun.elapsed());
        } else {
            // Knuth's MMIX generator; its high bits are the random ones.
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let part = u32::try_from(random >> 40).expect("24 bits");
            let at = longest * (part >> 14) / 1024;
            while begun.elapsed() < at {
                thread::park_timeout(LOOK);
            }
            child.kill().expect("it is a child");
            child.wait().expect("it ends");
        }
        assert!(
            soon(|| processes_of(&mark).is_empty()),
            "run {run} leaves processes: {:?}",
            processes_of(&mark)
        );
        assert!(
            soon(|| mounts_below(&folder).is_empty()),
            "run {run} leaves mounts: {:?}",
            mounts_below(&folder)
        );
        let sockets = fs::read_to_string("/proc/net/unix").expect("sockets");
        assert!(!sockets.contains(&mark), "run {run} leaves sockets");
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            if entry.file_name().to_string_lossy().starts_with("nicdrill-") {
                let left = fs::read_dir(entry.path()).expect("a folder").count();
                assert_eq!(left, 0, "run {run} leaves files in {:?}", entry.path());
            }
        }
    }
}

/// Nobody is there to unmount what a killed `mount` has mounted; the next one in the folder does.
#[test]
fn the_mount_of_a_killed_command_is_replaced_by_the_next() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let mut killed = Command::new(NICDRILL)
        .args(["mount", "h100-oci", "stage"])
        .current_dir(scratch.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let out = killed.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut line).expect("a line");
    assert_eq!(line, "h100-oci is mounted on stage\n");
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");
    let ran = scratch.shell("echo 'cut mlx5_0/1' | \"$NICDRILL\" mount h100-oci stage");
    assert_eq!(ran.code, 0, "{ran}");
    // Other runs that began meanwhile may have a copy of it in a mount namespace of their own.
    let stage = scratch.path("stage");
    assert_eq!(mounts_of(Path::new("/proc/self"), &stage), [""; 0]);
}
