//! Which device a counter belongs to: devices that disappear, return, change names or slots, also
//! across reboots.

use super::*;
use crate::world::nic;

/// A device disappears and another comes, or the same one under another name, with counters at
/// their start.
fn replaced(rig: &mut Rig, gone: &str, nic: &Nic) {
    rig.world.drop_device(gone);
    rig.world.put_device(nic);
    put_counters(rig, nic);
}

#[test]
fn a_device_that_is_absent_keeps_its_breach_and_a_renamed_one_takes_it_along() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_1", 1);
    rig.poll();
    rig.world.drop_device("mlx5_1");
    assert!(rig.polls(3).is_empty());
    let renamed = nic(1).named("mlx5_7");
    rig.world.put_device(&renamed);
    put_counters(&mut rig, &renamed);
    downed(&mut rig, "mlx5_7", 1);
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_1/1: NIC mlx5_1 is now mlx5_7: clearing",
            "F mlx5_7/1: Port mlx5_7 port 1: link_downed - Port Training State Machine failed - \
             QP disconnect (re-asserting outstanding breach after baseline reconciliation)",
        ]
    );
    downed(&mut rig, "mlx5_7", 0);
    assert_eq!(brief(&rig.poll()), ["h mlx5_7/1"]);
}

#[test]
fn names_swapped_while_both_stand_leave_both_standing() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_0", 1);
    downed(&mut rig, "mlx5_1", 1);
    rig.poll();
    for name in ["mlx5_0", "mlx5_1"] {
        rig.world.drop_device(name);
    }
    for (index, name) in [(0, "mlx5_1"), (1, "mlx5_0")] {
        rig.world.put_device(&nic(index).named(name));
        downed(&mut rig, name, 1);
    }
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_0/1", "h mlx5_1/1", "F mlx5_0/1", "F mlx5_1/1"]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_reboot_settles_what_stood_and_says_every_counters_health() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_1", 4);
    rig.poll();
    rig.reboot();
    downed(&mut rig, "mlx5_1", 0);
    let said = rig.poll();
    assert_eq!(said.len(), 22);
    assert!(said.contains(
        &"h mlx5_1/1: Counter link_downed healthy after reboot on port mlx5_1 port 1".to_owned()
    ));
    assert!(rig.polls(3).is_empty());
    assert!(rig.agent.as_ref().unwrap().standing().is_empty());
    downed(&mut rig, "mlx5_1", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
}

#[test]
fn a_replaced_device_is_cleared_after_a_reboot_and_a_missing_one_is_not() {
    for replaced in [true, false] {
        let mut rig = counting(&nics(2));
        downed(&mut rig, "mlx5_1", 4);
        rig.poll();
        rig.reboot();
        rig.world.drop_device("mlx5_1");
        if replaced {
            rig.world.put_device(&nic(5));
        }
        let said = rig.poll();
        let clearing = "h mlx5_1/1: Counter link_downed on port mlx5_1 port 1 not present after \
                        reboot: clearing";
        assert_eq!(
            said.iter().any(|line| line == clearing),
            replaced,
            "{said:?}"
        );
        assert_eq!(
            rig.agent.as_ref().unwrap().standing().len(),
            usize::from(!replaced)
        );
    }
}

#[test]
fn a_port_that_moves_to_the_other_layer_begins_anew() {
    let mut rig = counting(&nics(1));
    downed(&mut rig, "mlx5_0", 1);
    rig.poll();
    rig.world.set_layer("mlx5_0", 1, ETH);
    let said = rig.poll();
    assert_eq!(
        said[0],
        "h mlx5_0/1: NIC mlx5_0 no longer monitored (link layer is now Ethernet): clearing"
    );
    assert!(said.iter().all(|line| line.starts_with('h')));
}

#[test]
fn counters_are_read_where_the_interface_is_called_now() {
    let mut rig = counting(&[nic(0).ethernet().interface("eth0")]);
    let device = format!("{ANCHOR}/mlx5_0/device/net");
    rig.world.folders.remove(&format!("{device}/eth0"));
    rig.world.folders.insert(format!("{device}/eth9"));
    rig.world.put(&format!("{NET}/eth9/carrier_changes"), "20");
    assert!(rig.poll().is_empty(), "another file, another start");
    rig.world.put(&format!("{NET}/eth9/carrier_changes"), "23");
    assert_eq!(brief(&rig.poll()), ["n mlx5_0/1"]);
}

#[test]
fn a_device_that_moves_up_the_list_keeps_its_counters() {
    let mut rig = counting(&[nic(3)]);
    let earlier = nic(1).numa(7);
    rig.world.put_device(&earlier);
    put_counters(&mut rig, &earlier);
    downed(&mut rig, "mlx5_1", 1);
    assert!(rig.poll().is_empty());
    downed(&mut rig, "mlx5_3", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_3/1"]);
}

#[test]
fn a_device_alone_that_is_renamed_is_read_under_its_new_name() {
    let mut rig = counting(&nics(1));
    replaced(&mut rig, "mlx5_0", &nic(0).named("mlx5_4"));
    assert!(rig.poll().is_empty());
    downed(&mut rig, "mlx5_4", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_4/1"]);
}

#[test]
fn the_port_that_is_listed_now_is_the_one_that_is_read() {
    let mut rig = counting(&nics(1));
    rig.world.drop_port("mlx5_0", 1);
    let port = format!("{ANCHOR}/mlx5_0/ports/2");
    rig.world.put(&format!("{port}/link_layer"), "InfiniBand");
    rig.world.set("mlx5_0", 2, UP);
    let file = format!("{port}/counters/link_downed");
    rig.world.put(&file, "3");
    rig.poll();
    rig.world.put(&file, "4");
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/2"]);
}

#[test]
fn the_layer_of_a_port_that_moved_decides_whose_its_counters_are() {
    let mut rig = counting(&nics(1));
    rig.world.set_layer("mlx5_0", 1, ETH);
    rig.poll();
    downed(&mut rig, "mlx5_0", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
    assert_eq!(rig.calls.last().unwrap().0, "EthernetDegradationCheck");
}

#[test]
fn counters_of_two_devices_of_one_function_are_kept_apart() {
    let twins = [nic(0), nic(1).at("0000:10:00.0")];
    let mut rig = counting(&twins);
    downed(&mut rig, "mlx5_1", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    downed(&mut rig, "mlx5_0", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
    rig.kill();
    assert!(rig.polls(3).is_empty());
    downed(&mut rig, "mlx5_1", 0);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1"]);
}

#[test]
fn a_breach_that_stood_under_a_name_follows_the_function_that_reads_late() {
    let mut rig = rig(&nics(2), BOTH);
    rig.world.links.remove(&format!("{ANCHOR}/mlx5_1"));
    rig.poll();
    downed(&mut rig, "mlx5_1", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    let uevent = "PCI_SLOT_NAME=0000:11:00.0";
    rig.world
        .put(&format!("{ANCHOR}/mlx5_1/device/uevent"), uevent);
    assert!(rig.polls(2).is_empty());
    replaced(&mut rig, "mlx5_1", &nic(1).named("mlx5_7"));
    downed(&mut rig, "mlx5_7", 1);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1", "F mlx5_7/1"]);
}

/// Its device is present and its port cannot be read: the others wait for it, at most for the
/// patience.
#[test]
fn after_a_reboot_absent_counters_wait_for_unreadable_devices() {
    let mut rig = counting(&nics(3));
    downed(&mut rig, "mlx5_1", 4);
    rig.poll();
    rig.reboot();
    replaced(&mut rig, "mlx5_1", &nic(5));
    let ports = format!("{ANCHOR}/mlx5_2/ports");
    rig.world.errors.insert(ports, ReadError::EIO);
    let clears = |said: &[String]| said.iter().any(|line| line.contains("not present after"));
    assert!(!clears(&rig.polls(30)));
    rig.world.errors.clear();
    assert!(clears(&rig.polls(2)));
}

#[test]
fn growth_right_after_a_reboot_is_said_under_a_new_name_too() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_1", 4);
    rig.poll();
    rig.reboot();
    replaced(&mut rig, "mlx5_1", &nic(1).named("mlx5_7"));
    let said = rig.poll();
    assert!(
        said.contains(&"h mlx5_1/1: NIC mlx5_1 is now mlx5_7: clearing".to_owned()),
        "{said:?}"
    );
    assert!(said.iter().all(|line| line.starts_with('h')), "{said:?}");
    downed(&mut rig, "mlx5_7", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_7/1"]);
}

/// A name is cleared while another device has it with a breach of the same counter.
#[test]
fn a_clearing_under_a_borrowed_name_repeats_the_borrowers_breach() {
    let mut rig = counting(&nics(3));
    for name in ["mlx5_0", "mlx5_2"] {
        downed(&mut rig, name, 1);
    }
    assert_eq!(rig.poll().len(), 2);
    rig.world.drop_device("mlx5_0");
    replaced(&mut rig, "mlx5_1", &nic(1).named("mlx5_0"));
    put(&mut rig, "mlx5_0", "counters/symbol_error", 11);
    downed(&mut rig, "mlx5_0", 1);
    assert_eq!(rig.poll().len(), 2, "downed, and the symbol errors");
    let returned = nic(0).named("mlx5_5");
    rig.world.put_device(&returned);
    put_counters(&mut rig, &returned);
    downed(&mut rig, "mlx5_5", 1);
    let said = rig.poll();
    assert_eq!(brief(&said), ["h mlx5_0/1", "F mlx5_0/1", "F mlx5_5/1"]);
    assert!(said[1].contains("link_downed"), "{said:?}");
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_poll_that_lists_nothing_settles_no_reboot() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_1", 4);
    rig.poll();
    rig.reboot();
    replaced(&mut rig, "mlx5_1", &nic(5));
    rig.world
        .errors
        .insert(ANCHOR.to_owned(), ReadError::ENOENT);
    assert!(rig.polls(2).is_empty());
    rig.world.errors.clear();
    let said = rig.poll();
    assert!(
        said.iter()
            .any(|line| line.contains("not present after reboot")),
        "{said:?}"
    );
}

#[test]
fn another_function_under_the_same_name_takes_over_no_breach() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_1", 1);
    rig.poll();
    replaced(&mut rig, "mlx5_1", &nic(5).named("mlx5_1"));
    let said = rig.polls(3);
    assert!(
        !said.iter().any(|line| line.contains("recovered")),
        "{said:?}"
    );
    assert_eq!(rig.agent.as_ref().unwrap().standing().len(), 1);
}

#[test]
fn after_a_reboot_a_breach_stays_with_a_name_whose_function_cannot_be_read() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_1", 4);
    rig.poll();
    rig.reboot();
    rig.world.put_device(&nic(2));
    put_counters(&mut rig, &nic(2));
    rig.world.links.remove(&format!("{ANCHOR}/mlx5_1"));
    let uevent = format!("{ANCHOR}/mlx5_1/device/uevent");
    rig.world.errors.insert(uevent, ReadError::EIO);
    rig.polls(40);
    assert_eq!(rig.agent.as_ref().unwrap().standing().len(), 1);
}

#[test]
fn a_port_that_leaves_the_scope_is_cleared_for_that_reason() {
    let dpu = Nic {
        hca_type: "MT41692".to_owned(),
        ..nic(0).ports(2)
    };
    let mut rig = counting(&[dpu, nic(1)]);
    let second = format!("{ANCHOR}/mlx5_0/ports/2/counters/link_downed");
    rig.world.put(&second, "0");
    rig.poll();
    rig.world.put(&second, "1");
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/2"]);
    rig.world.set_layer("mlx5_0", 2, ETH);
    assert_eq!(
        rig.poll(),
        ["h mlx5_0/2: NIC mlx5_0 no longer monitored (management: BlueField MT41692): clearing"]
    );
}
