//! The ports that are dark when a monitor starts: at the beginning, after its restart, after its node's reboot.

use std::collections::BTreeSet;

use fabric::{Action, DeviceAction, NodeAction, PortAction, PortsAction};
use platforms::{LinkLayer, PhysState, PortState};
use simfs::SimTime;

use super::cast::Cast;
use crate::resolved_world::default_route;
use crate::story::{MonitorAction, Step, StepAction, Story};

/// For each start of a monitor in the story: the monitored ports, healthy at rest, that a fault holds down in its first
/// poll.
pub(crate) fn dark_at_starts(cast: &Cast<'_>) -> Vec<BTreeSet<usize>> {
    let starts = starts(cast.story);
    starts
        .into_iter()
        .map(|start| dark_at(cast, start))
        .collect()
}

/// The times of the first polls of every monitor process.
fn starts(story: &Story) -> BTreeSet<SimTime> {
    let mut starts = BTreeSet::from([SimTime::ZERO]);
    for step in &story.steps {
        let later = step.actions.iter().filter_map(|action| match action {
            StepAction::Monitor(_, MonitorAction::Restart { away_ticks, .. }) => {
                Some(u64::from(*away_ticks) * story.ticks.interval().as_ns())
            }
            StepAction::Monitor(_, MonitorAction::Start { .. }) => Some(0),
            StepAction::Reboot { plan, .. } => Some(plan.takes.as_ns()),
            _ => None,
        });
        starts.extend(later.map(|ns| SimTime::from_ns(step.at.as_ns() + ns)));
    }
    starts
}

fn dark_at(cast: &Cast<'_>, start: SimTime) -> BTreeSet<usize> {
    let mut links = Links::default();
    let until = cast.story.steps.iter().filter(|step| step.at <= start);
    let steps: Vec<&Step> = cast.story.given.iter().chain(until).collect();
    for action in steps.into_iter().flat_map(|step| &step.actions) {
        links.act(cast, action);
    }
    let is_seen = |port: &usize| {
        let is_away = links.gone.contains(port) || links.routed.contains(port);
        !is_away && cast.world.ports[*port].is_usual()
    };
    links.dark.iter().copied().filter(is_seen).collect()
}

/// Faults that stand: ports that are held down, ports whose device is away; and the ports that a default route was laid
/// over, which are watched no more.
#[derive(Debug, Default)]
struct Links {
    dark: BTreeSet<usize>,
    gone: BTreeSet<usize>,
    routed: BTreeSet<usize>,
}

impl Links {
    fn act(&mut self, cast: &Cast<'_>, action: &StepAction) {
        match action {
            StepAction::World(Action::Port(slot, action)) => {
                if let (Some(port), Some(dark)) = (cast.port(slot), holds_down(action)) {
                    let is_ethernet = cast.world.ports[port].facts.layer == LinkLayer::Ethernet;
                    let is_interface = matches!(action, PortAction::Interface { .. });
                    if is_ethernet || !is_interface {
                        set(&mut self.dark, port, dark);
                    }
                }
            }
            StepAction::World(Action::Ports(slots, PortsAction::SwitchPower { on })) => {
                for port in slots.iter().filter_map(|slot| cast.port(slot)) {
                    set(&mut self.dark, port, !on);
                }
            }
            StepAction::World(Action::Device(function, action)) => {
                let gone = match action {
                    DeviceAction::Remove | DeviceAction::LeaveNamespace => true,
                    DeviceAction::Restore | DeviceAction::ReturnToNamespace => false,
                    _ => return,
                };
                for port in cast.of_function(&function.node, function.pci) {
                    set(&mut self.gone, port, gone);
                }
            }
            StepAction::World(Action::Node(_, NodeAction::Routes { routes })) => {
                let carries = |port: &usize| {
                    let netdev = cast.world.ports[*port].facts.netdev.as_deref();
                    netdev.is_some() && netdev == default_route(routes)
                };
                self.routed = (0..cast.world.ports.len()).filter(carries).collect();
            }
            StepAction::Reboot { node, plan } => {
                for port in plan.mend.iter().filter_map(|slot| cast.port(slot)) {
                    set(&mut self.dark, port, false);
                }
                for (functions, gone) in [(&plan.remove, true), (&plan.restore, false)] {
                    for port in functions
                        .iter()
                        .flat_map(|pci| cast.of_function(node, *pci))
                    {
                        set(&mut self.gone, port, gone);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether an action takes a port down until another action ends that (`true`), or ends it (`false`); `None` for one
/// after which the port comes back by itself, or that is not about its state.
fn holds_down(action: &PortAction) -> Option<bool> {
    match action {
        PortAction::Cut | PortAction::Disable | PortAction::Stick { .. } => Some(true),
        PortAction::Set { state, phys_state } => Some(
            state.is_some_and(|state| state != PortState::ACTIVE)
                || phys_state.is_some_and(|phys| phys != PhysState::LINK_UP),
        ),
        PortAction::Interface { up } => Some(!up),
        PortAction::Module { there, .. } => Some(!there),
        PortAction::Mend | PortAction::Release { .. } => Some(false),
        _ => None,
    }
}

fn set(ports: &mut BTreeSet<usize>, port: usize, is_in: bool) {
    if is_in {
        ports.insert(port);
    } else {
        ports.remove(&port);
    }
}
