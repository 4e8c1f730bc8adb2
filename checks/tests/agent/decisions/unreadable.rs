//! Unreadable is not absent, and neither is a value.

use checks::ReadError;
use rstest::rstest;

use super::nics;
use crate::world::{ANCHOR, DISABLED, NET, Rig, UP, brief, nic};

const EVERY_PATH: [&str; 5] = [
    "mlx5_1",
    "mlx5_1/ports",
    "mlx5_1/ports/1/state",
    "mlx5_1/ports/1/phys_state",
    "mlx5_1/ports/1/link_layer",
];

#[rstest]
fn an_unreadable_path_blinds_nothing_else_and_is_never_fatal(
    #[values(
        ReadError::EIO,
        ReadError::EACCES,
        ReadError::ENOTDIR,
        ReadError::TimedOut
    )]
    error: ReadError,
) {
    for path in EVERY_PATH {
        let mut rig = Rig::started(&nics(3));
        rig.world.errors.insert(format!("{ANCHOR}/{path}"), error);
        assert!(rig.polls(5).is_empty(), "{path}");
        rig.world.set("mlx5_2", 1, DISABLED);
        assert_eq!(brief(&rig.poll()), ["F mlx5_2/1"], "{path}");
        rig.world.errors.clear();
        assert!(rig.polls(3).is_empty(), "{path}");
    }
}

#[test]
fn a_port_unreadable_beyond_the_patience_is_one_non_fatal_event() {
    let mut rig = Rig::started(&nics(3));
    let path = format!("{ANCHOR}/mlx5_1/ports/1/state");
    rig.world.errors.insert(path.clone(), ReadError::EIO);
    assert!(rig.polls(31).is_empty());
    assert_eq!(
        rig.poll(),
        ["n mlx5_1/1: Port mlx5_1 port 1: state unreadable (EIO)"]
    );
    assert!(rig.polls(60).is_empty());
    assert_eq!(rig.records_with(&path), 1, "logged once");
    rig.world.errors.clear();
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1"]);
}

#[test]
fn a_garbled_text_is_unreadable_and_a_number_without_a_name_is_a_value() {
    for text in ["", "4", "ACTIVE", "4: ACT"] {
        let mut rig = Rig::started(&nics(3));
        rig.world
            .put(&format!("{ANCHOR}/mlx5_1/ports/1/state"), text);
        assert!(rig.polls(5).is_empty(), "{text}");
    }
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, ("4: ACTIVE", "9: <unknown>"));
    assert_eq!(
        rig.poll(),
        ["n mlx5_1/1: Port mlx5_1 port 1: state ACTIVE, phys_state <unknown>"]
    );
}

#[rstest]
fn an_entry_that_goes_after_the_listing_is_a_race_once(
    #[values(ReadError::ENOENT, ReadError::ENODEV)] error: ReadError,
) {
    let mut rig = Rig::started(&nics(3));
    rig.world
        .errors
        .insert(format!("{ANCHOR}/mlx5_1/ports/1/state"), error);
    assert!(rig.poll().is_empty());
    assert_eq!(
        rig.records_with("cannot be read"),
        0,
        "a race is nothing to tell"
    );
    assert!(rig.poll().is_empty());
    assert_eq!(rig.records_with("cannot be read"), 1, "twice is unreadable");
}

#[test]
fn a_very_first_poll_waits_three_polls_for_an_unreadable_device() {
    let mut rig = Rig::new(&nics(3));
    rig.world
        .errors
        .insert(format!("{ANCHOR}/mlx5_1/ports/1/state"), ReadError::EIO);
    assert!(rig.polls(3).is_empty());
    let said = rig.poll();
    assert_eq!(
        brief(&said),
        [
            "h mlx5_0",
            "h mlx5_0/1",
            "h mlx5_2",
            "h mlx5_2/1",
            "h 0000:10:00",
            "h 0000:12:00"
        ]
    );
    rig.world.errors.clear();
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_1", "h mlx5_1/1", "h 0000:11:00"]
    );
}

#[test]
fn an_unreadable_vf_or_management_mark_is_waited_for_and_no_fault() {
    for path in ["mlx5_1/device/physfn", "mlx5_1/device/numa_node"] {
        let mut rig = Rig::new(&nics(3));
        rig.world
            .errors
            .insert(format!("{ANCHOR}/{path}"), ReadError::EIO);
        rig.world.set("mlx5_1", 1, DISABLED);
        assert!(rig.polls(3).is_empty(), "{path}");
        let said = rig.polls(40);
        assert!(
            said.iter().all(|line| !line.contains("mlx5_1")),
            "{path} {said:?}"
        );
        rig.world.set("mlx5_1", 1, UP);
        rig.world.errors.clear();
        assert!(brief(&rig.poll()).contains(&"h mlx5_1/1"), "{path}");
    }
}

#[test]
fn an_unreadable_class_folder_is_no_disappearance() {
    let mut rig = Rig::started(&nics(2));
    rig.world.errors.insert(ANCHOR.to_owned(), ReadError::EIO);
    assert!(rig.polls(31).is_empty());
    let said = rig.poll();
    assert_eq!(brief(&said), ["n mlx5_0/1", "n mlx5_1/1"]);
    rig.world.errors.clear();
    assert_eq!(brief(&rig.poll()), ["h mlx5_0/1", "h mlx5_1/1"]);
}

#[test]
fn an_unreadable_boot_id_holds_three_polls_and_then_counts_as_a_reboot() {
    let mut rig = Rig::new(&nics(3));
    rig.boot_id = None;
    assert!(rig.polls(3).is_empty());
    assert_eq!(rig.poll().len(), 9);
    assert_eq!(rig.records_with("as after a reboot"), 1);
}

#[test]
fn a_boot_id_that_reads_late_is_the_same_boot() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    rig.stop();
    rig.boot_id = None;
    assert!(rig.polls(2).is_empty());
    rig.world.put("/boot_id", "boot-1");
    assert!(rig.poll().is_empty());
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1"]);
}

#[test]
fn a_route_table_that_reads_late_leaves_the_devices_unreadable_until_then() {
    let mut rig = Rig::new(&[nic(0), nic(1).interface("eth0"), nic(2)]);
    rig.route_error = ReadError::EIO;
    rig.world.errors.insert("/route".to_owned(), ReadError::EIO);
    assert!(rig.polls(6).is_empty());
    rig.world.errors.clear();
    rig.world.put("/route", "Iface Destination\neth0 00000000");
    let said = rig.poll();
    assert_eq!(
        rig.agent.as_ref().unwrap().monitored(),
        ["mlx5_0", "mlx5_2"]
    );
    assert!(said.iter().all(|line| !line.contains("mlx5_1")), "{said:?}");
}

#[test]
fn a_known_device_keeps_its_role_while_a_signal_cannot_be_read() {
    let mut rig = Rig::started(&nics(3));
    rig.stop();
    let path = format!("{ANCHOR}/mlx5_1/device/numa_node");
    rig.world.errors.insert(path, ReadError::EIO);
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
}

#[test]
fn whoever_bears_a_known_name_is_not_known_by_it_while_its_link_cannot_be_read() {
    let mut rig = Rig::started(&nics(3));
    rig.stop();
    let entry = format!("{ANCHOR}/mlx5_1");
    rig.world.link_errors.insert(entry, ReadError::EIO);
    rig.world.set("mlx5_1", 1, DISABLED);
    assert!(rig.polls(5).is_empty());
    rig.world.link_errors.clear();
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
}

#[test]
fn an_interface_that_cannot_be_looked_behind_leaves_the_devices_unreadable() {
    let mut rig = Rig::new(&[nic(0), nic(1).interface("eth0"), nic(2)]);
    rig.route = Some("Iface Destination\neth0 00000000\n".to_owned());
    let behind = format!("{NET}/eth0/device/infiniband");
    rig.world.errors.insert(behind.clone(), ReadError::EIO);
    assert!(rig.polls(6).is_empty());
    assert_eq!(rig.records_with(&behind), 1);
    rig.world.errors.clear();
    rig.poll();
    assert_eq!(
        rig.agent.as_ref().unwrap().monitored(),
        ["mlx5_0", "mlx5_2"]
    );
    assert_eq!(rig.records_with("no RDMA device behind it"), 0);
}
