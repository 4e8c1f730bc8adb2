//! The ports that a story names: those that it acts on, those that it expects events of, and those that it expects
//! silence of.

use fabric::Action;
use platforms::{NodeName, PciAddress, SlotRef};

use crate::resolved_world::ResolvedWorld;
use crate::story::{About, EventPattern, FileRef, StepAction, Story, What};

/// A story in its world at rest, with the ports that it names: indices in [`ResolvedWorld::ports`], without duplicates,
/// in the order in which the story names them.
#[derive(Debug)]
pub(crate) struct Cast<'a> {
    pub(crate) world: &'a ResolvedWorld,
    pub(crate) story: &'a Story,
    /// Ports that something is done to, or to whose files, or whose link is looked at.
    pub(crate) acted: Vec<usize>,
    /// Ports of expected events about themselves or their device.
    pub(crate) spoken: Vec<usize>,
    /// Ports of which, or of whose device, nothing may come.
    pub(crate) silent: Vec<usize>,
    /// Ports on cards that the story expects an event of.
    pub(crate) card_spoken: Vec<usize>,
    /// Ports on cards of which nothing may come.
    pub(crate) card_silent: Vec<usize>,
}

impl<'a> Cast<'a> {
    pub(crate) fn new(world: &'a ResolvedWorld, story: &'a Story) -> Self {
        let mut cast = Self {
            world,
            story,
            acted: Vec::new(),
            spoken: Vec::new(),
            silent: Vec::new(),
            card_spoken: Vec::new(),
            card_silent: Vec::new(),
        };
        for action in story.actions() {
            let ports = cast.ports_of_action(action);
            add(&mut cast.acted, ports);
        }
        for event in events(story) {
            let ports = cast.ports_about(&event.about);
            match event.about {
                About::Card(..) => add(&mut cast.card_spoken, ports),
                _ => add(&mut cast.spoken, ports),
            }
        }
        for expected in &story.expectations {
            let about = match &expected.what {
                What::Nothing { about, .. } => about,
                What::Link { slot, .. } => {
                    let port = cast.port(slot).into_iter().collect();
                    add(&mut cast.acted, port);
                    continue;
                }
                _ => continue,
            };
            for about in about {
                let ports = cast.ports_about(about);
                match about {
                    About::Card(..) => add(&mut cast.card_silent, ports),
                    _ => add(&mut cast.silent, ports),
                }
            }
        }
        cast
    }

    /// Every port that the story names, the ones that it acts on first.
    pub(crate) fn named(&self) -> impl Iterator<Item = usize> {
        let all = [&self.acted, &self.spoken, &self.silent];
        all.into_iter().flatten().copied()
    }

    /// The port of a slot.
    pub(crate) fn port(&self, slot: &SlotRef) -> Option<usize> {
        self.of_function(&slot.node, slot.pci)
            .into_iter()
            .find(|port| self.world.ports[*port].facts.port == slot.port)
    }

    /// The ports of a function.
    pub(crate) fn of_function(&self, node: &NodeName, pci: PciAddress) -> Vec<usize> {
        self.those(|port| {
            self.world.node_of(port) == node && self.world.ports[port].facts.pci == pci
        })
    }

    fn ports_of_action(&self, action: &StepAction) -> Vec<usize> {
        match action {
            StepAction::World(Action::Port(slot, _)) => self.port(slot).into_iter().collect(),
            StepAction::World(Action::Ports(slots, _)) => {
                slots.iter().filter_map(|slot| self.port(slot)).collect()
            }
            StepAction::World(Action::Device(function, _)) => {
                self.of_function(&function.node, function.pci)
            }
            StepAction::Rule(rule) => match &rule.file {
                FileRef::Port(slot, _) => self.port(slot).into_iter().collect(),
                FileRef::Device(node, pci, _) => self.of_function(node, *pci),
                FileRef::Path(_) | FileRef::StateFile => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn ports_about(&self, about: &About) -> Vec<usize> {
        match about {
            About::Port(slot) => self.port(slot).into_iter().collect(),
            About::Device(node, pci) => self.of_function(node, *pci),
            About::Card(node, pci) => self.those(|port| {
                self.world.node_of(port) == node && self.world.ports[port].facts.card == pci.card()
            }),
            About::NamedPort(device, number) => self.those(|port| {
                let facts = &self.world.ports[port].facts;
                facts.device == *device && facts.port == *number
            }),
            About::NamedDevice(device) => {
                self.those(|port| self.world.ports[port].facts.device == *device)
            }
            About::Check => Vec::new(),
        }
    }

    fn those(&self, fits: impl Fn(usize) -> bool) -> Vec<usize> {
        let all = 0..self.world.ports.len();
        all.filter(|port| fits(*port)).collect()
    }
}

/// The events that a story expects.
pub(crate) fn events(story: &Story) -> impl Iterator<Item = &EventPattern> {
    story.expectations.iter().flat_map(|expected| {
        let patterns: [Option<&EventPattern>; 2] = match &expected.what {
            What::Say { event, .. } => [Some(event), None],
            What::FollowEdges { down, up, .. } => [down.as_deref(), up.as_deref()],
            _ => [None, None],
        };
        patterns.into_iter().flatten()
    })
}

fn add(ports: &mut Vec<usize>, more: Vec<usize>) {
    for port in more {
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
}
