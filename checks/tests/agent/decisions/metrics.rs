//! The agent's own metrics: each with what changes it.

use std::time::Duration;

use checks::{Family, ReadError};

use super::nics;
use crate::world::{ANCHOR, Connector, DISABLED, INIT, Rig, brief, nic};

/// The lines of a metric: its labels without the node's or the monitor's name, and the value.
fn rendered(families: &[Family], name: &str) -> Vec<String> {
    let of_name = families.iter().filter(|family| family.series.name == name);
    of_name
        .flat_map(Family::lines)
        .map(|(_, labels, value)| {
            let labels: Vec<String> = labels.into_iter().skip(1).map(|(_, text)| text).collect();
            format!("{} {value}", labels.join(","))
        })
        .collect()
}

fn series(rig: &Rig, name: &str) -> Vec<String> {
    rendered(&rig.agent.as_ref().unwrap().metrics().families(), name)
}

#[test]
fn devices_are_counted_by_what_could_be_read_and_by_what_is_watched() {
    let mut rig = Rig::started(&[nic(0), nic(1), nic(2).vf(), nic(3).numa(7), nic(4).numa(7)]);
    let discovered = |rig: &Rig| series(rig, "nic_health_monitor_devices_discovered");
    let monitored = |rig: &Rig| series(rig, "nic_health_monitor_devices_monitored");
    assert_eq!(
        discovered(&rig),
        ["InfiniBandStateCheck 4", "EthernetStateCheck 4"]
    );
    assert_eq!(monitored(&rig), [" 2"]);
    let ports = format!("{ANCHOR}/mlx5_1/ports");
    rig.world.errors.insert(ports, ReadError::EIO);
    rig.poll();
    assert_eq!(
        discovered(&rig),
        ["InfiniBandStateCheck 3", "EthernetStateCheck 3"]
    );
    assert_eq!(monitored(&rig), [" 2"], "it is watched, though unread");
    rig.world.errors.insert(ANCHOR.to_owned(), ReadError::EIO);
    rig.poll();
    assert_eq!(monitored(&rig), [" 2"], "nothing was listed");
}

#[test]
fn a_poll_takes_its_time_for_the_checks_it_was_for() {
    let name = "nic_health_monitor_poll_cycle_duration_seconds";
    let count = |rig: &Rig| -> Vec<String> {
        let lines = series(rig, name).into_iter();
        lines
            .filter(|line| line.matches(',').count() == 0)
            .collect()
    };
    let mut rig = Rig::started(&nics(1));
    rig.agent.as_mut().unwrap().took(Duration::from_millis(250));
    assert_eq!(count(&rig), ["state 0.25", "state 1"]);
    let mut rig = Rig::new(&nics(1));
    rig.args = vec![
        "--checks=InfiniBandStateCheck,InfiniBandDegradationCheck".to_owned(),
        "--counter-polling-interval=5s".to_owned(),
    ];
    for _ in 0..3 {
        rig.poll();
        rig.agent.as_mut().unwrap().took(Duration::from_millis(500));
    }
    assert_eq!(
        count(&rig),
        ["state 1.5", "state 3", "counter 0.5", "counter 1"]
    );
}

#[test]
fn a_fault_is_counted_once_under_its_check_device_and_port() {
    let name = "nic_health_monitor_state_check_errors_total";
    let mut rig = Rig::started(&[nic(0), nic(1).ethernet(), nic(2)]);
    assert!(series(&rig, name).is_empty());
    rig.connector = Connector::Refuses(3);
    rig.world.set("mlx5_0", 1, INIT);
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.world.drop_device("mlx5_2");
    rig.polls(3);
    assert_eq!(
        series(&rig, name),
        [
            "InfiniBandStateCheck,mlx5_0,1 1",
            "InfiniBandStateCheck,mlx5_2, 1",
            "EthernetStateCheck,mlx5_1,1 1"
        ]
    );
    rig.connector = Connector::Accepts;
    rig.polls(3);
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.polls(3);
    assert_eq!(series(&rig, name)[0], "InfiniBandStateCheck,mlx5_0,1 2");
}

#[test]
fn a_character_device_is_counted_under_its_port_or_port_0() {
    let mut rig = Rig::new(&nics(1));
    rig.args = vec!["--checks=InfiniBandCharDeviceCheck".to_owned()];
    for folder in ["mad", "verbs"] {
        let file = format!("{ANCHOR}_{folder}/abi_version");
        rig.world.put(&file, "5");
    }
    let issm = format!("{ANCHOR}_mad/issm0");
    rig.world.put(&format!("{issm}/ibdev"), "mlx5_0");
    rig.world.put(&format!("{issm}/port"), "1");
    assert_eq!(brief(&rig.polls(3)), ["F mlx5_0", "F mlx5_0/1"]);
    assert_eq!(
        series(&rig, "nic_health_monitor_state_check_errors_total"),
        [
            "InfiniBandCharDeviceCheck,mlx5_0,0 1",
            "InfiniBandCharDeviceCheck,mlx5_0,1 1"
        ]
    );
}

#[test]
fn breaches_and_fields_at_their_maximum_are_counted_by_counter() {
    let mut rig = Rig::new(&nics(1));
    rig.args = vec!["--checks=InfiniBandDegradationCheck".to_owned()];
    let file = |counter: &str| format!("{ANCHOR}/mlx5_0/ports/1/counters/{counter}");
    for counter in ["link_downed", "symbol_error"] {
        rig.world.put(&file(counter), "0");
    }
    rig.poll();
    rig.world.put(&file("link_downed"), "255");
    rig.world.put(&file("symbol_error"), "11");
    assert_eq!(brief(&rig.polls(3)), ["F mlx5_0/1", "n mlx5_0/1"]);
    let breaches = "nic_health_monitor_counter_threshold_breaches_total";
    assert_eq!(
        series(&rig, breaches),
        [
            "link_downed,mlx5_0,1,true 1",
            "symbol_error,mlx5_0,1,false 1"
        ]
    );
    let saturated = "nic_health_monitor_counter_saturated";
    assert_eq!(series(&rig, saturated), ["link_downed,mlx5_0,1 1"]);
    rig.world.put(&file("link_downed"), "0");
    rig.poll();
    assert!(series(&rig, saturated).is_empty());
}

#[test]
fn first_polls_put_off_and_reads_that_told_nothing_are_counted() {
    let mut rig = Rig::new(&nics(2));
    let state = format!("{ANCHOR}/mlx5_1/ports/1/state");
    rig.world.errors.insert(state.clone(), ReadError::EIO);
    rig.polls(6);
    assert_eq!(
        series(&rig, "nic_health_monitor_first_poll_deferred_total"),
        ["InfiniBandStateCheck 3", "EthernetStateCheck 3"]
    );
    let unreadable = "nic_health_monitor_unreadable_reads_total";
    assert_eq!(series(&rig, unreadable), ["EIO 6"]);
    rig.world.errors.clear();
    rig.world.put(&state, "no state");
    rig.polls(2);
    assert_eq!(series(&rig, unreadable), ["EIO 6", "garbled 2"]);
}

#[test]
fn events_and_batches_are_counted_when_they_are_accepted() {
    let mut rig = Rig::new(&[nic(0), nic(1).ethernet()]);
    rig.connector = Connector::Missing;
    rig.polls(2);
    rig.connector = Connector::Refuses(3);
    rig.poll();
    let publisher = "nvsentinel_health_events_publisher";
    let sent = |rig: &Rig| series(rig, "nic_health_monitor_health_events_sent_total");
    assert!(sent(&rig).iter().all(|line| line.ends_with(" 0")));
    let skipped = format!("{publisher}_skipped_pc_unavailable_total");
    assert_eq!(series(&rig, &skipped), [" 4"], "a batch for each check");
    let errors = format!("{publisher}_sends_error_total");
    assert_eq!(series(&rig, &errors), ["InvalidArgument 2"]);
    rig.connector = Connector::Accepts;
    rig.poll();
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    assert_eq!(
        sent(&rig),
        [
            "InfiniBandStateCheck,false 2",
            "InfiniBandStateCheck,true 0",
            "EthernetStateCheck,false 2",
            "EthernetStateCheck,true 1",
        ]
    );
    let accepted = format!("{publisher}_sends_success_total");
    assert_eq!(series(&rig, &accepted), [" 3"]);
}

#[test]
fn gids_are_counted_where_roce_is_watched_and_present() {
    let rig = Rig::started(&[nic(0), nic(1)]);
    assert!(rig.agent.as_ref().unwrap().gid_ports().is_empty());
    let mut rig = Rig::started(&[nic(0), nic(1).ethernet(), nic(2).ethernet()]);
    for name in ["mlx5_0", "mlx5_1", "mlx5_2"] {
        let port = format!("{ANCHOR}/{name}/ports/1");
        rig.world.put(&format!("{port}/gids/0"), "fe80::1");
        rig.world
            .put(&format!("{port}/gid_attrs/types/0"), "RoCE v2");
        rig.world.put(&format!("{port}/gid_attrs/ndevs/0"), "eth0");
    }
    let count = |rig: &Rig| {
        let ports = rig.agent.as_ref().unwrap().gid_ports();
        rendered(&[ports.count(&rig.world)], "nic_health_monitor_gids")
    };
    assert_eq!(
        count(&rig),
        [
            "mlx5_1,1,IB/RoCE v1, 0",
            "mlx5_1,1,RoCE v2,eth0 1",
            "mlx5_2,1,IB/RoCE v1, 0",
            "mlx5_2,1,RoCE v2,eth0 1",
        ]
    );
    rig.world.drop_device("mlx5_1");
    rig.poll();
    assert_eq!(count(&rig).len(), 2, "one that is absent is not asked");
}
