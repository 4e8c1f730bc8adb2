//! What the agent logs and how often, and which faults it lists as reported.

use checks::{ReadError, Standing};
use terms::Check;

use super::nics;
use crate::world::{ANCHOR, DISABLED, INIT, Rig, UP, brief, nic};

#[test]
fn a_healthy_node_is_nothing_to_tell() {
    let mut rig = Rig::started(&[nic(0), nic(1).ethernet()]);
    rig.polls(3);
    for text in [
        "no device is monitored",
        "class folder is missing",
        "transient state",
        "cannot be read",
        "enabled counter is not here",
    ] {
        assert_eq!(rig.records_with(text), 0, "{text}");
    }
}

#[test]
fn a_missing_class_folder_is_told_once_and_is_no_empty_node() {
    let mut rig = Rig::new(&nics(1));
    rig.world
        .errors
        .insert(ANCHOR.to_owned(), ReadError::ENOENT);
    rig.polls(3);
    assert_eq!(rig.records_with("class folder is missing"), 1);
    assert_eq!(rig.records_with("no device is monitored"), 0);
}

#[test]
fn a_node_whose_last_device_vanished_is_not_one_without() {
    let mut rig = Rig::started(&nics(1));
    rig.world.drop_device("mlx5_0");
    assert_eq!(brief(&rig.polls(3)), ["F mlx5_0"]);
    assert_eq!(rig.records_with("no device is monitored"), 0);
}

#[test]
fn a_transient_state_on_ethernet_is_told_once_and_no_other_is() {
    let mut rig = Rig::started(&[nic(0), nic(1).ethernet(), nic(2).ethernet()]);
    rig.world.set("mlx5_0", 1, INIT);
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.set("mlx5_2", 1, DISABLED);
    rig.polls(3);
    assert_eq!(rig.records_with("transient state"), 1);
    let rendered = rig.records.iter().map(ToString::to_string);
    let mut transient = rendered.filter(|record| record.contains("transient state"));
    assert!(transient.next().unwrap().contains("mlx5_1"));
    rig.world.set("mlx5_1", 1, UP);
    rig.polls(2);
    assert_eq!(rig.records_with("transient state"), 1);
}

#[test]
fn a_counter_that_this_hardware_lacks_is_told_once() {
    let mut rig = Rig::new(&nics(1));
    rig.args = vec!["--checks=InfiniBandDegradationCheck".to_owned()];
    rig.config = "[[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'delta'\n\
                  [[counterDetection.counters]]\nname = 'port_rcv_errors'\n\
                  thresholdType = 'velocity'\nvelocityUnit = 'second'\nthreshold = 5"
        .to_owned();
    let folder = format!("{ANCHOR}/mlx5_0/ports/1/counters");
    rig.world.put(&format!("{folder}/link_downed"), "0");
    rig.polls(3);
    assert_eq!(rig.records_with("enabled counter is not here"), 1);
    assert_eq!(rig.records_with("port_rcv_errors"), 1);
}

#[test]
fn everything_that_stands_is_told_with_its_check_and_its_severity() {
    let mut rig = Rig::new(&[nic(0), nic(1), nic(2), nic(3).ethernet(), nic(4)]);
    rig.args = vec![
        "--checks=InfiniBandStateCheck,EthernetStateCheck,InfiniBandDegradationCheck".to_owned(),
    ];
    let counter = |name: &str| format!("{ANCHOR}/mlx5_4/ports/1/counters/{name}");
    for name in ["link_downed", "symbol_error"] {
        rig.world.put(&counter(name), "0");
    }
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.poll();
    rig.world.set("mlx5_1", 1, INIT);
    rig.world.drop_device("mlx5_2");
    rig.world.set("mlx5_3", 1, DISABLED);
    rig.world.put(&counter("link_downed"), "1");
    rig.world.put(&counter("symbol_error"), "11");
    rig.poll();
    let stands = |check, entity: &str, fatal| Standing {
        check,
        entity: entity.to_owned(),
        fatal,
    };
    let mut want = vec![
        stands(Check::InfiniBandState, "0000:10:00", true),
        stands(Check::InfiniBandState, "mlx5_0/1", true),
        stands(Check::InfiniBandState, "mlx5_1/1", false),
        stands(Check::InfiniBandState, "mlx5_2", true),
        stands(Check::EthernetState, "mlx5_3/1", true),
        stands(Check::InfiniBandDegradation, "mlx5_4/1/link_downed", true),
        stands(Check::InfiniBandDegradation, "mlx5_4/1/symbol_error", false),
    ];
    want.sort();
    assert_eq!(rig.agent.as_ref().unwrap().standing(), want);
}

#[test]
fn a_node_that_lost_its_only_device_over_a_reboot_is_one_without() {
    let mut rig = Rig::started(&nics(1));
    rig.reboot();
    rig.world.drop_device("mlx5_0");
    assert!(rig.polls(3).is_empty());
    assert_eq!(rig.records_with("no device is monitored"), 1);
}
