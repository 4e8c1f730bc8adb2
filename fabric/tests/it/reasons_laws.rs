//! Laws about what both ends of a world's links remember, for arbitrary platforms and scripts: all
//! verbs, and those that take a link down for a reason.
//!
//! PO1 to PO17 are the laws of the link model. Scripts contain no Set(PortInfo), which would act like
//! the subnet manager; the laws about a single initiator play one fault on a world at rest.

use std::collections::{BTreeMap, BTreeSet};

use fabric::{
    Action, DeviceAction, Fabric, PortAction, PortEventKind, PortsAction, Side,
    opa::{LinkDownReason, Logical, Pair, Physical, Profile},
};
use platforms::{LinkLayer, PortState, SlotRef};
use proptest::prelude::*;
use simfs::SimTime;

use crate::{
    laws::{HONEST_KINDS, Line, PLATFORMS, SETTLING_MS, script, slots},
    reasons_world::{KINDS, Look, ends, initiators, link_action, link_script, pair, play},
    room::{count, node, port, world},
};

/// The laws that hold at every instant.
fn always(world: &Fabric) {
    for ((slot, side), truth) in ends(world) {
        // PO8
        assert!(truth.log.len() <= 8);
        let shown = world.walk(&slot).last().expect("a walk has a beginning");
        let (logical, physical) = (shown.logical[0], shown.physical[side as usize]);
        // PO9
        let is_up = logical != Logical::Down;
        assert_eq!(is_up, physical == Physical::LinkUp, "{slot}");
        // PO14
        assert_eq!(Logical::by_shown(logical.shown()), Some(logical));
        assert_eq!(Physical::by_shown(physical.shown()), Some(physical));
        let beyond = [Physical::Offline, Physical::Test].contains(&physical);
        assert_eq!(physical.shown().word() == "<unknown>", beyond);
        let Some(record) = truth.record else { continue };
        let files =
            port(world, &slot).filter(|_| side == Side::Here && record.profile() == Profile::Hfi1);
        if let Some(files) = files {
            assert_eq!(Logical::by_shown(files.state), Some(logical), "{slot}");
            assert_eq!(
                Physical::by_shown(files.phys_state),
                Some(physical),
                "{slot}"
            );
        }
        for pair in [record.shown(), record.latest()] {
            for reason in [pair.local, pair.neighbour] {
                // PO1
                assert_eq!(LinkDownReason::by_code(reason.code()), Some(reason));
            }
            // PO2
            assert!(![36, 49, 50, 51, 54].contains(&pair.neighbour.code()));
        }
        // PO15
        let offline = record.offline().code();
        assert!([0, 1, 2, 3, 4, 6, 8, 9, 10, 12, 13, 15].contains(&offline));
        // PO4
        let state = port(world, &slot).map(|port| port.state);
        if state.is_some_and(|state| state >= PortState::ARMED) {
            assert!(
                record.shown().is_clear(),
                "{slot} {side:?} is up with {:?}",
                record.shown()
            );
            assert_eq!(offline, 0, "{slot} {side:?}");
        }
    }
}

/// Records ports whose neighbour rebooted; the neighbour's records are cleared by that.
fn note_neighbours(away: &mut BTreeSet<SlotRef>, look: &Look<'_>) {
    if let Some(Action::Port(slot, PortAction::NeighbourReboot { .. })) = look.done {
        away.insert(slot.clone());
    }
}

/// The pairs before and after a step, of each end that can be queried in both cases and kept its power.
fn pairs(look: &Look<'_>, away: &BTreeSet<SlotRef>) -> Vec<(SlotRef, Side, Pair, Pair)> {
    let (before, after) = (ends(look.before), ends(look.after));
    let mut pairs = Vec::new();
    for ((slot, side), was) in before {
        let forgets = side == Side::There && away.contains(&slot);
        let is = after.get(&(slot.clone(), side)).and_then(pair);
        if let (Some(was), Some(is)) = (pair(&was), is)
            && !forgets
            && !look.lost_power(&slot, side)
        {
            pairs.push((slot, side, was, is));
        }
    }
    pairs
}

/// How often a link was armed in the step.
fn arms(look: &Look<'_>, slot: &SlotRef) -> usize {
    let mut was = look.stood(slot).logical[0];
    let steps = look.walked(slot).iter();
    let armed = steps.filter(|step| {
        let before = std::mem::replace(&mut was, step.logical[0]);
        before < Logical::Armed && step.logical[0] >= Logical::Armed
    });
    armed.count()
}

fn leavings(world: &Fabric, slot: &SlotRef) -> usize {
    let walk = world.walk(slot);
    let left = walk
        .windows(2)
        .filter(|two| two[0].logical[0] > Logical::Down && two[1].logical[0] == Logical::Down);
    left.count()
}

fn rendered(world: &Fabric, slot: &SlotRef, kind: PortEventKind) -> usize {
    let events = world.port_events(slot).iter();
    events.filter(|event| event.kind == kind).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// PO1, PO2, PO4, PO8 (length), PO9, PO14, PO15 (values).
    #[test]
    fn what_ends_remember_is_well_formed_and_gone_once_armed((platform, lines) in script(KINDS)) {
        play(platform, &lines, |look| always(look.after));
    }

    /// PO3: except for an end that lost its power in between.
    #[test]
    fn a_pair_changes_from_clear_and_back_by_arming_only((platform, lines) in script(KINDS)) {
        let mut away = BTreeSet::new();
        play(platform, &lines, |look| {
            note_neighbours(&mut away, look);
            for (slot, side, was, is) in pairs(look, &away) {
                let excused = was == is || was.is_clear() || look.armed(&slot);
                assert!(excused, "{slot} {side:?}: {was:?} became {is:?} by {:?}", look.done);
            }
        });
    }

    /// PO5, PO6: one initiator on a world at rest, for ports as specified.
    #[test]
    fn a_single_initiator_is_heard_or_unknown((nth, number, says, here) in (0..8_usize, 0..49_usize, any::<bool>(), any::<bool>())) {
        let mut world = world("dgx-a100");
        let slot = slots(&world)[nth].clone();
        let reason = LinkDownReason::all().skip(1).nth(number).expect("there are 49");
        let side = if here { Side::Here } else { Side::There };
        world.act(&PortAction::TakeDown { side, reason, says }.on(slot.clone())).expect("possible");
        let shown = |side| pair(&world.end(&slot, side).expect("a link")).expect("on");
        let (own, other) = (shown(side), shown(side.other()));
        let heard = says && reason.may_be_neighbours();
        prop_assert_eq!(own.codes(), (reason.code(), 0));
        prop_assert_eq!(other.codes(), if heard { (0, reason.code()) } else { (36, 0) });
        for ((other, _), truth) in ends(&world).into_iter().filter(|((other, _), _)| *other != slot) {
            prop_assert_eq!(pair(&truth), Some(Pair::CLEAR), "{}", other);
        }
    }

    /// PO7: the other end did what an end was told, since the last clearing.
    #[test]
    fn an_end_hears_only_of_what_its_neighbour_did((platform, lines) in script(KINDS)) {
        // Whether it is still to be heard: an overrun takes its link down some time later, or once it is up.
        let mut reported: BTreeMap<(SlotRef, Side), bool> = BTreeMap::new();
        play(platform, &lines, |look| {
            let is_overrun = matches!(look.done, Some(Action::Port(_, PortAction::BufferOverrun { .. })));
            for (slot, side) in look.done.map_or_else(Vec::new, |done| initiators(look.after, done)) {
                let is_late = reported.entry((slot, side.other())).or_default();
                *is_late |= is_overrun;
            }
            for ((slot, side), truth) in ends(look.after) {
                let armed = look.after.walk(&slot).last().is_some_and(|step| step.logical[0] >= Logical::Armed);
                let end = (slot, side);
                if pair(&truth).is_some_and(|pair| pair.neighbour.is_some()) {
                    let is_late = reported.get_mut(&end);
                    *is_late.unwrap_or_else(|| panic!("{} {side:?} heard {truth:?}", end.0)) = false;
                } else if armed && reported.get(&end) == Some(&false) {
                    reported.remove(&end);
                }
            }
        });
    }

    /// PO8: the entries of an end's log are in order of time, at most one per cycle.
    #[test]
    fn a_log_grows_once_for_each_time_that_its_port_was_armed((platform, lines) in script(KINDS)) {
        let mut last = BTreeMap::new();
        let mut written: BTreeSet<(SlotRef, Side)> = BTreeSet::new();
        play(platform, &lines, |look| {
            if matches!(look.done, Some(Action::SubnetManager { keeps_logs: false, .. } | Action::StandbyTakesOver)) {
                written.clear();
            }
            let before = ends(look.before);
            for (end, truth) in ends(look.after) {
                let old = before.get(&end).map(|truth| truth.log).unwrap_or_default();
                let fresh = truth.log.entries().iter().filter(|entry| !entry.is_empty() && !old.entries().contains(entry));
                let mut times: Vec<u64> = fresh.map(|entry| entry.at_s).collect();
                times.sort_unstable();
                let arms = arms(look, &end.0);
                if let (Some(first), Some(latest)) = (times.first(), times.last()) {
                    let before = last.insert(end.clone(), *latest).unwrap_or(0);
                    assert!(*first >= before, "{end:?}: {first} after {before}");
                    let cycles = arms + usize::from(!written.contains(&end));
                    assert!(times.len() <= cycles, "{end:?} is written {} times in {cycles}", times.len());
                    written.insert(end.clone());
                }
                if arms > 0 {
                    written.remove(&end);
                }
            }
        });
    }

    /// PO10: the way up has no shortcuts, and needs the subnet manager.
    #[test]
    fn a_port_is_active_only_after_init_and_armed((platform, lines) in link_script()) {
        let mut runs = true;
        play(platform, &lines, |look| {
            let manager = match look.done {
                Some(Action::SubnetManager { running, .. }) => Some(*running),
                Some(Action::StandbyTakesOver) => Some(true),
                _ => None,
            };
            let managed = |slot: &SlotRef| port(look.after, slot).is_some_and(|port| port.layer == LinkLayer::InfiniBand);
            for slot in slots(look.after).into_iter().filter(managed) {
                let mut was = look.stood(&slot).logical[0];
                for step in look.walked(&slot) {
                    match step.logical[0] {
                        Logical::Active if was != Logical::Active => {
                            assert_eq!(was, Logical::Armed, "{slot}");
                            assert!(runs, "{slot} is active without a subnet manager");
                        }
                        Logical::Armed if was < Logical::Armed => {
                            assert!(was == Logical::Init && runs, "{slot} from {was}");
                        }
                        _ => {}
                    }
                    was = step.logical[0];
                }
            }
            runs = manager.unwrap_or(runs);
        });
    }

    /// PO11: one PORT_ERR for each leaving of Init, Armed or Active, one PORT_ACTIVE for each entering.
    /// PO13: a counter of lost links never falls, and saturates in its field of 8 bits.
    #[test]
    fn a_kernel_tells_and_counts_each_link_that_it_lost((platform, lines) in link_script()) {
        let world = play(platform, &lines, |look| {
            for slot in slots(look.after) {
                let now = count(look.after, &slot, "link_downed");
                assert!(now >= count(look.before, &slot, "link_downed"), "{slot}");
            }
        });
        for slot in slots(&world) {
            let lost = leavings(&world, &slot);
            prop_assert_eq!(rendered(&world, &slot, PortEventKind::PortErr), lost);
            prop_assert_eq!(count(&world, &slot, "link_downed"), lost.min(255) as u64);
            let walk = world.walk(&slot);
            let active = walk.windows(2).filter(|two| two[0].logical[0] == Logical::Armed && two[1].logical[0] == Logical::Active);
            prop_assert_eq!(rendered(&world, &slot, PortEventKind::PortActive), active.count());
        }
    }

    /// PO12: an end that lost power remembers nothing.
    #[test]
    fn an_end_that_lost_power_is_back_with_clear_pairs((platform, lines) in script(KINDS)) {
        play(platform, &lines, |look| {
            let back = |slot: &SlotRef| match look.done {
                Some(Action::Device(function, DeviceAction::Restore)) => {
                    (function.pci == slot.pci).then_some(Side::Here)
                }
                Some(Action::Ports(slots, PortsAction::SwitchPower { on: true })) => {
                    slots.contains(slot).then_some(Side::There)
                }
                _ => None,
            };
            for ((slot, side), truth) in ends(look.after) {
                if let Some(record) = truth.record.filter(|_| back(&slot) == Some(side)) {
                    assert_eq!((record.shown(), record.latest()), (Pair::CLEAR, Pair::CLEAR));
                }
            }
        });
    }

    /// PO15: removing a module, and disabling, never raise an existing reason.
    #[test]
    fn a_reason_for_being_offline_is_only_lowered_by_removal_and_disabling((platform, lines) in script(KINDS)) {
        play(platform, &lines, |look| {
            let (slot, side) = match look.done {
                Some(Action::Port(slot, PortAction::Module { side, there: false })) => (slot, *side),
                Some(Action::Port(slot, PortAction::Disable)) => (slot, Side::Here),
                Some(Action::Port(slot, PortAction::TakeDown { side, reason: LinkDownReason::SMA_DISABLED, .. })) => (slot, *side),
                _ => return,
            };
            let code = |world: &Fabric| world.end(slot, side)?.record.map(|record| record.offline().code());
            if let (Some(was), Some(is)) = (code(look.before), code(look.after)) {
                assert!(is != 0, "{slot} is offline without a reason");
                assert!(was == 0 || is <= was, "{slot}: {was} became {is}");
            }
        });
    }

    /// PO16: as specified, what happens at one end happens at the other when they are swapped.
    #[test]
    fn swapping_both_ends_swaps_what_they_show((_, lines) in link_script()) {
        let swapped = |action: Action| {
            let Action::Port(slot, action) = action else { return None };
            let action = match action {
                PortAction::TakeDown { side, reason, says } => PortAction::TakeDown { side: side.other(), reason, says },
                PortAction::Release { side, reason } => PortAction::Release { side: side.other(), reason },
                PortAction::PacketError { side, reason } => PortAction::PacketError { side: side.other(), reason },
                PortAction::BothTakeDown { here, there } => PortAction::BothTakeDown { here: there, there: here },
                PortAction::Hear { side, message } => PortAction::Hear { side: side.other(), message },
                PortAction::ErrorAction { side, action } => PortAction::ErrorAction { side: side.other(), action },
                PortAction::Module { side, there } => PortAction::Module { side: side.other(), there },
                PortAction::Quarantine { side, reason } => PortAction::Quarantine { side: side.other(), reason },
                PortAction::LoseLanes { side, left } => PortAction::LoseLanes { side: side.other(), left },
                PortAction::WidthPolicy { side, allowed } => PortAction::WidthPolicy { side: side.other(), allowed },
                other @ (PortAction::Cut | PortAction::Mend | PortAction::Stick { .. } | PortAction::TrainSlowly { .. } | PortAction::FirmwareReport { .. }) => other,
                _ => return None,
            };
            Some(action.on(slot))
        };
        let mut one = world("dgx-a100");
        let mut other = one.clone();
        for line in &lines {
            let to = one.now() + SimTime::from_ms(line.after_ms);
            one.advance(to);
            other.advance(to);
            let here = link_action(&one, line);
            let Some(there) = swapped(here.clone()) else { continue };
            prop_assert_eq!(one.act(&here).is_ok(), other.act(&there).is_ok(), "{:?}", here);
            for ((slot, side), truth) in ends(&one) {
                let mirrored = other.end(&slot, side.other()).expect("a link");
                prop_assert_eq!(truth.record, mirrored.record, "{} {:?} by {:?}", slot, side, here);
                for (step, mirrored) in one.walk(&slot).iter().zip(other.walk(&slot)) {
                    prop_assert_eq!(step.at, mirrored.at);
                    prop_assert_eq!(step.logical[0], mirrored.logical[1]);
                    prop_assert_eq!(step.physical[0], mirrored.physical[1]);
                }
            }
        }
    }

    /// PO17: except for an hfi1's internal record.
    #[test]
    fn a_link_that_never_was_up_changes_no_pair((platform, lines) in script(KINDS)) {
        let mut away = BTreeSet::new();
        play(platform, &lines, |look| {
            note_neighbours(&mut away, look);
            for (slot, side, was, is) in pairs(look, &away) {
                let up = |logical| logical > Logical::Down;
                let was_up = up(look.stood(&slot).logical[0]);
                if !was_up && !look.walked(&slot).iter().any(|step| up(step.logical[0])) {
                    assert_eq!(was, is, "{slot} {side:?} by {:?}", look.done);
                }
            }
        });
    }

    #[test]
    fn a_healed_world_remembers_nothing((platform, lines) in script(KINDS)) {
        let mut world = play(platform, &lines, |_| ());
        world.heal();
        world.advance(world.now() + SimTime::from_ms(SETTLING_MS));
        prop_assert!(world.settled());
        let should_be_up: Vec<SlotRef> =
            world.ports(&node()).into_iter().filter(|port| port.should_be_up).map(|port| port.slot).collect();
        for ((slot, side), truth) in ends(&world) {
            if should_be_up.contains(&slot) {
                let record = truth.record.expect("every end can be asked");
                prop_assert!(record.shown().is_clear(), "{} {:?}", slot, side);
            }
        }
    }

    #[test]
    fn looking_in_between_changes_nothing_at_either_end((platform, lines) in script(KINDS)) {
        let watched = play(platform, &lines, |_| ());
        let mut straight = world(PLATFORMS[platform]);
        for line in &lines {
            straight.advance(straight.now() + SimTime::from_ms(line.after_ms));
            let _ = straight.act(&link_action(&straight, line));
        }
        prop_assert_eq!(ends(&watched), ends(&straight));
        prop_assert_eq!(watched.machine(&node()), straight.machine(&node()));
        prop_assert_eq!(watched.notices(), straight.notices());
        for slot in slots(&watched) {
            prop_assert_eq!(watched.walk(&slot), straight.walk(&slot));
            prop_assert_eq!(watched.port_events(&slot), straight.port_events(&slot));
        }
    }
}

#[test]
fn every_kind_of_a_script_is_a_verb_of_its_own() {
    let world = world(PLATFORMS[0]);
    let named = |kind| {
        let line = Line {
            after_ms: 0,
            kind,
            port: 0,
            number: 1,
        };
        format!("{:?}", link_action(&world, &line))
    };
    let kinds: BTreeSet<String> = (HONEST_KINDS..KINDS).map(named).collect();
    assert_eq!(kinds.len(), KINDS - HONEST_KINDS - 1, "one stands twice");
}
