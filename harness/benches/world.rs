//! A world of many nodes under load: 10 simulated minutes with a monitor on each node in the memory
//! arm, storage traffic, collective jobs, a switch that reboots and a cable that flaps.
//!
//! `cargo bench -p harness --bench world` plays 8, 64, 512 and 1,024 nodes, each in a process of its own so
//! that its memory can be measured, and prints the costs and their growth.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::{env, fmt::Write as _, fs, process::Command, time::Instant};

use director::Trees;
use harness::descriptors::shipped;
use judge::{judge, trace};
use memory::play_in_memory;
use platforms::Platforms;
use scenarios::{AtRest, World};

/// Nodes on the switches of one pod: eight NICs, one switch each.
const POD: usize = 32;
/// Clients of one storage server.
const CLIENTS: usize = 64;
/// Ranks of one job.
const RANKS: usize = 8;

const PLATFORM: &str = include_str!("eight-rails.yaml");

fn main() {
    // `cargo bench` passes `--bench`; a child process gets its number of nodes.
    let nodes = env::args().skip(1).find_map(|word| word.parse().ok());
    match nodes {
        Some(nodes) => println!("{}", play(nodes)),
        None => {
            println!(
                "| nodes | switches | polls | events | RPCs | collective messages | wall s | CPU s | peak MiB |"
            );
            println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
            let rows = [8, 64, 512, 1024].map(row);
            for pair in rows.windows(2) {
                let [(fewer, less), (more, most)] = [pair[0], pair[1]];
                println!(
                    "\nfrom {fewer} to {more} nodes: {} KB a further node",
                    (most - less) / (more - fewer)
                );
            }
        }
    }
}

/// Measures a row of the table; returns the number of nodes and the peak in KB.
fn row(nodes: u64) -> (u64, u64) {
    let me = env::current_exe().expect("a program knows where it is");
    let child = Command::new(me)
        .arg(nodes.to_string())
        .output()
        .expect("it starts");
    assert!(
        child.status.success(),
        "{}",
        String::from_utf8_lossy(&child.stderr)
    );
    let line = String::from_utf8(child.stdout).expect("it writes text");
    let (line, peak_kb) = line.trim().rsplit_once(' ').expect("a row and a number");
    println!("{line}");
    (nodes, peak_kb.parse().expect("a number"))
}

/// Plays a world with this many nodes; returns its row with its peak in KB.
fn play(nodes: usize) -> String {
    let platforms = Platforms::read(&[("eight-rails.yaml", PLATFORM)]).expect("it is a platform");
    let (world, switches) = world(nodes);
    let world = World::read("worlds/many.yaml", &world).unwrap_or_else(|error| panic!("{error}"));
    let rest = AtRest::of_world(&world, &platforms).unwrap_or_else(|error| panic!("{error}"));
    let text = story(nodes);
    let scenario =
        scenarios::read("world/many.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let story = scenario
        .at_rest(&rest)
        .unwrap_or_else(|error| panic!("{error}"));
    // As in a run, the worlds at rest are not needed any more.
    drop((rest, world));
    let reference = shipped("reference").expect("the reference monitor ships");
    let began = Instant::now();
    let played = play_in_memory(&story, &reference, None, &mut Trees::default());
    let judgement = judge(&story, &played.truth, &played.recording, &reference);
    let wall = began.elapsed();
    assert!(
        judgement.findings.is_empty(),
        "{:#?}",
        judgement.findings.first()
    );
    let instances = || {
        played
            .recording
            .ticks
            .iter()
            .flat_map(|tick| tick.monitors.values())
    };
    let polls: u64 = instances().map(|program| u64::from(program.polls)).sum();
    let events: usize = instances()
        .flat_map(|program| &program.calls)
        .map(|call| call.observations.len())
        .sum();
    let last = story.ticks.last_until(story.until);
    let at_the_end = &played.truth.ticks[usize::try_from(last).expect("it fits")].workloads;
    let done = |kind: &str| -> u64 {
        let of_kind = at_the_end.iter().filter(|(name, _)| name.starts_with(kind));
        of_kind.map(|(_, stats)| stats.done).sum()
    };
    let (rpcs, messages) = (done("storage"), done("job"));
    let (peak_kb, cpu_s) = (peak_kb(), cpu_s());
    if nodes == RANKS {
        // A second play must be equal in every byte.
        let again = play_in_memory(&story, &reference, None, &mut Trees::default());
        assert!(trace(&story, &played.recording) == trace(&story, &again.recording));
        assert!(played.truth == again.truth);
    }
    format!(
        "| {nodes} | {switches} | {polls} | {events} | {rpcs} | {messages} | {:.1} | {cpu_s:.1} | {:.1} | {peak_kb}",
        wall.as_secs_f64(),
        f64::from(u32::try_from(peak_kb).expect("it fits")) / 1024.0
    )
}

/// `VmHWM` of this process.
fn peak_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a process has a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    number
        .and_then(|number| number.trim().parse().ok())
        .expect("a number of kB")
}

/// The CPU time of this process, in seconds: user and system, in ticks of 10 ms (`proc_pid_stat(5)`, `sysconf(3)`).
fn cpu_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("a process has its times");
    let (_, after_name) = stat.rsplit_once(") ").expect("a name in parentheses");
    let times = after_name.split(' ').skip(11).take(2);
    let ticks: u32 = times
        .map(|ticks| ticks.parse::<u32>().expect("ticks"))
        .sum();
    f64::from(ticks) / 100.0
}

fn name(node: usize) -> String {
    format!("node-{node:04}")
}

/// This many nodes in pods, a storage server for each 64, a switch for each NIC of a pod.
fn world(nodes: usize) -> (String, usize) {
    let (pods, servers) = (nodes.div_ceil(POD), nodes.div_ceil(CLIENTS));
    let mut text = String::from("world: many\nwhy: a measure of many nodes\nnodes:\n");
    let rails = "rails: { sout: { device: mlx5_0, address: 10.0.0.1 }, sup: { device: mlx5_1, address: 10.9.0.1 } }";
    write!(
        text,
        "  - {{ name: {}..{}, platform: eight-rails, {rails} }}\n  - {{ name: oss-1..oss-{servers}, platform: eight-rails, monitored: false }}\n\
         switches: [ leaf-1..leaf-{} ]\ncables:\n",
        name(1),
        name(nodes),
        pods * 8
    )
    .expect("writing to a string cannot fail");
    for pod in 0..pods {
        let (first, last) = (name(pod * POD + 1), name(nodes.min((pod + 1) * POD)));
        for nic in 0..8 {
            let leaf = pod * 8 + nic + 1;
            writeln!(
                text,
                "  - {{ nodes: {first}..{last}, device: mlx5_{nic}, to: leaf-{leaf} }}"
            )
            .expect("writing to a string cannot fail");
        }
    }
    (text, pods * 8)
}

/// Ten minutes: a write a second from each node, a ring of each eight nodes, the storage switch of the
/// first pod reboots, and one SUP cable flaps.
fn story(nodes: usize) -> String {
    let mut text = String::from("scenario: many nodes\nwhy: a measure\nworld: many\nworkloads:\n");
    for (nth, first) in (1..=nodes).step_by(CLIENTS).enumerate() {
        let last = nodes.min(first + CLIENTS - 1);
        writeln!(
            text,
            "  storage-{}: {{ lnet: {{ client: {}..{}, server: oss-{}, nis: 2 }} }}",
            nth + 1,
            name(first),
            name(last),
            nth + 1
        )
        .expect("writing to a string cannot fail");
    }
    for first in (1..=nodes).step_by(RANKS) {
        let last = name(nodes.min(first + RANKS - 1));
        writeln!(
            text,
            "  job-{first:03}: {{ mpib: {{ ring: [ {}..{last} ] }} }}",
            name(first)
        )
        .expect("writing to a string cannot fail");
    }
    let under = nodes.min(POD);
    text + &format!(
        "let: {{ under: {{ cabled_to: leaf-7 }}, sick: {{ node: {}, rail: sup }} }}\n\
         timeline:\n  - at: 60s\n    do: [ {{ switch: leaf-7, power: lost }} ]\n\
         \x20   expect: [ {{ each: under, count: {under}, distinct: node, fatal: it, within: 1 poll }} ]\n\
         \x20 - at: 120s\n    do: [ {{ switch: leaf-7, power: back }} ]\n\
         \x20   expect: [ {{ each: under, healthy: it, within: 20s }} ]\n\
         \x20 - at: 200s\n    do: [ {{ flap: sick, times: 10, down: 3s, up: 27s }} ]\n\
         \x20   expect: [ {{ each: sick, say: [ {{ fatal: it }}, {{ healthy: it }} ], times: 10, each_within: 1 poll }} ]\n\
         until: 10m\nquiet: fold\n",
        name(3)
    )
}
