//! Every parser ends with a value or an error, whatever it reads: random inputs, the same in each run.
//!
//! `NICDRILL_FUZZ=1000000` sets the number of inputs of each parser, `NICDRILL_FUZZ_SEED` where they begin. The gate plays
//! 10,000. A parser that panics prints the input. `nicdrill.toml` is read by the command alone, so its inputs are in `settings.rs`;
//! the frames that a connector reads are sent to its socket, in `harness` (`connector/tests/fuzz.rs`).

use std::collections::BTreeSet;

use observe::platform_connector;
use prost::Message as _;
use rstest::rstest;
use serde::de::DeserializeOwned;
use test_support::mutation::{Mutation, check, check_texts};

fn texts(of: Vec<(&'static str, &'static str)>) -> Vec<&'static str> {
    of.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn scenarios_survive() {
    check_texts(texts(suite::scenarios()), |text| {
        drop(scenarios::read("fuzz/it.yaml", text));
    });
}

#[test]
fn worlds_survive() {
    check_texts(texts(suite::worlds()), |text| {
        drop(scenarios::World::read("it.yaml", text));
    });
}

/// Lets shipped files of a folder be read as what they are.
#[track_caller]
fn check_shipped<T: DeserializeOwned>(folder: &str) {
    let shipped: Vec<_> = platforms::Platforms::shipped_texts().collect();
    let files = shipped.iter().filter(|(file, _)| file.starts_with(folder));
    check_texts(files.map(|(_, text)| *text).collect(), |text| {
        drop(files::yaml::read::<T>("it.yaml", text));
    });
}

#[test]
fn profiles_survive() {
    check_shipped::<platforms::profile::Profile>("profiles/");
}

#[test]
fn drivers_survive() {
    check_shipped::<platforms::Driver>("drivers/");
}

#[test]
fn dumps_survive() {
    let dump = "/sys/class/infiniband/mlx5_0/ports/1/state: 4: ACTIVE\n\
                /sys/class/infiniband/mlx5_0/device -> ../../../0000:0c:00.0\n\
                == /sys/class/infiniband/mlx5_0/hca_type\nMT4129\n\
                lrwxrwxrwx 1 root root 0 Nov 25 10:00 mlx5_0 -> ../../devices/pci0000:00/0000:0c:00.0/infiniband/mlx5_0\n\
                ==> ports/1/rate <==\n400 Gb/sec (4X NDR)\n";
    check_texts(vec![dump], |text| drop(platforms::capture::from_dump(text)));
}

#[test]
fn topologies_survive() {
    let matrix = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n\
                  GPU0\t X \tNV18\tPIX\tSYS\t0-55\t0\t\tN/A\n\
                  GPU1\tNV18\t X \tSYS\tPIX\t56-111\t1\t\tN/A\n\
                  NIC0\tPIX\tSYS\t X \tSYS\n\
                  NIC1\tSYS\tPIX\tSYS\t X \n\
                  \n\
                  Legend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n\n\
                  NIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n";
    check_texts(vec![matrix], |text| drop(platforms::topo::parse(text)));
}

#[test]
fn descriptors_survive() {
    let seeds = observe::shipped_descriptors().map(|(_, text)| text);
    check_texts(seeds.collect(), |text| {
        drop(harness::descriptors::read("it.yaml", text));
    });
}

#[rstest]
#[case::needs(include_str!("../../docs/needs.yaml"))]
#[case::mix(include_str!("../../docs/mix.yaml"))]
fn what_a_site_writes_survives(#[case] text: &'static str) {
    check_texts(vec![text], |text| {
        drop(harness::needs::read("it.yaml", text, None));
        drop(harness::mix::read("it.yaml", text, None));
    });
}

#[test]
fn rules_survive() {
    let rules = "rules:\n  - name: RepeatedXIDError\n    evaluate: { within: 10m, count: 3, same: [ nodename, entitiesimpacted ] }\n    \
                 where: { agent: gpu-health-monitor, isfatal: true }\n    recommend: CONTACT_SUPPORT\n";
    check_texts(vec![rules], |text| {
        drop(cluster::rules::read("it.yaml", text));
        drop(cluster::rules::read_cabling("it.yaml", text));
    });
}

#[test]
fn recorded_events_survive() {
    let event = r#"{"version":1,"agent":"nic-health-monitor","componentClass":"NIC","checkName":"InfiniBandStateCheck","isFatal":true,"isHealthy":false,"message":"Port mlx5_0 port 1: state DOWN","entitiesImpacted":[{"entityType":"NIC","entityValue":"mlx5_0"}],"generatedTimestamp":"2026-11-25T10:00:00Z","nodeName":"n1"}"#;
    let call = r#"{"events":[{"agent":"a","message":"m","generatedTimestamp":{"seconds":1,"nanos":5}}],"accepted":true}"#;
    check(vec![event, call], |input| {
        drop(cluster::recorded::read_list(input, |_| ()));
        drop(cluster::recorded::read_documents(input, |_| ()));
        for line in String::from_utf8_lossy(input).lines() {
            drop(cluster::recorded::read_line(line));
        }
    });
}

#[test]
fn messages_of_the_connector_survive() {
    let event = proto::HealthEvent {
        agent: "nic-health-monitor".to_owned(),
        message: "Port mlx5_0 port 1: state DOWN".to_owned(),
        error_code: vec!["link_downed".to_owned()],
        ..proto::HealthEvent::default()
    };
    let batch = proto::HealthEvents {
        version: 1,
        events: vec![event; 3],
    };
    // The texts of a message are letters, so that its bytes are one.
    let bytes = batch.encode_to_vec();
    let seed = String::from_utf8(bytes).expect("lengths below 128 are letters");
    check(vec![&seed], |input| {
        if let Ok(batch) = proto::HealthEvents::decode(input) {
            drop(platform_connector::received(&batch));
        }
    });
}

#[test]
fn inputs_differ_and_are_the_same_in_each_run() {
    let some = |seed| {
        let mut inputs = Mutation::of(vec!["one: { two: 3 }\n"], seed);
        (0..200).map(|_| inputs.next_input()).collect::<Vec<_>>()
    };
    assert_eq!(some(1), some(1));
    assert_ne!(some(1), some(2));
    let different: BTreeSet<Vec<u8>> = some(1).into_iter().collect();
    assert!(different.len() > 150, "{}", different.len());
}
