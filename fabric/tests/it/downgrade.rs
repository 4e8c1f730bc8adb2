//! Lanes that die, and policies that take a link down for it, one fact per test.

use fabric::{
    Action, ActionError, Fabric, PortAction, Side,
    opa::{Lanes, LinkWidths},
};
use platforms::SlotRef;
use rstest::rstest;

use crate::room::{act, first, node, states, to_ms};

const DOCUMENT: &str = "dgx-a100";
const HFI1: &str = "opa-cn5000";

fn lose(slot: &SlotRef, side: Side, left: u8) -> Action {
    PortAction::LoseLanes { side, left }.on(slot.clone())
}

fn policy(slot: &SlotRef, side: Side, allowed: LinkWidths) -> Action {
    PortAction::WidthPolicy { side, allowed }.on(slot.clone())
}

fn lanes(world: &Fabric, slot: &SlotRef, side: Side) -> Option<(u8, u8)> {
    let lanes = world.lanes(slot, side);
    lanes.map(
        |Lanes {
             sends, receives, ..
         }| (sends, receives),
    )
}

fn pair(world: &Fabric, slot: &SlotRef, side: Side) -> (u8, u8) {
    let record = world.end(slot, side).and_then(|end| end.record);
    record.expect("on").shown().codes()
}

/// Both ends have the lanes, the link is up, and sysfs shows the rate of before.
#[test]
fn a_downgraded_link_stays_active_at_the_rate_that_it_came_up_with() {
    for platform in [DOCUMENT, HFI1] {
        let (mut world, slot) = first(platform);
        let rate = |world: &Fabric| crate::room::port(world, &slot).expect("it is there").rate;
        let before = rate(&world);
        act(&mut world, lose(&slot, Side::Here, 2));
        assert_eq!(lanes(&world, &slot, Side::Here), Some((4, 2)));
        assert_eq!(lanes(&world, &slot, Side::There), Some((2, 4)));
        assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
        assert_eq!(rate(&world), before);
        assert_eq!(pair(&world, &slot, Side::There), (0, 0));
    }
}

#[test]
fn a_link_that_trained_has_all_its_lanes_and_one_that_is_down_has_none() {
    let (mut world, slot) = first(DOCUMENT);
    act(&mut world, lose(&slot, Side::There, 1));
    act(&mut world, PortAction::Cut.on(slot.clone()));
    assert_eq!(lanes(&world, &slot, Side::Here), None);
    act(&mut world, lose(&slot, Side::Here, 1));
    act(&mut world, PortAction::Mend.on(slot.clone()));
    to_ms(&mut world, 1_000);
    assert_eq!(lanes(&world, &slot, Side::Here), Some((4, 4)));
}

#[rstest]
#[case(Side::Here, (0, 41))]
#[case(Side::There, (41, 0))]
fn an_end_whose_policy_forbids_the_width_takes_the_link_down(
    #[case] side: Side,
    #[case] there: (u8, u8),
) {
    for lost_at in Side::BOTH {
        let (mut world, slot) = first(DOCUMENT);
        let wide = LinkWidths::NONE.and(3).and(4);
        act(&mut world, policy(&slot, side, wide));
        act(&mut world, lose(&slot, lost_at, 3));
        assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
        act(&mut world, lose(&slot, lost_at, 2));
        assert_eq!(pair(&world, &slot, Side::There), there);
        to_ms(&mut world, 1_000);
        assert_eq!(lanes(&world, &slot, Side::Here), Some((4, 4)));
    }
}

#[test]
fn a_policy_is_applied_to_a_link_that_is_too_narrow_already() {
    let (mut world, slot) = first(DOCUMENT);
    act(&mut world, lose(&slot, Side::Here, 3));
    act(&mut world, policy(&slot, Side::Here, LinkWidths::NONE));
    assert_eq!(pair(&world, &slot, Side::Here), (41, 0));
}

#[test]
fn a_lane_cannot_be_lost_twice_nor_the_last_one() {
    let (mut world, slot) = first(DOCUMENT);
    for (left, have) in [(4, 4), (0, 4)] {
        let refused = world.act(&lose(&slot, Side::Here, left));
        assert_eq!(refused, Err(ActionError::NoFewerLanes(slot.clone(), have)));
    }
    act(&mut world, lose(&slot, Side::Here, 2));
    let refused = world.act(&lose(&slot, Side::Here, 3));
    assert_eq!(refused, Err(ActionError::NoFewerLanes(slot.clone(), 2)));
}

/// The lines are those of `apply_link_downgrade_policy`; widths are bits.
#[rstest]
#[case(LinkWidths::NONE.and(3).and(4), "Link is outside of downgrade allowed, downing link", "  enabled 0xc, tx active 0x8, rx active 0x2")]
#[case(
    LinkWidths::NONE,
    "Link downgrade is disabled and link has downgraded, downing link",
    "  original 0x8, tx active 0x8, rx active 0x2"
)]
fn an_hfi1_writes_why_it_takes_its_link_down(
    #[case] allowed: LinkWidths,
    #[case] first_line: &str,
    #[case] second_line: &str,
) {
    let (mut world, slot) = first(HFI1);
    act(&mut world, policy(&slot, Side::Here, allowed));
    act(&mut world, lose(&slot, Side::Here, 2));
    let log = world.kernel_log(&node()).iter();
    let log: Vec<&str> = log
        .filter_map(|line| line.text.split_once("hfi1_0: ").map(|(_, text)| text))
        .collect();
    let expected = [
        "8051: Link width downgrade",
        first_line,
        second_line,
        "set_link_state: current ACTIVE, new OFFLINE ",
    ];
    assert_eq!(log, expected);
}
