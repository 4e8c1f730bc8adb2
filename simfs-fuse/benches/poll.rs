//! What a poll over FUSE costs, as a multiple of the same poll on tmpfs, both in one run: 34 devices,
//! one listing and 105 reads, reader and server on one CPU.

#![expect(clippy::print_stdout, reason = "a benchmark tells its figures")]

use std::{
    fs::{self, File},
    io::Read,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use rustix::thread::{CpuSet, sched_setaffinity};
use simfs::{Edit, Fs, MomentId, RuleId, TreePath, Value};
use simfs_fuse::{HoldId, MomentAnswer, Observer, Options, Server};

const DEVICES: usize = 34;
const READS: usize = 105;
const ROUNDS: usize = 7;
const POLLS: u32 = 60;

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
            value: Value::line("4: ACTIVE"),
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
                value: Value::Bytes(bytes),
                ..
            } => fs::write(path, bytes).expect("tmpfs takes files"),
            Edit::Link { target, .. } => {
                std::os::unix::fs::symlink(target, path).expect("tmpfs takes links")
            }
            other => unreachable!("the tree has no {other:?}"),
        }
    }
}

/// The median time of a poll.
fn measure(root: &Path) -> Duration {
    let class = root.join("class/infiniband");
    let paths: Vec<_> = (0..READS)
        .map(|n| class.join(format!("mlx5_{}/ports/1/file_{}", n % DEVICES, n / DEVICES)))
        .collect();
    let mut bytes = Vec::with_capacity(4096);
    let start = Instant::now();
    for _ in 0..POLLS {
        assert_eq!(
            fs::read_dir(&class).expect("the class is there").count(),
            DEVICES
        );
        for path in &paths {
            bytes.clear();
            File::open(path)
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .expect("every file is there");
        }
    }
    start.elapsed() / POLLS
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let mut cpus = CpuSet::new();
    cpus.set(0);
    sched_setaffinity(None, &cpus).expect("a process may choose its CPU");
    let memory = tempfile::tempdir_in("/dev/shm").expect("/dev/shm is a tmpfs");
    copy_to(memory.path());
    let mut fs = Fs::new();
    fs.alias_folder("class/infiniband");
    fs.apply(&tree());
    let mountpoint = tempfile::tempdir().expect("there is room for a folder");
    let options = Options {
        cpu: Some(0),
        gate: false,
        removable: false,
    };
    let server = match Server::mount(
        Arc::new(Mutex::new(fs)),
        mountpoint.path(),
        options,
        Arc::new(Nobody),
    ) {
        Ok(server) => server,
        Err(error) => return println!("skipped: {error}"),
    };
    let (mut over_fuse, mut on_tmpfs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        over_fuse.push(measure(mountpoint.path()));
        on_tmpfs.push(measure(memory.path()));
        server.with_fs(|fs| fs.take_trace());
    }
    let (over_fuse, on_tmpfs) = (median(over_fuse), median(on_tmpfs));
    let ratio = over_fuse.as_secs_f64() / on_tmpfs.as_secs_f64();
    println!(
        "poll of {DEVICES} devices, {READS} reads: {over_fuse:?} over FUSE, {on_tmpfs:?} on tmpfs, {ratio:.1} times"
    );
}
