//! Reboots: the baseline, and what stood before is settled.

use checks::ReadError;

use super::nics;
use crate::world::{ANCHOR, DISABLED, INIT, Rig, UP, brief, nic};

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

// covers: decision/9/absent-is-cleared-when-enough-are-present
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

// covers: decision/9/only-the-absent-wait-for-the-unreadable
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

// covers: decision/9/the-debt-is-on-disk
#[test]
fn an_absent_fault_is_owed_across_a_restart_too() {
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
