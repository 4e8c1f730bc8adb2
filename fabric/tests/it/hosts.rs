//! Virtual functions, counters, reboots, clocks and healing.

use std::collections::BTreeMap;

use fabric::{
    Action, CharDeviceKind, CounterChange, DeviceAction, Fabric, FunctionRef, NodeAction,
    PortAction, RebootPlan,
};
use platforms::LinkLayer::{self, Ethernet, InfiniBand};
use platforms::{CounterValue, DeviceName, MetadataFile, Platforms, Routes, SlotRef, render};
use rstest::rstest;
use simfs::{Errno, SimTime};

use crate::room::{
    act, check, count, firmware_reset, function, netdev, node, port, port_one, slot, states, to_ms,
    world, world_of,
};

const UP: &str = "ACTIVE/LinkUp";

fn count_by(world: &mut Fabric, slot: &SlotRef, name: &str, change: CounterChange) {
    act(
        world,
        PortAction::Counter {
            name: name.to_owned(),
            change,
        }
        .on(slot.clone()),
    );
}

fn children(world: &Fabric, parent: &SlotRef) -> Vec<SlotRef> {
    let machine = world.machine(&node()).expect("the node is there");
    machine.functions[&parent.pci]
        .virtfns
        .iter()
        .map(|pci| port_one(*pci))
        .collect()
}

#[test]
fn every_platform_at_rest_shows_what_its_links_are() {
    for (name, _) in Platforms::shipped().iter() {
        let mut world = world(name);
        let rest = world.machine(&node()).expect("the node is there").clone();
        assert!(world.settled(), "{name}");
        // Every port is updated again, and nothing may differ.
        act(
            &mut world,
            Action::SubnetManager {
                running: true,
                reinitialise: false,
                keeps_logs: true,
            },
        );
        assert_eq!(world.machine(&node()), Some(&rest), "{name}");
    }
}

#[test]
fn a_virtual_function_lives_from_creation_to_destruction() {
    let mut world = world_of(Ethernet);
    let parent = slot(&world, 0);
    act(
        &mut world,
        DeviceAction::CreateVfs { count: 2 }.on(function(&parent)),
    );
    let vfs = children(&world, &parent);
    assert_eq!(vfs.len(), 2);
    assert_eq!(states(&world, &vfs[0]), "DOWN/Disabled");
    act(&mut world, DeviceAction::AssignVf.on(function(&vfs[0])));
    to_ms(&mut world, 1_000);
    assert_eq!(
        [states(&world, &vfs[0]), states(&world, &vfs[1])],
        [UP, "DOWN/Disabled"]
    );
    act(&mut world, PortAction::Cut.on(parent.clone()));
    assert_eq!(
        states(&world, &vfs[0]),
        "DOWN/Disabled",
        "it lives on its physical function's link"
    );
    act(&mut world, PortAction::Mend.on(parent.clone()));
    to_ms(&mut world, 2_000);
    assert_eq!(states(&world, &vfs[0]), UP);
    act(&mut world, DeviceAction::ReleaseVf.on(function(&vfs[0])));
    assert_eq!(states(&world, &vfs[0]), "DOWN/Disabled");
    act(&mut world, DeviceAction::AssignVf.on(function(&vfs[0])));
    act(&mut world, DeviceAction::DestroyVfs.on(function(&parent)));
    to_ms(&mut world, 9_000);
    assert_eq!(states(&world, &vfs[0]), "gone");
    assert_eq!(children(&world, &parent), []);
    act(
        &mut world,
        DeviceAction::CreateVfs { count: 1 }.on(function(&parent)),
    );
    assert_eq!(children(&world, &parent), vfs[..1]);
    assert!(world.settled());
}

/// An edit of a tree that shows both must remove the first before it adds the second.
#[test]
fn a_virtual_function_created_anew_is_another_incarnation_of_its_address() {
    let mut world = world_of(Ethernet);
    let parent = slot(&world, 0);
    let incarnations = [(); 2].map(|()| {
        act(
            &mut world,
            DeviceAction::CreateVfs { count: 1 }.on(function(&parent)),
        );
        let [vf] = &children(&world, &parent)[..] else {
            panic!("one was asked for");
        };
        let vf = vf.pci;
        let machine = world.machine(&node()).expect("the node is there");
        let incarnation = machine.functions[&vf].incarnation;
        act(&mut world, DeviceAction::DestroyVfs.on(function(&parent)));
        (vf, incarnation)
    });
    let [(first, before), (second, after)] = incarnations;
    assert_eq!(first, second, "the address is the first free one");
    assert_ne!(before, after);
}

#[test]
fn virtual_functions_go_and_come_with_their_physical_one() {
    let mut world = world("a100-oci:vfs");
    let machine = world.machine(&node()).expect("the node is there");
    let (parent, _) = machine
        .functions
        .iter()
        .find(|(_, function)| !function.virtfns.is_empty())
        .expect("it has some");
    let parent = port_one(*parent);
    let vf = children(&world, &parent)[0].clone();
    act(&mut world, DeviceAction::Remove.on(function(&parent)));
    assert_eq!(states(&world, &vf), "gone");
    act(&mut world, DeviceAction::Restore.on(function(&parent)));
    to_ms(&mut world, 1_000);
    assert_eq!(
        [states(&world, &vf), states(&world, &parent)],
        ["DOWN/Disabled", UP]
    );
    let error = world.act(&DeviceAction::CreateVfs { count: 1 }.on(function(&vf)));
    assert!(error.is_err_and(|error| error.to_string().contains("is a virtual function")));
}

#[test]
fn a_counter_stops_at_the_width_of_its_field() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    count_by(&mut world, &victim, "link_downed", CounterChange::Add(254));
    for _ in 0..3 {
        act(&mut world, PortAction::Cut.on(victim.clone()));
        act(&mut world, PortAction::Mend.on(victim.clone()));
        let next = 1_000 + world.now().as_ms();
        to_ms(&mut world, next);
    }
    assert_eq!(count(&world, &victim, "link_downed"), 255);
    count_by(&mut world, &victim, "symbol_error", CounterChange::Saturate);
    assert_eq!(count(&world, &victim, "symbol_error"), 65_535);
    count_by(&mut world, &victim, "symbol_error", CounterChange::Reset);
    assert_eq!(count(&world, &victim, "symbol_error"), 0);
}

#[test]
fn a_rate_counts_the_same_in_one_step_or_in_many() {
    let mut worlds = [world_of(Ethernet), world_of(Ethernet)];
    for (world, step_ms) in worlds.iter_mut().zip([10_000, 7]) {
        let victim = slot(world, 0);
        count_by(
            world,
            &victim,
            "port_rcv_data",
            CounterChange::RatePerSecond(333),
        );
        while world.now() < SimTime::from_ms(10_000) {
            let next = (world.now().as_ms() + step_ms).min(10_000);
            to_ms(world, next);
        }
        assert_eq!(count(world, &victim, "port_rcv_data"), 3_330);
        count_by(
            world,
            &victim,
            "port_rcv_data",
            CounterChange::RatePerSecond(0),
        );
        to_ms(world, 20_000);
        assert_eq!(count(world, &victim, "port_rcv_data"), 3_330);
    }
}

#[test]
fn a_rate_counts_nothing_while_its_device_is_gone() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    count_by(
        &mut world,
        &victim,
        "port_rcv_data",
        CounterChange::RatePerSecond(10),
    );
    act(&mut world, firmware_reset(&victim, 20));
    to_ms(&mut world, 25_000);
    assert_eq!(count(&world, &victim, "port_rcv_data"), 50);
}

#[rstest]
fn data_moves_while_the_link_is_up_and_only_then(#[values(InfiniBand, Ethernet)] layer: LinkLayer) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    let traffic = |bytes_per_second| {
        PortAction::Traffic {
            bytes_per_second,
            packet_bytes: 4096,
        }
        .on(victim.clone())
    };
    act(&mut world, traffic(4_096_000));
    to_ms(&mut world, 10_000);
    let counts = |world: &Fabric| {
        [
            "port_rcv_data",
            "port_xmit_data",
            "port_xmit_packets",
            "unicast_rcv_packets",
        ]
        .map(|name| count(world, &victim, name))
    };
    assert_eq!(counts(&world), [10_240_000, 10_240_000, 10_000, 10_000]);
    act(&mut world, PortAction::Cut.on(victim.clone()));
    to_ms(&mut world, 20_000);
    act(&mut world, PortAction::Mend.on(victim.clone()));
    assert_eq!(counts(&world), [10_240_000, 10_240_000, 10_000, 10_000]);
    to_ms(&mut world, 25_000);
    let again = count(&world, &victim, "port_xmit_packets") - 10_000;
    assert!(
        (4_000..5_000).contains(&again),
        "training takes its time: {again}"
    );
    act(&mut world, traffic(0));
    let ended = counts(&world);
    to_ms(&mut world, 30_000);
    assert_eq!(counts(&world), ended);
}

/// A driver whose files count bytes, as `tx_bytes` of efa does: what a story moves, and what a user moves.
#[test]
fn a_driver_that_counts_bytes_counts_the_bytes_that_move() {
    let mut world = world("aws-p5");
    let victim = slot(&world, 0);
    let names = ["rx_bytes", "tx_bytes", "rx_pkts", "tx_pkts"];
    let traffic = PortAction::Traffic {
        bytes_per_second: 8192,
        packet_bytes: 4096,
    };
    act(&mut world, traffic.on(victim.clone()));
    to_ms(&mut world, 3_000);
    let counts = |world: &Fabric| names.map(|name| count(world, &victim, name));
    assert_eq!(counts(&world), [24_576, 24_576, 6, 6]);
    world.carry(&victim, 100, 5_000);
    assert_eq!(counts(&world), [29_576, 24_676, 8, 7]);
}

#[test]
fn healing_ends_the_traffic_and_an_operators_reset_takes_its_counts_back() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    act(
        &mut world,
        PortAction::Traffic {
            bytes_per_second: 8192,
            packet_bytes: 4096,
        }
        .on(victim.clone()),
    );
    to_ms(&mut world, 3_000);
    world.heal();
    world.reset_counters();
    to_ms(&mut world, 9_000);
    assert_eq!(count(&world, &victim, "port_xmit_packets"), 0);
}

#[test]
fn what_was_counted_behind_a_veil_is_reset_too() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let shown_value = CounterChange::Set(CounterValue::Fails(Errno::EIO));
    count_by(&mut world, &victim, "link_downed", shown_value);
    act(&mut world, PortAction::Cut.on(victim.clone()));
    world.heal();
    assert_eq!(count(&world, &victim, "link_downed"), 1);
    world.reset_counters();
    assert_eq!(count(&world, &victim, "link_downed"), 0);
}

#[rstest]
#[case(CharDeviceKind::Issm, "infiniband_mad/issm")]
#[case(CharDeviceKind::Umad, "infiniband_mad/umad")]
#[case(CharDeviceKind::Uverbs, "infiniband_verbs/uverbs")]
fn a_character_device_goes_while_its_port_stays_up(
    #[case] kind: CharDeviceKind,
    #[case] class: &str,
) {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let there = |world: &Fabric| {
        let machine = world.machine(&node()).expect("the node is there");
        let rdma = machine.functions[&victim.pci].rdma.as_ref();
        let rdma = rdma.expect("the device is there");
        let number = match kind {
            CharDeviceKind::Uverbs => rdma.uverbs,
            _ => rdma.ports[&victim.port].umad.expect("it has one"),
        };
        let path = simfs::TreePath::new(&format!("sys/class/{class}{number}"));
        render(machine).iter().any(|edit| *edit.path() == path)
    };
    let change = |there| PortAction::CharDevice { kind, there }.on(victim.clone());
    assert!(there(&world));
    act(&mut world, change(false));
    assert!(!there(&world));
    assert_eq!(states(&world, &victim), "ACTIVE/LinkUp");
    let again = world.act(&change(false)).map_err(|error| error.to_string());
    assert!(again.is_err_and(|error| error.contains("is gone already")));
    act(&mut world, change(true));
    assert!(there(&world));
    act(&mut world, change(false));
    world.heal();
    assert!(there(&world));
}

#[test]
fn a_roce_port_has_no_issm_to_lose() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let lose = PortAction::CharDevice {
        kind: CharDeviceKind::Issm,
        there: false,
    };
    let error = world.act(&lose.on(victim));
    assert!(error.is_err_and(|error| error.to_string().contains("has no issm of port 1")));
}

#[rstest]
#[case(CounterValue::Text("N/A (no PMA)".to_owned()))]
#[case(CounterValue::Fails(Errno::EIO))]
fn a_counter_counts_on_behind_what_cannot_be_read(#[case] shown_value: CounterValue) {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    count_by(&mut world, &victim, "link_downed", CounterChange::Add(3));
    count_by(
        &mut world,
        &victim,
        "link_downed",
        CounterChange::Set(shown_value.clone()),
    );
    act(&mut world, PortAction::Cut.on(victim.clone()));
    assert_eq!(
        port(&world, &victim).map(|port| port.counters["link_downed"].clone()),
        Some(shown_value)
    );
    world.heal();
    assert_eq!(count(&world, &victim, "link_downed"), 4);
    world.reset_counters();
    assert_eq!(count(&world, &victim, "link_downed"), 0);
}

#[rstest]
fn a_full_flap_moves_the_carrier_twice(#[values(InfiniBand, Ethernet)] layer: LinkLayer) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    let carrier = |world: &Fabric| {
        let netdev = netdev(world, &victim).expect("the interface is there");
        (
            netdev.carrier_up_count,
            netdev.carrier_down_count,
            netdev.carrier,
            netdev.operstate,
        )
    };
    assert_eq!(carrier(&world), (1, 1, true, "up".to_owned()));
    act(&mut world, PortAction::Cut.on(victim.clone()));
    assert_eq!(carrier(&world), (1, 2, false, "down".to_owned()));
    act(&mut world, PortAction::Mend.on(victim.clone()));
    to_ms(&mut world, 1_000);
    assert_eq!(carrier(&world), (2, 2, true, "up".to_owned()));
    act(
        &mut world,
        PortAction::Operstate {
            text: "lowerlayerdown".to_owned(),
        }
        .on(victim.clone()),
    );
    assert_eq!(carrier(&world), (2, 2, true, "lowerlayerdown".to_owned()));
}

#[test]
fn a_degraded_speed_keeps_the_port_up() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let rate = platforms::Rate::by_words("2X EDR").expect("a rate");
    act(&mut world, PortAction::Speed { rate }.on(victim.clone()));
    assert_eq!(states(&world, &victim), UP);
    assert_eq!(port(&world, &victim).map(|port| port.rate), Some(rate));
    assert_eq!(
        netdev(&world, &victim).and_then(|netdev| netdev.speed_mbps),
        Some(50_000)
    );
    act(&mut world, PortAction::Mend.on(victim.clone()));
    assert_ne!(port(&world, &victim).map(|port| port.rate), Some(rate));
}

#[rstest]
fn a_reboot_brings_up_what_is_not_troubled(
    #[values(InfiniBand, Ethernet)] layer: LinkLayer,
    #[values(false, true)] keep_counters: bool,
) {
    let mut world = world_of(layer);
    let [disabled, mended, walking, other] = [0, 1, 2, 3].map(|nth| slot(&world, nth));
    for victim in [&disabled, &mended, &walking] {
        act(&mut world, PortAction::Disable.on(victim.clone()));
    }
    to_ms(&mut world, 5_000);
    act(&mut world, PortAction::Mend.on(walking.clone()));
    let before = world.machine(&node()).expect("the node is there").clone();
    let old = [&mended, &other].map(|slot| world.name_of(&function(slot)).expect("a name").clone());
    let names = BTreeMap::from([(mended.pci, old[1].clone()), (other.pci, old[0].clone())]);
    let plan = RebootPlan {
        mend: vec![mended.clone()],
        names,
        keep_counters,
        ..RebootPlan::default()
    };
    act(&mut world, NodeAction::Reboot { plan }.on(node()));
    let after = world.machine(&node()).expect("the node is there");
    assert_ne!(after.boot_id, before.boot_id);
    assert_eq!(after.clock.boot_ns, 0);
    assert_eq!(after.clock.wall_ns, before.clock.wall_ns);
    let shown = [&disabled, &mended, &walking, &other].map(|slot| states(&world, slot));
    assert_eq!(shown, ["DOWN/Disabled", UP, UP, UP]);
    assert_eq!(world.name_of(&function(&mended)), Some(&old[1]));
    for victim in [&disabled, &mended, &walking] {
        assert_eq!(
            count(&world, victim, "link_downed"),
            u64::from(keep_counters)
        );
    }
    let edges: Vec<bool> = world
        .edges(&other)
        .iter()
        .map(|edge| edge.healthy)
        .collect();
    assert_eq!(
        edges,
        [false, true],
        "down with its host, and up again with it"
    );
    let MetadataFile::Written(metadata) = &after.metadata else {
        panic!("the collector wrote its file")
    };
    assert!(metadata.nic_topology.contains_key(&old[0]));
    let again = RebootPlan {
        same_boot_id: true,
        ..RebootPlan::default()
    };
    let boot_id = after.boot_id.clone();
    act(&mut world, NodeAction::Reboot { plan: again }.on(node()));
    assert_eq!(
        world
            .machine(&node())
            .map(|machine| machine.boot_id.clone()),
        Some(boot_id)
    );
}

#[test]
fn a_reboot_can_take_functions_and_bring_others() {
    let mut world = world_of(Ethernet);
    let [gone, back, new] = [0, 1, 2].map(|nth| slot(&world, nth));
    act(&mut world, DeviceAction::Remove.on(function(&back)));
    let guid = |world: &Fabric, slot: &SlotRef| {
        let machine = world.machine(&node()).expect("the node is there");
        machine
            .functions
            .get(&slot.pci)
            .and_then(|function| Some(function.rdma.as_ref()?.node_guid))
    };
    let old = guid(&world, &new);
    let plan = RebootPlan {
        remove: vec![gone.pci],
        restore: vec![back.pci],
        replace: vec![new.pci],
        ..RebootPlan::default()
    };
    act(&mut world, NodeAction::Reboot { plan }.on(node()));
    assert_eq!(
        [
            states(&world, &gone),
            states(&world, &back),
            states(&world, &new)
        ],
        ["gone", UP, UP]
    );
    assert_ne!(guid(&world, &new), old);
    world.heal();
    to_ms(&mut world, 1_000);
    assert!(world.settled());
    assert_eq!(states(&world, &gone), UP);
}

/// The names of devices that a reboot removes are free for others.
#[test]
fn a_reboot_gives_the_name_of_a_device_that_goes_in_it() {
    let mut world = world_of(InfiniBand);
    let [one, goes] = [0, 1].map(|nth| slot(&world, nth));
    let name = world.name_of(&function(&goes)).expect("a name").clone();
    let plan = RebootPlan {
        remove: vec![goes.pci],
        names: BTreeMap::from([(one.pci, name.clone())]),
        ..RebootPlan::default()
    };
    act(&mut world, NodeAction::Reboot { plan }.on(node()));
    assert_eq!(world.name_of(&function(&one)), Some(&name));
    assert_eq!(states(&world, &goes), "gone");
}

#[test]
fn without_a_subnet_manager_a_reboot_ends_in_init() {
    let mut world = world_of(InfiniBand);
    act(
        &mut world,
        Action::SubnetManager {
            running: false,
            reinitialise: false,
            keeps_logs: true,
        },
    );
    act(
        &mut world,
        NodeAction::Reboot {
            plan: RebootPlan::default(),
        }
        .on(node()),
    );
    let victim = slot(&world, 0);
    check(
        &mut world,
        &victim,
        &[(0, "INIT/LinkUp"), (60_000, "INIT/LinkUp")],
    );
}

#[test]
fn a_clock_step_moves_wall_time_only() {
    let mut world = world_of(Ethernet);
    let clock = |world: &Fabric| world.machine(&node()).expect("the node is there").clock;
    let start = clock(&world);
    to_ms(&mut world, 1_500);
    assert_eq!(clock(&world).wall_ns - start.wall_ns, 1_500_000_000);
    assert_eq!(clock(&world).boot_ns - start.boot_ns, 1_500_000_000);
    act(
        &mut world,
        NodeAction::ClockStep {
            by_ns: -3_000_000_000,
        }
        .on(node()),
    );
    assert_eq!(start.wall_ns - clock(&world).wall_ns, 1_500_000_000);
    assert_eq!(clock(&world).boot_ns - start.boot_ns, 1_500_000_000);
}

#[test]
fn time_that_is_over_moves_no_clock() {
    let mut world = world_of(Ethernet);
    let clock = |world: &Fabric| world.machine(&node()).expect("the node is there").clock;
    to_ms(&mut world, 1_500);
    let reached = clock(&world);
    to_ms(&mut world, 500);
    assert_eq!(clock(&world), reached);
    assert_eq!(world.now(), SimTime::from_ms(1_500));
}

#[test]
fn clocks_are_told_also_when_something_happens_at_that_very_instant() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    act(&mut world, PortAction::Cut.on(victim.clone()));
    act(&mut world, PortAction::Mend.on(victim));
    let start = world.machine(&node()).expect("the node is there").clock;
    to_ms(&mut world, 150);
    let clock = world.machine(&node()).expect("the node is there").clock;
    assert_eq!(clock.boot_ns - start.boot_ns, 150_000_000);
}

#[test]
fn healing_writes_the_collectors_file_and_the_routes_anew() {
    let mut world = world_of(Ethernet);
    let rest = world.machine(&node()).expect("the node is there").clone();
    let victim = slot(&world, 0);
    act(
        &mut world,
        NodeAction::Metadata {
            file: MetadataFile::Missing,
        }
        .on(node()),
    );
    act(
        &mut world,
        NodeAction::Routes {
            routes: Routes::Missing,
        }
        .on(node()),
    );
    act(&mut world, DeviceAction::Remove.on(function(&victim)));
    world.heal();
    let healed = world.machine(&node()).expect("the node is there");
    assert_eq!(
        (&healed.metadata, &healed.routes),
        (&rest.metadata, &rest.routes)
    );
    let other = slot(&world, 1);
    act(
        &mut world,
        DeviceAction::Rename {
            to: DeviceName::from("mlx5_99"),
        }
        .on(function(&other)),
    );
    world.heal();
    let MetadataFile::Written(metadata) =
        &world.machine(&node()).expect("the node is there").metadata
    else {
        panic!("the collector wrote its file")
    };
    assert!(
        metadata
            .nic_topology
            .contains_key(&DeviceName::from("mlx5_99"))
    );
}

#[test]
fn cabling_day_gives_an_uncabled_port_a_cable() {
    let mut world = world("l40-onprem");
    let ports = world.ports(&node());
    let bare = ports
        .into_iter()
        .find(|port| !port.should_be_up)
        .expect("one without a cable")
        .slot;
    world.heal();
    to_ms(&mut world, 1_000);
    assert_eq!(
        states(&world, &bare),
        "DOWN/Polling",
        "healing buys no cables"
    );
    act(&mut world, PortAction::Mend.on(bare.clone()));
    to_ms(&mut world, 2_000);
    assert_eq!(states(&world, &bare), UP);
    assert!(
        world
            .ports(&node())
            .iter()
            .any(|port| port.slot == bare && port.should_be_up)
    );
}

#[test]
fn two_nodes_share_the_subnet_manager_and_nothing_else() {
    let platforms = Platforms::shipped();
    let platform = platforms.get("dgx-a100").expect("the platform ships");
    let names = ["a", "b"].map(platforms::NodeName::from);
    let nodes = names
        .iter()
        .map(|name| (name.clone(), platform.clone()))
        .collect();
    let mut world = Fabric::new(nodes, fabric::Timing::default());
    let slots = names.clone().map(|name| world.ports(&name)[0].slot.clone());
    act(&mut world, PortAction::Cut.on(slots[0].clone()));
    assert_eq!(
        [states(&world, &slots[0]), states(&world, &slots[1])],
        ["DOWN/Polling", UP]
    );
    act(
        &mut world,
        Action::SubnetManager {
            running: false,
            reinitialise: true,
            keeps_logs: true,
        },
    );
    assert_eq!(states(&world, &slots[1]), "INIT/LinkUp");
    let guids = names.map(|name| {
        let functions = &world.machine(&name).expect("the node is there").functions;
        functions
            .values()
            .next()
            .and_then(|function| Some(function.rdma.as_ref()?.node_guid))
    });
    assert_ne!(guids[0], guids[1]);
    let unknown = FunctionRef {
        node: platforms::NodeName::from("c"),
        pci: slots[0].pci,
    };
    assert_eq!(world.name_of(&unknown), None);
}

#[test]
fn healing_ends_a_pci_error_without_taking_the_interface() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let before = netdev(&world, &victim)
        .expect("the interface is there")
        .ifindex;
    let takes = SimTime::from_secs(600);
    act(
        &mut world,
        DeviceAction::PciError { takes }.on(function(&victim)),
    );
    to_ms(&mut world, 1_000);
    world.heal();
    to_ms(&mut world, 1_150);
    assert!(world.settled());
    assert_eq!(
        netdev(&world, &victim).map(|netdev| netdev.ifindex),
        Some(before)
    );
}
