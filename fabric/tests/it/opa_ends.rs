//! The behaviour of a link's ends and of the subnet manager, one fact per test, for ports as specified
//! and like hfi1.

use fabric::{
    Action, ActionError, DeviceAction, Fabric, LinkStep, NodeAction, PortAction, PortEventKind,
    Side, Timing,
    opa::{
        Condition, ErrorInfo, LinkDownReason, LinkInitReason, Logical, Physical, Reply, SetPortInfo,
    },
};
use platforms::{LinkLayer::InfiniBand, SlotRef};
use rstest::rstest;
use simfs::SimTime;

use crate::room::{act, first, function, node, port_one, slot, to_ms, world_of, world_timed};

const DOCUMENT: &str = "dgx-a100";
const HFI1: &str = "opa-cn5000";

/// A link whose ports stay Offline for ten seconds after it went down.
fn quiet(platform: &str) -> (Fabric, SlotRef) {
    let timing = Timing {
        quiet: SimTime::from_secs(10),
        ..Timing::default()
    };
    let world = world_timed(platform, timing);
    let slot = slot(&world, 0);
    (world, slot)
}

fn take_down(slot: &SlotRef, side: Side, reason: LinkDownReason) -> Action {
    let says = true;
    PortAction::TakeDown { side, reason, says }.on(slot.clone())
}

fn bounce(slot: &SlotRef) -> Action {
    take_down(slot, Side::Here, LinkDownReason::FM_BOUNCE)
}

fn manager(running: bool, keeps_logs: bool) -> Action {
    Action::SubnetManager {
        running,
        reinitialise: false,
        keeps_logs,
    }
}

fn last(world: &Fabric, slot: &SlotRef) -> LinkStep {
    *world.walk(slot).last().expect("a walk has a beginning")
}

fn states(world: &Fabric, slot: &SlotRef) -> (Logical, Physical) {
    let step = last(world, slot);
    (step.logical[0], step.physical[0])
}

fn offline(world: &Fabric, slot: &SlotRef, side: Side) -> u8 {
    let record = world.end(slot, side).and_then(|end| end.record);
    record.expect("it can be asked").offline().code()
}

fn asks(physical: Physical) -> SetPortInfo {
    SetPortInfo {
        physical: Some(physical),
        ..SetPortInfo::default()
    }
}

#[test]
fn a_link_that_is_down_finds_no_error() {
    let (mut world, slot) = first(HFI1);
    act(&mut world, PortAction::Cut.on(slot.clone()));
    let before = world.end(&slot, Side::Here);
    let side = Side::Here;
    act(
        &mut world,
        PortAction::BufferOverrun { side }.on(slot.clone()),
    );
    assert_eq!(world.end(&slot, Side::Here), before);
}

#[test]
fn a_port_is_configured_from_when_it_is_armed_until_its_link_goes() {
    let (mut world, slot) = first(DOCUMENT);
    let flags = |world: &Fabric| {
        let info = world
            .port_info(&slot, Side::There)
            .expect("a switch answers");
        (info.configured, info.neighbour_normal)
    };
    assert_eq!(flags(&world), (true, true), "it is active");
    act(&mut world, bounce(&slot));
    assert_eq!(flags(&world), (false, false), "its link is down");
    to_ms(&mut world, 249);
    assert_eq!(flags(&world), (false, false), "it is in Init");
    to_ms(&mut world, 250);
    assert_eq!(flags(&world), (true, true), "it is armed");
}

#[test]
fn who_is_not_reached_cannot_be_queried() {
    let (mut world, slot) = first(DOCUMENT);
    let queried = |world: &Fabric| Side::BOTH.map(|side| world.query(&slot, side).is_some());
    assert_eq!(queried(&world), [true, true]);
    act(&mut world, manager(false, true));
    assert_eq!(queried(&world), [false, false], "nobody asks");
    act(&mut world, manager(true, true));
    act(&mut world, bounce(&slot));
    assert_eq!(
        queried(&world),
        [false, true],
        "a host is reached through its link"
    );
    to_ms(&mut world, 200);
    assert_eq!(queried(&world), [true, true]);
    let (info, log) = world.query(&slot, Side::There).expect("a switch answers");
    assert_eq!(Some(&info), world.port_info(&slot, Side::There).as_ref());
    assert_eq!(Some(log), world.end(&slot, Side::There).map(|end| end.log));
    assert_eq!(log.len(), 1);
    let takes = SimTime::from_secs(9);
    act(
        &mut world,
        PortAction::NeighbourReboot { takes }.on(slot.clone()),
    );
    assert_eq!(queried(&world), [false, false]);
}

/// Offline, and as specified Transient, until the quiet time is over.
#[rstest]
#[case(DOCUMENT, 15)]
#[case(HFI1, 0)]
fn a_link_that_went_is_quiet_at_both_its_ends(#[case] platform: &str, #[case] code: u8) {
    let (mut world, slot) = quiet(platform);
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 9_999);
    assert_eq!(last(&world, &slot).physical, [Physical::Offline; 2]);
    assert_eq!(offline(&world, &slot, Side::Here), code);
    assert_eq!(offline(&world, &slot, Side::There), 15);
    to_ms(&mut world, 10_000);
    assert_eq!(last(&world, &slot).physical, [Physical::Polling; 2]);
    assert_eq!(Side::BOTH.map(|side| offline(&world, &slot, side)), [0, 0]);
    to_ms(&mut world, 10_300);
    assert_eq!(states(&world, &slot), (Logical::Active, Physical::LinkUp));
}

/// A link that went down is quiet first, also without a signal.
#[test]
fn a_cut_link_polls_when_its_silence_is_over() {
    let (mut world, slot) = quiet(HFI1);
    act(&mut world, PortAction::Cut.on(slot.clone()));
    assert_eq!(crate::room::states(&world, &slot), "DOWN/<unknown>");
    to_ms(&mut world, 10_000);
    assert_eq!(crate::room::states(&world, &slot), "DOWN/Polling");
}

#[test]
fn a_port_that_is_disabled_shows_so_in_the_quiet_after_its_link() {
    let (mut world, slot) = quiet(DOCUMENT);
    act(&mut world, PortAction::Disable.on(slot.clone()));
    to_ms(&mut world, 1_000);
    assert_eq!(states(&world, &slot), (Logical::Down, Physical::Disabled));
}

/// From `Test` a port leaves through `Disabled` only, and then searches for its partner again.
#[rstest]
#[case(DOCUMENT, "DOWN/Phy Test")]
#[case(HFI1, "DOWN/<unknown>")]
fn a_disabled_port_that_is_asked_for_a_test_is_in_test_until_it_is_disabled(
    #[case] platform: &str,
    #[case] shown: &str,
) {
    let (mut world, slot) = first(platform);
    act(&mut world, PortAction::Disable.on(slot.clone()));
    let reply = world.set_port_info(&slot, Side::Here, &asks(Physical::Test));
    assert_eq!(reply, Ok(Reply::Answered));
    to_ms(&mut world, 5_000);
    assert_eq!(states(&world, &slot), (Logical::Down, Physical::Test));
    assert_eq!(crate::room::states(&world, &slot), shown);
    let reply = world.set_port_info(&slot, Side::Here, &asks(Physical::Disabled));
    assert_eq!(reply, Ok(Reply::Silent));
    assert_eq!(crate::room::states(&world, &slot), "DOWN/Disabled");
    let reply = world.set_port_info(&slot, Side::Here, &asks(Physical::Polling));
    assert_eq!(reply, Ok(Reply::Answered));
    to_ms(&mut world, 6_000);
    assert_eq!(states(&world, &slot), (Logical::Active, Physical::LinkUp));
}

/// A request is answered without effect.
#[test]
fn a_port_that_its_switch_disabled_no_request_lets_up() {
    let (mut world, slot) = first(DOCUMENT);
    act(
        &mut world,
        take_down(&slot, Side::There, LinkDownReason::SWITCH_MGMT),
    );
    let reply = world.set_port_info(&slot, Side::There, &asks(Physical::Polling));
    assert_eq!(reply, Ok(Reply::Answered));
    assert_eq!(
        last(&world, &slot).physical,
        [Physical::Polling, Physical::Disabled]
    );
}

#[test]
fn nobody_answers_for_an_end_that_is_off() {
    let (mut world, slot) = first(DOCUMENT);
    let virtual_one = port_one("0000:ff:00.0".parse().expect("an address"));
    let request = asks(Physical::Polling);
    assert!(
        world
            .set_port_info(&virtual_one, Side::Here, &request)
            .is_err()
    );
    act(&mut world, DeviceAction::Remove.on(function(&slot)));
    let refused = world.set_port_info(&slot, Side::Here, &request);
    assert_eq!(refused, Err(ActionError::NoAnswer(slot)));
}

#[test]
fn what_is_refused_is_named_from_and_to() {
    let (mut world, slot) = first(DOCUMENT);
    let request = SetPortInfo {
        logical: Some(Logical::Init),
        ..SetPortInfo::default()
    };
    let refused = world.set_port_info(&slot, Side::There, &request);
    let error = refused.expect_err("Active does not go to Init");
    assert_eq!(
        error.to_string(),
        format!("`{slot}` refuses to go from Active to Init")
    );
}

/// The subnet manager finds a link that was armed by a Set(PortInfo), and completes it.
#[test]
fn a_link_that_is_armed_by_hand_keeps_its_pairs_and_a_fall_ends_it() {
    let (mut world, slot) = first(DOCUMENT);
    act(&mut world, manager(false, true));
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 150);
    let armed = SetPortInfo {
        logical: Some(Logical::Armed),
        ..SetPortInfo::default()
    };
    let mut set = |side| world.set_port_info(&slot, side, &armed).expect("from Init");
    set(Side::Here);
    set(Side::There);
    assert_eq!(last(&world, &slot).logical, [Logical::Armed; 2]);
    let pair = |world: &Fabric| {
        let record = world.end(&slot, Side::Here).and_then(|end| end.record);
        record.expect("on").shown().codes()
    };
    assert_eq!(pair(&world), (39, 0), "nobody asked for them to be cleared");
    to_ms(&mut world, 60_000);
    assert_eq!(
        last(&world, &slot).logical,
        [Logical::Armed; 2],
        "nobody activates"
    );
    act(&mut world, PortAction::Cut.on(slot.clone()));
    assert_eq!(last(&world, &slot).logical, [Logical::Down; 2]);
    act(&mut world, PortAction::Mend.on(slot.clone()));
    to_ms(&mut world, 61_000);
    assert_eq!(last(&world, &slot).logical, [Logical::Init; 2]);
    act(&mut world, manager(true, true));
    to_ms(&mut world, 62_000);
    assert_eq!(last(&world, &slot).logical, [Logical::Active; 2]);
    assert_eq!(pair(&world), (0, 0));
}

#[test]
fn both_ends_that_are_activated_by_hand_are_an_active_link() {
    let (mut world, slot) = first(HFI1);
    act(&mut world, manager(false, true));
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 150);
    for logical in [Logical::Armed, Logical::Active] {
        for side in Side::BOTH {
            let request = SetPortInfo {
                logical: Some(logical),
                ..SetPortInfo::default()
            };
            let reply = world.set_port_info(&slot, side, &request);
            assert_eq!(reply, Ok(Reply::Answered));
        }
    }
    assert_eq!(last(&world, &slot).logical, [Logical::Active; 2]);
    assert_eq!(crate::room::states(&world, &slot), "ACTIVE/LinkUp");
    let rendered = world.port_events(&slot).last().map(|event| event.kind);
    assert_eq!(rendered, Some(PortEventKind::PortActive));
}

#[test]
fn a_quarantined_link_stays_in_init_until_it_is_let_out_or_mended() {
    for mended in [false, true] {
        let (mut world, slot) = first(DOCUMENT);
        let side = Side::There;
        let quarantine = |reason| PortAction::Quarantine { side, reason }.on(slot.clone());
        act(&mut world, quarantine(Some(LinkInitReason::OUT_OF_POLICY)));
        assert_eq!(states(&world, &slot).0, Logical::Active, "it is up already");
        act(&mut world, bounce(&slot));
        to_ms(&mut world, 60_000);
        assert_eq!(states(&world, &slot).0, Logical::Init);
        let init = |world: &Fabric, side| world.port_info(&slot, side).expect("on").init;
        assert_eq!(init(&world, Side::There), LinkInitReason::OUT_OF_POLICY);
        assert_eq!(init(&world, Side::Here), LinkInitReason::LINK_UP);
        if mended {
            act(&mut world, PortAction::Mend.on(slot.clone()));
        } else {
            act(&mut world, quarantine(None));
            assert_eq!(init(&world, Side::There), LinkInitReason::LINK_UP);
        }
        to_ms(&mut world, 61_000);
        assert_eq!(states(&world, &slot).0, Logical::Active);
    }
}

/// A flapping link keeps its LinkInitReason when it is up again; every other one is replaced.
#[rstest]
#[case(LinkInitReason::FLAPPING, LinkInitReason::FLAPPING)]
#[case(LinkInitReason::QUARANTINED, LinkInitReason::LINK_UP)]
fn a_mark_outlasts_the_link_or_not(
    #[case] reason: LinkInitReason,
    #[case] expected: LinkInitReason,
) {
    let (mut world, slot) = first(DOCUMENT);
    let side = Side::Here;
    let reason = Some(reason);
    act(
        &mut world,
        PortAction::Quarantine { side, reason }.on(slot.clone()),
    );
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 1_000);
    act(&mut world, bounce(&slot));
    let down = world.port_info(&slot, side).expect("on");
    assert_eq!(down.init, LinkInitReason::NONE, "it is not in Init");
    to_ms(&mut world, 1_150);
    let init = world.port_info(&slot, side).expect("on").init;
    assert_eq!(init, expected);
}

#[test]
fn a_notice_is_only_of_a_host_that_came_or_went() {
    let (mut world, slot) = first(DOCUMENT);
    to_ms(&mut world, 60_000);
    assert_eq!(world.notices(), [], "all were there from the start");
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 120_000);
    let noticed = world.notices().iter();
    let noticed: Vec<_> = noticed
        .map(|notice| (&notice.slot, notice.condition))
        .collect();
    let expected = [Condition::Disappearance, Condition::Appearance];
    assert_eq!(noticed, expected.map(|condition| (&slot, condition)));
}

/// A manager that did not run when a host went away finds it missing.
#[test]
fn a_manager_that_starts_notices_what_it_missed() {
    let (mut world, slot) = first(DOCUMENT);
    act(&mut world, manager(false, true));
    act(&mut world, PortAction::Cut.on(slot.clone()));
    to_ms(&mut world, 60_000);
    assert_eq!(world.notices(), []);
    act(&mut world, manager(true, true));
    to_ms(&mut world, 61_000);
    let conditions: Vec<_> = world
        .notices()
        .iter()
        .map(|notice| notice.condition)
        .collect();
    assert_eq!(conditions, [Condition::Disappearance]);
}

#[test]
fn a_manager_that_lost_its_logs_writes_again_what_is_still_there() {
    let (mut world, slot) = first(DOCUMENT);
    act(&mut world, PortAction::Cut.on(slot.clone()));
    to_ms(&mut world, 20_000);
    let entries = |world: &Fabric| {
        let log = world.end(&slot, Side::There).expect("a link").log;
        log.printed()
            .map(|entry| entry.at_s - fabric::opa::START_S)
            .collect::<Vec<_>>()
    };
    assert_eq!(entries(&world), [0]);
    act(&mut world, manager(true, false));
    assert_eq!(entries(&world), [0], "it runs, and so keeps what it has");
    act(&mut world, manager(false, true));
    act(&mut world, manager(true, false));
    assert_eq!(entries(&world), [0_u64; 0]);
    to_ms(&mut world, 60_000);
    assert_eq!(entries(&world), [20]);
}

#[test]
fn a_manager_that_stops_leaves_training_to_the_ports() {
    let (mut world, slot) = first(DOCUMENT);
    act(&mut world, bounce(&slot));
    act(&mut world, manager(false, true));
    to_ms(&mut world, 5_000);
    let step = last(&world, &slot);
    assert_eq!(
        step.logical,
        [Logical::Init; 2],
        "trained, and armed by nobody"
    );
}

#[test]
fn a_manager_that_stops_between_arming_and_active_is_not_waited_for() {
    let (mut world, slot) = first(DOCUMENT);
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 250);
    assert_eq!(states(&world, &slot).0, Logical::Armed);
    act(&mut world, manager(false, true));
    to_ms(&mut world, 60_000);
    assert_eq!(states(&world, &slot).0, Logical::Armed);
    act(&mut world, manager(true, true));
    to_ms(&mut world, 60_050);
    assert_eq!(states(&world, &slot).0, Logical::Active);
}

/// The end that interrupts training records no reason to observe.
#[rstest]
#[case(Side::Here, (0, 0))]
#[case(Side::There, (63, 0))]
fn an_end_that_breaks_its_training_off_does_not_wonder_why(
    #[case] side: Side,
    #[case] latest: (u8, u8),
) {
    let (mut world, slot) = first(HFI1);
    act(&mut world, PortAction::Cut.on(slot.clone()));
    to_ms(&mut world, 1_000);
    act(&mut world, DeviceAction::Remove.on(function(&slot)));
    act(&mut world, DeviceAction::Restore.on(function(&slot)));
    act(&mut world, PortAction::Mend.on(slot.clone()));
    to_ms(&mut world, 1_160);
    assert_eq!(states(&world, &slot), (Logical::Down, Physical::Training));
    act(
        &mut world,
        take_down(&slot, side, LinkDownReason::SWITCH_MGMT),
    );
    let record = world.end(&slot, Side::Here).and_then(|end| end.record);
    assert_eq!(record.expect("on").latest().codes(), latest);
}

/// As specified, the reason that still holds is shown at once; an hfi1 shows nothing new until it
/// polls.
#[rstest]
#[case(DOCUMENT, 13)]
#[case(HFI1, 8)]
fn of_two_reasons_that_hold_the_one_that_is_left_is_told(#[case] platform: &str, #[case] left: u8) {
    let (mut world, slot) = first(platform);
    let side = Side::Here;
    for reason in [LinkDownReason::SMA_DISABLED, LinkDownReason::POWER_POLICY] {
        act(&mut world, take_down(&slot, side, reason));
    }
    assert_eq!(offline(&world, &slot, side), 8);
    let release = |reason| PortAction::Release { side, reason }.on(slot.clone());
    act(&mut world, release(LinkDownReason::POWER_POLICY));
    assert_eq!(offline(&world, &slot, side), left);
    act(&mut world, release(LinkDownReason::SMA_DISABLED));
    assert_eq!(offline(&world, &slot, side), 0);
}

#[test]
fn a_message_is_heard_by_one_end_and_remembered_by_nobody_else() {
    let (mut world, slot) = first(DOCUMENT);
    let (side, message) = (Side::There, LinkDownReason::POWER_POLICY);
    act(
        &mut world,
        PortAction::Hear { side, message }.on(slot.clone()),
    );
    let pairs = Side::BOTH.map(|side| {
        let record = world.end(&slot, side).and_then(|end| end.record);
        record.expect("on").shown().codes()
    });
    assert_eq!(pairs, [(0, 0), (0, 56)]);
    to_ms(&mut world, 300);
    assert_eq!(states(&world, &slot), (Logical::Active, Physical::LinkUp));
}

/// Only an hfi1 logs the content of its registers; the link bounces in both cases.
#[rstest]
#[case(DOCUMENT, 0)]
#[case(HFI1, 2)]
fn error_registers_are_written_down_by_an_hfi1(#[case] platform: &str, #[case] lines: usize) {
    let (mut world, slot) = first(platform);
    let info = ErrorInfo {
        fm_config: Some(2),
        receive: Some(5),
    };
    act(
        &mut world,
        PortAction::ErrorRegisters { info }.on(slot.clone()),
    );
    let log = world.kernel_log(&node()).iter();
    let of_registers = log.filter(|line| line.text.contains(": DCC Error: "));
    assert_eq!(of_registers.count(), lines);
    let record = world.end(&slot, Side::There).and_then(|end| end.record);
    assert_eq!(record.expect("on").shown().codes(), (0, 19));
}

/// At this end, for this reason, and not again while it holds.
#[rstest]
#[case::of_this_end(Side::Here, LinkDownReason::POWER_POLICY, 1)]
#[case::of_the_other_end(Side::There, LinkDownReason::POWER_POLICY, 0)]
#[case::for_another_reason(Side::Here, LinkDownReason::SMA_DISABLED, 0)]
fn a_port_that_draws_too_much_power_is_written_down_once(
    #[case] side: Side,
    #[case] reason: LinkDownReason,
    #[case] lines: usize,
) {
    let (mut world, slot) = first(HFI1);
    for _ in 0..2 {
        act(&mut world, take_down(&slot, side, reason));
    }
    let log = world.kernel_log(&node()).iter();
    let of_power = log.filter(|line| line.text.ends_with("due to system power restrictions"));
    assert_eq!(of_power.count(), lines);
}

/// Nothing is logged while no driver runs.
#[test]
fn an_hfi1_without_its_driver_writes_nothing() {
    let (mut world, slot) = first(HFI1);
    act(&mut world, NodeAction::DriverUnload.on(node()));
    let before = world.kernel_log(&node()).len();
    let (side, there) = (Side::Here, false);
    act(&mut world, PortAction::Module { side, there }.on(slot));
    assert_eq!(world.kernel_log(&node()).len(), before);
}

#[test]
fn a_device_that_failed_is_told_once_for_each_port() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    let takes = SimTime::from_secs(2);
    act(
        &mut world,
        DeviceAction::PciError { takes }.on(function(&victim)),
    );
    to_ms(&mut world, 5_000);
    let events = world.port_events(&victim).iter();
    let events: Vec<_> = events.map(|event| (event.at.as_ms(), event.kind)).collect();
    let expected = [
        (0, PortEventKind::DeviceFatal),
        (2_300, PortEventKind::PortActive),
    ];
    assert_eq!(events, expected);
}
