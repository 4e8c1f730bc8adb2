//! The episodes of a story: what happens to its nodes and devices that changes how faults are reported.
//! Start at [`Episodes`].

use std::collections::BTreeSet;

use fabric::{Action, DeviceAction, NodeAction, PortAction, PortsAction};
use observe::promises::{Kind, Named, Promises, Row, WhileUnreadable};
use platforms::{Card, NodeName, PciAddress, PhysState, PortState};
use scenarios::{FileRef, MonitorAction, RuleAction, RuleEffect, StepAction, Story};
use simfs::SimTime;

use crate::readings::of_states;

/// The file with the node's boot id, below the root.
const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";

/// The episodes of a story, in its order.
#[derive(Debug, Default)]
pub(crate) struct Episodes(Vec<Episode>);

/// One of them, or a step that is in none.
#[derive(Debug)]
struct Episode {
    /// `None` for a step that makes a fault of a port or device by itself, or mends it.
    kind: Option<Named>,
    /// The first tick that can show it.
    from: u64,
    whom: Whom,
}

#[derive(Debug)]
enum Whom {
    /// All nodes.
    All,
    Node(NodeName),
    /// The functions of a card.
    Card(NodeName, Card),
    Function(NodeName, PciAddress),
}

impl Episodes {
    /// Those of a story, for a monitor that waits for a boot id that it cannot read.
    pub(crate) fn of(story: &Story) -> Self {
        Self::told(story, false)
    }

    /// Those of a story for a monitor with these promises: one may take an unreadable boot id for another one.
    pub(crate) fn promised(story: &Story, promises: &Promises) -> Self {
        let reboot = promises.row(&Named::Reboot.into(), None);
        let missing = Some(WhileUnreadable::Missing);
        let is_missing = matches!(reboot, Some(Row::Says(says)) if says.unreadable == missing);
        Self::told(story, is_missing)
    }

    fn told(story: &Story, unreadable_is_reboot: bool) -> Self {
        let mut unreadable: BTreeSet<&NodeName> = BTreeSet::new();
        let mut episodes = Vec::new();
        for (node, platform) in &story.nodes {
            // The metadata of its machine do not tell NICs apart.
            if platform.refusal().is_some() {
                episodes.push(Episode {
                    kind: Some(Named::Metadata),
                    from: 0,
                    whom: Whom::Node(node.clone()),
                });
            }
        }
        let given = story.given.iter().map(|step| (SimTime::ZERO, step));
        let steps = story.steps.iter().map(|step| (step.at, step));
        for (at, step) in given.chain(steps) {
            let from = story.ticks.first_from(at);
            for action in &step.actions {
                match action {
                    StepAction::Rule(rule) if is_boot_id(&rule.file) => {
                        unreadable.insert(&rule.node);
                    }
                    StepAction::Unrule(file) if file.as_ref().is_none_or(is_boot_id) => {
                        unreadable.clear();
                    }
                    _ => {}
                }
                for (kind, whom) in of_action(action) {
                    let is_restart = kind == Named::MonitorRestart
                        && matches!(&whom, Whom::Node(node) if unreadable.contains(node));
                    let kind = if is_restart && unreadable_is_reboot {
                        Named::Reboot
                    } else {
                        kind
                    };
                    let kind = Some(kind);
                    episodes.push(Episode { kind, from, whom });
                }
                if let Some(whom) = touches(action) {
                    let kind = None;
                    episodes.push(Episode { kind, from, whom });
                }
            }
        }
        Self(episodes)
    }

    /// The latest that concerns a function of a node, or the node, and began in these ticks.
    pub(crate) fn latest(
        &self,
        node: &NodeName,
        pci: Option<PciAddress>,
        from: u64,
        to: u64,
    ) -> Option<Named> {
        let episodes = self.0.iter().rev();
        let mut meant = episodes.filter(|episode| {
            (from..=to).contains(&episode.from) && episode.whom.includes(node, pci)
        });
        let latest = meant.find(|episode| episode.kind.is_some())?;
        // A restart shows what else has changed with it.
        let mut with_it = meant.filter(|other| other.from == latest.from);
        let tells = with_it.find_map(|other| other.kind.filter(|kind| is_of_monitor(*kind)));
        match latest.kind {
            Some(Named::MonitorRestart) => tells.or(latest.kind),
            kind => kind,
        }
    }

    /// The last step until this tick that concerns a function of a node, or the node: the episode that it begins, if
    /// it begins one, and the first tick that can show it.
    pub(crate) fn last_step(
        &self,
        node: &NodeName,
        pci: Option<PciAddress>,
        until: u64,
    ) -> Option<(Option<Named>, u64)> {
        let mut steps = self.0.iter().rev();
        let last = steps.find(|step| step.from <= until && step.whom.includes(node, pci))?;
        Some((last.kind, last.from))
    }

    /// The last step until this tick that can have made a fault of a function, as [`Self::last_step`] tells it: what
    /// happens to the monitor alone makes none.
    pub(crate) fn last_maker(
        &self,
        node: &NodeName,
        pci: PciAddress,
        until: u64,
    ) -> Option<(Option<Named>, u64)> {
        let makes = |kind: Named| kind == Named::Reboot || !is_of_monitor(kind);
        let mut steps = self.0.iter().rev();
        let last = steps.find(|step| {
            step.from <= until && step.whom.includes(node, Some(pci)) && step.kind.is_none_or(makes)
        })?;
        Some((last.kind, last.from))
    }

    /// The episodes that concern a node or a part of it, with the first tick that can show each.
    pub(crate) fn on_node(&self, node: &NodeName) -> impl Iterator<Item = (Named, u64)> {
        let of_node = move |episode: &&Episode| match &episode.whom {
            Whom::All => true,
            Whom::Node(of) | Whom::Card(of, _) | Whom::Function(of, _) => of == node,
        };
        let of_node = self.0.iter().filter(of_node);
        of_node.filter_map(|episode| Some((episode.kind?, episode.from)))
    }

    /// The latest that began in these ticks and concerns the monitor of a node: what it remembers, reads once, or
    /// can deliver.
    pub(crate) fn latest_of_monitor(&self, node: &NodeName, from: u64, to: u64) -> Option<Named> {
        let episodes = self.0.iter().rev();
        let mut kinds = episodes.filter_map(|episode| {
            let is_meant = (from..=to).contains(&episode.from) && episode.whom.includes(node, None);
            episode.kind.filter(|kind| is_meant && is_of_monitor(*kind))
        });
        let latest = kinds.next()?;
        // A restart shows what else has changed.
        let tells = |kind: &Named| !matches!(kind, Named::MonitorRestart | Named::Connector);
        if latest == Named::MonitorRestart {
            return kinds.find(tells).or(Some(latest));
        }
        Some(latest)
    }

    /// The episode of the last step until this tick that can have changed a port or device.
    pub(crate) fn cause(&self, node: &NodeName, pci: PciAddress, until: u64) -> Option<Named> {
        let mut steps = self.0.iter().rev();
        let last = steps.find(|step| {
            step.from <= until
                && step.whom.includes(node, Some(pci))
                && step.kind.is_none_or(|kind| !is_of_monitor(kind))
        });
        last.and_then(|step| step.kind)
    }
}

fn is_boot_id(file: &FileRef) -> bool {
    matches!(file, FileRef::Path(path) if path == BOOT_ID)
}

/// Whether an episode is about the monitor and what it is given, and not about a port or device.
fn is_of_monitor(kind: Named) -> bool {
    matches!(
        kind,
        Named::Rename
            | Named::Reboot
            | Named::MonitorRestart
            | Named::ScopeChange
            | Named::Metadata
            | Named::StateFile
            | Named::Connector
    )
}

/// Whom an action touches that belongs to no episode.
fn touches(action: &StepAction) -> Option<Whom> {
    let of = |node: &NodeName, pci: PciAddress| Some(Whom::Function(node.clone(), pci));
    match action {
        StepAction::World(Action::Port(slot, _)) => of(&slot.node, slot.pci),
        StepAction::World(Action::Device(
            function,
            DeviceAction::Remove
            | DeviceAction::Restore
            | DeviceAction::LeaveNamespace
            | DeviceAction::ReturnToNamespace,
        )) => of(&function.node, function.pci),
        _ => None,
    }
}

impl Whom {
    fn includes(&self, node: &NodeName, pci: Option<PciAddress>) -> bool {
        match self {
            Self::All => true,
            Self::Node(of) => of == node,
            Self::Card(of, card) => of == node && pci.is_some_and(|pci| pci.card() == *card),
            Self::Function(of, function) => of == node && pci == Some(*function),
        }
    }
}

/// The kinds of an action: of a fault, or of an episode. Empty for what is no fault: a repair, traffic, a step of
/// the wall clock, what a workload meets.
#[must_use]
pub fn kinds_of(action: &StepAction) -> Vec<Kind> {
    let episodes = of_action(action).into_iter().map(|(kind, _)| kind.into());
    episodes.chain(condition_of(action)).collect()
}

/// Something that a step does to a node: a fault, or an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Happened {
    /// The first tick that can show it.
    pub(crate) tick: u64,
    pub(crate) kind: Kind,
    /// The function of the port or device that the action names.
    pub(crate) function: Option<PciAddress>,
}

/// What the steps of a story do to a node, in their order. The end of an episode, such as the load of a driver that
/// was unloaded, is none.
pub(crate) fn happened(story: &Story, node: &NodeName) -> Vec<Happened> {
    let given = story.given.iter().map(|step| (0, step));
    let steps = story.steps.iter();
    let steps = steps.map(|step| (story.ticks.first_from(step.at), step));
    let actions = given
        .chain(steps)
        .flat_map(|(tick, step)| step.actions.iter().map(move |action| (tick, action)));
    let on_node = actions.filter(|(_, action)| node_of(action).is_none_or(|of| of == node));
    let mut is_unloaded = false;
    let on_node = on_node.filter(move |(_, action)| {
        let was_unloaded = is_unloaded;
        match action {
            StepAction::World(Action::Node(_, NodeAction::DriverUnload)) => is_unloaded = true,
            StepAction::World(Action::Node(_, NodeAction::DriverLoad { .. })) => {
                is_unloaded = false;
                return !was_unloaded;
            }
            _ => {}
        }
        true
    });
    on_node
        .flat_map(|(tick, action)| {
            let function = match touches(action) {
                Some(Whom::Function(_, pci)) => Some(pci),
                _ => None,
            };
            let kinds = kinds_of(action).into_iter();
            kinds.map(move |kind| Happened {
                tick,
                kind,
                function,
            })
        })
        .collect()
}

/// The node that an action is about; `None` if it is about all.
fn node_of(action: &StepAction) -> Option<&NodeName> {
    match action {
        StepAction::World(action) => match action {
            Action::Port(slot, _) => Some(&slot.node),
            Action::Ports(slots, _) => slots.first().map(|slot| &slot.node),
            Action::Device(function, _) => Some(&function.node),
            Action::Node(node, _) => Some(node),
            Action::SubnetManager { .. } | Action::StandbyTakesOver | Action::Sweeps { .. } => None,
        },
        StepAction::Rule(rule) => Some(&rule.node),
        StepAction::Connector(node, _)
        | StepAction::Monitor(node, _)
        | StepAction::StateFile(node, _)
        | StepAction::Reboot { node, .. } => Some(node),
        StepAction::Unrule(_) | StepAction::Load(_) => None,
    }
}

/// The episodes of an action.
fn of_action(action: &StepAction) -> Vec<(Named, Whom)> {
    let node = |node: &NodeName| Whom::Node(node.clone());
    match action {
        StepAction::World(Action::Device(function, action)) => {
            let of = || Whom::Function(function.node.clone(), function.pci);
            match action {
                DeviceAction::Rename { .. } => vec![(Named::Rename, node(&function.node))],
                DeviceAction::Replace => vec![(Named::Replaced, of())],
                DeviceAction::FirmwareReset { .. } => {
                    let card = Whom::Card(function.node.clone(), function.pci.card());
                    vec![(Named::FirmwareReset, card)]
                }
                DeviceAction::PciError { .. } => vec![(Named::DriverReload, of())],
                DeviceAction::HotAdd { at, .. } => {
                    let at = Whom::Function(function.node.clone(), *at);
                    vec![(Named::HotAdded, at)]
                }
                DeviceAction::CreateVfs { .. } => vec![(Named::HotAdded, of())],
                _ => Vec::new(),
            }
        }
        StepAction::World(Action::Node(of, action)) => match action {
            NodeAction::DriverUnload | NodeAction::DriverLoad { .. } => {
                vec![(Named::DriverReload, node(of))]
            }
            NodeAction::Reboot { .. } => vec![(Named::Reboot, node(of))],
            NodeAction::Metadata { .. } | NodeAction::Routes { .. } => {
                vec![(Named::Metadata, node(of))]
            }
            NodeAction::ClockStep { .. } => Vec::new(),
        },
        StepAction::World(Action::Ports(slots, PortsAction::Flap { .. })) => {
            let flaps = slots.iter();
            let of = flaps.map(|slot| Whom::Function(slot.node.clone(), slot.pci));
            of.map(|whom| (Named::Flap, whom)).collect()
        }
        StepAction::World(
            Action::SubnetManager { .. } | Action::StandbyTakesOver | Action::Sweeps { .. },
        ) => vec![(Named::SmGone, Whom::All)],
        StepAction::World(Action::Ports(..) | Action::Port(..))
        | StepAction::Unrule(_)
        | StepAction::Load(_) => Vec::new(),
        StepAction::Rule(rule) => {
            let kind = episode_of_rule(rule);
            kind.map(|kind| (kind, node(&rule.node)))
                .into_iter()
                .collect()
        }
        StepAction::Connector(of, _) => vec![(Named::Connector, node(of))],
        StepAction::Monitor(of, action) => {
            let kind = match action {
                MonitorAction::Restart { flags, config, .. } => {
                    if config.is_some() || !flags.is_empty() {
                        Named::ScopeChange
                    } else {
                        Named::MonitorRestart
                    }
                }
                MonitorAction::Start { .. } | MonitorAction::Stop { .. } => Named::MonitorRestart,
                MonitorAction::Pause { .. } => return Vec::new(),
            };
            vec![(kind, node(of))]
        }
        StepAction::StateFile(of, _) => vec![(Named::StateFile, node(of))],
        StepAction::Reboot { node: of, .. } => vec![(Named::Reboot, node(of))],
    }
}

/// The episode of a rule on files that are not those of a port's state.
pub(crate) fn episode_of_rule(rule: &RuleAction) -> Option<Named> {
    match &rule.file {
        FileRef::StateFile => Some(Named::StateFile),
        FileRef::Path(path) if path == BOOT_ID => Some(Named::Reboot),
        FileRef::Path(path) if path.starts_with("proc/net/") || path.contains("gpu_metadata") => {
            Some(Named::Metadata)
        }
        FileRef::Device(_, _, below)
            if below.ends_with("numa_node") || below.ends_with("hca_type") =>
        {
            Some(Named::Metadata)
        }
        _ => None,
    }
}

/// The condition that an action makes, where the action alone decides it.
fn condition_of(action: &StepAction) -> Option<Kind> {
    let kind = match action {
        StepAction::World(Action::Port(_, action)) => return of_port_action(action),
        StepAction::World(Action::Ports(_, PortsAction::SwitchPower { on: false })) => {
            Named::Polling
        }
        StepAction::World(Action::Device(
            _,
            DeviceAction::Remove
            | DeviceAction::LeaveNamespace
            | DeviceAction::ReleaseVf
            | DeviceAction::DestroyVfs,
        )) => Named::GoneDevice,
        StepAction::Rule(rule) if episode_of_rule(rule).is_none() => match rule.effect {
            RuleEffect::Hang { .. } => Named::Hang,
            RuleEffect::Vanish => Named::GoneDevice,
            _ => Named::Unreadable,
        },
        _ => return None,
    };
    Some(kind.into())
}

fn of_port_action(action: &PortAction) -> Option<Kind> {
    let kind = match action {
        PortAction::Cut
        | PortAction::TakeDown { .. }
        | PortAction::BothTakeDown { .. }
        | PortAction::Quarantine { .. }
        | PortAction::FirmwareReport { .. }
        | PortAction::NeighbourReboot { .. }
        | PortAction::Interface { up: false }
        | PortAction::Module { there: false, .. } => Named::Polling,
        PortAction::Disable => Named::Disabled,
        PortAction::Set { state, phys_state } => of_states(
            state.unwrap_or(PortState::ACTIVE),
            phys_state.unwrap_or(PhysState::LINK_UP),
        )?,
        PortAction::TrainSlowly { .. } => Named::Training,
        PortAction::Stick { .. } => Named::Init,
        PortAction::Speed { .. } | PortAction::LoseLanes { .. } => Named::Slow,
        PortAction::RemovePort => Named::GonePort,
        PortAction::ChangeLayer { .. } => Named::MovedLayer,
        PortAction::PacketError { .. } | PortAction::BufferOverrun { .. } => {
            return Some(Kind::Counter("excessive_buffer_overrun_errors".to_owned()));
        }
        PortAction::Counter { name, .. } => return Some(Kind::Counter(name.clone())),
        PortAction::Traffic { .. } => return Some(Kind::Counter("port_xmit_wait".to_owned())),
        PortAction::CharDevice { there: false, .. } => Named::CharDevice,
        PortAction::Mend
        | PortAction::Release { .. }
        | PortAction::ClearReasons { .. }
        | PortAction::Hear { .. }
        | PortAction::ErrorRegisters { .. }
        | PortAction::Overheat
        | PortAction::WidthPolicy { .. }
        | PortAction::ErrorAction { .. }
        | PortAction::Operstate { .. }
        | PortAction::Interface { up: true }
        | PortAction::Module { there: true, .. }
        | PortAction::RestorePort
        | PortAction::CharDevice { there: true, .. } => return None,
    };
    Some(kind.into())
}
