//! The reference monitor on plain files, 34 devices (18 PFs, 16 VFs), two state checks: time per
//! poll, peak memory, and time from start to first poll. Prints numbers; judges nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Instant;

use checks::{Agent, Flags, ReadError, Start, Todo};
use monitor::FileHands;

const POLLS: u32 = 2000;

fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn build(root: &Path) {
    fs::create_dir_all(root.join("class/infiniband")).expect("a folder");
    for index in 0..34_u32 {
        let name = format!("mlx5_{index}");
        let function = format!(
            "devices/pci0000:00/0000:{:02x}:00.{}",
            0x10 + index / 2,
            index % 2
        );
        let base = format!("{function}/infiniband/{name}");
        let is_vf = index >= 18;
        put(root, &format!("{base}/ports/1/link_layer"), "Ethernet\n");
        let (state, phys) = if is_vf {
            ("1: DOWN\n", "3: Disabled\n")
        } else {
            ("4: ACTIVE\n", "5: LinkUp\n")
        };
        put(root, &format!("{base}/ports/1/state"), state);
        put(root, &format!("{base}/ports/1/phys_state"), phys);
        put(root, &format!("{base}/hca_type"), "MT4129\n");
        put(root, &format!("{function}/numa_node"), "0\n");
        if is_vf {
            symlink("../0000:10:00.0", root.join(format!("{function}/physfn"))).expect("a link");
        }
        symlink("../..", root.join(format!("{base}/device"))).expect("a link");
        let entry = root.join(format!("class/infiniband/{name}"));
        symlink(format!("../../{base}"), entry).expect("a link");
    }
}

/// Peak resident memory in kB.
fn peak_kb() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap_or("unknown").trim().to_owned()
}

fn drain(agent: &mut Agent) -> usize {
    let mut events = 0;
    loop {
        match agent.next() {
            Todo::Done => return events,
            Todo::Publish { batch, .. } => {
                events += batch.events.len();
                agent.published(&checks::Outcome::Accepted);
            }
            Todo::Save(_) => agent.saved(Ok(())),
            Todo::Note(_) | Todo::Wait(_) => {}
        }
    }
}

#[expect(clippy::print_stdout, reason = "a bench prints its numbers")]
fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    build(folder.path());
    let began = Instant::now();
    let args = [
        "--node-name=n",
        "--checks=InfiniBandStateCheck,EthernetStateCheck",
    ];
    let flags = Flags::from_args(args).expect("the flags are of the table");
    let (settings, _) = flags.settings().expect("the flags are sound");
    let hands = FileHands::new(&settings);
    let config = format!(
        "sysClassInfinibandPath = '{}/class/infiniband'",
        folder.path().display()
    );
    let metadata = r#"{"gpus":[{"numa_node":0}],"nic_topology":{"x":["SYS"]}}"#;
    let start = Start {
        settings,
        config: Ok(config.as_bytes()),
        metadata: Ok(metadata.as_bytes()),
        route: Err(ReadError::ENOENT),
        boot_id: Ok(b"b"),
        state: Err(ReadError::ENOENT),
    };
    let (mut agent, _) = Agent::start(start).expect("the texts are sound");
    let polled = agent.poll(&hands);
    let first = began.elapsed();
    agent.take(polled);
    let events = drain(&mut agent);
    println!(
        "start to first poll read: {:.2} ms; baseline events: {events}",
        first.as_secs_f64() * 1e3
    );
    let mut times: Vec<f64> = (0..POLLS)
        .map(|_| {
            let began = Instant::now();
            let polled = agent.poll(&hands);
            agent.take(polled);
            drain(&mut agent);
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[times.len() * share / 100];
    println!(
        "one poll of 34 devices: median {:.3} ms, 95 % {:.3} ms",
        at(50),
        at(95)
    );
    println!("peak memory of the agent and its hands: {}", peak_kb());
}
