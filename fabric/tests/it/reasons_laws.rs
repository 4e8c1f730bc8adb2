//! Laws of what both ends of a world's links remember, over arbitrary platforms and scripts: all
//! verbs, and those that take a link down for a reason.

use std::collections::BTreeMap;

use fabric::{
    Action, EndTruth, Fabric, NodeAction, PortAction, PortsAction, RebootPlan, Side,
    opa::{LinkDownReason, PortErrorAction},
};
use platforms::{PortState, SlotRef};
use proptest::prelude::*;
use simfs::SimTime;

use crate::{
    laws::{HONEST_KINDS, Line, PLATFORMS, SETTLING_MS, action, script, slots},
    room::{node, port, world},
};

/// The verbs that show nothing but what is so, and after them those about reasons.
const KINDS: usize = HONEST_KINDS + 10;

fn deed(world: &Fabric, line: &Line) -> Action {
    if line.kind < HONEST_KINDS {
        return action(world, line);
    }
    let all = slots(world);
    let slot = all[line.port % all.len()].clone();
    let number = usize::try_from(line.number).expect("a small number");
    let reasons: Vec<LinkDownReason> = LinkDownReason::all().skip(1).collect();
    let reason = reasons[number % reasons.len()];
    let side = Side::BOTH[number / 2 % 2];
    let there = number.is_multiple_of(2);
    match line.kind - HONEST_KINDS {
        0 | 1 => PortAction::TakeDown {
            side,
            reason,
            says: there,
        }
        .on(slot),
        2 => PortAction::LetUp { side, reason }.on(slot),
        3 => PortAction::PacketError {
            side,
            reason: reasons[number % 32],
        }
        .on(slot),
        4 => PortAction::BufferOverrun { side }.on(slot),
        5 => PortAction::ErrorAction {
            side,
            action: PortErrorAction(0x5555_5555),
        }
        .on(slot),
        6 => PortAction::Module { side, there }.on(slot),
        7 => PortAction::NeighbourReboot {
            takes: SimTime::from_ms(line.number),
        }
        .on(slot),
        8 => PortsAction::SwitchPower { on: there }.on(vec![slot]),
        _ => NodeAction::Reboot {
            plan: RebootPlan {
                takes: SimTime::from_ms(line.number),
                loses_power: there,
                ..RebootPlan::default()
            },
        }
        .on(node()),
    }
}

/// Both ends of every link.
fn ends(world: &Fabric) -> BTreeMap<(SlotRef, Side), EndTruth> {
    let slots = slots(world);
    let sides = slots
        .into_iter()
        .flat_map(|slot| Side::BOTH.map(|side| (slot.clone(), side)));
    sides
        .filter_map(|(slot, side)| Some(((slot.clone(), side), world.end(&slot, side)?)))
        .collect()
}

/// Plays a script, and looks before and after each deed, and after each wait.
fn play(platform: usize, lines: &[Line], mut look: impl FnMut(&Fabric, &Fabric, bool)) -> Fabric {
    let mut world = world(PLATFORMS[platform]);
    for line in lines {
        let before = world.clone();
        world.advance(world.now() + SimTime::from_ms(line.after_ms));
        look(&before, &world, false);
        let before = world.clone();
        let refused = world.act(&deed(&world, line)).is_err();
        if refused {
            assert_eq!(ends(&before), ends(&world), "refused, and yet: {line:?}");
        }
        look(&before, &world, true);
    }
    world
}

fn always(world: &Fabric) {
    for ((slot, side), truth) in ends(world) {
        assert!(truth.log.len() <= 8);
        let Some(record) = truth.record else { continue };
        let pair = record.shown();
        assert!(![36, 49, 50, 51, 54].contains(&pair.neighbour.code()));
        let offline = record.offline().code();
        assert!([0, 1, 2, 3, 4, 6, 8, 9, 10, 12, 13, 15].contains(&offline));
        let state = port(world, &slot).map(|port| port.state);
        if state.is_some_and(|state| state >= PortState::ARMED) {
            assert!(pair.is_clear(), "{slot} {side:?} is up with {pair:?}");
            assert_eq!(offline, 0, "{slot} {side:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_ends_remember_is_well_formed_and_gone_once_armed((platform, lines) in script(KINDS)) {
        play(platform, &lines, |_, after, _| always(after));
    }

    #[test]
    fn no_deed_exchanges_a_reason_that_is_there((platform, lines) in script(KINDS)) {
        play(platform, &lines, |before, after, deed| {
            if !deed {
                return;
            }
            let after = ends(after);
            for (end, was) in ends(before) {
                let pair = |truth: EndTruth| truth.record.map(|record| record.shown());
                if let (Some(was), Some(is)) = (pair(was), pair(after[&end])) {
                    assert!(was.is_clear() || is.is_clear() || was == is, "{end:?}: {was:?} became {is:?}");
                }
            }
        });
    }

    #[test]
    fn entries_of_a_log_come_in_the_order_of_time((platform, lines) in script(KINDS)) {
        let mut last = BTreeMap::new();
        play(platform, &lines, |before, after, _| {
            let before = ends(before);
            for (end, truth) in ends(after) {
                let old = before.get(&end).map(|truth| truth.log).unwrap_or_default();
                let fresh = truth.log.entries().iter().filter(|entry| !old.entries().contains(entry));
                let mut times: Vec<u64> = fresh.map(|entry| entry.at_s).collect();
                times.sort_unstable();
                let Some(first) = times.first().copied() else { continue };
                let latest = last.insert(end, times[times.len() - 1]).unwrap_or(0);
                assert!(first >= latest);
            }
        });
    }

    #[test]
    fn a_healed_world_remembers_nothing((platform, lines) in script(KINDS)) {
        let mut world = play(platform, &lines, |_, _, _| ());
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
        let straight = play(platform, &lines, |_, _, _| ());
        let mut watched = world(PLATFORMS[platform]);
        for line in &lines {
            let to = watched.now() + SimTime::from_ms(line.after_ms);
            for part in 1..4 {
                let left = to.as_ns() - watched.now().as_ns();
                watched.advance(SimTime::from_ns(to.as_ns() - left / (part + 1)));
            }
            watched.advance(to);
            let _ = watched.act(&deed(&watched, line));
        }
        prop_assert_eq!(ends(&watched), ends(&straight));
        prop_assert_eq!(watched.machine(&node()), straight.machine(&node()));
    }
}
