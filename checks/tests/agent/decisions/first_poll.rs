//! First polls: without state, with and without peers, and of devices that appear later.

use checks::ReadError;

use super::{half_cabled, nics};
use crate::world::{ANCHOR, Connector, DISABLED, INIT, Nic, POLLING, Rig, UP, brief, nic};

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
    assert_eq!(
        said[0],
        "h mlx5_0: Device mlx5_0: healthy (every port ACTIVE, LinkUp)"
    );
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

/// The severity table is silent about these pairs of a RoCE port, so its card alone would be told.
#[test]
fn a_roce_port_that_its_peers_condemn_is_said_with_its_card() {
    let message = |state, phys| {
        [
            format!("F mlx5_2/1: RoCE port mlx5_2 port 1: state {state}, phys_state {phys}"),
            "F 0000:12:00: Card 0000:12:00 (storage) has 0 active ports, expected 1 (peer mode)"
                .to_owned(),
        ]
    };
    for (reading, polls, said) in [
        (INIT, 32, message("INIT", "LinkUp")),
        (("3: ARMED", "5: LinkUp"), 32, message("ARMED", "LinkUp")),
        (
            ("4: ACTIVE", "3: Disabled"),
            1,
            message("ACTIVE", "Disabled"),
        ),
    ] {
        let mut rig = Rig::new(&roce(3));
        rig.world.set("mlx5_2", 1, reading);
        for _ in 1..polls {
            let early = rig.poll();
            assert!(early.iter().all(|line| line.starts_with('h')), "{early:?}");
        }
        let bad: Vec<String> = rig.poll();
        let bad: Vec<&String> = bad.iter().filter(|line| line.starts_with('F')).collect();
        assert_eq!(bad, said.iter().collect::<Vec<_>>());
        assert!(rig.polls(60).is_empty());
        rig.world.set("mlx5_2", 1, UP);
        assert_eq!(
            brief(&rig.poll()),
            ["h mlx5_2", "h mlx5_2/1", "h 0000:12:00"]
        );
        rig.world.set("mlx5_2", 1, INIT);
        assert!(
            rig.polls(30).is_empty(),
            "at run time a port in INIT is silent"
        );
    }
}

#[test]
fn a_roce_port_without_peer_evidence_is_silent() {
    for others in [0, 1] {
        let mut rig = Rig::new(&roce(1 + others));
        rig.world.set("mlx5_0", 1, INIT);
        let said = rig.polls(60);
        assert!(said.iter().all(|line| line.starts_with('h')), "{said:?}");
    }
}

#[test]
fn a_condemned_roce_port_is_said_once_whatever_the_connector_and_a_restart_do() {
    let mut rig = Rig::new(&roce(3));
    rig.world.set("mlx5_2", 1, ("4: ACTIVE", "3: Disabled"));
    rig.connector = Connector::Missing;
    assert!(rig.polls(3).is_empty());
    rig.restart();
    rig.connector = Connector::Accepts;
    let said = rig.poll();
    let bad: Vec<&str> = brief(&said)
        .into_iter()
        .filter(|line| line.starts_with('F'))
        .collect();
    assert_eq!(bad, ["F mlx5_2/1", "F 0000:12:00"]);
    rig.restart();
    assert!(rig.polls(3).is_empty());
    rig.reboot();
    let said = rig.poll();
    assert!(brief(&said).contains(&"F mlx5_2/1"), "{said:?}");
}

fn roce(count: u32) -> Vec<Nic> {
    (0..count).map(|index| nic(index).ethernet()).collect()
}

/// Cards whose first function shares a switch with a GPU (compute) and whose second one does not
/// (storage).
fn cards_of_two_roles(rig_cards: u32) -> Rig {
    let card = |index: u32| {
        nic(index)
            .at(&format!("0000:{}:00.{}", 20 + index / 2, index % 2))
            .ethernet()
    };
    let nics: Vec<Nic> = (0..2 * rig_cards).map(card).collect();
    let mut rig = Rig::new(&nics);
    let rows: Vec<String> = (0..rig_cards)
        .map(|card| {
            format!(
                r#""mlx5_{}":["PIX"],"mlx5_{}":["NODE"]"#,
                2 * card,
                2 * card + 1
            )
        })
        .collect();
    rig.metadata = format!(
        r#"{{"gpus":[{{"numa_node":0}}],"nic_topology":{{{}}}}}"#,
        rows.join(",")
    );
    rig
}

#[test]
fn a_card_of_two_roles_is_compared_in_each() {
    let mut rig = cards_of_two_roles(3);
    rig.world.set("mlx5_5", 1, DISABLED);
    let said = rig.poll();
    let of_card: Vec<&String> = said
        .iter()
        .filter(|line| line.contains("Card 0000:22:00"))
        .collect();
    assert_eq!(
        of_card,
        ["F 0000:22:00: Card 0000:22:00 (storage) has 0 active ports, expected 1 (peer mode)"]
    );
    assert!(brief(&said).contains(&"h mlx5_4/1") && brief(&said).contains(&"F mlx5_5/1"));
    let healthy = said
        .iter()
        .filter(|line| line.starts_with("h 0000"))
        .count();
    assert_eq!(healthy, 2, "one event for a card, not for a role: {said:?}");
    rig.world.set("mlx5_5", 1, UP);
    assert_eq!(
        rig.poll().last().unwrap(),
        "h 0000:22:00: Card 0000:22:00 (storage) healthy: 1 active ports meet peer mode 1"
    );
}

#[test]
fn a_role_with_one_card_is_no_evidence_for_the_card_in_its_other_role() {
    let mut rig = cards_of_two_roles(3);
    for name in ["mlx5_1", "mlx5_3"] {
        rig.world.drop_device(name);
    }
    rig.world.set("mlx5_5", 1, DISABLED);
    let said = rig.polls(60);
    assert!(said.iter().all(|line| line.starts_with('h')), "{said:?}");
    assert!(brief(&said).contains(&"h 0000:22:00"), "{said:?}");
}

#[test]
fn a_card_below_in_both_roles_is_one_fault_until_it_meets_in_both() {
    let mut rig = cards_of_two_roles(3);
    for name in ["mlx5_4", "mlx5_5"] {
        rig.world.set(name, 1, DISABLED);
    }
    let said = rig.poll();
    let of_card: Vec<&String> = said
        .iter()
        .filter(|line| line.contains("Card 0000:22:00"))
        .collect();
    assert_eq!(
        of_card,
        ["F 0000:22:00: Card 0000:22:00 (compute) has 0 active ports, expected 1 (peer mode)"]
    );
    rig.world.set("mlx5_4", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_4", "h mlx5_4/1"]);
    rig.world.set("mlx5_5", 1, UP);
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_5", "h mlx5_5/1", "h 0000:22:00"]
    );
}

/// A NIC that the metadata collector missed must not take a port from its card.
#[test]
fn a_function_that_is_not_in_the_topology_is_compared_with_its_sibling() {
    let mut rig = cards_of_two_roles(3);
    rig.metadata = rig
        .metadata
        .replace("NODE", "PIX")
        .replace("mlx5_5", "mlx5_50");
    let said = rig.polls(40);
    assert!(said.iter().all(|line| line.starts_with('h')), "{said:?}");
    rig.reboot();
    rig.world.set("mlx5_5", 1, DISABLED);
    let said = rig.poll();
    assert_eq!(
        said.last().unwrap(),
        "F 0000:22:00: Card 0000:22:00 (compute) has 1 active ports, expected 2 (peer mode)"
    );
    assert!(brief(&said).contains(&"F mlx5_5/1"), "{said:?}");
}

#[test]
fn a_fault_of_a_card_is_settled_in_the_role_that_it_has_after_a_restart() {
    let mut rig = cards_of_two_roles(3);
    for name in ["mlx5_1", "mlx5_3", "mlx5_5"] {
        rig.world.drop_device(name);
    }
    rig.world.set("mlx5_4", 1, DISABLED);
    assert!(brief(&rig.poll()).contains(&"F 0000:22:00"));
    rig.restart();
    rig.metadata = rig.metadata.replace("PIX", "NODE");
    rig.world.set("mlx5_4", 1, UP);
    let said = rig.poll();
    assert!(brief(&said).contains(&"h 0000:22:00"), "{said:?}");
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

#[test]
fn a_cable_that_is_pulled_before_the_baseline_is_delivered_is_no_fault_of_its_card() {
    let mut rig = Rig::new(&nics(3));
    rig.connector = Connector::Missing;
    rig.polls(3);
    rig.world.set("mlx5_0", 1, POLLING);
    rig.polls(3);
    rig.connector = Connector::Accepts;
    let said = rig.polls(40);
    assert_eq!(
        brief(&said),
        [
            "F mlx5_0/1",
            "h mlx5_1",
            "h mlx5_1/1",
            "h mlx5_2",
            "h mlx5_2/1",
            "h 0000:11:00",
            "h 0000:12:00",
        ],
        "{said:?}"
    );
    rig.world.set("mlx5_0", 1, UP);
    let said = rig.polls(5);
    assert_eq!(
        brief(&said),
        ["h mlx5_0", "h mlx5_0/1", "h 0000:10:00"],
        "the baseline of the card is still pending"
    );
}

#[test]
fn a_card_that_was_dark_before_the_baseline_is_delivered_is_a_fault_of_its_card() {
    let mut rig = Rig::new(&nics(3));
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.connector = Connector::Missing;
    rig.polls(3);
    rig.restart();
    rig.connector = Connector::Accepts;
    let said = rig.polls(3);
    let bad: Vec<&str> = brief(&said)
        .into_iter()
        .filter(|it| it.starts_with('F'))
        .collect();
    assert_eq!(bad, ["F mlx5_0/1", "F 0000:10:00"]);
}

#[test]
fn a_device_that_enters_while_nobody_listens_and_then_loses_its_cable_is_no_fault_of_its_card() {
    let mut rig = Rig::started(&nics(3));
    rig.connector = Connector::Missing;
    rig.world.put_device(&nic(5));
    rig.polls(2);
    rig.world.set("mlx5_5", 1, POLLING);
    rig.polls(2);
    rig.connector = Connector::Accepts;
    assert_eq!(brief(&rig.polls(40)), ["F mlx5_5/1"]);
}

#[test]
fn a_port_that_fails_while_its_sibling_trains_is_no_fault_of_its_card() {
    let nics: Vec<Nic> = (0..3).map(|index| nic(index).ports(2)).collect();
    let mut rig = Rig::new(&nics);
    rig.world.set("mlx5_0", 1, POLLING);
    rig.poll();
    rig.world.set("mlx5_0", 2, DISABLED);
    assert_eq!(brief(&rig.polls(5)), ["F mlx5_0/2"]);
    rig.world.set("mlx5_0", 1, UP);
    let said = rig.polls(40);
    assert_eq!(brief(&said), ["h mlx5_0/1"], "{said:?}");
}
