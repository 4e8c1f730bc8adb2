//! The state file: the keys that another monitor reads, and what is taken from a file that it
//! wrote.

use checks::ReadError;
use serde_json::{Value, json};

use super::nics;
use crate::world::{ANCHOR, DISABLED, INIT, POLLING, Rig, UP, brief, nic};

fn saved(rig: &Rig) -> Value {
    serde_json::from_slice(rig.disk.as_ref().unwrap()).unwrap()
}

/// A card below its peers, a disappeared device, one missing for one poll, a missing port.
fn troubled() -> Rig {
    let mut nodes = nics(4);
    nodes.push(nic(4).ports(2));
    let mut rig = Rig::new(&nodes);
    rig.args = vec!["--disappearance-polls=3".to_owned()];
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.poll();
    rig.world.drop_device("mlx5_1");
    rig.world.drop_port("mlx5_4", 2);
    assert_eq!(brief(&rig.polls(2)), ["F mlx5_4/2"]);
    rig.world.drop_device("mlx5_2");
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
    rig
}

fn port(name: &str, state: &str, phys: &str) -> Value {
    json!({
        "device": name, "port": 1, "state": state, "physical_state": phys,
        "link_layer": "InfiniBand",
    })
}

#[test]
fn the_keys_that_both_monitors_know_tell_what_stands() {
    let file = saved(&troubled());
    let up = |name| port(name, "ACTIVE", "LinkUp");
    let shared = |key: &str| file.get(key).cloned().unwrap_or_default();
    assert_eq!(shared("version"), 2);
    assert_eq!(shared("boot_id"), "boot-1");
    assert_eq!(
        shared("port_states"),
        json!({
            "mlx5_0_1": port("mlx5_0", "DOWN", "Disabled"),
            "mlx5_2_1": up("mlx5_2"), "mlx5_3_1": up("mlx5_3"), "mlx5_4_1": up("mlx5_4"),
        })
    );
    assert_eq!(
        shared("known_devices"),
        json!(["mlx5_0", "mlx5_2", "mlx5_3", "mlx5_4"])
    );
    let layer = "InfiniBand";
    assert_eq!(
        shared("anomalous_cards"),
        json!({ "InfiniBand/0000:10:00": { "card": "0000:10:00", "link_layer": layer } })
    );
    assert_eq!(
        shared("disappeared_devices"),
        json!({ "InfiniBand/mlx5_1":
            { "device": "mlx5_1", "link_layer": layer, "observed_this_boot": true } })
    );
    assert_eq!(
        shared("disappeared_ports"),
        json!({ "InfiniBand/mlx5_4_2":
            { "device": "mlx5_4", "port": 2, "link_layer": layer, "observed_this_boot": true } })
    );
    assert_eq!(
        shared("device_miss_counts"),
        json!({ "InfiniBand/mlx5_2": { "device": "mlx5_2", "link_layer": layer, "count": 1 } })
    );
}

#[test]
fn what_an_earlier_boot_saw_was_not_observed_in_this_one() {
    let mut rig = troubled();
    rig.reboot();
    let ports = format!("{ANCHOR}/mlx5_3/ports");
    rig.world.errors.insert(ports, ReadError::EIO);
    rig.poll();
    let file = saved(&rig);
    let gone = &file["disappeared_devices"]["InfiniBand/mlx5_1"];
    assert_eq!(gone["device"], "mlx5_1");
    assert_eq!(gone.get("observed_this_boot"), None);
    let states = file["port_states"].as_object().unwrap();
    assert!(!states.contains_key("mlx5_1_1"), "{states:?}");
    assert!(states.contains_key("mlx5_0_1"), "{states:?}");
}

const CHECKS: &str = "--checks=InfiniBandStateCheck,InfiniBandDegradationCheck,\
                      InfiniBandCharDeviceCheck";

fn state(device: &str, number: u32, state: &str, phys: &str) -> (String, Value) {
    let entry = json!({
        "device": device, "port": number, "state": state, "physical_state": phys,
        "link_layer": "InfiniBand",
    });
    (format!("{device}_{number}"), entry)
}

/// A node of four devices whose last monitor was another one, and the file that it left.
fn inherited(file: &Value) -> Rig {
    let mut nodes = nics(3);
    nodes.push(nic(3).ports(2));
    let mut rig = Rig::new(&nodes);
    rig.args = vec![CHECKS.to_owned(), "--disappearance-polls=3".to_owned()];
    rig.disk = Some(serde_json::to_vec(file).unwrap());
    for name in ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"] {
        let counter = format!("{ANCHOR}/{name}/ports/1/counters/link_downed");
        rig.world.put(&counter, "5");
        for (kind, folder) in [("umad", "mad"), ("issm", "mad"), ("uverbs", "verbs")] {
            for number in 1..=2 {
                let index = name.trim_start_matches("mlx5_");
                let entry = format!("{ANCHOR}_{folder}/{kind}{index}{number}");
                rig.world.put(&format!("{entry}/ibdev"), name);
                rig.world.put(&format!("{entry}/port"), &number.to_string());
            }
        }
    }
    rig
}

fn file_of_another(mut more: Value) -> Value {
    let states = [
        state("mlx5_0", 1, "ACTIVE", "LinkUp"),
        state("mlx5_1", 1, "INIT", "LinkUp"),
        state("mlx5_2", 1, "ACTIVE", "LinkUp"),
        state("mlx5_3", 1, "ACTIVE", "LinkUp"),
        state("mlx5_3", 2, "DOWN", "Polling"),
    ];
    let file = more.as_object_mut().unwrap();
    file.insert("version".to_owned(), json!(2));
    file.insert("boot_id".to_owned(), json!("boot-1"));
    file.insert("port_states".to_owned(), states.into_iter().collect());
    more
}

#[test]
fn a_port_that_another_monitor_saw_sick_is_quiet_until_it_gets_worse() {
    let mut rig = inherited(&file_of_another(json!({})));
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.set("mlx5_3", 2, POLLING);
    assert!(rig.polls(40).is_empty());
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.polls(2))[0], "F mlx5_1/1");
}

#[test]
fn a_port_that_another_monitor_saw_healthy_escalates() {
    let mut rig = inherited(&file_of_another(json!({})));
    rig.world.set("mlx5_3", 2, POLLING);
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.set("mlx5_2", 1, INIT);
    assert_eq!(brief(&rig.poll()), ["n mlx5_2/1"]);
    assert!(rig.polls(30).is_empty());
    assert_eq!(brief(&rig.poll()), ["F mlx5_2/1"]);
}

#[test]
fn misses_and_ports_by_design_of_another_monitor_count() {
    let misses = json!({ "device_miss_counts": { "InfiniBand/mlx5_3":
        { "device": "mlx5_3", "link_layer": "InfiniBand", "count": 2 } } });
    let mut rig = inherited(&file_of_another(misses));
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.drop_device("mlx5_3");
    assert_eq!(
        brief(&rig.poll()),
        ["F mlx5_3"],
        "the third poll without it"
    );
    let mut rig = inherited(&file_of_another(json!({})));
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.drop_device("mlx5_3");
    assert_eq!(brief(&rig.polls(3)), ["F mlx5_3"]);
    rig.world.put_device(&nic(3).ports(2));
    rig.world.set("mlx5_3", 2, POLLING);
    assert_eq!(brief(&rig.poll()), ["h mlx5_3", "h mlx5_3/1"]);
}

#[test]
fn ports_and_cards_that_another_monitor_reported_are_cleared() {
    let stands = json!({
        "disappeared_ports": { "InfiniBand/mlx5_2_1":
            { "device": "mlx5_2", "port": 1, "link_layer": "InfiniBand" } },
        "anomalous_cards": { "InfiniBand/0000:11:00":
            { "card": "0000:11:00", "link_layer": "InfiniBand" } },
    });
    let mut rig = inherited(&file_of_another(stands));
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.set("mlx5_3", 2, POLLING);
    assert_eq!(brief(&rig.poll()), ["h mlx5_2/1"]);
    assert!(rig.polls(3).is_empty());
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1", "h 0000:11:00"]);
}

#[test]
fn breaches_values_and_character_devices_of_another_monitor_are_taken_over() {
    let stands = json!({
        "counter_snapshots": {
            "mlx5_0:1:link_downed": { "value": 5, "timestamp": "2025-03-01T00:00:00Z" },
            "mlx5_2:1:link_downed": { "value": 4, "timestamp": "2025-03-01T00:00:00Z" },
        },
        "breach_flags": { "mlx5_0:1:link_downed": {
            "breached": true, "check_name": "InfiniBandDegradationCheck", "is_fatal": true,
            "since": "2025-03-01T00:00:00Z", "device": "mlx5_0", "port": "1",
        } },
        "missing_char_devices": {
            "umad/mlx5_0_1": { "kind": "umad", "device": "mlx5_0", "port": 1 },
            "uverbs/mlx5_0_0": { "kind": "uverbs", "device": "mlx5_0", "port": 0 },
        },
    });
    let mut rig = inherited(&file_of_another(stands));
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.set("mlx5_3", 2, POLLING);
    assert_eq!(
        brief(&rig.poll()),
        ["F mlx5_2/1", "h mlx5_0", "h mlx5_0/1"],
        "growth since the value that was kept; two devices that are back"
    );
    assert!(rig.polls(3).is_empty());
    let counter = format!("{ANCHOR}/mlx5_0/ports/1/counters/link_downed");
    rig.world.put(&counter, "0");
    assert_eq!(
        rig.poll(),
        ["h mlx5_0/1: Counter link_downed recovered on port mlx5_0 port 1"]
    );
}

#[test]
fn a_device_that_another_monitor_reported_gone_is_waited_for() {
    let stands = json!({ "disappeared_devices": { "InfiniBand/mlx5_9":
        { "device": "mlx5_9", "link_layer": "InfiniBand", "observed_this_boot": true } } });
    let mut rig = inherited(&file_of_another(stands));
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.set("mlx5_3", 2, POLLING);
    assert!(rig.polls(3).is_empty());
    rig.world.put_device(&nic(9));
    assert_eq!(brief(&rig.poll()), ["h mlx5_9", "h mlx5_9/1"]);
}

#[test]
fn the_filters_are_kept_for_another_monitor() {
    let mut rig = Rig::new(&nics(2));
    rig.config = "nicExclusionRegex = '^mlx5_1$'".to_owned();
    rig.poll();
    assert_eq!(saved(&rig)["scope"], "incl=;excl=^mlx5_1$");
}

#[test]
fn a_file_of_an_older_version_is_migrated_whatever_else_it_holds() {
    let mut file = file_of_another(json!({ "slots": [] }));
    file["version"] = json!(1);
    let mut rig = inherited(&file);
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.set("mlx5_3", 2, POLLING);
    assert!(rig.polls(3).is_empty());
    assert_eq!(rig.records_with("state of another version is migrated"), 1);
}

#[test]
fn a_card_that_another_monitor_reported_is_not_reported_again() {
    let stands = json!({
        "disappeared_devices": { "InfiniBand/mlx5_1":
            { "device": "mlx5_1", "link_layer": "InfiniBand" } },
        "anomalous_cards": { "InfiniBand/0000:11:00":
            { "card": "0000:11:00", "link_layer": "InfiniBand" } },
    });
    let mut rig = inherited(&file_of_another(stands));
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.world.set("mlx5_3", 2, POLLING);
    let said = rig.polls(40);
    assert!(!brief(&said).contains(&"F 0000:11:00"), "{said:?}");
}
