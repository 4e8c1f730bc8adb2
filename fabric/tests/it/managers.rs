//! Subnet managers that fail over or lose their logs, one fact per test.

use fabric::{
    Action, Fabric, PortAction, Side,
    opa::{Condition, LinkDownReason, LinkInitReason, START_S},
};
use platforms::{LinkLayer::InfiniBand, SlotRef};
use simfs::SimTime;

use crate::room::{act, slot, states, to_ms, world_of};

const STOP: Action = Action::SubnetManager {
    running: false,
    reinitialise: false,
    keeps_logs: true,
};

const START_WITHOUT_LOGS: Action = Action::SubnetManager {
    running: true,
    reinitialise: false,
    keeps_logs: false,
};

fn first() -> (Fabric, SlotRef) {
    let world = world_of(InfiniBand);
    let slot = slot(&world, 0);
    (world, slot)
}

fn bounce(slot: &SlotRef) -> Action {
    let (side, reason, says) = (Side::There, LinkDownReason::FM_BOUNCE, true);
    PortAction::TakeDown { side, reason, says }.on(slot.clone())
}

/// Seconds from the start at which the manager logged the partner's reasons.
fn logged(world: &Fabric, slot: &SlotRef) -> Vec<u64> {
    let log = world.end(slot, Side::There).expect("a link").log;
    log.printed().map(|entry| entry.at_s - START_S).collect()
}

#[test]
fn a_standby_has_no_log_of_what_was_armed_before_it_took_over() {
    let (mut world, slot) = first();
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 5_000);
    assert_eq!(logged(&world, &slot), [0]);
    act(&mut world, Action::StandbyTakesOver);
    to_ms(&mut world, 60_000);
    assert_eq!(logged(&world, &slot), [0_u64; 0]);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp", "no port feels it");
}

#[test]
fn a_standby_logs_the_reasons_that_ports_still_hold_when_it_sweeps() {
    let (mut world, slot) = first();
    act(&mut world, STOP);
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 30_000);
    assert_eq!(states(&world, &slot), "INIT/LinkUp", "nobody arms it");
    act(&mut world, Action::StandbyTakesOver);
    to_ms(&mut world, 30_099);
    assert_eq!(states(&world, &slot), "INIT/LinkUp", "it sweeps soon");
    to_ms(&mut world, 31_000);
    assert_eq!(logged(&world, &slot), [30]);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
}

#[test]
fn what_a_manager_finds_in_its_first_sweep_is_no_news_to_it_and_what_follows_is() {
    for begins in [Action::StandbyTakesOver, START_WITHOUT_LOGS] {
        let (mut world, slot) = first();
        act(&mut world, STOP);
        act(&mut world, PortAction::Cut.on(slot.clone()));
        to_ms(&mut world, 20_000);
        act(&mut world, begins);
        to_ms(&mut world, 40_000);
        assert_eq!(world.notices(), []);
        act(&mut world, PortAction::Mend.on(slot.clone()));
        to_ms(&mut world, 41_000);
        let conditions = world.notices().iter().map(|notice| notice.condition);
        assert_eq!(conditions.collect::<Vec<_>>(), [Condition::Appearance]);
    }
}

#[test]
fn a_message_and_a_term_bear_the_number_of_their_manager() {
    let (mut world, slot) = first();
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 10_000);
    act(&mut world, STOP);
    to_ms(&mut world, 20_000);
    act(&mut world, START_WITHOUT_LOGS);
    to_ms(&mut world, 30_000);
    act(&mut world, Action::StandbyTakesOver);
    to_ms(&mut world, 31_000);
    act(&mut world, PortAction::Cut.on(slot.clone()));
    to_ms(&mut world, 40_000);
    let notices = world.notices().iter().map(|notice| notice.manager);
    assert_eq!(notices.collect::<Vec<_>>(), [1, 1, 2]);
    let terms = world.manager_terms().iter().map(|term| {
        let until = term.until.map(|until| until.as_ms());
        (term.number, term.from.as_ms(), until, term.remembers)
    });
    let expected = [
        (1, 0, Some(10_000), true),
        (1, 20_000, Some(30_000), false),
        (2, 30_000, None, false),
    ];
    assert_eq!(terms.collect::<Vec<_>>(), expected);
}

#[test]
fn a_port_names_the_manager_that_reached_it_last() {
    let (mut world, slot) = first();
    let other = crate::room::slot(&world, 1);
    act(&mut world, PortAction::Cut.on(other.clone()));
    act(&mut world, Action::StandbyTakesOver);
    to_ms(&mut world, 1_000);
    let sm_lid = |slot: &SlotRef, side| world.port_info(slot, side).expect("on").sm_lid;
    let new = sm_lid(&slot, Side::Here);
    assert_ne!(new, 1);
    assert_eq!(sm_lid(&slot, Side::There), new);
    assert_eq!(sm_lid(&other, Side::There), new, "a switch is reached");
    assert_eq!(sm_lid(&other, Side::Here), 1, "its host's port is not");
}

/// A flap is a manager's own observation; a policy is in the configuration of all of them.
#[test]
fn a_standby_lets_a_flapping_link_out_and_no_other() {
    let left = [
        (LinkInitReason::FLAPPING, "ACTIVE/LinkUp"),
        (LinkInitReason::OUT_OF_POLICY, "INIT/LinkUp"),
    ];
    for (reason, expected) in left {
        let (mut world, slot) = first();
        let (side, reason) = (Side::There, Some(reason));
        act(
            &mut world,
            PortAction::Quarantine { side, reason }.on(slot.clone()),
        );
        act(&mut world, bounce(&slot));
        to_ms(&mut world, 10_000);
        assert_eq!(states(&world, &slot), "INIT/LinkUp");
        act(&mut world, Action::StandbyTakesOver);
        to_ms(&mut world, 11_000);
        assert_eq!(states(&world, &slot), expected);
    }
}

/// Seconds of the tests are from the start; each change of its sweeps is a sweep too.
#[test]
fn a_manager_that_ignores_traps_arms_and_logs_in_its_own_sweeps() {
    let (mut world, slot) = first();
    let sweeps = |every_s, on_traps| Action::Sweeps {
        every: SimTime::from_secs(every_s),
        on_traps,
    };
    to_ms(&mut world, 5_000);
    act(&mut world, sweeps(60, false));
    to_ms(&mut world, 10_000);
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 64_999);
    assert_eq!(states(&world, &slot), "INIT/LinkUp");
    assert_eq!(logged(&world, &slot), [0_u64; 0]);
    to_ms(&mut world, 65_050);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
    assert_eq!(logged(&world, &slot), [65]);
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 80_000);
    assert_eq!(states(&world, &slot), "INIT/LinkUp");
    act(&mut world, sweeps(60, true));
    to_ms(&mut world, 80_150);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp", "it sweeps at once");
    assert_eq!(logged(&world, &slot), [65, 80]);
}

#[test]
fn a_standby_sweeps_as_its_predecessor_does_and_at_once() {
    let (mut world, slot) = first();
    let (every, on_traps) = (SimTime::from_secs(60), false);
    act(&mut world, Action::Sweeps { every, on_traps });
    to_ms(&mut world, 5_000);
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 20_000);
    act(&mut world, Action::StandbyTakesOver);
    to_ms(&mut world, 20_150);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 79_999);
    assert_eq!(states(&world, &slot), "INIT/LinkUp");
    to_ms(&mut world, 80_050);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
}

#[test]
fn a_manager_that_does_not_run_sweeps_at_no_interval() {
    let (mut world, slot) = first();
    act(&mut world, STOP);
    act(&mut world, bounce(&slot));
    to_ms(&mut world, 5_000);
    let (every, on_traps) = (SimTime::from_secs(1), true);
    act(&mut world, Action::Sweeps { every, on_traps });
    to_ms(&mut world, 60_000);
    assert_eq!(states(&world, &slot), "INIT/LinkUp");
}
