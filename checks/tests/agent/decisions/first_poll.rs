//! First polls: without state, with and without peers, and of devices that appear later.

use checks::ReadError;

use super::{half_cabled, nics};
use crate::world::{ANCHOR, DISABLED, INIT, Nic, POLLING, Rig, UP, brief, nic};

#[test]
fn a_blind_first_poll_says_every_healthy_port_device_and_card() {
    let mut rig = Rig::new(&nics(3));
    let said = rig.poll();
    assert_eq!(
        brief(&said),
        [
            "h mlx5_0",
            "h mlx5_0/1",
            "h mlx5_1",
            "h mlx5_1/1",
            "h mlx5_2",
            "h mlx5_2/1",
            "h 0000:10:00",
            "h 0000:11:00",
            "h 0000:12:00",
        ]
    );
    assert_eq!(said[0], "h mlx5_0: Device mlx5_0 re-enumerated in sysfs");
    assert_eq!(
        said[1],
        "h mlx5_0/1: Port mlx5_0 port 1: healthy (ACTIVE, LinkUp)"
    );
    assert_eq!(
        said[6],
        "h 0000:10:00: Card 0000:10:00 (compute) healthy: 1 active ports meet peer mode 1"
    );
    assert!(rig.polls(5).is_empty());
}

#[test]
fn a_dead_port_with_peers_is_said_with_its_card() {
    let mut rig = Rig::new(&nics(3));
    rig.world.set("mlx5_2", 1, DISABLED);
    let said = rig.poll();
    let bad: Vec<&String> = said.iter().filter(|line| line.starts_with('F')).collect();
    assert_eq!(
        bad,
        [
            "F mlx5_2/1: Port mlx5_2 port 1: state DOWN, phys_state Disabled",
            "F 0000:12:00: Card 0000:12:00 (compute) has 0 active ports, expected 1 (peer mode)",
        ]
    );
    rig.world.set("mlx5_2", 1, UP);
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_2", "h mlx5_2/1", "h 0000:12:00"]
    );
}

#[test]
fn a_dead_port_without_peer_evidence_is_silent_until_it_is_healthy() {
    for others in [0, 1] {
        let mut rig = Rig::new(&nics(1 + others));
        rig.world.set("mlx5_0", 1, DISABLED);
        let said = rig.poll();
        assert!(said.iter().all(|line| line.starts_with('h')), "{said:?}");
        rig.world.set("mlx5_0", 1, POLLING);
        assert!(rig.polls(60).iter().all(|line| line.starts_with('h')));
        rig.world.set("mlx5_0", 1, UP);
        assert!(brief(&rig.poll()).contains(&"h mlx5_0/1"));
        rig.world.set("mlx5_0", 1, DISABLED);
        assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"], "it was seen healthy");
    }
}

#[test]
fn a_port_that_may_be_training_waits_out_the_patience_with_its_card() {
    for training in [POLLING, INIT, ("1: DOWN", "4: PortConfigurationTraining")] {
        let mut rig = Rig::new(&nics(3));
        rig.world.set("mlx5_2", 1, training);
        let first = rig.poll();
        assert_eq!(first.len(), 6, "{first:?}");
        assert!(rig.polls(30).is_empty());
        let said = rig.poll();
        let worst = if training == INIT {
            "n mlx5_2/1"
        } else {
            "F mlx5_2/1"
        };
        assert_eq!(brief(&said), [worst, "F 0000:12:00"]);
    }
}

#[test]
fn ports_that_train_at_the_start_are_healthy_in_the_end() {
    let mut rig = Rig::new(&nics(4));
    for index in 0..4 {
        rig.world.set(&format!("mlx5_{index}"), 1, POLLING);
    }
    assert!(rig.polls(3).is_empty());
    let mut said = Vec::new();
    for index in 0..4 {
        rig.world.set(&format!("mlx5_{index}"), 1, UP);
        said.extend(rig.polls(2));
    }
    assert!(said.iter().all(|line| line.starts_with('h')), "{said:?}");
    let ports = said
        .iter()
        .filter(|line| line.contains("healthy (ACTIVE"))
        .count();
    assert_eq!(ports, 4);
}

#[test]
fn exactly_half_the_cards_is_a_tie_and_no_evidence() {
    let mut rig = Rig::new(&nics(4));
    rig.world.set("mlx5_2", 1, DISABLED);
    rig.world.set("mlx5_3", 1, DISABLED);
    let said = rig.polls(60);
    assert_eq!(
        brief(&said),
        ["h mlx5_0", "h mlx5_0/1", "h mlx5_1", "h mlx5_1/1"]
    );
}

#[test]
fn a_function_that_is_missing_at_the_start_is_its_cards_fault() {
    let mut nics: Vec<_> = Vec::new();
    for card in 0..3_u32 {
        for function in 0..2_u32 {
            let index = 2 * card + function;
            nics.push(nic(index).at(&format!("0000:{:02x}:00.{function}", 0x10 + card)));
        }
    }
    nics.pop();
    let mut rig = Rig::new(&nics);
    let said = rig.poll();
    let bad: Vec<&String> = said.iter().filter(|line| line.starts_with('F')).collect();
    assert_eq!(
        bad,
        ["F 0000:12:00: Card 0000:12:00 (compute) has 1 active ports, expected 2 (peer mode)"]
    );
}

#[test]
fn one_port_cabled_on_every_card_is_how_the_node_is() {
    let mut rig = half_cabled();
    let said = rig.polls(60);
    assert!(said.iter().all(|line| line.starts_with('h')), "{said:?}");
    assert_eq!(
        said.len(),
        6,
        "ports and cards; no device is whole: {said:?}"
    );
}

#[test]
fn a_management_sibling_exempts_its_card() {
    let mut rig = Rig::new(&[
        nic(0),
        nic(1),
        nic(2).at("0000:12:00.0"),
        nic(3).at("0000:12:00.1").numa(5),
    ]);
    rig.world.set("mlx5_2", 1, DISABLED);
    let said = rig.polls(60);
    assert!(said.iter().all(|line| line.starts_with('h')), "{said:?}");
    assert!(
        said.iter().all(|line| !line.contains("0000:12:00")),
        "{said:?}"
    );
}

#[test]
fn a_device_first_seen_later_is_judged_as_on_a_first_poll() {
    let mut rig = Rig::started(&nics(3));
    rig.world.put_device(&nic(3));
    rig.world.set("mlx5_3", 1, POLLING);
    assert!(rig.polls(31).is_empty());
    assert_eq!(brief(&rig.poll()), ["F mlx5_3/1", "F 0000:13:00"]);
    rig.world.set("mlx5_3", 1, UP);
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_3", "h mlx5_3/1", "h 0000:13:00"]
    );
}

#[test]
fn a_card_fault_is_cleared_without_evidence_by_what_was_expected() {
    let mut rig = Rig::new(&nics(3));
    rig.world.set("mlx5_2", 1, DISABLED);
    rig.poll();
    for name in ["mlx5_0", "mlx5_1"] {
        rig.world.drop_device(name);
    }
    rig.poll();
    rig.world.set("mlx5_2", 1, UP);
    let said = rig.poll();
    assert_eq!(
        said.last().unwrap(),
        "h 0000:12:00: Card 0000:12:00 (compute) healthy: 1 active ports meet peer mode 1"
    );
}

#[test]
fn a_node_without_a_monitored_device_says_so_once() {
    let mut rig = Rig::new(&[]);
    assert!(rig.polls(3).is_empty());
    assert_eq!(rig.records_with("no device is monitored"), 1);
}

#[test]
fn cards_that_meet_late_after_a_blind_start_say_so() {
    let mut rig = Rig::new(&nics(2));
    rig.world.set("mlx5_0", 1, DISABLED);
    assert_eq!(brief(&rig.polls(3)), ["h mlx5_1", "h mlx5_1/1"]);
    rig.world.set("mlx5_0", 1, UP);
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_0", "h mlx5_0/1", "h 0000:10:00", "h 0000:11:00"]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_lonely_card_meets_the_first_peer_that_comes() {
    let mut rig = Rig::started(&nics(1));
    rig.polls(3);
    rig.world.put_device(&nic(1));
    let said = rig.polls(2);
    assert!(brief(&said).contains(&"h 0000:10:00"), "{said:?}");
    assert!(brief(&said).contains(&"h 0000:11:00"), "{said:?}");
}

#[test]
fn a_quiet_port_that_gets_worse_is_judged_by_the_peers_of_that_poll() {
    let mut rig = Rig::started(&nics(3));
    rig.reboot();
    for name in ["mlx5_1", "mlx5_2"] {
        rig.world.set(name, 1, INIT);
    }
    assert_eq!(brief(&rig.polls(40)), ["h mlx5_0/1"], "nobody is evidence");
    rig.world.set("mlx5_1", 1, UP);
    rig.world.set("mlx5_2", 1, DISABLED);
    let said = rig.polls(2);
    assert!(brief(&said).contains(&"F mlx5_2/1"), "{said:?}");
}

#[test]
fn a_function_that_is_missing_after_a_reboot_is_its_cards_fault() {
    let mut rig = Rig::started(&cards_of_two());
    rig.reboot();
    rig.world.drop_device("mlx5_5");
    let said = rig.poll();
    assert_eq!(
        said.last().unwrap(),
        "F 0000:22:00: Card 0000:22:00 (compute) has 1 active ports, expected 2 (peer mode)"
    );
}

#[test]
fn a_card_that_could_not_be_read_at_the_start_is_judged_when_it_can() {
    let mut rig = Rig::new(&nics(3));
    let state = format!("{ANCHOR}/mlx5_1/ports/1/state");
    rig.world.errors.insert(state, ReadError::EIO);
    assert_eq!(rig.polls(10).len(), 6);
    rig.world.errors.clear();
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1", "F 0000:11:00"]);
}

#[test]
fn a_port_that_goes_while_it_trains_holds_up_its_card_no_longer() {
    let nics: Vec<_> = (0..3).map(|index| nic(index).ports(2)).collect();
    let mut rig = Rig::new(&nics);
    rig.world.set("mlx5_2", 2, POLLING);
    assert!(rig.poll().iter().all(|line| line.starts_with('h')));
    rig.world.drop_port("mlx5_2", 2);
    assert_eq!(brief(&rig.poll()), ["F mlx5_2/2", "F 0000:12:00"]);
}

/// Three cards with two functions each, 0000:20:00 to 0000:22:00.
fn cards_of_two() -> Vec<Nic> {
    let card = |index: u32| nic(index).at(&format!("0000:{}:00.{}", 20 + index / 2, index % 2));
    (0..6).map(card).collect()
}

#[test]
fn a_card_is_not_judged_while_a_function_of_it_may_come_back() {
    let mut rig = Rig::new(&cards_of_two());
    rig.args = vec!["--disappearance-polls=5".to_owned()];
    rig.world.set("mlx5_5", 1, POLLING);
    rig.poll();
    rig.world.drop_device("mlx5_4");
    rig.world.set("mlx5_5", 1, UP);
    assert_eq!(brief(&rig.polls(3)), ["h mlx5_5", "h mlx5_5/1"]);
    rig.world.put_device(&nic(4).at("0000:22:00.0"));
    assert_eq!(brief(&rig.polls(3)), ["h 0000:22:00"]);
}

// A card with an unreadable device is neither judged nor counted.
#[test]
fn a_card_is_not_judged_while_a_function_of_it_is_unknown() {
    let mut rig = Rig::new(&cards_of_two());
    let mark = format!("{ANCHOR}/mlx5_5/device/physfn");
    rig.world.errors.insert(mark, ReadError::EIO);
    let said = rig.polls(40);
    assert!(said.iter().all(|line| line.starts_with('h')), "{said:?}");
    assert!(!brief(&said).contains(&"h 0000:22:00"), "{said:?}");
}

#[test]
fn exempt_cards_are_no_peers() {
    let mut rig = Rig::new(&[
        nic(0),
        nic(1),
        nic(2).at("0000:12:00.0"),
        nic(3).at("0000:12:00.1").numa(5),
        nic(4).at("0000:14:00.0"),
        nic(5).at("0000:14:00.1").numa(5),
    ]);
    for name in ["mlx5_2", "mlx5_4"] {
        rig.world.set(name, 1, DISABLED);
    }
    let said = rig.poll();
    assert_eq!(brief(&said)[4..], ["h 0000:10:00", "h 0000:11:00"]);
}
