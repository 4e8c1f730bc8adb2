//! Character devices: three polls without one are a fault; a folder that cannot be read is none.

use checks::ReadError;

use super::nics;
use crate::world::{ANCHOR, ETH, Rig, nic};

fn entry(rig: &mut Rig, kind: &str, number: u32) {
    let folder = if kind == "uverbs" { "verbs" } else { "mad" };
    let base = format!("{ANCHOR}_{folder}/{kind}{number}");
    rig.world
        .put(&format!("{base}/ibdev"), &format!("mlx5_{number}"));
    rig.world.put(&format!("{base}/port"), "1");
}

fn remove(rig: &mut Rig, kind: &str, number: u32) {
    let below = format!("/{kind}{number}/");
    rig.world.files.retain(|path, _| !path.contains(&below));
}

/// Three InfiniBand devices and an Ethernet one, with all character devices present.
fn watching() -> Rig {
    let mut nics = nics(3);
    nics.push(nic(3).ethernet());
    let mut rig = Rig::new(&nics);
    rig.args = vec!["--checks=InfiniBandCharDeviceCheck".to_owned()];
    for folder in ["mad", "verbs"] {
        rig.world
            .put(&format!("{ANCHOR}_{folder}/abi_version"), "5");
    }
    for number in 0..3 {
        for kind in ["issm", "umad", "uverbs"] {
            entry(&mut rig, kind, number);
        }
    }
    assert!(rig.polls(5).is_empty());
    rig
}

#[test]
fn one_that_is_missing_in_three_polls_is_a_fault_until_it_is_back() {
    let mut rig = watching();
    for kind in ["issm", "umad", "uverbs"] {
        remove(&mut rig, kind, 1);
    }
    assert!(rig.polls(2).is_empty());
    assert_eq!(
        rig.poll(),
        [
            "F mlx5_1: Device mlx5_1: verbs character device (uverbs) missing from \
             /sys/class/infiniband_verbs; RDMA workloads cannot open /dev/infiniband/uverbs*",
            "F mlx5_1/1: Device mlx5_1 port 1: issm character device missing from \
             /sys/class/infiniband_mad (expected for an InfiniBand-mode port); pods cannot open \
             /dev/infiniband/issm*",
            "F mlx5_1/1: Device mlx5_1 port 1: umad character device missing from \
             /sys/class/infiniband_mad; pods cannot open /dev/infiniband/umad*",
        ]
    );
    let codes: Vec<&str> = rig.calls[0]
        .1
        .iter()
        .map(|e| e.error_code[0].as_str())
        .collect();
    assert_eq!(codes, ["uverbs", "issm", "umad"]);
    assert!(rig.polls(5).is_empty());
    entry(&mut rig, "issm", 1);
    entry(&mut rig, "uverbs", 1);
    rig.stop();
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_1: InfiniBand character device uverbs for device mlx5_1 is present again",
            "h mlx5_1/1: InfiniBand character device issm for device mlx5_1 port 1 is present again",
        ]
    );
}

#[test]
fn one_that_returns_in_time_was_never_missing() {
    let mut rig = watching();
    for _ in 0..3 {
        remove(&mut rig, "issm", 0);
        assert!(rig.polls(2).is_empty());
        entry(&mut rig, "issm", 0);
        assert!(rig.poll().is_empty());
    }
}

#[test]
fn a_folder_or_an_entry_that_tells_nothing_is_no_fault() {
    for path in ["_mad", "_verbs", "_mad/issm1/ibdev", "_mad/umad1/port"] {
        for error in [ReadError::ENOENT, ReadError::EIO] {
            let mut rig = watching();
            rig.world.errors.insert(format!("{ANCHOR}{path}"), error);
            assert!(rig.polls(9).is_empty(), "{path} {error}");
            let rendered = rig.records_with("cannot be read");
            let is_failure = error == ReadError::EIO;
            assert_eq!(rendered, usize::from(is_failure), "{path} {error}");
        }
    }
}

#[test]
fn a_fault_follows_its_device_its_layer_and_its_check() {
    for (how, want) in [
        ("rename", "NIC mlx5_1 is now mlx5_9: clearing"),
        (
            "layer",
            "NIC mlx5_1 no longer monitored (link layer is now Ethernet): clearing",
        ),
        (
            "check",
            "NIC mlx5_1 no longer monitored (InfiniBandCharDeviceCheck is not enabled): clearing",
        ),
    ] {
        let mut rig = watching();
        remove(&mut rig, "umad", 1);
        rig.polls(3);
        match how {
            "rename" => {
                rig.world.drop_device("mlx5_1");
                rig.world.put_device(&nic(1).named("mlx5_9"));
                for kind in ["issm", "uverbs"] {
                    remove(&mut rig, kind, 1);
                    entry(&mut rig, kind, 9);
                }
            }
            "layer" => rig.world.set_layer("mlx5_1", 1, ETH),
            _ => {
                rig.stop();
                rig.args = vec!["--checks=EthernetStateCheck".to_owned()];
            }
        }
        let said = rig.poll();
        assert!(
            said.contains(&format!("h mlx5_1/1: {want}")),
            "{how}: {said:?}"
        );
        let faults: Vec<&String> = said.iter().filter(|line| line.starts_with('F')).collect();
        assert_eq!(
            faults.len(),
            usize::from(how == "rename"),
            "{how}: {said:?}"
        );
    }
}

#[test]
fn after_a_reboot_one_that_is_still_missing_is_said_at_once() {
    let mut rig = watching();
    remove(&mut rig, "umad", 1);
    remove(&mut rig, "issm", 2);
    rig.polls(3);
    rig.reboot();
    entry(&mut rig, "issm", 2);
    let said = rig.poll();
    let kinds: Vec<&str> = said.iter().map(|line| &line[..10]).collect();
    assert_eq!(kinds, ["F mlx5_1/1", "h mlx5_2/1"]);
}

#[test]
fn a_check_that_is_not_named_looks_at_nothing() {
    let mut rig = watching();
    rig.stop();
    rig.args = vec!["--checks=InfiniBandStateCheck".to_owned()];
    rig.poll();
    for kind in ["issm", "umad", "uverbs"] {
        remove(&mut rig, kind, 1);
    }
    assert!(rig.polls(5).is_empty());
    assert_eq!(rig.records_with("char-device"), 0);
}

#[test]
fn one_that_was_missing_under_a_name_follows_the_function_that_reads_late() {
    let mut rig = watching();
    rig.stop();
    rig.world.links.remove(&format!("{ANCHOR}/mlx5_1"));
    rig.poll();
    remove(&mut rig, "umad", 1);
    assert_eq!(rig.polls(3).len(), 1);
    let uevent = "PCI_SLOT_NAME=0000:11:00.0";
    rig.world
        .put(&format!("{ANCHOR}/mlx5_1/device/uevent"), uevent);
    assert!(rig.polls(5).is_empty());
    assert_eq!(rig.agent.as_ref().unwrap().standing().len(), 1);
    entry(&mut rig, "umad", 1);
    assert_eq!(rig.poll().len(), 1);
    assert!(rig.agent.as_ref().unwrap().standing().is_empty());
}

#[test]
fn a_restart_in_the_midst_of_the_count_starts_it_nowhere_else() {
    let mut rig = watching();
    remove(&mut rig, "umad", 1);
    assert!(rig.polls(2).is_empty());
    rig.stop();
    assert_eq!(rig.poll().len(), 1);
    let standing = rig.agent.as_ref().unwrap().standing();
    assert_eq!(standing[0].entity, "mlx5_1/1/umad");
    let file: serde_json::Value = serde_json::from_slice(rig.disk.as_ref().unwrap()).unwrap();
    assert_eq!(
        file["missing_char_devices"],
        serde_json::json!({ "umad/mlx5_1_1": { "kind": "umad", "device": "mlx5_1", "port": 1 } })
    );
}

#[test]
fn a_poll_that_does_not_look_at_them_clears_none() {
    let mut rig = watching();
    rig.stop();
    rig.args = vec![
        "--checks=InfiniBandCharDeviceCheck,InfiniBandDegradationCheck".to_owned(),
        "--state-polling-interval=5s".to_owned(),
        "--counter-polling-interval=1s".to_owned(),
    ];
    remove(&mut rig, "umad", 1);
    assert_eq!(
        rig.polls(20)
            .iter()
            .filter(|line| line.starts_with('F'))
            .count(),
        1
    );
    assert!(rig.polls(20).is_empty());
    let standing = rig.agent.as_ref().unwrap().standing();
    assert_eq!(standing.len(), 1, "{standing:?}");
    rig.world
        .errors
        .insert(ANCHOR.to_owned(), ReadError::ENOENT);
    assert!(rig.polls(10).is_empty(), "the class folder tells nothing");
}
