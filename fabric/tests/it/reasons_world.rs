//! Arbitrary scripts of actions on links and their ends, and functions to play them.

use std::collections::BTreeMap;

use fabric::{
    Action, Carriage, DeviceAction, EndTruth, Fabric, LinkStep, NodeAction, PortAction,
    PortsAction, RebootPlan, Side,
    opa::{
        ErrorInfo, FirmwareReport, LinkDownReason, LinkInitReason, LinkWidths, Logical, Pair,
        PortErrorAction,
    },
};
use platforms::SlotRef;
use proptest::prelude::*;
use simfs::SimTime;

use crate::{
    laws::{HONEST_KINDS, Line, PLATFORMS, action, script, slots},
    room::{node, world},
};

/// The verbs that show the true state only, followed by those about reasons.
pub(crate) const KINDS: usize = HONEST_KINDS + 18;
/// The verbs about reasons except the last, which takes a node down.
const REASON_KINDS: usize = 17;
/// Those of the true-state verbs that act on links only and do not change counters.
const LINK_KINDS: usize = 9;

/// A script about links and their reasons, on InfiniBand ports; no device disappears in it.
pub(crate) fn link_script() -> impl Strategy<Value = (usize, Vec<Line>)> {
    let infiniband: Vec<usize> = (0..PLATFORMS.len())
        .filter(|nth| ["dgx-a100", "opa-cn5000"].contains(&PLATFORMS[*nth]))
        .collect();
    let kinds = LINK_KINDS + REASON_KINDS;
    let platform = prop::sample::select(infiniband);
    (platform, script(kinds)).prop_map(|(platform, (_, mut lines))| {
        for line in &mut lines {
            if line.kind >= LINK_KINDS {
                line.kind += HONEST_KINDS - LINK_KINDS;
            }
        }
        (platform, lines)
    })
}

pub(crate) fn link_action(world: &Fabric, line: &Line) -> Action {
    if line.kind < HONEST_KINDS {
        return action(world, line);
    }
    let all = slots(world);
    let slot = all[line.port % all.len()].clone();
    let number = usize::try_from(line.number).expect("a small number");
    let reasons: Vec<LinkDownReason> = LinkDownReason::all().skip(1).collect();
    let reason = reasons[number % reasons.len()];
    let passing = [33, 35, 39, 40, 41, 5, 32].map(LinkDownReason::by_code);
    let passing = passing.map(|reason| reason.expect("defined"));
    let side = Side::BOTH[number / 2 % 2];
    let there = number.is_multiple_of(2);
    let port = match line.kind - HONEST_KINDS {
        0 | 1 => PortAction::TakeDown {
            side,
            reason,
            says: there,
        },
        2 => PortAction::Release { side, reason },
        3 => PortAction::PacketError {
            side,
            reason: reasons[number % 32],
        },
        4 => PortAction::BufferOverrun { side },
        5 => PortAction::ErrorAction {
            side,
            action: PortErrorAction(0x5555_5555),
        },
        6 => PortAction::Module { side, there },
        7 => PortAction::BothTakeDown {
            here: (passing[number % 7], there),
            there: (passing[number / 7 % 7], !there),
        },
        8 => PortAction::Hear {
            side,
            message: if there { reason } else { LinkDownReason::NONE },
        },
        9 => PortAction::ErrorRegisters {
            info: ErrorInfo {
                fm_config: u8::try_from(number % 11).ok(),
                receive: u8::try_from(number % 17).ok(),
            },
        },
        10 => PortAction::Quarantine {
            side,
            reason: there.then_some(LinkInitReason::QUARANTINED),
        },
        11 => {
            return PortsAction::SwitchPower { on: there }.on(vec![slot]);
        }
        12 => PortAction::NeighbourReboot {
            takes: SimTime::from_ms(line.number),
        },
        13 => PortAction::LoseLanes {
            side,
            left: u8::try_from(1 + number % 3).expect("up to 3"),
        },
        14 => PortAction::WidthPolicy {
            side,
            allowed: [LinkWidths::NONE, LinkWidths::NONE.and(4).and(2)][number / 4 % 2],
        },
        15 => PortAction::FirmwareReport {
            report: FirmwareReport::Other(0x33),
        },
        16 => return Action::StandbyTakesOver,
        _ if number.is_multiple_of(5) => {
            return Action::SubnetManager {
                running: there,
                reinitialise: false,
                keeps_logs: false,
            };
        }
        _ => {
            return NodeAction::Reboot {
                plan: RebootPlan {
                    takes: SimTime::from_ms(line.number),
                    loses_power: there,
                    ..RebootPlan::default()
                },
            }
            .on(node());
        }
    };
    port.on(slot)
}

/// Both ends of every link.
pub(crate) fn ends(world: &Fabric) -> BTreeMap<(SlotRef, Side), EndTruth> {
    let slots = slots(world);
    let sides = slots
        .into_iter()
        .flat_map(|slot| Side::BOTH.map(|side| (slot.clone(), side)));
    sides
        .filter_map(|(slot, side)| Some(((slot.clone(), side), world.end(&slot, side)?)))
        .collect()
}

/// The pair that an end shows, if it can be queried.
pub(crate) fn pair(truth: &EndTruth) -> Option<Pair> {
    truth.record.map(|record| record.shown())
}

/// The state before and after an action, or after the passing of time.
pub(crate) struct Look<'a> {
    pub(crate) before: &'a Fabric,
    pub(crate) after: &'a Fabric,
    pub(crate) done: Option<&'a Action>,
}

impl Look<'_> {
    /// The states that a link passed through in between.
    pub(crate) fn walked(&self, slot: &SlotRef) -> &[LinkStep] {
        &self.after.walk(slot)[self.before.walk(slot).len()..]
    }

    /// The state before that.
    pub(crate) fn stood(&self, slot: &SlotRef) -> LinkStep {
        *self
            .before
            .walk(slot)
            .last()
            .expect("a walk has a beginning")
    }

    /// Whether its ends were armed in between.
    pub(crate) fn armed(&self, slot: &SlotRef) -> bool {
        let mut steps = self.walked(slot).iter();
        steps.any(|step| step.logical[0] >= Logical::Armed)
    }

    /// Whether an end may have lost its power in between, and with it its record.
    pub(crate) fn lost_power(&self, slot: &SlotRef, side: Side) -> bool {
        if side == Side::Here {
            let changes = self.after.carriages(slot);
            let fresh = &changes[self.before.carriages(slot).len()..];
            let was = self.before.carriage(slot);
            return was == Some(Carriage::Gone)
                || fresh.iter().any(|change| change.carriage == Carriage::Gone);
        }
        matches!(
            self.done,
            Some(Action::Ports(_, PortsAction::SwitchPower { .. }))
        )
    }
}

/// Plays a script, and calls `look` for each action and for the time between actions.
pub(crate) fn play(platform: usize, lines: &[Line], mut look: impl FnMut(&Look<'_>)) -> Fabric {
    let mut world = world(PLATFORMS[platform]);
    for line in lines {
        let (start, end) = (world.now(), world.now() + SimTime::from_ms(line.after_ms));
        for ms in [60, 160, 260, line.after_ms] {
            let next = end.min(start + SimTime::from_ms(ms));
            if world.now() < next {
                let before = world.clone();
                world.advance(next);
                look(&Look {
                    before: &before,
                    after: &world,
                    done: None,
                });
            }
        }
        let before = world.clone();
        let action = link_action(&world, line);
        let done = world.act(&action).is_ok();
        if !done {
            assert_eq!(ends(&before), ends(&world), "refused, and yet: {line:?}");
        }
        look(&Look {
            before: &before,
            after: &world,
            done: Some(&action).filter(|_| done),
        });
    }
    world
}

/// The ends that an action may cause to send a message: one end each, or the node's own end of
/// every port.
pub(crate) fn initiators(world: &Fabric, action: &Action) -> Vec<(SlotRef, Side)> {
    let own = || {
        slots(world)
            .into_iter()
            .map(|slot| (slot, Side::Here))
            .collect()
    };
    let both = |slot: &SlotRef| Side::BOTH.map(|side| (slot.clone(), side)).to_vec();
    match action {
        Action::Port(slot, action) => match action {
            PortAction::TakeDown { side, .. }
            | PortAction::PacketError { side, .. }
            | PortAction::BufferOverrun { side } => vec![(slot.clone(), *side)],
            PortAction::Hear { side, .. } => vec![(slot.clone(), side.other())],
            PortAction::WidthPolicy { side, .. } => vec![(slot.clone(), *side)],
            PortAction::BothTakeDown { .. } | PortAction::LoseLanes { .. } => both(slot),
            PortAction::NeighbourReboot { .. } => vec![(slot.clone(), Side::There)],
            PortAction::Disable
            | PortAction::Interface { .. }
            | PortAction::ErrorRegisters { .. }
            | PortAction::ChangeLayer { .. } => vec![(slot.clone(), Side::Here)],
            _ => Vec::new(),
        },
        Action::Device(_, DeviceAction::FirmwareReset { .. })
        | Action::Node(_, NodeAction::DriverUnload | NodeAction::Reboot { .. }) => own(),
        _ => Vec::new(),
    }
}
