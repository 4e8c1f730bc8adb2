//! A device that reaches its critical temperature, one fact per test.

use fabric::{
    Action, ActionError, Fabric, NodeAction, PortAction, PortEventKind, Side,
    opa::{LinkDownReason, Logical, Physical},
};
use platforms::SlotRef;
use rstest::rstest;

use crate::room::{act, count, driver_load, node, slot, states, to_ms, world};

const HFI1: &str = "opa-cn5000";

/// An hfi1 at rest, and the same after ten seconds, when it is too hot.
fn overheated() -> (Fabric, SlotRef) {
    let mut world = world(HFI1);
    let slot = slot(&world, 0);
    to_ms(&mut world, 10_000);
    act(&mut world, PortAction::Overheat.on(slot.clone()));
    to_ms(&mut world, 20_000);
    (world, slot)
}

fn pair(world: &Fabric, slot: &SlotRef, side: Side) -> (u8, u8) {
    let record = world.end(slot, side).and_then(|end| end.record);
    record.expect("on").shown().codes()
}

#[test]
fn its_neighbour_hears_61_and_the_host_shows_what_it_showed_before() {
    let (world, slot) = overheated();
    assert_eq!(pair(&world, &slot, Side::There), (0, 61));
    let there = world.port_info(&slot, Side::There).expect("on");
    assert_eq!(
        (there.logical, there.physical),
        (Logical::Down, Physical::Polling)
    );
    assert!(!there.configured && !there.neighbour_normal);
    assert_eq!(pair(&world, &slot, Side::Here), (0, 0));
    let here = world.port_info(&slot, Side::Here).expect("on");
    assert_eq!(
        (here.logical, here.physical),
        (Logical::Active, Physical::LinkUp)
    );
    assert!(here.configured && here.neighbour_normal);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
}

#[test]
fn a_frozen_driver_counts_no_lost_link_and_raises_no_event() {
    let (world, slot) = overheated();
    assert_eq!(count(&world, &slot, "link_downed"), 0);
    let lost = |kind| matches!(kind, PortEventKind::PortErr);
    let events = world.port_events(&slot).iter();
    assert_eq!(events.filter(|event| lost(event.kind)).count(), 0);
}

/// Both lines are those of the driver (`handle_temp_err`, `start_freeze_handling`); none of a link that
/// went down follows.
#[test]
fn its_driver_writes_that_it_is_frozen_and_no_more() {
    let (mut world, slot) = overheated();
    act(&mut world, PortAction::Overheat.on(slot.clone()));
    let log = world.kernel_log(&node()).iter();
    let log: Vec<&str> = log
        .filter_map(|line| line.text.split_once("hfi1_0: ").map(|(_, text)| text))
        .collect();
    let expected = [
        "Critical temperature reached! Forcing device into freeze mode!",
        "Aborted freeze recovery. Please REBOOT system",
    ];
    assert_eq!(log, expected, "a device that is frozen freezes once");
}

/// The manager does not reach the host, and the switch port tells it of the message.
#[test]
fn the_manager_takes_the_host_for_gone() {
    let (world, slot) = overheated();
    assert_eq!(world.query(&slot, Side::Here), None);
    let log = world.end(&slot, Side::There).expect("a link").log;
    let logged: Vec<(u8, u8)> = log.printed().map(|entry| entry.pair.codes()).collect();
    assert_eq!(logged, [(0, 61)]);
    let details: Vec<String> = world
        .notices()
        .iter()
        .map(fabric::opa::Notice::detail)
        .collect();
    let expected = format!(
        "NodeType: hfi LINKED:NeighborLinkDownReason: {} [61] ",
        LinkDownReason::SMA_DISABLED
    );
    assert_eq!(details, [expected]);
}

#[test]
fn a_mended_device_trains_again() {
    let (mut world, slot) = overheated();
    act(&mut world, PortAction::Mend.on(slot.clone()));
    assert_eq!(states(&world, &slot), "DOWN/Polling");
    to_ms(&mut world, 21_000);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
    assert_eq!(pair(&world, &slot, Side::There), (0, 0));
}

#[test]
fn a_driver_that_is_loaded_again_thaws_the_device() {
    let (mut world, slot) = overheated();
    act(&mut world, NodeAction::DriverUnload.on(node()));
    assert_eq!(pair(&world, &slot, Side::There), (0, 61), "it was down");
    act(&mut world, driver_load());
    assert_eq!(states(&world, &slot), "DOWN/Polling");
    to_ms(&mut world, 21_000);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
    act(&mut world, PortAction::Cut.on(slot.clone()));
    assert_eq!(states(&world, &slot), "DOWN/Polling", "it follows its link");
}

#[test]
fn a_link_that_is_down_when_its_device_gets_hot_stays_shown_as_down() {
    let mut world = world(HFI1);
    let slot = slot(&world, 0);
    act(&mut world, PortAction::Cut.on(slot.clone()));
    act(&mut world, PortAction::Overheat.on(slot.clone()));
    assert_eq!(
        pair(&world, &slot, Side::There),
        (36, 0),
        "nothing was sent"
    );
    assert_eq!(states(&world, &slot), "DOWN/Polling");
}

#[rstest]
#[case("dgx-a100")]
#[case("h100-oci")]
fn a_port_of_another_driver_has_no_such_limit(#[case] platform: &str) {
    let mut world = world(platform);
    let slot = slot(&world, 0);
    let overheat: Action = PortAction::Overheat.on(slot.clone());
    let refused = world.act(&overheat);
    assert_eq!(refused, Err(ActionError::NoThermalLimit(slot.clone())));
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
}
