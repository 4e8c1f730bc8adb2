//! Devices and ports that disappear, return, and change their names.

use checks::ReadError;
use rstest::rstest;

use super::{half_cabled, nics};
use crate::world::{ANCHOR, Connector, DISABLED, INIT, Nic, POLLING, Rig, UP, brief, nic};

#[test]
fn a_vanished_device_is_fatal_at_once_and_heals_with_its_ports() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    assert_eq!(
        rig.poll(),
        ["F mlx5_1: NIC mlx5_1 disappeared from /sys/class/infiniband/ - hardware failure"]
    );
    assert!(rig.polls(40).is_empty());
    rig.world.put_device(&nic(1));
    rig.world.set("mlx5_1", 1, INIT);
    assert!(rig.polls(40).is_empty(), "its unhealthy ports add nothing");
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_1: Device mlx5_1 re-enumerated in sysfs",
            "h mlx5_1/1: Port mlx5_1 port 1: healthy (ACTIVE, LinkUp)",
        ]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_roce_device_vanishes_in_its_own_words_and_only_there() {
    let mut rig = Rig::started(&[nic(0), nic(1).ethernet()]);
    rig.world.drop_device("mlx5_1");
    assert_eq!(
        rig.poll(),
        ["F mlx5_1: RoCE device mlx5_1 disappeared from sysfs"]
    );
    rig.world.drop_device("mlx5_0");
    assert_eq!(rig.poll().len(), 1);
}

#[test]
fn disappearance_polls_debounce() {
    let mut rig = Rig::new(&nics(3));
    rig.args = vec!["--disappearance-polls=3".to_owned()];
    rig.poll();
    rig.world.drop_device("mlx5_1");
    assert!(rig.polls(2).is_empty());
    rig.restart();
    assert_eq!(
        brief(&rig.poll()),
        ["F mlx5_1"],
        "misses are counted across a restart"
    );
    rig.world.put_device(&nic(1));
    assert_eq!(brief(&rig.poll()), ["h mlx5_1", "h mlx5_1/1"]);
    rig.world.drop_device("mlx5_1");
    assert!(rig.polls(2).is_empty());
    rig.world.put_device(&nic(1));
    assert!(rig.polls(3).is_empty());
}

#[test]
fn an_uncabled_port_does_not_hold_its_device_down() {
    let mut rig = half_cabled();
    rig.polls(40);
    rig.world.drop_device("mlx5_1");
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
    rig.world.put_device(&nic(1).ports(2));
    rig.world.set("mlx5_1", 2, POLLING);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1", "h mlx5_1/1"]);
    assert!(rig.polls(40).is_empty());
}

#[test]
fn a_port_that_was_healthy_holds_its_device_down() {
    let mut rig = Rig::started(&[nic(0).ports(2)]);
    rig.world.drop_device("mlx5_0");
    rig.poll();
    rig.world.put_device(&nic(0).ports(2));
    rig.world.set("mlx5_0", 2, DISABLED);
    assert!(rig.polls(40).is_empty());
    rig.world.set("mlx5_0", 2, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_0", "h mlx5_0/1", "h mlx5_0/2"]);
}

#[test]
fn a_port_missing_from_a_listed_device_is_fatal_and_recovers() {
    let mut rig = Rig::started(&[nic(0).ports(2), nic(1).ports(2)]);
    rig.world.drop_port("mlx5_0", 2);
    assert_eq!(
        rig.poll(),
        ["F mlx5_0/2: Port mlx5_0 port 2 disappeared from sysfs"]
    );
    assert!(rig.polls(3).is_empty());
    rig.world.set_layer("mlx5_0", 2, "InfiniBand");
    rig.world.set("mlx5_0", 2, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_0/2"]);
}

#[test]
fn an_empty_listing_of_ports_holds_one_poll() {
    let mut rig = Rig::started(&nics(2));
    rig.world.drop_port("mlx5_0", 1);
    assert!(rig.poll().is_empty());
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
}

#[test]
fn a_missing_class_folder_is_a_failed_poll_until_the_patience_is_over() {
    let mut rig = Rig::started(&nics(2));
    rig.world
        .errors
        .insert(ANCHOR.to_owned(), ReadError::ENOENT);
    assert!(rig.polls(31).is_empty());
    assert_eq!(brief(&rig.poll()), ["F mlx5_0", "F mlx5_1"]);
    assert!(rig.polls(3).is_empty());
    rig.world.errors.clear();
    let said = rig.poll();
    assert_eq!(
        brief(&said),
        ["h mlx5_0", "h mlx5_0/1", "h mlx5_1", "h mlx5_1/1"]
    );
}

#[test]
fn a_renamed_device_is_no_disappearance() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(1).named("mlx5_7"));
    assert!(rig.polls(3).is_empty());
    rig.world.set("mlx5_7", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_7/1"]);
}

#[test]
fn a_fault_follows_its_function_to_the_new_name() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(1).named("mlx5_7"));
    rig.world.set("mlx5_7", 1, DISABLED);
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_1/1: NIC mlx5_1 is now mlx5_7: clearing",
            "F mlx5_7/1: Port mlx5_7 port 1: state DOWN, phys_state Disabled",
        ]
    );
    rig.world.set("mlx5_7", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_7/1"]);
}

#[test]
fn two_names_swapped_swap_their_faults() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.world.set("mlx5_1", 1, INIT);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1", "n mlx5_1/1"]);
    for name in ["mlx5_0", "mlx5_1"] {
        rig.world.drop_device(name);
    }
    rig.world.put_device(&nic(0).named("mlx5_1"));
    rig.world.put_device(&nic(1).named("mlx5_0"));
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.world.set("mlx5_0", 1, INIT);
    let said = rig.poll();
    assert_eq!(
        brief(&said),
        ["h mlx5_0/1", "h mlx5_1/1", "n mlx5_0/1", "F mlx5_1/1"]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_vanished_device_that_returns_under_another_name_is_cleared_under_the_old() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.poll();
    rig.world.put_device(&nic(1).named("mlx5_7"));
    rig.world.set("mlx5_7", 1, POLLING);
    assert_eq!(rig.poll(), ["h mlx5_1: NIC mlx5_1 is now mlx5_7: clearing"]);
    assert!(rig.polls(20).is_empty(), "it may be training");
    rig.world.set("mlx5_7", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_7/1"]);
    assert!(rig.polls(3).is_empty());
}

#[test]
fn names_swapped_over_a_disappearance_clear_each_other() {
    let mut rig = Rig::started(&nics(2));
    for name in ["mlx5_0", "mlx5_1"] {
        rig.world.drop_device(name);
    }
    assert_eq!(brief(&rig.poll()), ["F mlx5_0", "F mlx5_1"]);
    rig.world.put_device(&nic(0).named("mlx5_1"));
    rig.world.put_device(&nic(1).named("mlx5_0"));
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_0", "h mlx5_1", "h mlx5_0/1", "h mlx5_1/1"]
    );
    assert!(rig.polls(40).is_empty());
}

#[test]
fn a_function_renamed_onto_an_unreadable_entry_is_waited_for() {
    let mut rig = Rig::started(&nics(3));
    let renamed = Nic {
        name: "mlx5_9".to_owned(),
        ..nic(1)
    };
    let entry = format!("{ANCHOR}/mlx5_9");
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&renamed);
    rig.world.errors.insert(entry.clone(), ReadError::EIO);
    assert!(rig.polls(30).is_empty(), "an unreadable path is no fatal");
    rig.world.errors.remove(&entry);
    assert!(rig.polls(3).is_empty(), "nothing stood under the old name");
    rig.world.set("mlx5_9", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_9/1"]);
}

#[test]
fn an_entry_that_was_unreadable_before_hides_no_disappearance() {
    let mut rig = Rig::new(&nics(3));
    let stranger = Nic {
        name: "mlx5_9".to_owned(),
        ..nic(9)
    };
    rig.world.put_device(&stranger);
    let entry = format!("{ANCHOR}/mlx5_9");
    rig.world.errors.insert(entry, ReadError::EIO);
    rig.polls(40);
    rig.world.drop_device("mlx5_1");
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
}

#[test]
fn a_missing_device_beside_a_new_unreadable_entry_is_fatal_after_the_patience() {
    let mut rig = Rig::started(&nics(3));
    let stranger = Nic {
        name: "mlx5_9".to_owned(),
        ..nic(9)
    };
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&stranger);
    let entry = format!("{ANCHOR}/mlx5_9");
    rig.world.errors.insert(entry, ReadError::EIO);
    assert!(rig.polls(31).is_empty());
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
}

#[test]
fn a_device_that_stays_away_costs_no_write() {
    for polls in ["1", "3"] {
        let mut rig = Rig::new(&nics(3));
        rig.args = vec![format!("--disappearance-polls={polls}")];
        rig.poll();
        rig.world.drop_device("mlx5_1");
        assert_eq!(brief(&rig.polls(3)), ["F mlx5_1"]);
        let saves = rig.saves;
        rig.polls(5);
        assert_eq!(rig.saves, saves);
    }
}

/// Another device takes the name of one that disappeared, and is unhealthy under it; then the first
/// returns under a third name. The clear of the old name also clears the newcomer's faults at the
/// connector, so only these are reported again.
#[test]
fn a_clearing_under_a_borrowed_name_repeats_what_stands_of_the_borrower() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_2", 1, DISABLED);
    rig.world.drop_device("mlx5_0");
    assert_eq!(brief(&rig.poll()), ["F mlx5_0", "F mlx5_2/1"]);
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(1).named("mlx5_0"));
    rig.world.set("mlx5_0", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
    rig.world.put_device(&nic(0).named("mlx5_5"));
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_0: NIC mlx5_0 is now mlx5_5: clearing",
            "F mlx5_0/1: Port mlx5_0 port 1: state DOWN, phys_state Disabled",
            "h mlx5_5/1: Port mlx5_5 port 1: healthy (ACTIVE, LinkUp)",
        ]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_ports_clearing_under_a_borrowed_name_repeats_that_port_alone() {
    let mut rig = Rig::new(&[nic(0), nic(1).ports(2), nic(2)]);
    rig.args = vec!["--disappearance-polls=5".to_owned()];
    rig.poll();
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.world.set("mlx5_2", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1", "F mlx5_2/1"]);
    rig.world.drop_device("mlx5_0");
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(1).ports(2).named("mlx5_0"));
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.world.set("mlx5_0", 2, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1", "F mlx5_0/2"]);
    rig.world.put_device(&nic(0).named("mlx5_5"));
    rig.world.set("mlx5_5", 1, DISABLED);
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_0/1", "F mlx5_0/1", "F mlx5_5/1"]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_card_whose_device_went_is_not_said_again() {
    let mut rig = Rig::new(&nics(3));
    rig.world.set("mlx5_2", 1, DISABLED);
    let said = rig.poll();
    assert!(brief(&said).contains(&"F 0000:12:00"), "{said:?}");
    rig.world.drop_device("mlx5_2");
    assert_eq!(brief(&rig.polls(5)), ["F mlx5_2"]);
}

#[test]
fn a_device_is_not_back_while_its_port_cannot_be_read() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
    rig.world.put_device(&nic(1));
    let state = format!("{ANCHOR}/mlx5_1/ports/1/state");
    rig.world.errors.insert(state, ReadError::EIO);
    assert!(rig.polls(5).is_empty());
    rig.world.errors.clear();
    assert_eq!(brief(&rig.poll()), ["h mlx5_1", "h mlx5_1/1"]);
}

#[test]
fn a_name_that_cannot_be_read_is_not_whom_another_name_shows() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(1).named("mlx5_9"));
    rig.world.put_device(&nic(5).named("mlx5_1"));
    let entry = format!("{ANCHOR}/mlx5_1");
    rig.world.link_errors.insert(entry, ReadError::EIO);
    rig.world.set("mlx5_1", 1, DISABLED);
    assert!(rig.polls(3).is_empty());
    rig.world.set("mlx5_9", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_9/1"]);
}

/// Two functions had one name after the other, each with a fault under it, and both have other
/// names now.
#[test]
fn a_clearing_that_is_pending_twice_is_reported_once() {
    let mut rig = Rig::new(&nics(2));
    rig.args = vec!["--disappearance-polls=5".to_owned()];
    rig.poll();
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.poll();
    rig.world.drop_device("mlx5_0");
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(1).named("mlx5_0"));
    rig.world.set("mlx5_0", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
    rig.world.drop_device("mlx5_0");
    for (index, name) in [(0, "mlx5_5"), (1, "mlx5_6")] {
        rig.world.put_device(&nic(index).named(name));
    }
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_0/1", "h mlx5_5/1", "h mlx5_6/1"]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn an_unreadable_newcomer_of_a_known_function_hides_no_disappearance() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(9));
    let mark = format!("{ANCHOR}/mlx5_9/device/physfn");
    rig.world.errors.insert(mark, ReadError::EIO);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
}

#[test]
fn an_uncabled_port_stays_quiet_under_a_new_name() {
    let mut rig = half_cabled();
    rig.polls(40);
    rig.world.drop_device("mlx5_1");
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
    rig.world.put_device(&nic(1).ports(2).named("mlx5_7"));
    rig.world.set("mlx5_7", 2, POLLING);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1", "h mlx5_7/1"]);
    assert!(rig.polls(60).is_empty());
}

#[test]
fn the_patience_with_a_missing_class_folder_survives_a_restart() {
    let mut rig = Rig::started(&nics(2));
    rig.world
        .errors
        .insert(ANCHOR.to_owned(), ReadError::ENOENT);
    assert!(rig.polls(15).is_empty());
    rig.restart();
    assert!(rig.polls(16).is_empty());
    assert_eq!(brief(&rig.poll()), ["F mlx5_0", "F mlx5_1"]);
}

/// The second port of each device is not cabled, and nothing was said of it: one of them is lost from
/// sight by `lose`, for so many polls, and comes back as it was.
#[rstest]
#[case::missing(lose_port, 3, 'F')]
#[case::unreadable(cannot_read, 40, 'n')]
#[case::device_missing(lose_device, 3, 'F')]
fn what_is_said_of_a_dark_port_is_taken_back_once_it_is_as_before(
    #[case] lose: fn(&mut Rig),
    #[case] polls: usize,
    #[case] kind: char,
    // At a poll within the patience of the first poll, and after it.
    #[values(5, 45)] from: usize,
) {
    let mut rig = half_cabled();
    rig.polls(from);
    lose(&mut rig);
    // Devices and cards have a baseline of their own.
    let faults = |said: &[String]| said.iter().filter(|it| !it.starts_with('h')).count();
    let said = rig.polls(polls);
    // A port that was judged and suppressed is not reported because it cannot be read.
    let is_quiet = from > 30 && kind == 'n';
    assert_eq!(faults(&said), usize::from(!is_quiet), "{said:?}");
    let is_fault = |line: &&String| line.starts_with(kind);
    assert_eq!(
        said.iter().filter(is_fault).count(),
        faults(&said),
        "{said:?}"
    );
    restore(&mut rig);
    let said = rig.polls(40);
    assert_eq!(faults(&said), 0, "{said:?}");
    assert_eq!(rig.agent.as_ref().unwrap().standing(), vec![]);
    rig.world.set("mlx5_1", 2, UP);
    assert!(
        brief(&rig.polls(3)).contains(&"h mlx5_1/2"),
        "its first healthy reading is an event all the same"
    );
}

fn lose_port(rig: &mut Rig) {
    rig.world.drop_port("mlx5_1", 2);
}

fn cannot_read(rig: &mut Rig) {
    let path = format!("{ANCHOR}/mlx5_1/ports/2/state");
    rig.world.errors.insert(path, ReadError::EIO);
}

fn lose_device(rig: &mut Rig) {
    rig.world.drop_device("mlx5_1");
}

fn restore(rig: &mut Rig) {
    rig.world.errors.clear();
    rig.world.put_device(&nic(1).ports(2));
    rig.world.set("mlx5_1", 2, POLLING);
}

#[test]
fn what_is_said_of_a_dark_port_is_taken_back_in_these_words() {
    let mut rig = half_cabled();
    rig.polls(40);
    lose_port(&mut rig);
    assert_eq!(
        rig.poll(),
        ["F mlx5_1/2: Port mlx5_1 port 2 disappeared from sysfs"]
    );
    restore(&mut rig);
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_1/2: Port mlx5_1 port 2: state DOWN, phys_state Polling, as before the fault: clearing"
        ]
    );
}

/// Lost from sight in more than one way, in any order, through restarts, reboots and outages of the
/// connector: once the port is there as it was, nothing stands.
#[rstest]
fn a_dark_port_that_is_lost_in_two_ways_is_taken_back(
    #[values(lose_port, cannot_read, lose_device)] first: fn(&mut Rig),
    #[values(lose_port, cannot_read, lose_device)] second: fn(&mut Rig),
    #[values("nothing", "restart", "reboot", "outage", "rename")] between: &str,
    #[values(5, 45)] from: usize,
) {
    let mut rig = half_cabled();
    rig.polls(from);
    first(&mut rig);
    rig.polls(40);
    second(&mut rig);
    match between {
        "restart" => rig.restart(),
        "reboot" => rig.reboot(),
        "outage" => rig.connector = Connector::Missing,
        _ => {}
    }
    rig.polls(40);
    restore(&mut rig);
    if between == "rename" {
        rig.world.drop_device("mlx5_1");
        rig.world.put_device(&nic(1).ports(2).named("mlx5_9"));
        rig.world.set("mlx5_9", 2, POLLING);
    }
    rig.polls(2);
    rig.connector = Connector::Accepts;
    rig.polls(3);
    assert_eq!(rig.agent.as_ref().unwrap().standing(), vec![]);
    assert!(rig.polls(40).is_empty());
}
