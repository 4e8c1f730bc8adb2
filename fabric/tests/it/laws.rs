//! Laws for arbitrary platforms and scripts.

use std::collections::BTreeMap;

use fabric::{
    Action, CharDeviceKind, CounterChange, DeviceAction, Fabric, NodeAction, PortAction,
    PortsAction, RebootPlan, StickAt,
};
use platforms::{
    CounterValue, DeviceName, LinkLayer, MetadataFile, PciAddress, PhysState, PortNumber,
    PortState, Rate, Routes, SlotRef, diff, render,
};
use proptest::prelude::*;
use simfs::{Edit, Errno, SimTime};

use crate::room::{function, node, world};

pub(crate) const PLATFORMS: [&str; 7] = [
    "h100-oci",
    "dgx-a100",
    "dgx-a100:two-port",
    "dgx-a100:dual-function",
    "l40-onprem",
    "a100-oci:vfs",
    "opa-cn5000",
];

/// Longer than the slowest recovery: a probe, then a walk.
pub(crate) const SETTLING_MS: u64 = 1_000;

/// An action of the nth kind on the nth port, this many milliseconds after the previous one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) after_ms: u64,
    pub(crate) kind: usize,
    pub(crate) port: usize,
    pub(crate) number: u64,
}

pub(crate) fn script(kinds: usize) -> impl Strategy<Value = (usize, Vec<Line>)> {
    let line = (
        prop_oneof![Just(0), 1_u64..400, 400_u64..9_000],
        0..kinds,
        0..8_usize,
        0..5_000_u64,
    )
        .prop_map(|(after_ms, kind, port, number)| Line {
            after_ms,
            kind,
            port,
            number,
        });
    (0..PLATFORMS.len(), prop::collection::vec(line, 1..14))
}

/// Kinds of actions on links only, none of which lowers a counter.
const LINK_KINDS: usize = 12;
/// All kinds except the one that shows any state independently of the link.
pub(crate) const HONEST_KINDS: usize = 31;
/// All kinds.
pub(crate) const KINDS: usize = 32;

/// The ports of every function that ever existed, by address.
pub(crate) fn slots(world: &Fabric) -> Vec<SlotRef> {
    let platform = world.platform(&node()).expect("the node is there");
    platform
        .ports()
        .into_iter()
        .map(|port| SlotRef {
            node: node(),
            pci: port.pci,
            port: port.port,
        })
        .collect()
}

pub(crate) fn action(world: &Fabric, line: &Line) -> Action {
    let all = slots(world);
    let pick = |nth: usize| all[nth % all.len()].clone();
    let (slot, other) = (pick(line.port), pick(line.port + 1));
    let number = line.number;
    let span = SimTime::from_ms(number);
    let at = [
        StickAt::Polling,
        StickAt::Training,
        StickAt::Init,
        StickAt::Armed,
        StickAt::Recovery,
    ];
    let name = |slot: &SlotRef| {
        world
            .name_of(&function(slot))
            .cloned()
            .unwrap_or(DeviceName::from("mlx5_0"))
    };
    let counter = [
        "link_downed",
        "symbol_error",
        "port_rcv_data",
        "rx_bytes",
        "carrier_changes",
    ];
    let counter = |change| {
        PortAction::Counter {
            name: counter[line.port % counter.len()].to_owned(),
            change,
        }
        .on(slot.clone())
    };
    let reboot = |plan| NodeAction::Reboot { plan }.on(node());
    let rate = Rate::by_words("1X SDR").expect("a rate");
    match line.kind {
        0 => PortAction::Cut.on(slot),
        1 => PortAction::Mend.on(slot),
        2 => PortAction::Disable.on(slot),
        3 => PortsAction::Flap {
            times: 3,
            down: span,
            up: SimTime::from_ms(700),
            stagger: span,
        }
        .on(vec![slot, other]),
        4 => PortAction::TrainSlowly { takes: span }.on(slot),
        5 => PortAction::Stick {
            at: at[line.port % at.len()],
        }
        .on(slot),
        6 => PortAction::Speed { rate }.on(slot),
        7 => PortAction::Interface {
            up: number.is_multiple_of(2),
        }
        .on(slot),
        8 => Action::SubnetManager {
            running: number.is_multiple_of(2),
            reinitialise: number.is_multiple_of(3),
            keeps_logs: true,
        },
        9 => counter(CounterChange::Add(number)),
        10 if number.is_multiple_of(2) => counter(CounterChange::RatePerSecond(number)),
        10 => PortAction::Traffic {
            bytes_per_second: number * 1_000_000,
            packet_bytes: 4096,
        }
        .on(slot),
        11 => PortAction::Operstate {
            text: "lowerlayerdown".to_owned(),
        }
        .on(slot),
        12 => DeviceAction::Remove.on(function(&slot)),
        13 => DeviceAction::Restore.on(function(&slot)),
        14 => DeviceAction::Rename { to: name(&other) }.on(function(&slot)),
        15 => DeviceAction::Replace.on(function(&slot)),
        16 => NodeAction::DriverUnload.on(node()),
        17 => NodeAction::DriverLoad {
            names: BTreeMap::from([(slot.pci, name(&other)), (other.pci, name(&slot))]),
        }
        .on(node()),
        18 => DeviceAction::FirmwareReset { takes: span }.on(function(&slot)),
        19 => DeviceAction::PciError { takes: span }.on(function(&slot)),
        20 => DeviceAction::LeaveNamespace.on(function(&slot)),
        21 => DeviceAction::ReturnToNamespace.on(function(&slot)),
        22 => DeviceAction::CreateVfs { count: 2 }.on(function(&slot)),
        23 => DeviceAction::DestroyVfs.on(function(&slot)),
        24 => reboot(RebootPlan {
            keep_counters: number.is_multiple_of(2),
            mend: vec![slot],
            ..RebootPlan::default()
        }),
        25 => reboot(RebootPlan {
            remove: vec![slot.pci],
            replace: vec![other.pci],
            ..RebootPlan::default()
        }),
        26 => counter(CounterChange::Set(CounterValue::Fails(Errno::EIO))),
        27 => counter(CounterChange::Reset),
        28 if number.is_multiple_of(2) => PortAction::RemovePort.on(slot),
        28 => PortAction::CharDevice {
            kind: CharDeviceKind::Issm,
            there: number.is_multiple_of(3),
        }
        .on(slot),
        29 => DeviceAction::HotAdd {
            at: PciAddress {
                domain: 9,
                ..slot.pci
            },
            name: DeviceName(format!("hot{}", line.port)),
            cabled: number.is_multiple_of(2),
        }
        .on(function(&slot)),
        30 => PortAction::ChangeLayer {
            layer: if number.is_multiple_of(2) {
                LinkLayer::Ethernet
            } else {
                LinkLayer::InfiniBand
            },
        }
        .on(slot),
        _ => PortAction::Set {
            state: Some(PortState(u8::try_from(number % 7).expect("below 7"))),
            phys_state: (number.is_multiple_of(2)).then_some(PhysState(9)),
        }
        .on(slot),
    }
}

/// Plays a script, and calls `look` after each line.
fn play(platform: usize, lines: &[Line], mut look: impl FnMut(&mut Fabric)) -> Fabric {
    let mut world = world(PLATFORMS[platform]);
    for line in lines {
        world.advance(world.now() + SimTime::from_ms(line.after_ms));
        look(&mut world);
        let before = world.machine(&node()).expect("the node is there").clone();
        let refused = world.act(&action(&world, line)).is_err();
        if refused {
            assert_eq!(
                world.machine(&node()),
                Some(&before),
                "refused, and yet something changed: {line:?}"
            );
        }
        look(&mut world);
    }
    world.advance(world.now() + SimTime::from_ms(5_000));
    look(&mut world);
    world
}

/// Everything that is visible of a world.
fn rendered(world: &Fabric) -> String {
    let machine = world.machine(&node()).expect("the node is there");
    let edges: Vec<_> = slots(world)
        .iter()
        .map(|slot| world.edges(slot).to_vec())
        .collect();
    format!(
        "{:?} {:?} {edges:?} {:?}",
        world.now(),
        render(machine),
        world.kernel_log(&node())
    )
}

/// Every counter of a port, by slot and file.
fn counts(world: &Fabric) -> BTreeMap<(PciAddress, PortNumber, String), u64> {
    let machine = world.machine(&node()).expect("the node is there");
    let rdma = machine
        .functions
        .iter()
        .filter_map(|(pci, function)| Some((*pci, function.rdma.as_ref()?)));
    let ports = rdma.flat_map(|(pci, rdma)| {
        rdma.ports
            .iter()
            .map(move |(number, port)| (pci, *number, port))
    });
    ports
        .flat_map(|(pci, number, port)| {
            let files = port.counters.iter().chain(port.hw_counters.iter());
            files.filter_map(move |(name, value)| match value {
                CounterValue::Count(count) => Some(((pci, number, name.to_string()), *count)),
                CounterValue::Text(_) | CounterValue::Fails(_) => None,
            })
        })
        .collect()
}

/// Applies edits to a minimal model of a tree: paths, and the edit that created each node.
fn apply(tree: &mut BTreeMap<String, Edit>, edits: &[Edit]) {
    for edit in edits {
        let path = edit.path().as_str().to_owned();
        match edit {
            Edit::Remove(_) => {
                let below = format!("{path}/");
                tree.retain(|at, _| *at != path && !at.starts_with(&below));
            }
            // Folders are created with their content.
            Edit::Folder(_) => {}
            made => {
                tree.insert(path, made.clone());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_healed_world_settles_with_every_port_up_that_should_be((platform, lines) in script(KINDS)) {
        let mut world = play(platform, &lines, |_| ());
        world.heal();
        let healed = world.now();
        world.advance(healed + SimTime::from_ms(SETTLING_MS));
        prop_assert!(world.settled());
        for port in world.ports(&node()) {
            prop_assert_eq!(port.healthy, port.should_be_up, "{}", port.slot);
        }
        let machine = world.machine(&node()).expect("the node is there");
        prop_assert!(machine.class_present);
        prop_assert_ne!(&machine.metadata, &MetadataFile::Missing);
        prop_assert_ne!(&machine.routes, &Routes::Missing);
        world.reset_counters();
        let before = rendered(&world);
        world.advance(world.now());
        prop_assert_eq!(rendered(&world), before);
    }

    #[test]
    fn the_same_script_tells_the_same_bytes_in_one_step_or_in_many((platform, lines) in script(KINDS)) {
        let straight = play(platform, &lines, |_| ());
        // Calls in between, here at odd instants, must not change the result.
        let mut world = world(PLATFORMS[platform]);
        for line in lines.iter().chain([&Line { after_ms: 5_000, kind: KINDS, port: 0, number: 0 }]) {
            let to = world.now() + SimTime::from_ms(line.after_ms);
            for part in 1..4 {
                world.advance(SimTime::from_ns(to.as_ns() - (to.as_ns() - world.now().as_ns()) / (part + 1)));
            }
            world.advance(to);
            world.advance(SimTime::ZERO);
            prop_assert_eq!(world.now(), to, "time goes forward only");
            if line.kind < KINDS {
                let _ = world.act(&action(&world, line));
            }
        }
        prop_assert_eq!(rendered(&world), rendered(&straight));
    }

    #[test]
    fn no_counter_falls_by_what_happens_to_a_link((platform, lines) in script(LINK_KINDS)) {
        let mut last = BTreeMap::new();
        play(platform, &lines, |world| {
            let now = counts(world);
            for (file, count) in &last {
                assert!(now[file] >= *count, "{file:?} fell from {count} to {}", now[file]);
            }
            last = now;
        });
    }

    #[test]
    fn a_port_shows_only_what_its_layer_knows((platform, lines) in script(HONEST_KINDS)) {
        play(platform, &lines, |world| {
            let machine = world.machine(&node()).expect("the node is there");
            let rdma = machine.functions.values().filter_map(|function| function.rdma.as_ref());
            for port in rdma.flat_map(|rdma| rdma.ports.values()) {
                let pair = (port.state, port.phys_state);
                let up = (PortState::ACTIVE, PhysState::LINK_UP);
                match port.layer {
                    LinkLayer::Ethernet => assert!(pair == up || pair == (PortState::DOWN, PhysState::DISABLED)),
                    LinkLayer::InfiniBand => {
                        let linked = [PhysState::LINK_UP, PhysState::RECOVERY].contains(&port.phys_state);
                        assert_eq!(linked, port.state != PortState::DOWN, "{pair:?}");
                    }
                }
            }
        });
    }

    #[test]
    fn the_edges_of_a_port_alternate_and_end_with_what_is((platform, lines) in script(KINDS)) {
        let world = play(platform, &lines, |_| ());
        let healthy: Vec<SlotRef> =
            world.ports(&node()).into_iter().filter(|port| port.healthy).map(|port| port.slot).collect();
        for slot in slots(&world) {
            let edges = world.edges(&slot);
            prop_assert!(edges.windows(2).all(|pair| pair[0].at <= pair[1].at && pair[0].healthy != pair[1].healthy));
            if let Some(last) = edges.last() {
                prop_assert!(last.at <= world.now());
                prop_assert_eq!(last.healthy, healthy.contains(&slot), "{}", slot);
            }
        }
    }

    #[test]
    fn no_two_devices_bear_one_name((platform, lines) in script(KINDS)) {
        play(platform, &lines, |world| {
            let ports = world.ports(&node());
            let mut names: BTreeMap<DeviceName, PciAddress> = BTreeMap::new();
            for port in ports {
                let pci = *names.entry(port.device.clone()).or_insert(port.slot.pci);
                assert_eq!(pci, port.slot.pci, "{}", port.device);
                let named = world.function_named(&node(), &port.device);
                assert_eq!(named, Some(function(&port.slot)));
            }
        });
    }

    #[test]
    fn the_differences_on_the_way_lead_to_the_tree_at_the_end((platform, lines) in script(KINDS)) {
        let mut shown = world(PLATFORMS[platform]).machine(&node()).expect("the node is there").clone();
        let mut tree = BTreeMap::new();
        apply(&mut tree, &render(&shown));
        let world = play(platform, &lines, |world| {
            let now = world.machine(&node()).expect("the node is there");
            apply(&mut tree, &diff(&shown, now));
            shown = now.clone();
        });
        let mut whole = BTreeMap::new();
        apply(&mut whole, &render(world.machine(&node()).expect("the node is there")));
        let differing = |path: &&String| tree.get(*path) != whole.get(*path);
        let differing = tree.keys().chain(whole.keys()).find(differing);
        let there = differing.map(|path| (tree.get(path), whole.get(path)));
        prop_assert!(differing.is_none(), "{:?}: {:?}", differing, there);
    }
}
