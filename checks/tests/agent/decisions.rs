//! Each decision about events, by name, on a node with InfiniBand devices unless a test says
//! otherwise.
//!
//! A line for an event is the kind (`F`atal, `n`on-fatal, `h`ealthy), the entities, the message.

mod absence;
mod chars;
mod configuration;
mod counters;
mod delivery;
mod explain;
mod first_poll;
mod metrics;
mod reads;
mod reboot;
mod records;
mod scope;
mod state_file;
mod unreadable;
mod wire;

use crate::world::{DISABLED, ETH, INIT, Nic, POLLING, Rig, UP, brief, nic};

fn nics(count: u32) -> Vec<Nic> {
    (0..count).map(nic).collect()
}

/// Three devices with two ports each, of which the second is not cabled.
fn half_cabled() -> Rig {
    let nics: Vec<_> = (0..3).map(|index| nic(index).ports(2)).collect();
    let mut rig = Rig::new(&nics);
    for index in 0..3 {
        rig.world.set(&format!("mlx5_{index}"), 2, POLLING);
    }
    rig
}

#[test]
fn a_port_that_goes_down_is_said_once_and_its_return_once() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(
        rig.poll(),
        ["F mlx5_1/1: Port mlx5_1 port 1: state DOWN, phys_state Disabled"]
    );
    rig.world.set("mlx5_1", 1, POLLING);
    assert!(rig.polls(40).is_empty());
    rig.world.set("mlx5_1", 1, INIT);
    assert!(rig.polls(40).is_empty(), "the worst said only rises");
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(
        rig.poll(),
        ["h mlx5_1/1: Port mlx5_1 port 1: healthy (ACTIVE, LinkUp)"]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_rise_from_non_fatal_to_fatal_is_an_event() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, INIT);
    assert_eq!(
        rig.poll(),
        ["n mlx5_1/1: Port mlx5_1 port 1: state INIT, phys_state LinkUp"]
    );
    rig.world.set("mlx5_1", 1, POLLING);
    assert_eq!(
        rig.poll(),
        ["F mlx5_1/1: Port mlx5_1 port 1: state DOWN, phys_state Polling"]
    );
}

#[test]
fn a_port_stuck_in_init_becomes_fatal_after_the_patience() {
    let mut rig = Rig::started(&nics(3));
    for name in ["mlx5_0", "mlx5_1", "mlx5_2"] {
        rig.world.set(name, 1, INIT);
    }
    assert_eq!(rig.poll().len(), 3);
    assert!(rig.polls(30).is_empty());
    let said = rig.poll();
    assert_eq!(brief(&said), ["F mlx5_0/1", "F mlx5_1/1", "F mlx5_2/1"]);
    assert!(said[0].ends_with("state INIT, phys_state LinkUp"));
}

#[test]
fn patience_is_measured_on_boot_time_and_survives_a_restart() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, INIT);
    rig.poll();
    rig.world.wall_ns -= 3_600_000_000_000;
    assert!(rig.polls(15).is_empty());
    rig.restart();
    assert!(rig.polls(15).is_empty());
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
}

#[test]
fn an_ethernet_port_is_silent_unless_down_and_fatal_when_stuck() {
    let mut rig = Rig::started(&[nic(0).ethernet(), nic(1).ethernet(), nic(2).ethernet()]);
    rig.world.set("mlx5_1", 1, INIT);
    assert!(rig.polls(5).is_empty());
    rig.world.set("mlx5_1", 1, UP);
    assert!(
        rig.poll().is_empty(),
        "nothing was said, so nothing is healed"
    );
    rig.world.set("mlx5_1", 1, INIT);
    assert!(rig.polls(31).is_empty());
    assert_eq!(
        rig.poll(),
        ["F mlx5_1/1: RoCE port mlx5_1 port 1: state INIT, phys_state LinkUp"]
    );
}

#[test]
fn operstate_joins_a_roce_message_and_makes_no_event() {
    let mut rig = Rig::started(&[nic(0).ethernet().interface("eth0"), nic(1).ethernet()]);
    assert!(rig.poll().is_empty(), "operstate is down, the port is not");
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(
        rig.poll(),
        [
            "F mlx5_0/1: RoCE port mlx5_0 port 1: state DOWN, phys_state Disabled, operstate down",
            "F mlx5_1/1: RoCE port mlx5_1 port 1: state DOWN, phys_state Disabled",
        ]
    );
}

#[test]
fn an_infiniband_message_has_no_operstate() {
    let mut rig = Rig::started(&[nic(0).interface("ib0"), nic(1)]);
    rig.world.set("mlx5_0", 1, DISABLED);
    assert_eq!(
        rig.poll(),
        ["F mlx5_0/1: Port mlx5_0 port 1: state DOWN, phys_state Disabled"]
    );
}

#[test]
fn a_runtime_fault_is_the_ports_own_and_no_cards() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    assert!(rig.polls(60).is_empty());
}

#[test]
fn a_port_under_the_other_layer_has_moved() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    rig.world.set("mlx5_1", 1, UP);
    rig.world.set_layer("mlx5_1", 1, ETH);
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_1/1: NIC mlx5_1 no longer monitored (link layer is now Ethernet): clearing",
            "h mlx5_1/1: RoCE port mlx5_1 port 1: healthy (ACTIVE, LinkUp)",
        ]
    );
    let checks: Vec<&str> = rig
        .calls
        .iter()
        .rev()
        .take(2)
        .map(|(check, _)| check.as_str())
        .collect();
    assert_eq!(checks, ["EthernetStateCheck", "InfiniBandStateCheck"]);
}

#[test]
fn events_of_a_batch_are_a_nanosecond_apart_from_the_polls_wall_time() {
    let mut rig = Rig::started(&nics(3));
    let (_, events) = &rig.calls[0];
    let stamps: Vec<i32> = events
        .iter()
        .map(|event| event.generated_timestamp.unwrap().nanos)
        .collect();
    assert_eq!(stamps, (0..9).collect::<Vec<i32>>());
    rig.world.wall_ns += 5;
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.poll();
    let stamp = rig.calls[1].1[0].generated_timestamp.unwrap();
    assert_eq!(
        u64::try_from(stamp.seconds).unwrap() * 1_000_000_000 + u64::try_from(stamp.nanos).unwrap(),
        rig.world.wall_ns
    );
}
