//! What a poll over FUSE costs: 34 devices, one listing and 105 reads, reader and server on one CPU. Printed are the
//! requests, and the CPU time apart for the reader (its own code), the kernel (of both) and the server, beside a
//! server that answers constants ([`bare`]) and beside tmpfs.
//!
//! The reader is a process of its own: this program, as `poll read FOLDER POLLS`. `poll serve POLLS` serves one such
//! reader and no more; `.ci/speed` counts the instructions of that.

#![expect(clippy::print_stdout, reason = "a benchmark tells its figures")]

mod bare;

use std::{
    env,
    fs::{self, File},
    io::Read as _,
    mem,
    path::Path,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use bare::Bare;
use rustix::{
    mount::{UnmountFlags, unmount},
    thread::{CpuSet, sched_setaffinity},
};
use simfs::{Edit, FileValue, Fs, MomentId, RuleId, TreePath};
use simfs_fuse::{HoldId, MomentAnswer, MountError, Observer, Options, Server};

const DEVICES: usize = 34;
const READS: usize = 105;
const ROUNDS: usize = 3;
const POLLS: u32 = 1500;
/// Ticks a second of the times in `/proc` (`USER_HZ`).
const TICKS: f64 = 100.0;

struct Nobody;

impl Observer for Nobody {
    fn gate(&self, _: HoldId, _: u32) {}
    fn hung(&self, _: HoldId, _: u32, _: RuleId, _: &str) {}
    fn moment(&self, _: &mut Fs, _: MomentId, _: u32) -> MomentAnswer {
        MomentAnswer::Go
    }
    fn stuck(&self, _: HoldId, _: u32) {}
    fn killed(&self, _: HoldId, _: u32) {}
}

fn tree() -> Vec<Edit> {
    let device = |n: usize| {
        let folder = format!("devices/pci0000:00/0000:{n:02x}:00.0/infiniband/mlx5_{n}");
        let file = |name: String| Edit::File {
            path: TreePath::new(&format!("{folder}/{name}")),
            value: FileValue::line("4: ACTIVE"),
        };
        let mut edits: Vec<Edit> = (0..134)
            .map(|n| file(format!("ports/1/file_{n}")))
            .collect();
        edits.push(Edit::Link {
            path: TreePath::new(&format!("class/infiniband/mlx5_{n}")),
            target: format!("../../{folder}"),
        });
        edits
    };
    (0..DEVICES).flat_map(device).collect()
}

fn copy_to(root: &Path) {
    for edit in tree() {
        let path = root.join(edit.path().as_str());
        fs::create_dir_all(path.parent().expect("a file lies in a folder"))
            .expect("tmpfs takes folders");
        match edit {
            Edit::File {
                value: FileValue::Bytes(bytes),
                ..
            } => fs::write(path, bytes).expect("tmpfs takes files"),
            Edit::Link { target, .. } => {
                std::os::unix::fs::symlink(target, path).expect("tmpfs takes links")
            }
            other => unreachable!("the tree has no {other:?}"),
        }
    }
}

/// The reader.
fn read(root: &Path, polls: u32) {
    let class = root.join("class/infiniband");
    let paths: Vec<_> = (0..READS)
        .map(|n| class.join(format!("mlx5_{}/ports/1/file_{}", n % DEVICES, n / DEVICES)))
        .collect();
    let mut bytes = [0; 4096];
    for _ in 0..polls {
        assert_eq!(
            fs::read_dir(&class).expect("the class is there").count(),
            DEVICES
        );
        for path in &paths {
            let mut file = File::open(path).expect("every file is there");
            let len = file.read(&mut bytes).expect("every file is read");
            assert_eq!(&bytes[..len], b"4: ACTIVE\n");
        }
    }
}

/// CPU time of this process and of the children that it has waited for, in seconds.
#[derive(Clone, Copy)]
struct Used {
    user: f64,
    system: f64,
    of_children: (f64, f64),
}

impl Used {
    fn now() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").expect("/proc is mounted");
        let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
        let ticks: Vec<f64> = fields
            .split(' ')
            .skip(11)
            .take(4)
            .map(|field| field.parse::<f64>().expect("a number of ticks") / TICKS)
            .collect();
        Self {
            user: ticks[0],
            system: ticks[1],
            of_children: (ticks[2], ticks[3]),
        }
    }
}

/// What the polls of one reader cost, in seconds.
#[derive(Clone, Copy, Default)]
struct Cost {
    reader: f64,
    kernel: f64,
    server: f64,
}

impl Cost {
    fn whole(self) -> f64 {
        self.reader + self.kernel + self.server
    }
}

/// Has a process read so many polls, and measures it and this process, which serves it.
fn poll(root: &Path, polls: u32) -> Cost {
    let before = Used::now();
    let this = env::current_exe().expect("a program has a path");
    let reader = Command::new(this)
        .arg("read")
        .arg(root)
        .arg(polls.to_string())
        .status();
    assert!(reader.expect("the reader starts").success());
    let after = Used::now();
    let (user, system) = (
        after.of_children.0 - before.of_children.0,
        after.of_children.1 - before.of_children.1,
    );
    Cost {
        reader: user,
        kernel: system + after.system - before.system,
        server: after.user - before.user,
    }
}

fn served(mountpoint: &Path) -> Result<Server, MountError> {
    let mut fs = Fs::new();
    fs.alias_folder("class/infiniband");
    fs.apply(&tree());
    let options = Options {
        cpu: Some(0),
        gate: false,
        removable: false,
    };
    Server::mount(
        Arc::new(Mutex::new(fs)),
        mountpoint,
        options,
        Arc::new(Nobody),
    )
}

/// Unmounts, and leaves the server to the end of the process. Its own end asks the file system for something, which valgrind
/// takes for a call that returns at once: then no thread can answer.
fn leave(server: Server, mountpoint: &Path) {
    if unmount(mountpoint, UnmountFlags::DETACH).is_err() {
        let unmounted = Command::new("fusermount3")
            .args(["-u", "-z"])
            .arg(mountpoint)
            .status();
        assert!(unmounted.expect("fusermount3 is installed").success());
    }
    mem::forget(server);
}

fn print_row(name: &str, requests: Option<u64>, cost: Cost) {
    let a_poll = |seconds: f64| seconds * 1e6 / f64::from(POLLS);
    let each = requests.map_or_else(String::new, |requests| {
        format!("{:>12.2}", a_poll(cost.whole()) / requests as f64)
    });
    println!(
        "{name:<12}{:>10}{:>10.0}{:>10.0}{:>10.0}{:>10.0}{each}",
        requests.map_or_else(|| "-".to_owned(), |requests| requests.to_string()),
        a_poll(cost.reader),
        a_poll(cost.kernel),
        a_poll(cost.server),
        a_poll(cost.whole()),
    );
}

/// Compares the servers, in turn.
fn compare() {
    let memory = tempfile::tempdir_in("/dev/shm").expect("/dev/shm is a tmpfs");
    copy_to(memory.path());
    let folder = || tempfile::tempdir().expect("there is room for a folder");
    let (over_simfs, over_bare) = (folder(), folder());
    let server = match served(over_simfs.path()) {
        Ok(server) => server,
        Err(error) => return println!("skipped: {error}"),
    };
    let answered = Arc::new(AtomicU64::new(0));
    let bare = Bare::mount(&tree(), over_bare.path(), Arc::clone(&answered));
    let bare = bare.expect("what one server may mount, another may");
    // The kernel learns the names once.
    poll(over_bare.path(), 1);
    poll(over_simfs.path(), 1);
    let before = answered.load(Ordering::Relaxed);
    let mut costs: [Vec<Cost>; 3] = Default::default();
    for _ in 0..ROUNDS {
        costs[0].push(poll(over_simfs.path(), POLLS));
        server.with_fs(|fs| fs.take_trace());
        costs[1].push(poll(over_bare.path(), POLLS));
        costs[2].push(poll(memory.path(), POLLS));
    }
    let requests = answered.load(Ordering::Relaxed) - before;
    let requests = requests / (ROUNDS as u64 * u64::from(POLLS));
    drop(bare);
    println!(
        "CPU time (µs) of a poll of {DEVICES} devices, {READS} reads; the least of {ROUNDS} rounds of {POLLS} polls"
    );
    println!(
        "{:<12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>12}",
        "", "requests", "reader", "kernel", "server", "whole", "a request"
    );
    let requests_of = [Some(requests), Some(requests), None];
    let names = ["simfs", "constants", "tmpfs"];
    for ((name, requests), costs) in names.into_iter().zip(requests_of).zip(costs) {
        let least = costs
            .into_iter()
            .min_by(|one, other| one.whole().total_cmp(&other.whole()))
            .unwrap_or_default();
        print_row(name, requests, least);
    }
}

fn main() {
    let mut cpus = CpuSet::new();
    cpus.set(0);
    sched_setaffinity(None, &cpus).expect("a process may choose its CPU");
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().expect("a number of polls");
    match words[..] {
        ["read", root, polls] => read(Path::new(root), number(polls)),
        ["serve", polls] => {
            let folder = tempfile::tempdir().expect("there is room for a folder");
            let server = served(folder.path()).expect("the tree is mounted");
            poll(folder.path(), number(polls));
            leave(server, folder.path());
        }
        _ => compare(),
    }
}
