//! What both ends of a link remember, fault by fault: pairs are (LinkDownReason,
//! NeighborLinkDownReason) of the node's own port and of its partner.

use fabric::{
    Action, ActionError, DeviceAction, Fabric, NodeAction, PortAction, PortsAction, RebootPlan,
    Side, StickAt,
    opa::{LinkDownReason, PortErrorAction, START_S},
};
use platforms::{
    LinkLayer::{self, Ethernet, InfiniBand},
    SlotRef,
};
use rstest::rstest;
use simfs::SimTime;

use crate::room::{
    act, count, driver_load, firmware_reset, function, node, slot, states, to_ms, world, world_of,
};

const UP: &str = "ACTIVE/LinkUp";
const POLLING: &str = "DOWN/Polling";
const DISABLED: &str = "DOWN/Disabled";
const INIT: &str = "INIT/LinkUp";

fn reason(code: u8) -> LinkDownReason {
    LinkDownReason::by_code(code).expect("defined")
}

/// The pair that an end remembers; `None` if it cannot be queried.
fn pair(world: &Fabric, slot: &SlotRef, side: Side) -> Option<(u8, u8)> {
    let truth = world.end(slot, side).expect("the port has a link");
    truth.record.map(|record| record.shown().codes())
}

fn pairs(world: &Fabric, slot: &SlotRef) -> [Option<(u8, u8)>; 2] {
    Side::BOTH.map(|side| pair(world, slot, side))
}

fn offline(world: &Fabric, slot: &SlotRef, side: Side) -> u8 {
    let truth = world.end(slot, side).expect("the port has a link");
    truth.record.map_or(0, |record| record.offline().code())
}

/// The subnet manager's log of an end: pairs, and seconds since the start.
fn log(world: &Fabric, slot: &SlotRef, side: Side) -> Vec<((u8, u8), u64)> {
    let truth = world.end(slot, side).expect("the port has a link");
    let entries = truth.log.printed();
    entries
        .map(|entry| (entry.pair.codes(), entry.at_s - START_S))
        .collect()
}

fn take_down(slot: &SlotRef, side: Side, code: u8) -> Action {
    PortAction::TakeDown {
        side,
        reason: reason(code),
        says: true,
    }
    .on(slot.clone())
}

/// The states that each layer shows for a port whose link is dark.
fn dark(layer: LinkLayer) -> &'static str {
    if layer == InfiniBand {
        POLLING
    } else {
        DISABLED
    }
}

/// Performs one action on a port's link at 20 s, and compares both pairs and the port's states.
fn check(
    layer: LinkLayer,
    doing: impl FnOnce(&SlotRef) -> Action,
    expected: [Option<(u8, u8)>; 2],
    shown: &str,
) -> (Fabric, SlotRef) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    to_ms(&mut world, 20_000);
    act(&mut world, doing(&victim));
    assert_eq!(pairs(&world, &victim), expected);
    assert_eq!(states(&world, &victim), shown);
    (world, victim)
}

#[rstest]
fn a_cut_link_shows_36_at_both_ends_until_it_is_armed(
    #[values(InfiniBand, Ethernet)] layer: LinkLayer,
) {
    let unexplained = [Some((36, 0)); 2];
    let cut = |slot: &SlotRef| PortAction::Cut.on(slot.clone());
    let (mut world, victim) = check(layer, cut, unexplained, dark(layer));
    to_ms(&mut world, 25_000);
    act(&mut world, PortAction::Mend.on(victim.clone()));
    to_ms(&mut world, 25_149);
    assert_eq!(pairs(&world, &victim), unexplained);
    to_ms(&mut world, 25_300);
    assert_eq!(pairs(&world, &victim), [Some((0, 0)); 2]);
    assert_eq!(states(&world, &victim), UP);
    // The switch's port could be read while the link was down, the node's own only afterwards.
    assert_eq!(log(&world, &victim, Side::There), [((36, 0), 20)]);
    assert_eq!(log(&world, &victim, Side::Here), [((36, 0), 25)]);
}

#[rstest]
fn a_disabled_port_tells_its_partner(#[values(InfiniBand, Ethernet)] layer: LinkLayer) {
    let expected = [Some((61, 0)), Some((0, 61))];
    let disable = |slot: &SlotRef| PortAction::Disable.on(slot.clone());
    let (mut world, victim) = check(layer, disable, expected, DISABLED);
    assert_eq!(offline(&world, &victim, Side::Here), 13);
    act(&mut world, PortAction::Mend.on(victim.clone()));
    assert_eq!(offline(&world, &victim, Side::Here), 0);
    to_ms(&mut world, 21_000);
    assert_eq!(pairs(&world, &victim), [Some((0, 0)); 2]);
}

#[rstest]
fn an_end_is_blamed_once(#[values(false, true)] already_down: bool) {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    if already_down {
        act(&mut world, PortAction::Cut.on(victim.clone()));
    }
    act(&mut world, PortAction::Disable.on(victim.clone()));
    act(&mut world, PortAction::Mend.on(victim.clone()));
    to_ms(&mut world, 1_000);
    assert_eq!(states(&world, &victim), UP);
    act(&mut world, PortAction::Cut.on(victim.clone()));
    assert_eq!(pairs(&world, &victim), [Some((36, 0)); 2]);
}

/// Reasons that hold: the link is dark until the reason is released, and then trains.
#[rstest]
#[case::switch_management(Side::There, 60, (0, 60), (60, 0))]
#[case::chassis(Side::There, 52, (0, 52), (52, 0))]
#[case::not_installed(Side::There, 51, (36, 0), (51, 0))]
#[case::disconnected(Side::Here, 49, (49, 0), (36, 0))]
#[case::no_media(Side::Here, 50, (50, 0), (36, 0))]
#[case::nobody_at_the_other_end(Side::Here, 54, (54, 0), (36, 0))]
#[case::power_policy(Side::Here, 56, (56, 0), (0, 56))]
#[case::speed_never_met(Side::Here, 57, (57, 0), (0, 57))]
#[case::width_never_met(Side::There, 58, (0, 58), (58, 0))]
#[case::partner_disabled(Side::There, 61, (0, 61), (61, 0))]
fn an_end_that_goes_offline_holds_the_link(
    #[case] side: Side,
    #[case] code: u8,
    #[case] here: (u8, u8),
    #[case] there: (u8, u8),
    #[values(InfiniBand, Ethernet)] layer: LinkLayer,
) {
    let expected = [Some(here), Some(there)];
    let take = |slot: &SlotRef| take_down(slot, side, code);
    let (mut world, victim) = check(layer, take, expected, dark(layer));
    assert_eq!(offline(&world, &victim, side), code - 48);
    to_ms(&mut world, 60_000);
    assert_eq!(states(&world, &victim), dark(layer));
    assert_eq!(pairs(&world, &victim), expected);
    let held = PortAction::Release {
        side,
        reason: reason(code),
    }
    .on(victim.clone());
    act(&mut world, held.clone());
    assert_eq!(offline(&world, &victim, side), 0);
    to_ms(&mut world, 60_300);
    assert_eq!(states(&world, &victim), UP);
    assert_eq!(pairs(&world, &victim), [Some((0, 0)); 2]);
    let again = world.act(&held);
    assert_eq!(again, Err(ActionError::NotHeld(victim, reason(code))));
}

/// Of two reasons the smaller one is shown, and then the other one.
#[rstest]
#[case(Side::Here)]
#[case(Side::There)]
fn an_end_that_is_released_shows_the_reason_that_still_holds(#[case] side: Side) {
    let (mut world, victim) = check(
        InfiniBand,
        |slot| take_down(slot, side, 52),
        [Side::Here, Side::There].map(|end| Some(if end == side { (52, 0) } else { (0, 52) })),
        POLLING,
    );
    act(&mut world, take_down(&victim, side, 60));
    assert_eq!(offline(&world, &victim, side), 52 - 48);
    let slot = victim.clone();
    let reason = reason(52);
    act(&mut world, PortAction::Release { side, reason }.on(slot));
    assert_eq!(offline(&world, &victim, side), 60 - 48);
    assert_eq!(states(&world, &victim), POLLING);
}

#[test]
fn a_disabled_end_that_is_released_from_another_reason_stays_disabled() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    act(&mut world, PortAction::Disable.on(victim.clone()));
    act(&mut world, take_down(&victim, Side::Here, 52));
    assert_eq!(offline(&world, &victim, Side::Here), 52 - 48);
    let release = PortAction::Release {
        side: Side::Here,
        reason: reason(52),
    }
    .on(victim.clone());
    act(&mut world, release);
    assert_eq!(offline(&world, &victim, Side::Here), 61 - 48);
}

/// Reasons that bounce: the link trains at once, as after any other fault.
#[rstest]
#[case::fabric_manager(Side::Here, 39, (39, 0), (0, 39))]
#[case::fabric_manager_at_the_switch(Side::There, 39, (0, 39), (39, 0))]
#[case::speed(Side::Here, 40, (40, 0), (0, 40))]
#[case::width(Side::There, 41, (0, 41), (41, 0))]
#[case::unknown(Side::Here, 33, (33, 0), (0, 33))]
fn a_bounce_is_told_once_and_logged_once(
    #[case] side: Side,
    #[case] code: u8,
    #[case] here: (u8, u8),
    #[case] there: (u8, u8),
) {
    let take = |slot: &SlotRef| take_down(slot, side, code);
    let expected = [Some(here), Some(there)];
    let (mut world, victim) = check(InfiniBand, take, expected, POLLING);
    to_ms(&mut world, 20_150);
    assert_eq!(states(&world, &victim), INIT);
    assert_eq!(pairs(&world, &victim), expected);
    to_ms(&mut world, 60_000);
    assert_eq!(states(&world, &victim), UP);
    assert_eq!(pairs(&world, &victim), [Some((0, 0)); 2]);
    assert_eq!(log(&world, &victim, Side::Here), [(here, 20)]);
    assert_eq!(log(&world, &victim, Side::There), [(there, 20)]);
    assert_eq!(count(&world, &victim, "link_downed"), 1);
}

#[test]
fn an_initiator_that_is_not_heard_leaves_its_partner_in_the_dark() {
    let take = |slot: &SlotRef| {
        PortAction::TakeDown {
            side: Side::Here,
            reason: reason(39),
            says: false,
        }
        .on(slot.clone())
    };
    check(InfiniBand, take, [Some((39, 0)), Some((36, 0))], POLLING);
}

#[test]
fn a_packet_error_bounces_only_where_the_ports_action_names_it() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let error = |code| {
        PortAction::PacketError {
            side: Side::Here,
            reason: reason(code),
        }
        .on(victim.clone())
    };
    let only = PortAction::ErrorAction {
        side: Side::Here,
        action: PortErrorAction(1 << 16),
    }
    .on(victim.clone());
    act(&mut world, only);
    act(&mut world, error(18));
    assert_eq!(states(&world, &victim), UP);
    act(&mut world, error(17));
    assert_eq!(pairs(&world, &victim), [Some((17, 0)), Some((0, 17))]);
    let wrong = world.act(&error(39));
    assert_eq!(wrong, Err(ActionError::NotAnError(reason(39))));
}

#[test]
fn an_overrun_buffer_is_counted_and_bounces_the_link() {
    let overrun = |slot: &SlotRef| PortAction::BufferOverrun { side: Side::Here }.on(slot.clone());
    let expected = [Some((32, 0)), Some((0, 32))];
    let (world, victim) = check(InfiniBand, overrun, expected, POLLING);
    assert_eq!(count(&world, &victim, "excessive_buffer_overrun_errors"), 1);
    let overrun = |slot: &SlotRef| PortAction::BufferOverrun { side: Side::There }.on(slot.clone());
    let expected = [Some((0, 32)), Some((32, 0))];
    let (world, victim) = check(InfiniBand, overrun, expected, POLLING);
    assert_eq!(count(&world, &victim, "excessive_buffer_overrun_errors"), 0);
}

#[rstest]
fn a_module_taken_out_is_like_a_cable_and_the_port_says_why_it_is_offline(
    #[values(InfiniBand, Ethernet)] layer: LinkLayer,
) {
    let module = |there| {
        move |slot: &SlotRef| {
            PortAction::Module {
                side: Side::Here,
                there,
            }
            .on(slot.clone())
        }
    };
    let (mut world, victim) = check(layer, module(false), [Some((36, 0)); 2], dark(layer));
    assert_eq!(offline(&world, &victim, Side::Here), 2);
    assert_eq!(offline(&world, &victim, Side::There), 0);
    let again = world.act(&module(false)(&victim));
    assert_eq!(
        again,
        Err(ActionError::ModuleAlready(victim.clone(), "out"))
    );
    act(&mut world, module(true)(&victim));
    assert_eq!(offline(&world, &victim, Side::Here), 0);
    to_ms(&mut world, 20_300);
    assert_eq!(states(&world, &victim), UP);
}

/// A reboot of one minute that begins at 20 s.
fn reboot(loses_power: bool) -> Action {
    let plan = RebootPlan {
        takes: SimTime::from_secs(60),
        loses_power,
        ..RebootPlan::default()
    };
    NodeAction::Reboot { plan }.on(node())
}

#[rstest]
#[case::announced(false, (0, 35))]
#[case::unannounced(true, (36, 0))]
fn a_host_that_reboots_cannot_be_asked_and_its_partner_knows_why_the_link_went(
    #[case] loses_power: bool,
    #[case] partner: (u8, u8),
    #[values(InfiniBand, Ethernet)] layer: LinkLayer,
) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    to_ms(&mut world, 20_000);
    act(&mut world, reboot(loses_power));
    let states = |world: &Fabric| {
        let info = world
            .port_info(&victim, Side::There)
            .expect("a switch answers");
        format!("{} {}", info.logical, info.physical)
    };
    for ms in [20_000, 50_000, 79_699] {
        to_ms(&mut world, ms);
        assert_eq!(pairs(&world, &victim), [None, Some(partner)]);
        assert_eq!(states(&world), "Down Polling");
        assert_eq!(crate::room::states(&world, &victim), "gone");
        assert!(!world.settled());
    }
    // Read while the link was down, from the end that is reachable then.
    assert_eq!(log(&world, &victim, Side::There), [(partner, 20)]);
    assert_eq!(log(&world, &victim, Side::Here), []);
    to_ms(&mut world, 79_999);
    let armed = if layer == InfiniBand { (0, 0) } else { partner };
    assert_eq!(pairs(&world, &victim), [None, Some(armed)]);
    to_ms(&mut world, 80_000);
    assert_eq!(crate::room::states(&world, &victim), UP);
    assert_eq!(pairs(&world, &victim), [Some((0, 0)); 2]);
    assert_eq!(log(&world, &victim, Side::There), [(partner, 20)]);
    assert_eq!(log(&world, &victim, Side::Here), []);
    assert_eq!(count(&world, &victim, "link_downed"), 0);
    assert!(world.settled());
}

/// Polling, training, Init, Armed, and active at the instant at which the host is up.
#[test]
fn the_ports_of_a_host_train_in_the_last_part_of_its_reboot() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    act(&mut world, reboot(false));
    let mut walk = Vec::new();
    for ms in 59_650..=60_000 {
        to_ms(&mut world, ms);
        let info = world
            .port_info(&victim, Side::There)
            .expect("a switch answers");
        let state = format!("{} {}", info.logical, info.physical);
        if walk.last().is_none_or(|(_, last)| *last != state) {
            walk.push((ms, state));
        }
    }
    let expected = [
        (59_650, "Down Polling"),
        (59_750, "Down Training"),
        (59_850, "Init LinkUp"),
        (59_950, "Armed LinkUp"),
        (60_000, "Active LinkUp"),
    ];
    assert_eq!(walk, expected.map(|(ms, state)| (ms, state.to_owned())));
}

#[rstest]
#[case::at_once(0)]
#[case::shorter_than_a_walk(90)]
fn a_reboot_that_leaves_no_time_to_train_trains_in_less(#[case] takes_ms: u64) {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    to_ms(&mut world, 20_000);
    let plan = RebootPlan {
        takes: SimTime::from_ms(takes_ms),
        ..RebootPlan::default()
    };
    act(&mut world, NodeAction::Reboot { plan }.on(node()));
    to_ms(&mut world, 20_000 + takes_ms);
    assert_eq!(states(&world, &victim), UP);
    assert_eq!(pairs(&world, &victim), [Some((0, 0)); 2]);
    assert_eq!(log(&world, &victim, Side::There), [((0, 35), 20)]);
    assert_eq!(log(&world, &victim, Side::Here), []);
}

/// The faster pace of a boot ends when the host is up: a port that waits then does so at the
/// natural pace.
#[test]
fn a_link_that_no_manager_armed_at_boot_is_armed_as_any_other() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let manager = |running| Action::SubnetManager {
        running,
        reinitialise: false,
        keeps_logs: true,
    };
    act(&mut world, manager(false));
    let plan = RebootPlan {
        takes: SimTime::from_ms(30),
        ..RebootPlan::default()
    };
    act(&mut world, NodeAction::Reboot { plan }.on(node()));
    to_ms(&mut world, 30);
    assert_eq!(states(&world, &victim), INIT);
    act(&mut world, manager(true));
    to_ms(&mut world, 129);
    assert_eq!(states(&world, &victim), INIT);
    to_ms(&mut world, 130);
    assert_eq!(states(&world, &victim), "ARMED/LinkUp");
}

/// A link that is slowed by an action trains as slowly when its host boots.
#[test]
fn a_slow_link_is_not_up_when_its_host_is() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let takes = SimTime::from_secs(100);
    act(
        &mut world,
        PortAction::TrainSlowly { takes }.on(victim.clone()),
    );
    act(&mut world, reboot(false));
    to_ms(&mut world, 60_000);
    assert_eq!(states(&world, &victim), "DOWN/PortConfigurationTraining");
    to_ms(&mut world, 59_700 + 100_000);
    assert_eq!(states(&world, &victim), UP);
}

#[test]
fn a_node_that_reboots_cannot_reboot() {
    let mut world = world_of(InfiniBand);
    act(&mut world, reboot(false));
    assert_eq!(world.act(&reboot(true)), Err(ActionError::NodeDown(node())));
    to_ms(&mut world, 60_000);
    act(&mut world, reboot(true));
}

/// A change of a port while its host is down is found when the host is up.
#[test]
fn a_link_that_is_cut_while_its_host_is_down_is_dark_afterwards() {
    let mut world = world_of(InfiniBand);
    let [cut, mended] = [0, 1].map(|nth| slot(&world, nth));
    act(&mut world, PortAction::Cut.on(mended.clone()));
    act(&mut world, reboot(false));
    to_ms(&mut world, 30_000);
    act(&mut world, PortAction::Cut.on(cut.clone()));
    act(&mut world, PortAction::Mend.on(mended.clone()));
    to_ms(&mut world, 60_000);
    assert_eq!(states(&world, &cut), POLLING);
    assert_eq!(states(&world, &mended), UP);
    assert_eq!(pairs(&world, &cut), [Some((0, 0)), Some((0, 35))]);
    assert_eq!(count(&world, &cut, "link_downed"), 0);
}

#[test]
fn healing_brings_a_host_up_that_is_rebooting() {
    for ms in [30_000, 59_800] {
        let mut world = world_of(InfiniBand);
        let victim = slot(&world, 0);
        let boot_id = |world: &Fabric| world.machine(&node()).expect("there").boot_id.clone();
        let before = boot_id(&world);
        act(&mut world, reboot(false));
        to_ms(&mut world, ms);
        world.heal();
        assert_ne!(boot_id(&world), before);
        to_ms(&mut world, ms + 300);
        assert_eq!(states(&world, &victim), UP);
        assert!(world.settled());
    }
}

#[test]
fn without_a_subnet_manager_the_partner_of_a_rebooted_host_remembers() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let stop = Action::SubnetManager {
        running: false,
        reinitialise: false,
        keeps_logs: true,
    };
    act(&mut world, stop);
    let plan = RebootPlan::default();
    act(&mut world, NodeAction::Reboot { plan }.on(node()));
    assert_eq!(states(&world, &victim), INIT);
    assert_eq!(pairs(&world, &victim), [Some((0, 0)), Some((0, 35))]);
    assert_eq!(log(&world, &victim, Side::There), []);
}

#[test]
fn a_function_off_the_bus_cannot_be_asked_and_is_back_with_nothing() {
    let remove = |slot: &SlotRef| DeviceAction::Remove.on(function(slot));
    let (mut world, victim) = check(InfiniBand, remove, [None, Some((36, 0))], "gone");
    to_ms(&mut world, 30_000);
    act(&mut world, DeviceAction::Restore.on(function(&victim)));
    assert_eq!(pairs(&world, &victim), [Some((0, 0)), Some((36, 0))]);
    to_ms(&mut world, 31_000);
    assert_eq!(pairs(&world, &victim), [Some((0, 0)); 2]);
}

#[test]
fn an_unloaded_driver_and_a_firmware_reset_are_announced() {
    let unload = |_: &SlotRef| NodeAction::DriverUnload.on(node());
    let expected = [Some((35, 0)), Some((0, 35))];
    let (mut world, victim) = check(InfiniBand, unload, expected, "gone");
    act(&mut world, driver_load());
    assert_eq!(pairs(&world, &victim), [Some((0, 0)), Some((0, 35))]);
    let reset = |slot: &SlotRef| firmware_reset(slot, 2);
    check(InfiniBand, reset, [None, Some((0, 35))], "gone");
    let error = |slot: &SlotRef| {
        DeviceAction::PciError {
            takes: SimTime::from_secs(2),
        }
        .on(function(slot))
    };
    check(InfiniBand, error, [None, Some((36, 0))], "gone");
}

/// Also if no driver ran when it disappeared.
#[test]
fn a_function_that_falls_off_the_bus_remembers_nothing_of_its_driver() {
    let unload = |_: &SlotRef| NodeAction::DriverUnload.on(node());
    let expected = [Some((35, 0)), Some((0, 35))];
    let (mut world, victim) = check(InfiniBand, unload, expected, "gone");
    act(&mut world, DeviceAction::Remove.on(function(&victim)));
    act(&mut world, DeviceAction::Restore.on(function(&victim)));
    assert_eq!(pairs(&world, &victim), [Some((0, 0)), Some((0, 35))]);
}

#[test]
fn a_switch_without_power_takes_all_its_ports_along() {
    let mut world = world_of(InfiniBand);
    let slots: Vec<SlotRef> = (0..3).map(|nth| slot(&world, nth)).collect();
    let power = |on| PortsAction::SwitchPower { on }.on(slots[..2].to_vec());
    act(&mut world, power(false));
    for victim in &slots[..2] {
        assert_eq!(pairs(&world, victim), [Some((36, 0)), None]);
        assert_eq!(states(&world, victim), POLLING);
    }
    assert_eq!(states(&world, &slots[2]), UP);
    act(&mut world, power(true));
    assert_eq!(pairs(&world, &slots[0]), [Some((36, 0)), Some((0, 0))]);
    to_ms(&mut world, 300);
    assert_eq!(pairs(&world, &slots[1]), [Some((0, 0)); 2]);
    assert_eq!(states(&world, &slots[1]), UP);
}

#[test]
fn a_neighbour_host_that_reboots_says_so_and_comes_back() {
    let reboot = |slot: &SlotRef| {
        PortAction::NeighbourReboot {
            takes: SimTime::from_secs(40),
        }
        .on(slot.clone())
    };
    let expected = [Some((0, 35)), Some((35, 0))];
    let (mut world, victim) = check(InfiniBand, reboot, expected, POLLING);
    assert!(!world.settled());
    to_ms(&mut world, 59_999);
    assert_eq!(pairs(&world, &victim), expected);
    to_ms(&mut world, 60_000);
    assert_eq!(pairs(&world, &victim), [Some((0, 35)), Some((0, 0))]);
    to_ms(&mut world, 60_300);
    assert_eq!(states(&world, &victim), UP);
    assert!(world.settled());
    assert_eq!(log(&world, &victim, Side::Here), [((0, 35), 60)]);
    assert_eq!(log(&world, &victim, Side::There), []);
}

#[test]
fn a_bounced_link_without_a_subnet_manager_keeps_its_pair() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let manager = |running| Action::SubnetManager {
        running,
        reinitialise: false,
        keeps_logs: true,
    };
    act(&mut world, manager(false));
    act(&mut world, take_down(&victim, Side::There, 39));
    to_ms(&mut world, 600_000);
    assert_eq!(states(&world, &victim), INIT);
    assert_eq!(pairs(&world, &victim), [Some((0, 39)), Some((39, 0))]);
    assert_eq!(log(&world, &victim, Side::There), []);
    act(&mut world, manager(true));
    to_ms(&mut world, 601_000);
    assert_eq!(states(&world, &victim), UP);
    assert_eq!(log(&world, &victim, Side::Here), [((0, 39), 600)]);
    assert_eq!(log(&world, &victim, Side::There), [((39, 0), 600)]);
}

#[rstest]
fn a_link_that_trains_anew_records_nothing(
    #[values(StickAt::Polling, StickAt::Training, StickAt::Init, StickAt::Recovery)] at: StickAt,
) {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let stick = PortAction::Stick { at }.on(victim.clone());
    act(&mut world, stick);
    to_ms(&mut world, 20_000);
    assert_eq!(pairs(&world, &victim), [Some((0, 0)); 2]);
    assert_ne!(states(&world, &victim), UP);
}

#[test]
fn each_turn_of_a_flap_is_an_entry_of_the_log() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let flap = PortsAction::Flap {
        times: 3,
        down: SimTime::from_secs(3),
        up: SimTime::from_secs(60),
        stagger: SimTime::ZERO,
    }
    .on(vec![victim.clone()]);
    act(&mut world, flap);
    assert_eq!(pairs(&world, &victim), [Some((36, 0)); 2]);
    to_ms(&mut world, 300_000);
    // Down at 0, 63 and 126 s; in Init again 150 ms before the end of each turn.
    let unexplained = |at_s| ((36, 0), at_s);
    assert_eq!(
        log(&world, &victim, Side::Here),
        [2, 65, 128].map(unexplained)
    );
    assert_eq!(
        log(&world, &victim, Side::There),
        [0, 63, 126].map(unexplained)
    );
}

#[test]
fn a_virtual_function_has_no_ends_of_its_own() {
    let mut world = world("a100-oci:vfs");
    let machine = world.machine(&node()).expect("the node is there");
    let virtual_one = machine
        .functions
        .iter()
        .find_map(|(pci, function)| function.physfn.map(|physical| (*pci, physical)));
    let (pci, physical) = virtual_one.expect("the platform has virtual functions");
    let slot = crate::room::port_one(pci);
    assert_eq!(world.end(&slot, Side::Here), None);
    let refused = world.act(&take_down(&slot, Side::Here, 39));
    assert_eq!(refused, Err(ActionError::LinkOfVf(slot, physical)));
}

#[test]
fn nothing_is_no_reason() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let refused = world.act(&take_down(&victim, Side::Here, 0));
    assert_eq!(refused, Err(ActionError::NoReason(victim)));
}

#[test]
fn healing_ends_every_hold_at_either_end() {
    let mut world = world_of(InfiniBand);
    let slots: Vec<SlotRef> = (0..4).map(|nth| slot(&world, nth)).collect();
    act(&mut world, take_down(&slots[0], Side::There, 60));
    act(&mut world, take_down(&slots[0], Side::Here, 61));
    let power = PortsAction::SwitchPower { on: false }.on(vec![slots[1].clone()]);
    act(&mut world, power);
    let module = PortAction::Module {
        side: Side::There,
        there: false,
    }
    .on(slots[2].clone());
    act(&mut world, module);
    let reboot = PortAction::NeighbourReboot {
        takes: SimTime::from_secs(600),
    }
    .on(slots[3].clone());
    act(&mut world, reboot);
    to_ms(&mut world, 5_000);
    world.heal();
    to_ms(&mut world, 5_300);
    assert!(world.settled());
    for slot in &slots {
        assert_eq!(states(&world, slot), UP);
        assert_eq!(pairs(&world, slot), [Some((0, 0)); 2]);
    }
}

/// The received message decides what is remembered: C2 and C13 of the combinations of "Link Down
/// Reason", Cornelis.
#[rstest]
#[case::both_are_heard([true, true], [Some((39, 32)), Some((32, 39))])]
#[case::the_partners_is_lost([true, false], [Some((39, 0)), Some((32, 39))])]
#[case::the_nodes_own_is_lost([false, true], [Some((39, 32)), Some((32, 0))])]
#[case::both_are_lost([false, false], [Some((39, 0)), Some((32, 0))])]
fn both_ends_take_a_link_down_at_once(
    #[case] says: [bool; 2],
    #[case] expected: [Option<(u8, u8)>; 2],
) {
    let both = |slot: &SlotRef| {
        PortAction::BothTakeDown {
            here: (reason(39), says[0]),
            there: (reason(32), says[1]),
        }
        .on(slot.clone())
    };
    let (mut world, victim) = check(InfiniBand, both, expected, POLLING);
    to_ms(&mut world, 25_000);
    assert_eq!(states(&world, &victim), UP, "neither reason holds");
    assert_eq!(pairs(&world, &victim), [Some((0, 0)); 2]);
}

#[rstest]
#[case(0)]
#[case(60)]
#[case(61)]
fn a_reason_that_holds_is_not_for_both_ends_at_once(#[case] code: u8) {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let both = PortAction::BothTakeDown {
        here: (reason(39), true),
        there: (reason(code), true),
    }
    .on(victim.clone());
    let refused = world.act(&both);
    assert_eq!(
        refused,
        Err(ActionError::NoPassingReason(victim.clone(), reason(code)))
    );
    assert_eq!(states(&world, &victim), UP);
}
