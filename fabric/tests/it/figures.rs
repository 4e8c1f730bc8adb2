//! Values of counters and carrier counts after they are set, after their device returns, and with
//! drivers that keep some of them; and related errors.

use fabric::{
    Action, ActionError, CounterChange, DeviceAction, Fabric, NodeAction, PortAction, PortsAction,
    Timing,
};
use platforms::LinkLayer::{Ethernet, InfiniBand};
use platforms::{CounterValue, Platforms, SlotRef};
use rstest::rstest;
use simfs::{Errno, SimTime};

use crate::room::{
    act, check, count, driver_load, firmware_reset, function, netdev, node, port, port_one, slot,
    to_ms, world, world_of,
};

const UP: &str = "ACTIVE/LinkUp";
const DISABLED: &str = "DOWN/Disabled";

fn counter(slot: &SlotRef, name: &str, change: CounterChange) -> Action {
    PortAction::Counter {
        name: name.to_owned(),
        change,
    }
    .on(slot.clone())
}

/// How often the carrier came up and went down.
fn carrier(world: &Fabric, slot: &SlotRef) -> (u64, u64) {
    let shown = netdev(world, slot).expect("it has a net device");
    (shown.carrier_up_count, shown.carrier_down_count)
}

fn refused(world: &mut Fabric, action: &Action) -> ActionError {
    world.act(action).expect_err("it is impossible")
}

/// If the sum is odd, the up count gets the larger half, as for a carrier that is present.
#[rstest]
#[case("carrier_up_count", CounterChange::Set(CounterValue::Count(9)), (9, 20))]
#[case("carrier_down_count", CounterChange::Set(CounterValue::Count(9)), (30, 9))]
#[case("carrier_changes", CounterChange::Set(CounterValue::Count(9)), (5, 4))]
#[case("carrier_up_count", CounterChange::Add(3), (33, 20))]
#[case("carrier_down_count", CounterChange::Add(3), (30, 23))]
#[case("carrier_changes", CounterChange::Add(3), (27, 26))]
#[case("carrier_changes", CounterChange::Reset, (0, 0))]
fn carrier_counts_move_like_any_other(
    #[case] name: &str,
    #[case] change: CounterChange,
    #[case] expected: (u64, u64),
) {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    for (name, value) in [("carrier_up_count", 30), ("carrier_down_count", 20)] {
        let value = CounterChange::Set(CounterValue::Count(value));
        act(&mut world, counter(&victim, name, value));
    }
    act(&mut world, counter(&victim, name, change));
    assert_eq!(carrier(&world, &victim), expected);
}

#[rstest]
#[case("carrier_up_count")]
#[case("carrier_down_count")]
#[case("carrier_changes")]
fn a_carrier_count_is_always_a_number(#[case] name: &str) {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let shown_value = CounterChange::Set(CounterValue::Fails(Errno::EIO));
    let error = refused(&mut world, &counter(&victim, name, shown_value));
    assert!(matches!(error, ActionError::AlwaysNumber { .. }), "{error}");
}

#[test]
fn a_port_without_an_interface_has_none_to_act_on() {
    let mut world = world("aws-p5");
    let ports = world.ports(&node()).into_iter().map(|port| port.slot);
    let bare = ports
        .into_iter()
        .find(|slot| netdev(&world, slot).is_none());
    let bare = bare.expect("EFA ports have none");
    let expected = ActionError::NoInterface(bare.clone());
    let down = PortAction::Interface { up: false }.on(bare.clone());
    assert_eq!(refused(&mut world, &down), expected);
    let text = PortAction::Operstate {
        text: "down".to_owned(),
    }
    .on(bare);
    assert_eq!(refused(&mut world, &text), expected);
}

#[test]
fn a_counter_that_a_port_has_not_is_refused_with_those_it_has() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let change = CounterChange::Add(1);
    let error = refused(&mut world, &counter(&victim, "link_upped", change));
    let ActionError::NoSuchCounter { name, known, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(name, "link_upped");
    for has in [
        "link_downed",
        "out_of_sequence",
        "rx_bytes",
        "carrier_changes",
    ] {
        assert!(known.split(", ").any(|one| one == has), "{has}: {known}");
    }
}

/// A world of one node whose driver keeps these over this restart, and its first port.
fn own_driver(restart: &str, keeps: &str) -> (Fabric, SlotRef) {
    let file = |wanted: &str| {
        let found = Platforms::shipped_texts().find(|(name, _)| name == wanted);
        found.expect("it ships").1
    };
    let shipped = file("drivers/mlx5-eth.yaml");
    let lost =
        format!("{restart}: {{ counters: false, hw_counters: false, netdev: false, name: true }}");
    assert!(shipped.contains(&lost), "{lost}");
    let driver = shipped
        .replace("name: mlx5-eth", "name: mlx5-own")
        .replace(&lost, &format!("{restart}: {keeps}"));
    let profile = file("profiles/h100-oci.yaml")
        .replace("name: h100-oci", "name: own")
        .replace("mlx5-eth", "mlx5-own");
    let platforms = Platforms::read(&[("driver.yaml", &driver), ("own.yaml", &profile)]);
    let platforms = platforms.unwrap_or_else(|error| panic!("{error}"));
    let platform = platforms.get("own").expect("it was read").clone();
    let world = Fabric::new(vec![(node(), platform)], Timing::default());
    let victim = slot(&world, 0);
    (world, victim)
}

/// A port with counters of every kind, after its driver was reloaded. `keeps` is the driver's entry;
/// an interface's counter follows the interface.
fn reloaded(keeps: &str) -> (Fabric, SlotRef) {
    reloaded_after(keeps, |_, _| {})
}

/// As [`reloaded`], with an action before the driver is unloaded.
fn reloaded_after(keeps: &str, doing: impl FnOnce(&mut Fabric, &SlotRef)) -> (Fabric, SlotRef) {
    let (mut world, victim) = own_driver("driver_reload", keeps);
    for name in ["symbol_error", "out_of_sequence", "rx_bytes", "lifespan"] {
        act(&mut world, counter(&victim, name, CounterChange::Add(7)));
    }
    doing(&mut world, &victim);
    act(&mut world, NodeAction::DriverUnload.on(node()));
    to_ms(&mut world, 1_000);
    act(&mut world, driver_load());
    to_ms(&mut world, 5_000);
    (world, victim)
}

/// `lifespan` starts at 10.
#[rstest]
#[case("{ counters: false, hw_counters: false, netdev: false, name: true }", [0, 0, 0, 10])]
#[case("{ counters: true, hw_counters: false, netdev: false, name: true }", [7, 0, 0, 10])]
#[case("{ counters: false, hw_counters: true, netdev: false, name: true }", [0, 7, 0, 17])]
#[case("{ counters: true, hw_counters: true, netdev: true, name: true }", [7, 7, 7, 17])]
fn a_driver_that_is_loaded_anew_keeps_what_its_file_says(
    #[case] keeps: &str,
    #[case] expected: [u64; 4],
) {
    let (world, victim) = reloaded(keeps);
    let counts = ["symbol_error", "out_of_sequence", "rx_bytes", "lifespan"]
        .map(|name| count(&world, &victim, name));
    assert_eq!(counts, expected);
}

/// A re-registered interface has counted its carrier once; one that stayed has not lost it.
#[rstest]
#[case(
    "{ counters: false, hw_counters: false, netdev: false, name: true }",
    false
)]
#[case(
    "{ counters: false, hw_counters: false, netdev: true, name: true }",
    true
)]
fn an_interface_is_registered_anew_unless_its_driver_keeps_it(
    #[case] keeps: &str,
    #[case] kept: bool,
) {
    let fresh = world_of(Ethernet);
    let before = netdev(&fresh, &slot(&fresh, 0))
        .expect("it has one")
        .ifindex;
    let (world, victim) = reloaded(keeps);
    let after = netdev(&world, &victim).expect("it is back");
    assert_eq!(after.ifindex == before, kept);
    if !kept {
        assert_eq!((after.carrier_up_count, after.carrier_down_count), (1, 0));
    }
}

/// If the net driver stays, it keeps the link up; otherwise the link comes up again 150 ms later.
#[rstest]
#[case(
    "{ counters: false, hw_counters: false, netdev: true, name: true }",
    UP
)]
#[case(
    "{ counters: false, hw_counters: false, netdev: false, name: true }",
    DISABLED
)]
fn a_link_stays_up_with_the_interface_that_its_driver_keeps(
    #[case] keeps: &str,
    #[case] shown: &str,
) {
    let (mut world, victim) = own_driver("driver_reload", keeps);
    act(&mut world, NodeAction::DriverUnload.on(node()));
    to_ms(&mut world, 1_000);
    act(&mut world, driver_load());
    check(
        &mut world,
        &victim,
        &[(1_000, shown), (1_149, shown), (1_150, UP)],
    );
}

#[test]
fn a_count_behind_a_veil_starts_anew_with_its_device() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    act(
        &mut world,
        counter(&victim, "symbol_error", CounterChange::Add(7)),
    );
    let shown_value = CounterChange::Set(CounterValue::Fails(Errno::EIO));
    act(&mut world, counter(&victim, "symbol_error", shown_value));
    act(&mut world, DeviceAction::Remove.on(function(&victim)));
    act(&mut world, DeviceAction::Restore.on(function(&victim)));
    to_ms(&mut world, 2_000);
    let shown = port(&world, &victim).expect("it is back");
    assert_eq!(
        shown.counters["symbol_error"],
        CounterValue::Fails(Errno::EIO)
    );
    world.heal();
    assert_eq!(count(&world, &victim, "symbol_error"), 0);
}

/// `lifespan` starts at 10; hidden counts restart with their folder, independently of the other
/// folder.
#[rstest]
#[case("{ counters: false, hw_counters: true, netdev: true, name: true }", [0, 17, 7])]
#[case("{ counters: true, hw_counters: false, netdev: true, name: true }", [7, 10, 7])]
#[case("{ counters: true, hw_counters: true, netdev: false, name: true }", [7, 17, 0])]
fn a_count_behind_a_veil_is_kept_with_its_folder(#[case] keeps: &str, #[case] expected: [u64; 3]) {
    let names = ["symbol_error", "lifespan", "rx_bytes"];
    let shown_value = || CounterChange::Set(CounterValue::Fails(Errno::EIO));
    let (mut world, victim) = reloaded_after(keeps, |world, victim| {
        for name in names {
            act(world, counter(victim, name, shown_value()));
        }
    });
    world.heal();
    let counts = names.map(|name| count(&world, &victim, name));
    assert_eq!(counts, expected);
}

/// What a driver would keep belongs to the replaced hardware.
#[test]
fn new_hardware_has_counted_nothing_whatever_its_driver_keeps() {
    let keeps = "{ counters: true, hw_counters: true, netdev: true, name: true }";
    let (mut world, victim) = own_driver("rescan", keeps);
    for name in ["symbol_error", "lifespan", "rx_bytes"] {
        act(&mut world, counter(&victim, name, CounterChange::Add(7)));
    }
    act(&mut world, DeviceAction::Replace.on(function(&victim)));
    to_ms(&mut world, 5_000);
    let counts = ["symbol_error", "lifespan", "rx_bytes"].map(|name| count(&world, &victim, name));
    assert_eq!(counts, [0, 10, 0]);
    assert_eq!(carrier(&world, &victim), (1, 0));
}

#[test]
fn new_hardware_has_counted_nothing() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    for name in ["symbol_error", "out_of_sequence", "rx_bytes"] {
        act(&mut world, counter(&victim, name, CounterChange::Add(7)));
    }
    let many = CounterChange::Set(CounterValue::Count(30));
    act(&mut world, counter(&victim, "carrier_changes", many));
    act(&mut world, DeviceAction::Replace.on(function(&victim)));
    to_ms(&mut world, 5_000);
    for name in ["symbol_error", "out_of_sequence", "rx_bytes"] {
        assert_eq!(count(&world, &victim, name), 0, "{name}");
    }
    assert_eq!(carrier(&world, &victim), (1, 0));
}

#[rstest]
#[case(0, 1, 1)]
#[case(1, 0, 1)]
#[case(1, 1, 0)]
fn a_flap_without_turns_or_without_length_is_refused(
    #[case] times: u32,
    #[case] down_ms: u64,
    #[case] up_ms: u64,
) {
    let mut world = world_of(Ethernet);
    let flap = PortsAction::Flap {
        times,
        down: SimTime::from_ms(down_ms),
        up: SimTime::from_ms(up_ms),
        stagger: SimTime::ZERO,
    }
    .on(vec![slot(&world, 0)]);
    let error = refused(&mut world, &flap);
    assert!(matches!(error, ActionError::EmptyFlap { .. }), "{error}");
}

#[test]
fn mending_brings_an_interface_up_that_was_taken_down() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let down = PortAction::Interface { up: false }.on(victim.clone());
    act(&mut world, down);
    act(&mut world, PortAction::Mend.on(victim.clone()));
    to_ms(&mut world, 1_000);
    let shown = netdev(&world, &victim).expect("it has one");
    assert!(shown.admin_up && shown.carrier);
}

#[test]
fn a_port_with_virtual_functions_cannot_change_its_layer_nor_can_they() {
    let mut world = world_of(Ethernet);
    let parent = slot(&world, 0);
    let layer = |slot: &SlotRef, layer| PortAction::ChangeLayer { layer }.on(slot.clone());
    let error = refused(&mut world, &layer(&parent, Ethernet));
    assert!(matches!(error, ActionError::LayerAlready(..)), "{error}");
    let vfs = DeviceAction::CreateVfs { count: 1 }.on(function(&parent));
    act(&mut world, vfs);
    let error = refused(&mut world, &layer(&parent, InfiniBand));
    assert!(matches!(error, ActionError::HasVfs(_, 1)), "{error}");
    let machine = world.machine(&node()).expect("the node is there");
    let child = port_one(machine.functions[&parent.pci].virtfns[0]);
    let error = refused(&mut world, &layer(&child, InfiniBand));
    assert!(matches!(error, ActionError::LayerOfVf(..)), "{error}");
}

#[test]
fn a_virtual_function_returns_only_to_a_parent_that_is_there() {
    let mut world = world("a100-oci:vfs");
    let machine = world.machine(&node()).expect("the node is there");
    let parent = machine.functions.iter();
    let parent = parent.filter(|(_, function)| !function.virtfns.is_empty());
    let (parent, own) = parent
        .map(|(pci, it)| (*pci, it.virtfns[0]))
        .next()
        .expect("it has some");
    let (parent, child) = (port_one(parent), port_one(own));
    act(&mut world, DeviceAction::Remove.on(function(&child)));
    act(&mut world, DeviceAction::Restore.on(function(&child)));
    to_ms(&mut world, 1_000);
    act(&mut world, DeviceAction::Remove.on(function(&child)));
    act(&mut world, DeviceAction::Remove.on(function(&parent)));
    let error = refused(&mut world, &DeviceAction::Restore.on(function(&child)));
    assert!(matches!(error, ActionError::ParentAbsent(..)), "{error}");
}

#[test]
fn a_world_is_settled_when_nothing_is_to_come_any_more() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    assert!(world.settled());
    act(&mut world, firmware_reset(&victim, 20));
    to_ms(&mut world, 19_999);
    assert!(!world.settled());
    to_ms(&mut world, 30_000);
    assert!(world.settled());
}
