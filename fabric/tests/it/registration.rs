//! Numbers and names assigned by kernel and hardware: interface and device numbers, local
//! identifiers, addresses, virtual functions over a reboot, and the ports of a switch.

use std::collections::{BTreeMap, BTreeSet};

use fabric::{
    Action, ActionError, CharDeviceKind, DeviceAction, Fabric, NodeAction, PortAction, RebootPlan,
    Side,
    opa::{LinkDownReason, Physical},
};
use platforms::LinkLayer::{self, Ethernet, InfiniBand};
use platforms::{DeviceName, SlotRef};
use rstest::rstest;
use simfs::SimTime;

use crate::room::{
    act, driver_load, function, netdev, node, pci, port, port_one, slot, states, to_ms, world,
    world_of,
};

const UP: &str = "ACTIVE/LinkUp";

fn refused(world: &mut Fabric, action: &Action) -> ActionError {
    world.act(action).expect_err("it is impossible")
}

/// Every number of a kind that the node's devices have.
fn numbers(world: &Fabric) -> [Vec<u32>; 3] {
    let machine = world.machine(&node()).expect("the node is there");
    let functions = machine.functions.values();
    let netdevs = functions.clone().flat_map(|function| &function.netdevs);
    let rdmas: Vec<_> = functions
        .filter_map(|function| function.rdma.as_ref())
        .collect();
    let ports = rdmas.iter().flat_map(|rdma| rdma.ports.values());
    [
        netdevs.map(|netdev| netdev.ifindex).collect(),
        rdmas.iter().map(|rdma| rdma.uverbs).collect(),
        ports.filter_map(|port| port.umad).collect(),
    ]
}

fn all_apart(world: &Fabric) -> bool {
    let apart = |numbers: Vec<u32>| {
        let distinct: BTreeSet<u32> = numbers.iter().copied().collect();
        distinct.len() == numbers.len()
    };
    numbers(world).into_iter().all(apart)
}

#[test]
fn interfaces_that_return_are_numbered_on() {
    let mut world = world_of(Ethernet);
    let victims = [slot(&world, 0), slot(&world, 1)];
    let last = numbers(&world)[0]
        .iter()
        .copied()
        .max()
        .expect("it has some");
    for victim in &victims {
        act(&mut world, DeviceAction::Remove.on(function(victim)));
    }
    for victim in &victims {
        act(&mut world, DeviceAction::Restore.on(function(victim)));
        let next = world.now().as_ms() + 2_000;
        to_ms(&mut world, next);
    }
    let given = victims.map(|victim| netdev(&world, &victim).expect("it is back").ifindex);
    assert!(
        given[0] > last && given[1] == given[0] + 1,
        "{last} {given:?}"
    );
}

#[test]
fn a_device_that_returns_gives_way_where_its_numbers_are_taken() {
    let mut world = world_of(InfiniBand);
    let (victim, like) = (slot(&world, 0), slot(&world, 1));
    act(&mut world, DeviceAction::Remove.on(function(&victim)));
    let new = SlotRef {
        pci: pci("0000:f1:00.0"),
        ..victim.clone()
    };
    let add = DeviceAction::HotAdd {
        at: new.pci,
        name: DeviceName::from("mlx5_77"),
        cabled: true,
    }
    .on(function(&like));
    act(&mut world, add);
    to_ms(&mut world, 2_000);
    act(&mut world, DeviceAction::Restore.on(function(&victim)));
    to_ms(&mut world, 4_000);
    assert_eq!(states(&world, &victim), UP);
    assert!(all_apart(&world), "{:?}", numbers(&world));
}

#[test]
fn a_device_that_returns_is_another_incarnation() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let incarnation = |world: &Fabric| {
        let machine = world.machine(&node()).expect("the node is there");
        let rdma = machine.functions[&victim.pci].rdma.as_ref();
        rdma.expect("it is registered").incarnation
    };
    let mut seen = vec![incarnation(&world)];
    for _ in 0..3 {
        act(&mut world, NodeAction::DriverUnload.on(node()));
        act(&mut world, driver_load());
        let next = world.now().as_ms() + 2_000;
        to_ms(&mut world, next);
        seen.push(incarnation(&world));
    }
    let distinct: BTreeSet<_> = seen.iter().copied().collect();
    assert_eq!(distinct.len(), 4, "{seen:?}");
}

/// The modified EUI-64 of the hardware address (RFC 4291, appendix A).
#[test]
fn a_roce_port_of_new_hardware_has_the_address_of_its_interface_in_its_gid() {
    let mut world = world_of(Ethernet);
    for nth in 0..4 {
        let victim = slot(&world, nth);
        act(&mut world, DeviceAction::Replace.on(function(&victim)));
        let next = world.now().as_ms() + 2_000;
        to_ms(&mut world, next);
        let mac = netdev(&world, &victim).expect("it is back").address;
        let [a, b, c, d, e, f] = mac[..] else {
            panic!("{mac:?} is no address of Ethernet");
        };
        let gid = port(&world, &victim).expect("it is back").gids[&0].bytes;
        assert_eq!(gid[..2], [0xfe, 0x80]);
        assert_eq!(gid[8..], [a ^ 2, b, c, 0xff, 0xfe, d, e, f]);
    }
}

#[test]
fn ports_that_become_infiniband_speak_as_its_driver_does_and_have_identifiers_of_their_own() {
    let mut world = world_of(Ethernet);
    let victims = [slot(&world, 0), slot(&world, 1)];
    for victim in &victims {
        act(
            &mut world,
            PortAction::ChangeLayer { layer: InfiniBand }.on(victim.clone()),
        );
    }
    to_ms(&mut world, 5_000);
    let native_world = world_of(InfiniBand);
    let native_slot = slot(&native_world, 0);
    let native = port(&native_world, &native_slot).expect("it is there");
    let native_netdev = netdev(&native_world, &native_slot).expect("it is there");
    let shown = victims.map(|victim| {
        let netdev = netdev(&world, &victim).expect("it is there");
        assert_eq!(
            (netdev.arp_type, netdev.mtu),
            (native_netdev.arp_type, native_netdev.mtu)
        );
        port(&world, &victim).expect("it is there")
    });
    for port in &shown {
        assert_eq!(
            (port.cap_mask, port.gid_table),
            (native.cap_mask, native.gid_table)
        );
        assert!(port.lid > port.sm_lid, "the manager has the first one");
    }
    assert_ne!(shown[0].lid, shown[1].lid);
}

#[rstest]
#[case(InfiniBand, true, true)]
#[case(InfiniBand, false, false)]
#[case(Ethernet, true, false)]
fn only_a_cabled_infiniband_port_is_given_an_identifier(
    #[case] layer: LinkLayer,
    #[case] cabled: bool,
    #[case] given: bool,
) {
    let mut world = world_of(layer);
    let like = slot(&world, 0);
    let new = SlotRef {
        pci: pci("0000:f1:00.0"),
        ..like.clone()
    };
    let add = DeviceAction::HotAdd {
        at: new.pci,
        name: DeviceName::from("mlx5_77"),
        cabled,
    }
    .on(function(&like));
    act(&mut world, add);
    to_ms(&mut world, 2_000);
    let shown = port(&world, &new).expect("it is there");
    assert_eq!((shown.lid > 0, shown.sm_lid > 0), (given, given));
}

#[test]
fn an_interface_stands_for_its_own_port_only() {
    let mut world = world("dgx-a100:two-port");
    let first = slot(&world, 0);
    let second = SlotRef {
        port: platforms::PortNumber(2),
        ..first.clone()
    };
    let down = PortAction::Interface { up: false }.on(second.clone());
    act(&mut world, down);
    let is_up = |slot| netdev(&world, slot).expect("it has one").admin_up;
    assert_eq!((is_up(&first), is_up(&second)), (true, false));
}

#[test]
fn the_ports_of_the_switch_are_numbered_in_the_order_of_the_nodes() {
    let world = world_of(InfiniBand);
    let ports = world.ports(&node()).into_iter();
    let numbers = ports.filter_map(|port| world.port_info(&port.slot, Side::There));
    let numbers: Vec<u8> = numbers.map(|info| info.port).collect();
    let count = u8::try_from(numbers.len()).expect("few");
    assert!(count > 2);
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
}

#[test]
fn an_end_is_disabled_offline_or_polling_by_what_holds_it() {
    let physical = |action: PortAction| {
        let mut world = world_of(InfiniBand);
        let victim = slot(&world, 0);
        act(&mut world, action.on(victim.clone()));
        let info = world.port_info(&victim, Side::Here);
        info.expect("it can be asked").physical
    };
    assert_eq!(physical(PortAction::Cut), Physical::Polling);
    assert_eq!(physical(PortAction::Disable), Physical::Disabled);
    let powered_off = PortAction::TakeDown {
        side: Side::Here,
        reason: LinkDownReason::POWER_POLICY,
        says: true,
    };
    assert_eq!(physical(powered_off), Physical::Offline);
}

#[test]
fn what_is_off_the_bus_or_without_a_driver_cannot_be_asked_for_anything() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let of = function(&victim);
    let asked = [
        DeviceAction::CreateVfs { count: 1 }.on(of.clone()),
        PortAction::CharDevice {
            kind: CharDeviceKind::Uverbs,
            there: false,
        }
        .on(victim.clone()),
        DeviceAction::Rename {
            to: DeviceName::from("new"),
        }
        .on(of.clone()),
    ];
    act(&mut world, NodeAction::DriverUnload.on(node()));
    for action in &asked {
        let error = refused(&mut world, action);
        assert!(
            error.to_string().contains("its driver is not attached"),
            "{error}"
        );
    }
    act(&mut world, driver_load());
    act(&mut world, DeviceAction::Remove.on(of.clone()));
    let takes = SimTime::from_secs(1);
    let off_the_bus = asked
        .into_iter()
        .chain([DeviceAction::FirmwareReset { takes }.on(of)]);
    for action in off_the_bus {
        let error = refused(&mut world, &action);
        assert!(error.to_string().contains("off the bus"), "{error}");
    }
}

/// The number of virtual functions of each function that has or may have some.
fn virtual_functions(world: &Fabric) -> BTreeMap<platforms::PciAddress, usize> {
    let machine = world.machine(&node()).expect("the node is there");
    let functions = machine.functions.iter();
    let counts = functions.map(|(pci, function)| (*pci, function.virtfns.len()));
    counts.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn a_reboot_gives_the_virtual_functions_that_a_platform_has_at_rest_unassigned() {
    let mut world = world("a100-oci:vfs");
    let at_rest = virtual_functions(&world);
    let (parent, _) = at_rest.first_key_value().expect("it has some");
    let parent = SlotRef {
        pci: *parent,
        ..slot(&world, 0)
    };
    act(&mut world, DeviceAction::DestroyVfs.on(function(&parent)));
    let second = *at_rest.keys().nth(1).expect("it has several");
    let machine = world.machine(&node()).expect("the node is there");
    let assigned = SlotRef {
        pci: machine.functions[&second].virtfns[0],
        ..parent.clone()
    };
    act(&mut world, DeviceAction::AssignVf.on(function(&assigned)));
    to_ms(&mut world, 1_000);
    assert_eq!(states(&world, &assigned), UP);
    let plan = RebootPlan::default();
    act(&mut world, NodeAction::Reboot { plan }.on(node()));
    to_ms(&mut world, 600_000);
    assert!(world.settled());
    assert_eq!(virtual_functions(&world), at_rest);
    assert_eq!(states(&world, &assigned), "DOWN/Disabled");
}

#[test]
fn a_reboot_takes_the_virtual_functions_that_were_created() {
    let mut world = world_of(Ethernet);
    let parent = slot(&world, 0);
    let create = |count| DeviceAction::CreateVfs { count }.on(function(&parent));
    act(&mut world, create(2));
    assert_eq!(virtual_functions(&world), BTreeMap::from([(parent.pci, 2)]));
    let plan = RebootPlan::default();
    act(&mut world, NodeAction::Reboot { plan }.on(node()));
    to_ms(&mut world, 600_000);
    assert_eq!(virtual_functions(&world), BTreeMap::new());
}

#[test]
fn as_many_virtual_functions_are_created_as_the_card_can_have_and_only_once() {
    let mut world = world_of(Ethernet);
    let parent = slot(&world, 0);
    let machine = world.machine(&node()).expect("the node is there");
    let total = machine.functions[&parent.pci]
        .sriov_totalvfs
        .expect("it can have some");
    let create = |count| DeviceAction::CreateVfs { count }.on(function(&parent));
    for count in [0, total + 1] {
        let error = refused(&mut world, &create(count));
        assert!(matches!(error, ActionError::TooManyVfs { .. }), "{error}");
        let limit = format!("its `sriov_totalvfs` is {total}");
        assert!(error.to_string().contains(&limit), "{error}");
    }
    act(&mut world, create(total));
    let error = refused(&mut world, &create(1));
    let existing = usize::from(total);
    assert!(
        matches!(error, ActionError::HasVfs(_, count) if count == existing),
        "{error}"
    );
    assert!(all_apart(&world), "{:?}", numbers(&world));
}

#[test]
fn an_end_that_was_disabled_by_the_manager_polls_again_when_it_is_released() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let reason = LinkDownReason::SMA_DISABLED;
    let side = Side::Here;
    act(
        &mut world,
        PortAction::TakeDown {
            side,
            reason,
            says: true,
        }
        .on(victim.clone()),
    );
    to_ms(&mut world, 1_000);
    assert_eq!(states(&world, &victim), "DOWN/Disabled");
    let slot = victim.clone();
    act(&mut world, PortAction::Release { side, reason }.on(slot));
    to_ms(&mut world, 2_000);
    assert_eq!(states(&world, &victim), UP);
}

/// A device that left the bus while its driver was unloaded is registered again once both are back.
#[test]
fn a_device_that_left_while_its_driver_was_unloaded_is_back_with_both() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    act(&mut world, NodeAction::DriverUnload.on(node()));
    act(&mut world, DeviceAction::Remove.on(function(&victim)));
    to_ms(&mut world, 1_000);
    act(&mut world, DeviceAction::Restore.on(function(&victim)));
    to_ms(&mut world, 3_000);
    assert_eq!(port(&world, &victim), None, "there is no driver");
    act(&mut world, driver_load());
    to_ms(&mut world, 4_000);
    assert_eq!(states(&world, &victim), UP);
}

#[test]
fn a_device_that_returns_keeps_the_numbers_that_nobody_took() {
    let mut world = world_of(InfiniBand);
    let [lower, victim] = [0, 3].map(|nth| slot(&world, nth));
    let all = numbers(&world);
    for one in [&lower, &victim] {
        act(&mut world, DeviceAction::Remove.on(function(one)));
    }
    to_ms(&mut world, 1_000);
    for one in [&victim, &lower] {
        act(&mut world, DeviceAction::Restore.on(function(one)));
        let next = world.now().as_ms() + 2_000;
        to_ms(&mut world, next);
    }
    let [_, uverbs, umads] = numbers(&world);
    assert_eq!([uverbs, umads], [all[1].clone(), all[2].clone()]);
}

/// Of two devices with one name, both off the bus, the first to return gets it.
#[test]
fn a_name_is_taken_by_who_is_registered_under_it() {
    let mut world = world_of(InfiniBand);
    let [one, other] = [0, 1].map(|nth| slot(&world, nth));
    let name = |world: &Fabric, slot: &SlotRef| world.name_of(&function(slot)).cloned();
    let own = name(&world, &one).expect("it has a name");
    act(&mut world, DeviceAction::Remove.on(function(&one)));
    let rename = DeviceAction::Rename { to: own.clone() }.on(function(&other));
    act(&mut world, rename);
    act(&mut world, DeviceAction::Remove.on(function(&other)));
    act(&mut world, DeviceAction::Restore.on(function(&one)));
    act(&mut world, DeviceAction::Restore.on(function(&other)));
    to_ms(&mut world, 3_000);
    assert_eq!(name(&world, &one), Some(own.clone()));
    assert_ne!(name(&world, &other), Some(own));
}

/// Virtual functions created at boot are not created on a function that is missing then.
#[test]
fn a_function_that_was_off_the_bus_at_boot_returns_without_virtual_ones() {
    let mut world = world("a100-oci:vfs");
    let had = virtual_functions(&world);
    let (pci, _) = had
        .iter()
        .find(|(_, count)| **count > 0)
        .expect("some have");
    let parent = port_one(*pci);
    act(&mut world, DeviceAction::DestroyVfs.on(function(&parent)));
    act(&mut world, DeviceAction::Remove.on(function(&parent)));
    let plan = RebootPlan::default();
    act(&mut world, NodeAction::Reboot { plan }.on(node()));
    act(&mut world, DeviceAction::Restore.on(function(&parent)));
    to_ms(&mut world, 3_000);
    let has = virtual_functions(&world);
    assert_eq!(has.get(pci).copied().unwrap_or(0), 0);
}
