//! Reboots: the baseline, and faults from before the reboot.

use checks::ReadError;

use super::{half_cabled, nics};
use crate::world::{ANCHOR, DISABLED, INIT, POLLING, Rig, UP, brief, nic};

#[test]
fn a_reboot_sends_a_baseline_of_healthy_ports_only() {
    let mut rig = Rig::started(&nics(3));
    rig.reboot();
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_0/1", "h mlx5_1/1", "h mlx5_2/1"]
    );
    assert!(rig.polls(40).is_empty());
}

#[test]
fn a_fault_that_stood_is_said_again_with_or_without_peers() {
    for count in [1, 3] {
        let mut rig = Rig::started(&nics(count));
        rig.world.set("mlx5_0", 1, DISABLED);
        rig.poll();
        rig.reboot();
        let said = rig.poll();
        assert!(brief(&said).contains(&"F mlx5_0/1"), "{said:?}");
        assert!(rig.polls(3).is_empty());
        rig.world.set("mlx5_0", 1, UP);
        let said = rig.poll();
        assert!(brief(&said).contains(&"h mlx5_0/1"), "{said:?}");
    }
}

#[test]
fn a_fault_that_healed_over_the_reboot_is_in_the_baseline() {
    let mut rig = Rig::new(&nics(3));
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.poll();
    rig.world.set("mlx5_0", 1, UP);
    rig.reboot();
    let said = rig.poll();
    assert_eq!(
        brief(&said),
        ["h mlx5_0/1", "h mlx5_1/1", "h mlx5_2/1", "h 0000:10:00"]
    );
}

#[test]
fn a_device_off_the_bus_and_then_a_reboot_is_said_again() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.poll();
    rig.reboot();
    let said = rig.poll();
    assert_eq!(brief(&said), ["h mlx5_0/1", "F mlx5_1", "h mlx5_2/1"]);
    rig.world.put_device(&nic(1));
    assert_eq!(brief(&rig.poll()), ["h mlx5_1", "h mlx5_1/1"]);
}

#[test]
fn a_device_replaced_over_the_reboot_clears_the_fault_of_the_old_one() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.poll();
    rig.reboot();
    rig.world.put_device(&nic(9).at("0000:99:00.0"));
    let said = rig.poll();
    assert_eq!(
        said[0],
        "h mlx5_1: NIC mlx5_1 not present after reboot: clearing"
    );
    assert_eq!(
        brief(&said),
        ["h mlx5_1", "h mlx5_0/1", "h mlx5_2/1", "h mlx5_9/1"]
    );
}

#[test]
fn a_sick_device_that_is_absent_after_the_reboot_has_disappeared() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    rig.world.drop_device("mlx5_1");
    rig.reboot();
    assert_eq!(brief(&rig.poll()), ["h mlx5_0/1", "F mlx5_1", "h mlx5_2/1"]);
    rig.world.put_device(&nic(1));
    assert_eq!(brief(&rig.poll()), ["h mlx5_1", "h mlx5_1/1"]);
}

#[test]
fn names_dealt_anew_by_a_reboot_are_cleared_first() {
    let mut rig = Rig::started(&[nic(3), nic(5), nic(6)]);
    rig.world.set("mlx5_3", 1, DISABLED);
    rig.poll();
    rig.reboot();
    for name in ["mlx5_3", "mlx5_5"] {
        rig.world.drop_device(name);
    }
    rig.world.put_device(&nic(3).named("mlx5_5"));
    rig.world.put_device(&nic(5).named("mlx5_3"));
    let said = rig.poll();
    assert_eq!(said[0], "h mlx5_3/1: NIC mlx5_3 is now mlx5_5: clearing");
    assert_eq!(
        brief(&said),
        ["h mlx5_3/1", "h mlx5_3/1", "h mlx5_5/1", "h mlx5_6/1"]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn absent_faults_wait_for_unreadable_devices_at_most_the_patience() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.poll();
    rig.reboot();
    rig.world
        .errors
        .insert(format!("{ANCHOR}/mlx5_2/ports"), ReadError::EIO);
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_0/1"],
        "what can be read is settled at once"
    );
    assert!(rig.polls(30).is_empty());
    let said = rig.polls(2);
    assert!(brief(&said).contains(&"F mlx5_1"), "{said:?}");
}

#[test]
fn an_absent_fault_is_pending_across_a_restart_too() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.poll();
    rig.reboot();
    rig.world
        .errors
        .insert(format!("{ANCHOR}/mlx5_2/ports"), ReadError::EIO);
    rig.polls(3);
    rig.restart();
    rig.world.errors.clear();
    let said = rig.poll();
    assert_eq!(brief(&said), ["F mlx5_1", "h mlx5_2/1"]);
}

#[test]
fn a_non_fatal_fault_is_said_again_as_it_stood() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, INIT);
    rig.poll();
    rig.reboot();
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_0/1", "n mlx5_1/1", "h mlx5_2/1"]
    );
}

/// Three devices with two ports each; port 2 of the first disappeared and was reported.
fn a_port_gone() -> Rig {
    let nics: Vec<_> = (0..3).map(|index| nic(index).ports(2)).collect();
    let mut rig = Rig::started(&nics);
    rig.world.drop_port("mlx5_0", 2);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/2"]);
    rig
}

fn saved(rig: &Rig) -> serde_json::Value {
    serde_json::from_slice(rig.disk.as_ref().unwrap()).unwrap()
}

#[test]
fn a_port_that_is_absent_after_the_reboot_is_cleared_when_enough_devices_are_here() {
    let mut rig = a_port_gone();
    rig.reboot();
    let said = rig.poll();
    assert!(
        said.contains(
            &"h mlx5_0/2: Port mlx5_0 port 2 not present after reboot: clearing".to_owned()
        ),
        "{said:?}"
    );
    let faults: Vec<&String> = said.iter().filter(|line| line.starts_with('F')).collect();
    assert_eq!(
        faults,
        ["F 0000:10:00: Card 0000:10:00 (compute) has 1 active ports, expected 2 (peer mode)"]
    );
    assert!(rig.polls(3).is_empty());
    assert_eq!(rig.agent.as_ref().unwrap().standing().len(), 1);
}

#[test]
fn a_port_that_is_absent_after_the_reboot_is_said_again_when_devices_are_missing() {
    let mut rig = a_port_gone();
    rig.reboot();
    rig.world.drop_device("mlx5_2");
    let said = rig.poll();
    assert!(brief(&said).contains(&"F mlx5_0/2"), "{said:?}");
    assert!(rig.polls(3).is_empty());
    let gone = saved(&rig)["disappeared_ports"]["InfiniBand/mlx5_0_2"].clone();
    assert_eq!(gone["observed_this_boot"], true, "{gone}");
}

#[test]
fn a_port_that_was_here_in_this_boot_is_no_leftover_of_the_last() {
    let nics: Vec<_> = (0..3).map(|index| nic(index).ports(2)).collect();
    let mut rig = Rig::started(&nics);
    rig.world.set("mlx5_0", 2, DISABLED);
    rig.poll();
    rig.reboot();
    let blind = format!("{ANCHOR}/mlx5_1/ports");
    rig.world.errors.insert(blind.clone(), ReadError::EIO);
    let said = rig.poll();
    assert!(brief(&said).contains(&"F mlx5_0/2"), "{said:?}");
    rig.world.drop_port("mlx5_0", 2);
    rig.world.errors.clear();
    let said = rig.polls(3);
    assert!(!brief(&said).contains(&"h mlx5_0/2"), "{said:?}");
    let standing = rig.agent.as_ref().unwrap().standing();
    assert_eq!(standing.len(), 1, "{standing:?}");
}

#[test]
fn an_unreadable_port_is_not_absent_after_the_reboot() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    rig.reboot();
    let state = format!("{ANCHOR}/mlx5_1/ports/1/state");
    rig.world.errors.insert(state, ReadError::EIO);
    let said = rig.polls(40);
    assert!(!brief(&said).contains(&"h mlx5_1/1"), "{said:?}");
    rig.world.errors.clear();
    assert_eq!(
        brief(&rig.poll()),
        ["F mlx5_1/1", "F 0000:11:00"],
        "its card meets its peers for the first time in this boot"
    );
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1", "h 0000:11:00"]);
}

#[test]
fn a_device_that_came_back_with_fewer_ports_is_back() {
    let mut rig = Rig::started(&[nic(0).ports(2), nic(1)]);
    rig.world.drop_device("mlx5_0");
    rig.poll();
    rig.reboot();
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(0));
    assert_eq!(brief(&rig.poll()), ["h mlx5_0", "h mlx5_0/1"]);
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_device_that_vanishes_while_the_reboot_is_settled_has_vanished() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.poll();
    rig.reboot();
    let blind = format!("{ANCHOR}/mlx5_2/ports");
    rig.world.errors.insert(blind, ReadError::EIO);
    assert_eq!(brief(&rig.poll()), ["h mlx5_0/1"]);
    rig.world.drop_device("mlx5_0");
    assert_eq!(brief(&rig.poll()), ["F mlx5_0"]);
    for index in [7, 8] {
        rig.world.put_device(&nic(index));
    }
    rig.world.errors.clear();
    let said = rig.polls(3);
    assert!(brief(&said).contains(&"h mlx5_1"), "{said:?}");
    assert!(!brief(&said).contains(&"h mlx5_0"), "{said:?}");
    let standing = rig.agent.as_ref().unwrap().standing();
    assert_eq!(standing.len(), 1, "{standing:?}");
}

#[test]
fn a_card_that_is_absent_after_the_reboot_is_settled_as_a_device_is() {
    for replaced in [true, false] {
        let mut rig = Rig::new(&nics(3));
        rig.world.set("mlx5_2", 1, DISABLED);
        let said = rig.poll();
        assert!(brief(&said).contains(&"F 0000:12:00"), "{said:?}");
        rig.reboot();
        rig.world.drop_device("mlx5_2");
        if replaced {
            rig.world.put_device(&nic(9));
        }
        let said = rig.polls(2);
        let clearing = "h 0000:12:00: Card 0000:12:00 not present after reboot: clearing";
        assert_eq!(
            said.iter().any(|line| line == clearing),
            replaced,
            "{said:?}"
        );
        let again =
            "F 0000:12:00: Card 0000:12:00 (compute) has 0 active ports, expected 1 (peer mode)";
        let faults: Vec<&str> = brief(&said)
            .into_iter()
            .filter(|line| line.starts_with('F'))
            .collect();
        let want: &[&str] = if replaced { &[] } else { &["F mlx5_2"] };
        assert_eq!(
            faults, want,
            "of a card that is not there nothing is compared"
        );
        assert!(rig.polls(3).is_empty());
        let cards = saved(&rig)["anomalous_cards"].clone();
        assert_eq!(
            cards.get("InfiniBand/0000:12:00").is_some(),
            !replaced,
            "{cards}"
        );
        if replaced {
            continue;
        }
        // Its device is back, as dark as before the reboot; then it is healthy.
        rig.world.put_device(&nic(2));
        rig.world.set("mlx5_2", 1, DISABLED);
        let said = rig.polls(3);
        assert_eq!(said, [again], "it is there, so it is compared");
        rig.world.set("mlx5_2", 1, UP);
        let said = rig.polls(3);
        assert_eq!(
            brief(&said),
            ["h mlx5_2", "h mlx5_2/1", "h 0000:12:00"],
            "{said:?}"
        );
    }
}

#[test]
fn a_healthy_device_that_is_absent_after_the_reboot_is_no_fault() {
    let mut rig = Rig::started(&nics(3));
    rig.reboot();
    rig.world.drop_device("mlx5_1");
    assert_eq!(brief(&rig.poll()), ["h mlx5_0/1", "h mlx5_2/1"]);
    assert!(rig.polls(3).is_empty());
}

#[test]
fn an_uncabled_port_does_not_hold_its_device_down_over_a_reboot_either() {
    let mut rig = half_cabled();
    rig.polls(40);
    rig.world.drop_device("mlx5_1");
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
    rig.reboot();
    rig.world.put_device(&nic(1).ports(2));
    rig.world.set("mlx5_1", 2, POLLING);
    let said = rig.poll();
    assert!(brief(&said).contains(&"h mlx5_1"), "{said:?}");
    assert!(brief(&said).contains(&"h mlx5_1/1"), "{said:?}");
    assert!(rig.polls(40).is_empty());
}

#[test]
fn the_absent_wait_for_a_sick_device_that_cannot_be_read_too() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.world.set("mlx5_2", 1, DISABLED);
    rig.poll();
    rig.reboot();
    let ports = format!("{ANCHOR}/mlx5_2/ports");
    rig.world.errors.insert(ports, ReadError::EIO);
    assert_eq!(brief(&rig.poll()), ["h mlx5_0/1"]);
    assert!(rig.polls(20).is_empty());
    rig.world.errors.clear();
    assert_eq!(brief(&rig.poll()), ["F mlx5_1", "F mlx5_2/1"]);
}
