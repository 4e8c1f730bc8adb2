//! The cost of a stream: events per second through the rules of one node, and bytes kept for ten
//! thousand nodes.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark is no part of the room: it tells its figures and asks what its process takes"
)]

use std::hint::black_box;

use cluster::{
    Stamp,
    rules::{Analyzer, shipped},
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use proto::{Entity, HealthEvent, RecommendedAction};

const START_S: i64 = 1_740_787_200;
const NODES: u32 = 10_000;
const EVENTS_PER_NODE: u32 = 1000;

/// The n-th event of a node on which eight ports go down, return and degrade in turn, one event in ten
/// seconds.
fn event(node: &str, n: u32) -> HealthEvent {
    let port = n % 8;
    let (check, is_fatal, is_healthy, message) = match n / 8 % 4 {
        0 => (
            "InfiniBandStateCheck",
            true,
            false,
            ": state DOWN, phys_state Polling",
        ),
        1 => (
            "InfiniBandDegradationCheck",
            true,
            false,
            ": link_downed - Port Training",
        ),
        2 => (
            "InfiniBandStateCheck",
            false,
            true,
            ": healthy (ACTIVE, LinkUp)",
        ),
        _ => (
            "InfiniBandDegradationCheck",
            false,
            false,
            ": symbol_error - PHY bit errors",
        ),
    };
    let entity = |kind: &str, value: String| Entity {
        entity_type: kind.to_owned(),
        entity_value: value,
    };
    HealthEvent {
        version: 1,
        agent: "nic-health-monitor".to_owned(),
        component_class: "NIC".to_owned(),
        check_name: check.to_owned(),
        is_fatal,
        is_healthy,
        message: format!("Port mlx5_{port} port 1{message}"),
        recommended_action: RecommendedAction::None.into(),
        entities_impacted: vec![
            entity("NIC", format!("mlx5_{port}")),
            entity("NICPort", "1".to_owned()),
        ],
        generated_timestamp: Some(Stamp::from_s(START_S + i64::from(n) * 10).to_wire()),
        node_name: node.to_owned(),
        ..HealthEvent::default()
    }
}

fn analyzer(profile: &str) -> Analyzer {
    Analyzer::new(shipped(profile).expect("it ships"), None)
}

/// Processes an event, after advancing the clock to it.
fn take(analyzer: &mut Analyzer, event: &HealthEvent) -> usize {
    let at = Stamp::of(event.generated_timestamp.as_ref());
    let mut reported = 0;
    while let Some(due) = analyzer.next_due().filter(|due| *due < at) {
        reported += analyzer.tick(due).len();
    }
    reported + analyzer.take(event).len()
}

fn one_node(criterion: &mut Criterion) {
    let stream: Vec<HealthEvent> = (0..EVENTS_PER_NODE).map(|n| event("node-1", n)).collect();
    let mut group = criterion.benchmark_group("one node");
    group.throughput(Throughput::Elements(EVENTS_PER_NODE.into()));
    for profile in ["lsd", "nvsentinel", "gpud"] {
        group.bench_function(profile, |bencher| {
            bencher.iter(|| {
                let mut analyzer = analyzer(profile);
                let reported = stream.iter().map(|event| take(&mut analyzer, event));
                black_box(reported.sum::<usize>())
            });
        });
    }
    group.finish();
}

/// Not timed: ten million events once, and the remaining state.
fn ten_thousand_nodes(_: &mut Criterion) {
    for profile in ["lsd", "nvsentinel", "gpud"] {
        let names: Vec<String> = (0..NODES).map(|node| format!("gpu-{node:05}")).collect();
        let before_kb = resident_kb();
        let mut analyzer = analyzer(profile);
        for n in 0..EVENTS_PER_NODE {
            for node in &names {
                take(&mut analyzer, &event(node, n));
            }
        }
        let bytes = analyzer.kept_bytes();
        println!(
            "{profile}: {NODES} nodes x {EVENTS_PER_NODE} events leave {} MB, and the process has grown by {} MB",
            bytes / 1_000_000,
            resident_kb().saturating_sub(before_kb) * 1024 / 1_000_000
        );
    }
}

/// `VmRSS` of this process, in KiB: memory that the allocator keeps between two profiles counts for
/// the first only.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a process has a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    number
        .and_then(|number| number.trim().parse().ok())
        .expect("a number of kB")
}

criterion_group!(benches, one_node, ten_thousand_nodes);
criterion_main!(benches);
