//! Functions that leave and return, and their names.

use std::collections::BTreeMap;

use fabric::{Action, ActionError, DeviceAction, Fabric, NodeAction, PortAction, PortsAction};
use platforms::LinkLayer::{self, Ethernet, InfiniBand};
use platforms::{DeviceName, LinkEvent, PciAddress, SlotRef};
use rstest::rstest;
use simfs::SimTime;

use crate::room::{
    act, check, count, firmware_reset, function, netdev, node, pci, port, slot, states, to_ms,
    world, world_of,
};

const UP: &str = "ACTIVE/LinkUp";

/// The visible parts of a function: `pci`, `net`, `rdma`.
fn seen(world: &Fabric, pci: PciAddress) -> String {
    let machine = world.machine(&node()).expect("the node is there");
    let Some(function) = machine.functions.get(&pci) else {
        return String::new();
    };
    let net = if function.netdevs.is_empty() {
        ""
    } else {
        " net"
    };
    let rdma = if function.rdma.is_some() { " rdma" } else { "" };
    format!("pci{net}{rdma}")
}

fn name(world: &Fabric, slot: &SlotRef) -> String {
    world
        .name_of(&function(slot))
        .expect("it has a name")
        .to_string()
}

fn edges(world: &Fabric, slot: &SlotRef) -> Vec<(u64, bool)> {
    world
        .edges(slot)
        .iter()
        .map(|edge| (edge.at.as_ms(), edge.healthy))
        .collect()
}

#[rstest]
#[case(InfiniBand, 300)]
#[case(Ethernet, 150)]
fn a_removed_function_returns_pci_first_then_its_devices_and_then_its_ports_train(
    #[case] layer: LinkLayer,
    #[case] walk_ms: u64,
) {
    let mut world = world_of(layer);
    let victim = slot(&world, 2);
    let before = world.machine(&node()).expect("the node is there").functions[&victim.pci].clone();
    let borne = name(&world, &victim);
    to_ms(&mut world, 1_000);
    act(&mut world, DeviceAction::Remove.on(function(&victim)));
    assert_eq!(
        (
            seen(&world, victim.pci).as_str(),
            states(&world, &victim).as_str()
        ),
        ("", "gone")
    );
    assert_eq!(name(&world, &victim), borne);
    assert_eq!(
        world.function_named(&node(), &DeviceName(borne.clone())),
        Some(function(&victim))
    );
    to_ms(&mut world, 8_000);
    act(&mut world, DeviceAction::Restore.on(function(&victim)));
    assert_eq!(seen(&world, victim.pci), "pci");
    to_ms(&mut world, 8_099);
    assert_eq!(seen(&world, victim.pci), "pci");
    to_ms(&mut world, 8_100);
    assert_eq!(seen(&world, victim.pci), "pci net rdma");
    assert!(states(&world, &victim).starts_with("DOWN/"));
    to_ms(&mut world, 8_100 + walk_ms);
    assert_eq!(states(&world, &victim), UP);
    assert_eq!(
        edges(&world, &victim),
        [(1_000, false), (8_100 + walk_ms, true)]
    );
    assert_eq!(name(&world, &victim), borne);
    let after = world.machine(&node()).expect("the node is there").functions[&victim.pci].clone();
    assert!(
        after.incarnation > before.incarnation,
        "a function that returns is another one"
    );
    assert_ne!(after.netdevs[0].ifindex, before.netdevs[0].ifindex);
    assert!(world.settled());
}

#[rstest]
fn a_driver_reload_takes_the_class_and_every_rdma_device(
    #[values(InfiniBand, Ethernet)] layer: LinkLayer,
) {
    let mut world = world_of(layer);
    let (one, other) = (slot(&world, 0), slot(&world, 1));
    let names = [name(&world, &one), name(&world, &other)];
    act(&mut world, NodeAction::DriverUnload.on(node()));
    let machine = world.machine(&node()).expect("the node is there");
    assert!(!machine.class_present);
    assert!(
        machine
            .functions
            .values()
            .all(|function| function.rdma.is_none())
    );
    assert_eq!(seen(&world, one.pci), "pci");
    let swapped = BTreeMap::from([
        (one.pci, DeviceName(names[1].clone())),
        (other.pci, DeviceName(names[0].clone())),
    ]);
    to_ms(&mut world, 90_000);
    act(
        &mut world,
        NodeAction::DriverLoad { names: swapped }.on(node()),
    );
    to_ms(&mut world, 90_300);
    assert_eq!([name(&world, &other), name(&world, &one)], names);
    assert!(world.settled(), "every port that should be up is");
    assert!(
        world
            .machine(&node())
            .is_some_and(|machine| machine.class_present)
    );
}

#[rstest]
fn a_firmware_reset_takes_every_function_of_the_card() {
    let mut world = world("l40-onprem");
    let victim = slot(&world, 0);
    let card: Vec<PciAddress> = world
        .machine(&node())
        .expect("the node is there")
        .functions
        .keys()
        .copied()
        .collect();
    let (mates, others): (Vec<_>, Vec<_>) = card
        .into_iter()
        .partition(|pci| pci.card() == victim.pci.card());
    assert!(
        mates.len() > 1 && !others.is_empty(),
        "a platform with two cards of two functions"
    );
    act(&mut world, firmware_reset(&victim, 20));
    to_ms(&mut world, 19_899);
    assert!(mates.iter().all(|pci| seen(&world, *pci).is_empty()));
    assert!(
        others
            .iter()
            .all(|pci| seen(&world, *pci) == "pci net rdma")
    );
    to_ms(&mut world, 19_900);
    assert!(mates.iter().all(|pci| seen(&world, *pci) == "pci"));
    to_ms(&mut world, 20_000);
    assert!(mates.iter().all(|pci| seen(&world, *pci) == "pci net rdma"));
    to_ms(&mut world, 20_300);
    assert!(world.settled());
}

#[rstest]
fn a_pci_error_takes_the_rdma_device_and_leaves_the_interface(
    #[values(InfiniBand, Ethernet)] layer: LinkLayer,
) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    act(
        &mut world,
        DeviceAction::PciError {
            takes: SimTime::from_secs(63),
        }
        .on(function(&victim)),
    );
    assert_eq!(seen(&world, victim.pci), "pci net");
    assert!(netdev(&world, &victim).is_some_and(|netdev| !netdev.carrier));
    to_ms(&mut world, 63_000);
    assert_eq!(seen(&world, victim.pci), "pci net rdma");
    to_ms(&mut world, 63_300);
    assert_eq!(states(&world, &victim), UP);
    let log: Vec<&str> = world
        .kernel_log(&node())
        .iter()
        .map(|line| line.text.as_str())
        .collect();
    assert!(
        log.iter()
            .any(|line| line.contains("mlx5_pci_err_detected")),
        "{log:?}"
    );
    assert!(
        log.iter().any(|line| line.contains("mlx5_pci_resume")),
        "{log:?}"
    );
}

#[test]
fn what_falls_off_the_bus_during_a_reset_is_out_until_restored_and_then_back_at_once() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let reset = firmware_reset(&victim, 10);
    act(&mut world, reset.clone());
    act(&mut world, DeviceAction::Remove.on(function(&victim)));
    to_ms(&mut world, 60_000);
    assert_eq!(seen(&world, victim.pci), "");
    act(&mut world, DeviceAction::Restore.on(function(&victim)));
    to_ms(&mut world, 60_250);
    assert_eq!(states(&world, &victim), UP);
    act(&mut world, reset);
    act(&mut world, DeviceAction::Remove.on(function(&victim)));
    act(&mut world, DeviceAction::Restore.on(function(&victim)));
    to_ms(&mut world, 60_500);
    assert_eq!(
        states(&world, &victim),
        UP,
        "the reset is over with the removal"
    );
}

#[test]
fn a_swap_of_names_keeps_the_slots() {
    let mut world = world_of(Ethernet);
    let (one, other) = (slot(&world, 0), slot(&world, 1));
    let [first, second] = [name(&world, &one), name(&world, &other)];
    act(
        &mut world,
        DeviceAction::Rename {
            to: DeviceName(second.clone()),
        }
        .on(function(&one)),
    );
    assert_eq!(
        [name(&world, &one), name(&world, &other)],
        [second.clone(), first]
    );
    act(&mut world, PortAction::Cut.on(one.clone()));
    check(&mut world, &one, &[(0, "DOWN/Disabled")]);
    check(&mut world, &other, &[(0, UP)]);
    assert_eq!(
        world.function_named(&node(), &DeviceName(second)),
        Some(function(&one))
    );
}

#[test]
fn a_device_that_returns_to_a_taken_name_gets_the_lowest_free_one() {
    let mut world = world_of(Ethernet);
    let (gone, taker) = (slot(&world, 0), slot(&world, 1));
    let [lost, freed] = [name(&world, &gone), name(&world, &taker)];
    act(&mut world, DeviceAction::Remove.on(function(&gone)));
    act(
        &mut world,
        DeviceAction::Rename {
            to: DeviceName(lost.clone()),
        }
        .on(function(&taker)),
    );
    assert_eq!(
        world.function_named(&node(), &DeviceName(lost.clone())),
        Some(function(&taker))
    );
    act(&mut world, DeviceAction::Restore.on(function(&gone)));
    to_ms(&mut world, 1_000);
    assert_eq!([name(&world, &taker), name(&world, &gone)], [lost, freed]);
}

#[test]
fn a_replaced_function_has_other_numbers_in_the_same_place() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 1);
    act(&mut world, PortAction::Disable.on(victim.clone()));
    act(&mut world, PortAction::Mend.on(victim.clone()));
    to_ms(&mut world, 1_000);
    let shown = |world: &Fabric| {
        let machine = world.machine(&node()).expect("the node is there");
        let rdma = machine.functions[&victim.pci]
            .rdma
            .clone()
            .expect("it is registered");
        (
            rdma.node_guid,
            rdma.fw_ver,
            rdma.ports[&victim.port].gids[&0].bytes,
            rdma.name,
            rdma.board_id,
        )
    };
    let (guid, firmware, gid, name, board) = shown(&world);
    act(&mut world, DeviceAction::Replace.on(function(&victim)));
    to_ms(&mut world, 2_000);
    let after = shown(&world);
    assert!(after.0 != guid && after.1 != firmware && after.2 != gid);
    assert_eq!((after.3, after.4), (name, board));
    assert_eq!(count(&world, &victim, "link_downed"), 0);
    assert_eq!(states(&world, &victim), UP);
}

#[rstest]
#[case(true, "ACTIVE/LinkUp")]
#[case(false, "DOWN/Polling")]
fn a_hot_added_card_comes_up_if_it_has_a_cable(#[case] cabled: bool, #[case] expected: &str) {
    let mut world = world_of(InfiniBand);
    let like = slot(&world, 0);
    let new = SlotRef {
        pci: pci("0000:f1:00.0"),
        ..like.clone()
    };
    let name = DeviceName::from("mlx5_77");
    act(
        &mut world,
        DeviceAction::HotAdd {
            at: new.pci,
            name: name.clone(),
            cabled,
        }
        .on(function(&like)),
    );
    assert_eq!(seen(&world, new.pci), "pci");
    to_ms(&mut world, 400);
    assert_eq!(states(&world, &new), expected);
    assert_eq!(world.name_of(&function(&new)), Some(&name));
    let truth = world
        .ports(&node())
        .into_iter()
        .find(|port| port.slot == new)
        .expect("it is seen");
    assert_eq!((truth.should_be_up, truth.healthy), (cabled, cabled));
    let machine = world.machine(&node()).expect("the node is there");
    let guids: Vec<u64> = machine
        .functions
        .values()
        .filter_map(|function| Some(function.rdma.as_ref()?.node_guid))
        .collect();
    let mut distinct = guids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), guids.len(), "no two devices have one GUID");
}

#[test]
fn a_namespace_takes_the_devices_out_of_sight_and_leaves_the_link_up() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    to_ms(&mut world, 1_000);
    act(
        &mut world,
        DeviceAction::LeaveNamespace.on(function(&victim)),
    );
    assert!(world.ports(&node()).iter().all(|port| port.slot != victim));
    to_ms(&mut world, 2_000);
    act(
        &mut world,
        DeviceAction::ReturnToNamespace.on(function(&victim)),
    );
    assert_eq!(edges(&world, &victim), [(1_000, false), (2_000, true)]);
    assert_eq!(count(&world, &victim, "link_downed"), 0);
}

#[test]
fn a_port_that_is_no_longer_listed_returns_as_its_link_is() {
    let mut world = world("dgx-a100:two-port");
    let machine = world.machine(&node()).expect("the node is there");
    let (pci, rdma) = machine
        .functions
        .iter()
        .find_map(|(pci, function)| {
            Some((
                *pci,
                function
                    .rdma
                    .as_ref()
                    .filter(|rdma| rdma.ports.len() == 2)?,
            ))
        })
        .expect("a device with two ports");
    let ports: Vec<SlotRef> = rdma
        .ports
        .keys()
        .map(|port| SlotRef {
            node: node(),
            pci,
            port: *port,
        })
        .collect();
    act(&mut world, PortAction::RemovePort.on(ports[1].clone()));
    assert_eq!(
        (
            states(&world, &ports[1]).as_str(),
            states(&world, &ports[0]).as_str()
        ),
        ("gone", UP)
    );
    act(&mut world, PortAction::Cut.on(ports[1].clone()));
    to_ms(&mut world, 1_000);
    act(&mut world, PortAction::RestorePort.on(ports[1].clone()));
    assert_eq!(states(&world, &ports[1]), "DOWN/Polling");
}

#[rstest]
#[case(Ethernet, InfiniBand, 400, "DOWN/PortConfigurationTraining", 32)]
#[case(InfiniBand, Ethernet, 400, "DOWN/Disabled", 1)]
fn a_port_comes_up_under_the_other_layer(
    #[case] from: LinkLayer,
    #[case] to: LinkLayer,
    #[case] ms: u64,
    #[case] between: &str,
    #[case] arp_type: u16,
) {
    let mut world = world_of(from);
    let victim = slot(&world, 0);
    act(
        &mut world,
        PortAction::ChangeLayer { layer: to }.on(victim.clone()),
    );
    check(&mut world, &victim, &[(100, between), (ms, UP)]);
    assert_eq!(port(&world, &victim).map(|port| port.layer), Some(to));
    assert_eq!(
        netdev(&world, &victim).map(|netdev| netdev.arp_type),
        Some(arp_type)
    );
}

#[test]
fn only_the_driver_of_ethernet_logs_its_link() {
    for (layer, expected) in [(Ethernet, 2), (InfiniBand, 0)] {
        let mut world = world_of(layer);
        let victim = slot(&world, 0);
        assert!(port(&world, &victim).is_some());
        act(&mut world, PortAction::Cut.on(victim.clone()));
        act(&mut world, PortAction::Mend.on(victim.clone()));
        to_ms(&mut world, 1_000);
        let log = world.kernel_log(&node());
        assert_eq!(
            log.iter()
                .filter(|line| line.text.contains(": Link "))
                .count(),
            expected
        );
        assert_eq!(
            log.iter()
                .filter(|line| line.text.contains("Cable unplugged"))
                .count(),
            1
        );
        let platform = world.platform(&node()).expect("the node is there");
        let driver = platform
            .drivers()
            .find(|driver| driver.layer == layer)
            .expect("each layer has its driver");
        assert_eq!(driver.log.contains_key(&LinkEvent::Up), expected > 0);
    }
}

#[rstest]
fn what_is_impossible_is_refused_and_changes_nothing() {
    let world = world_of(Ethernet);
    let (one, other) = (slot(&world, 0), slot(&world, 1));
    let nowhere = SlotRef {
        pci: pci("0000:ff:1f.7"),
        ..one.clone()
    };
    let no_port = SlotRef {
        port: platforms::PortNumber(9),
        ..one.clone()
    };
    let names = BTreeMap::from([(one.pci, DeviceName(name(&world, &other)))]);
    let refused = |action: Action| {
        let before = format!("{:?}", world.machine(&node()));
        let mut world = world.clone();
        let error = world.act(&action).expect_err("it is impossible");
        assert_eq!(
            format!("{:?}", world.machine(&node())),
            before,
            "{action:?}"
        );
        error
    };
    assert!(matches!(
        refused(PortAction::Cut.on(nowhere.clone())),
        ActionError::NoSuchFunction(_)
    ));
    assert!(matches!(
        refused(PortAction::Cut.on(no_port)),
        ActionError::NoSuchPort(..)
    ));
    assert!(matches!(
        refused(DeviceAction::Restore.on(function(&one))),
        ActionError::NotRemoved(_)
    ));
    assert!(matches!(
        refused(PortAction::RestorePort.on(one.clone())),
        ActionError::PortListed(_)
    ));
    assert!(matches!(
        refused(DeviceAction::AssignVf.on(function(&one))),
        ActionError::NotVirtual(_)
    ));
    assert!(matches!(
        refused(DeviceAction::DestroyVfs.on(function(&one))),
        ActionError::NoVfs(_)
    ));
    assert!(matches!(
        refused(DeviceAction::CreateVfs { count: 999 }.on(function(&one))),
        ActionError::TooManyVfs { .. }
    ));
    assert!(matches!(
        refused(
            NodeAction::DriverLoad {
                names: names.clone()
            }
            .on(node())
        ),
        ActionError::DriverAlready(..)
    ));
    let plan = fabric::RebootPlan {
        names,
        ..fabric::RebootPlan::default()
    };
    assert!(matches!(
        refused(NodeAction::Reboot { plan }.on(node())),
        ActionError::NameTaken { .. }
    ));
    let taken = DeviceAction::HotAdd {
        at: other.pci,
        name: DeviceName::from("new"),
        cabled: true,
    }
    .on(function(&one));
    assert!(matches!(refused(taken), ActionError::AddressTaken(_)));
    let zero = SimTime::ZERO;
    let flap = PortsAction::Flap {
        times: 0,
        down: zero,
        up: zero,
        stagger: zero,
    }
    .on(vec![one.clone()]);
    assert!(matches!(refused(flap), ActionError::EmptyFlap { .. }));
    let absent = NodeAction::DriverUnload.on(platforms::NodeName::from("node-9"));
    assert!(
        refused(absent)
            .to_string()
            .contains("hint: its nodes are `node-1`")
    );
}

/// A name is free if its device is not on the bus.
#[test]
fn a_driver_that_is_loaded_gives_the_names_of_the_absent_away_and_of_no_other() {
    let mut world = world_of(InfiniBand);
    let [one, absent, present] = [0, 1, 2].map(|nth| slot(&world, nth));
    let [gone, taken] = [&absent, &present].map(|slot| name(&world, slot));
    act(&mut world, DeviceAction::Remove.on(function(&absent)));
    act(&mut world, NodeAction::DriverUnload.on(node()));
    let load = |name: &str| {
        NodeAction::DriverLoad {
            names: BTreeMap::from([(one.pci, DeviceName::from(name))]),
        }
        .on(node())
    };
    let refused = world.act(&load(&taken)).expect_err("another bears it");
    assert!(
        matches!(refused, ActionError::NameTaken { .. }),
        "{refused}"
    );
    act(&mut world, load(&gone));
    to_ms(&mut world, 1_000);
    assert_eq!(name(&world, &one), gone);
}

#[test]
fn the_ports_of_a_node_are_those_of_functions_off_the_bus_too() {
    let mut world = world_of(InfiniBand);
    let all = world.slots_of(&node());
    let one = slot(&world, 0);
    assert!(all.contains(&one) && all.is_sorted(), "{all:?}");
    act(&mut world, DeviceAction::Remove.on(function(&one)));
    assert_eq!(world.slots_of(&node()), all);
    assert_eq!(world.slots_of(&platforms::NodeName::from("node-9")), []);
}
