//! Polls per second in the memory arm: a quiet story and a storm on a machine with 18 NICs, with
//! and without the judge.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use director::Trees;
use harness::descriptors::shipped;
use judge::judge;
use memory::play_in_memory;
use platforms::{NodeName, Platforms};
use scenarios::Story;

const QUIET: &str = "
scenario: nothing happens
why: a measure of polls
platforms: all
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
until: 1000s
";

const STORM: &str = "
scenario: three cards flap
why: a measure of drills
platforms: all
let:
  storm: { role: compute, cards: 3, ports: all }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { flap: storm, times: 2, down: 3s, up: 7s, stagger: 400ms } ]
    expect:
      - each: storm
        say: [ { fatal: it }, { healthy: it } ]
        times: 2
        each_within: 1 poll
until: 27s
";

fn rendered(text: &str) -> Story {
    let platforms = Platforms::shipped();
    let platform = platforms.get("a100-oci").expect("the platform ships");
    let scenario = scenarios::read("port/example.yaml", text).expect("the example can be read");
    scenario
        .in_world(&NodeName::from("node-a"), platform)
        .expect("the platform has compute cards")
}

fn polls(criterion: &mut Criterion) {
    let reference = shipped("reference").expect("the reference monitor ships");
    let mut trees = Trees::default();
    let mut group = criterion.benchmark_group("memory arm");
    group.sample_size(10);
    for (name, text) in [("quiet, 1000 polls", QUIET), ("storm, one drill", STORM)] {
        let story = rendered(text);
        let played = play_in_memory(&story, &reference, None, &mut trees);
        group.throughput(Throughput::Elements(played.recording.ticks.len() as u64));
        group.bench_function(name, |bench| {
            bench.iter(|| play_in_memory(&story, &reference, None, &mut trees))
        });
        group.bench_function(format!("{name}: the judge alone"), |bench| {
            bench.iter(|| judge(&story, &played.truth, &played.recording, &reference));
        });
    }
    group.finish();
}

criterion_group!(benches, polls);
criterion_main!(benches);
