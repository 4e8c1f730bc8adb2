//! Receive buffer overruns of an hfi1, which its driver finds in a check every ten seconds (hfi1
//! `chip.c`, `update_rcverr_timer`).

use fabric::{
    Action, CounterChange, DeviceAction, Fabric, NodeAction, PortAction, Side, opa::LinkDownReason,
};
use platforms::{CounterValue, SlotRef};
use rstest::rstest;

use crate::room::{act, driver_load, first, function, node, states, to_ms};

const OVERRUNS: &str = "excessive_buffer_overrun_errors";
const UP: &str = "ACTIVE/LinkUp";
const DOWN: &str = "DOWN/Polling";

fn counter(slot: &SlotRef, change: CounterChange) -> Action {
    let name = OVERRUNS.to_owned();
    PortAction::Counter { name, change }.on(slot.clone())
}

fn overrun(slot: &SlotRef) -> Action {
    PortAction::BufferOverrun { side: Side::Here }.on(slot.clone())
}

/// When the node's own port went down, in milliseconds since the start.
fn falls(world: &Fabric, slot: &SlotRef) -> Vec<u64> {
    let down = world.edges(slot).iter().filter(|edge| !edge.healthy);
    down.map(|edge| edge.at.as_ms()).collect()
}

/// Why the partner was told that the link went down.
fn heard(world: &Fabric, slot: &SlotRef) -> LinkDownReason {
    let record = world.end(slot, Side::There).and_then(|end| end.record);
    record.expect("a switch port answers").shown().neighbour
}

#[rstest]
#[case::added(CounterChange::Add(1))]
#[case::set(CounterChange::Set(CounterValue::Count(3)))]
#[case::saturated(CounterChange::Saturate)]
fn a_counter_that_is_moved_counts_like_any_other_overrun(#[case] change: CounterChange) {
    let (mut world, slot) = first("opa-cn5000");
    to_ms(&mut world, 12_000);
    act(&mut world, counter(&slot, change));
    to_ms(&mut world, 19_999);
    assert_eq!(states(&world, &slot), UP);
    to_ms(&mut world, 20_000);
    assert_eq!(states(&world, &slot), DOWN);
    assert_eq!(
        heard(&world, &slot),
        LinkDownReason::EXCESSIVE_BUFFER_OVERRUN
    );
    to_ms(&mut world, 60_000);
    assert_eq!(falls(&world, &slot), [20_000], "once for one overrun");
}

/// The counter in sysfs is at its maximum, and the driver's own goes on.
#[test]
fn an_overrun_beyond_the_counter_s_maximum_is_found() {
    let (mut world, slot) = first("opa-cn5000");
    act(&mut world, counter(&slot, CounterChange::Saturate));
    to_ms(&mut world, 15_000);
    act(&mut world, overrun(&slot));
    to_ms(&mut world, 60_000);
    assert_eq!(falls(&world, &slot), [10_000, 20_000]);
}

#[test]
fn a_counter_that_grows_bounces_the_link_in_every_check() {
    let (mut world, slot) = first("opa-cn5000");
    act(&mut world, counter(&slot, CounterChange::RatePerSecond(1)));
    to_ms(&mut world, 30_000);
    assert_eq!(falls(&world, &slot), [10_000, 20_000, 30_000]);
    act(&mut world, counter(&slot, CounterChange::RatePerSecond(0)));
    to_ms(&mut world, 60_000);
    assert_eq!(falls(&world, &slot).len(), 3);
}

/// An operator's reset writes the driver's own counter (`mad.c`, `pma_set_opa_portstatus`).
#[test]
fn a_counter_that_is_reset_before_the_check_leaves_nothing_to_find() {
    let (mut world, slot) = first("opa-cn5000");
    act(&mut world, overrun(&slot));
    act(&mut world, counter(&slot, CounterChange::Reset));
    to_ms(&mut world, 60_000);
    assert!(falls(&world, &slot).is_empty());
}

#[test]
fn the_checks_begin_with_the_driver() {
    let (mut world, slot) = first("opa-cn5000");
    to_ms(&mut world, 2_000);
    act(&mut world, overrun(&slot));
    to_ms(&mut world, 3_000);
    act(&mut world, NodeAction::DriverUnload.on(node()));
    to_ms(&mut world, 4_000);
    act(&mut world, driver_load());
    to_ms(&mut world, 8_000);
    act(&mut world, overrun(&slot));
    to_ms(&mut world, 60_000);
    assert_eq!(falls(&world, &slot), [3_000, 14_000]);
}

#[test]
fn a_device_that_is_gone_is_not_checked() {
    let (mut world, slot) = first("opa-cn5000");
    act(&mut world, overrun(&slot));
    to_ms(&mut world, 9_000);
    act(&mut world, DeviceAction::Remove.on(function(&slot)));
    to_ms(&mut world, 60_000);
    assert_eq!(falls(&world, &slot), [9_000]);
}

/// A healed world has nothing left to find.
#[test]
fn a_world_with_an_overrun_to_be_found_has_not_settled() {
    let (mut world, slot) = first("opa-cn5000");
    act(&mut world, overrun(&slot));
    assert!(!world.settled());
    world.heal();
    assert!(world.settled());
    to_ms(&mut world, 60_000);
    assert!(falls(&world, &slot).is_empty());
}

/// Only hfi1 has such a check: what a counter of another driver shows takes no link down.
#[test]
fn the_counter_of_another_driver_bounces_nothing() {
    let (mut world, slot) = first("dgx-a100");
    act(&mut world, counter(&slot, CounterChange::Add(1)));
    to_ms(&mut world, 60_000);
    assert!(falls(&world, &slot).is_empty());
}
