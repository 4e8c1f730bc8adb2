//! Whether the driver of a port shows the fault that a story makes there. An Elastic Fabric Adapter says that its port is
//! up whatever happens to its link, so that no file differs, and nobody can owe an event about it. Start at [`hidden`].

use fabric::{Action, PortAction, PortsAction, StickAt};
use platforms::{Driver, LinkCondition, LinkView, SlotRef};
use terms::Severity;

use crate::resolved_world::ResolvedWorld;
use crate::story::{About, EventPattern, FileRef, Step, StepAction, Story, What, Window};

/// What a link without a partner goes through, down and up.
const DARK: &[LinkCondition] = &[
    LinkCondition::Polling,
    LinkCondition::Disabled,
    LinkCondition::Training,
    LinkCondition::Sleep,
    LinkCondition::Init,
    LinkCondition::Armed,
];

/// What a step does to a port, as far as its files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    /// Nothing of a fault: a repair, or what is done to others.
    Nothing,
    /// The link is in one of these conditions, which the driver shows or does not.
    Link(&'static [LinkCondition]),
    /// The interface is down, and the port with it, or not.
    Interface,
    /// Something that no driver hides.
    Always,
}

/// Why a story is not applicable: it demands an event about a fault that no file shows. `None` if it does not.
pub(crate) fn hidden(story: &Story, resolved: &ResolvedWorld) -> Option<String> {
    let ports = resolved.ports.iter().filter(|port| {
        let node = &resolved.nodes[port.node];
        node.monitored && port.facts.is_of_vendor
    });
    ports.into_iter().find_map(|port| {
        let node = &resolved.nodes[port.node];
        let slot = SlotRef {
            node: node.name.clone(),
            pci: port.facts.pci,
            port: port.facts.port,
        };
        if port.facts.netdev.is_none()
            && story.actions().any(|action| is_of_interface(action, &slot))
        {
            return Some(format!("`{}` has no interface", port.facts.device));
        }
        let driver = node.platform.driver(&port.facts.driver_file)?;
        let demanded = story.expectations.iter().filter_map(|expectation| {
            is_demanded(&expectation.what, &slot).then_some(expectation.window)
        });
        let unseen = demanded
            .into_iter()
            .find_map(|window| only_hidden(story, &slot, driver, window))?;
        Some(format!(
            "`{}` shows nothing of what happens to the link of `{}` (`{unseen}`)",
            driver.name, port.facts.device
        ))
    })
}

/// Whether an action is one on the interface of a port.
fn is_of_interface(action: &StepAction, slot: &SlotRef) -> bool {
    matches!(
        action,
        StepAction::World(Action::Port(
            of,
            PortAction::Operstate { .. } | PortAction::Interface { .. }
        )) if of == slot
    )
}

/// The line of the last step that makes a fault of a port before the end of a window, if its driver shows none of them.
fn only_hidden<'s>(
    story: &'s Story,
    slot: &SlotRef,
    driver: &Driver,
    window: Window,
) -> Option<&'s str> {
    let in_time = |step: &&Step| story.ticks.first_from(step.at) <= window.to;
    let steps = story.given.iter().chain(story.steps.iter().filter(in_time));
    let mut last = None;
    for step in steps {
        for action in &step.actions {
            match shows(action, slot) {
                Shows::Nothing => {}
                Shows::Link(conditions) if is_hidden(driver, conditions) => {
                    last = Some(step.text.as_str());
                }
                Shows::Interface if !driver.interface_down_takes_port => {
                    last = Some(step.text.as_str());
                }
                Shows::Link(_) | Shows::Interface | Shows::Always => return None,
            }
        }
    }
    last
}

/// Whether a driver shows a link in these conditions as one that is up.
fn is_hidden(driver: &Driver, conditions: &[LinkCondition]) -> bool {
    let up = driver.view(LinkCondition::Active);
    let is_as_up = |condition: &LinkCondition| {
        let view = driver.view(*condition);
        let without_interface = |it: &LinkView| LinkView {
            operstate: up.operstate.clone(),
            carrier: up.carrier,
            ..it.clone()
        };
        view == up || !driver.has_interfaces && without_interface(view) == *up
    };
    conditions.iter().all(is_as_up)
}

/// Whether an expectation can hold only if a fault of a port is seen.
fn is_demanded(what: &What, slot: &SlotRef) -> bool {
    let is_of_it = |about: &About| match about {
        About::Port(of) => of == slot,
        About::Device(node, pci) => *node == slot.node && *pci == slot.pci,
        About::Card(node, pci) => *node == slot.node && pci.card() == slot.pci.card(),
        About::NamedPort(..) | About::NamedDevice(_) | About::Check => false,
    };
    let is_fault =
        |event: &EventPattern| event.tone != Severity::Healthy && event.counter.is_none();
    match what {
        What::Say { event, .. } => is_fault(event) && is_of_it(&event.about),
        What::FollowEdges { slot: of, .. } => of == slot,
        What::Condition(is) => is.stands.is && is.about.as_ref().is_none_or(is_of_it),
        What::Cordoned(stands) => stands.is,
        What::Rule(_) => true,
        _ => false,
    }
}

fn shows(action: &StepAction, slot: &SlotRef) -> Shows {
    match action {
        StepAction::World(Action::Port(of, action)) if of == slot => of_port(action),
        StepAction::World(Action::Ports(of, action)) if of.contains(slot) => match action {
            PortsAction::Flap { .. } | PortsAction::SwitchPower { on: false } => Shows::Link(DARK),
            PortsAction::SwitchPower { on: true } => Shows::Nothing,
        },
        StepAction::World(Action::Device(of, _))
            if of.node == slot.node && of.pci.card() == slot.pci.card() =>
        {
            Shows::Always
        }
        StepAction::World(Action::Node(of, fabric::NodeAction::DriverUnload))
            if *of == slot.node =>
        {
            Shows::Always
        }
        StepAction::Rule(rule) => match &rule.file {
            FileRef::Port(of, _) if of != slot => Shows::Nothing,
            FileRef::Device(node, pci, _) if *node != slot.node || *pci != slot.pci => {
                Shows::Nothing
            }
            FileRef::StateFile => Shows::Nothing,
            _ => Shows::Always,
        },
        _ => Shows::Nothing,
    }
}

fn of_port(action: &PortAction) -> Shows {
    match action {
        PortAction::Stick { at } => Shows::Link(match at {
            StickAt::Recovery => &[LinkCondition::Recovery],
            _ => DARK,
        }),
        PortAction::Cut
        | PortAction::Disable
        | PortAction::TrainSlowly { .. }
        | PortAction::TakeDown { .. }
        | PortAction::BothTakeDown { .. }
        | PortAction::PacketError { .. }
        | PortAction::BufferOverrun { .. }
        | PortAction::ErrorRegisters { .. }
        | PortAction::FirmwareReport { .. }
        | PortAction::NeighbourReboot { .. }
        | PortAction::Overheat
        | PortAction::Quarantine {
            reason: Some(_), ..
        }
        | PortAction::Module { there: false, .. } => Shows::Link(DARK),
        PortAction::Set { .. }
        | PortAction::Speed { .. }
        | PortAction::LoseLanes { .. }
        | PortAction::RemovePort
        | PortAction::ChangeLayer { .. }
        | PortAction::CharDevice { .. } => Shows::Always,
        PortAction::Interface { up: false } => Shows::Interface,
        // None of these is a fault of a port by itself.
        PortAction::Operstate { .. } | PortAction::Counter { .. } | PortAction::Traffic { .. } => {
            Shows::Nothing
        }
        PortAction::Mend
        | PortAction::Hear { .. }
        | PortAction::Release { .. }
        | PortAction::ClearReasons { .. }
        | PortAction::WidthPolicy { .. }
        | PortAction::ErrorAction { .. }
        | PortAction::Quarantine { reason: None, .. }
        | PortAction::Module { there: true, .. }
        | PortAction::Interface { up: true }
        | PortAction::RestorePort => Shows::Nothing,
    }
}
