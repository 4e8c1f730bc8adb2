//! What an action of a resolved step does. Every match names every variant: a verb that is not here does not compile.
//! Start at [`done`].

use fabric::{
    Action, CounterChange, DeviceAction, FunctionRef, NodeAction, PortAction, PortsAction,
};
use platforms::{NodeName, PhysState, PortState, SlotRef};
use scenarios::{ConnectorBehaviour, FileRef, MonitorAction, RuleAction, RuleEffect, StepAction};

use super::occurrence::{Episode, Fault, MovedBy, Occurrence, Reach, Target};
use crate::connector::Socket;

/// The file with the node's boot id, below the root.
const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";

/// The counter of errors that an end finds in what it receives.
const OVERRUNS: &str = "excessive_buffer_overrun_errors";

/// The counter that traffic alone moves.
const XMIT_WAIT: &str = "port_xmit_wait";

impl Target {
    /// What an action acts on.
    #[must_use]
    pub fn of(action: &StepAction) -> Self {
        done(action).0
    }
}

/// What an action acts on, and what it does.
pub(super) fn done(action: &StepAction) -> (Target, Vec<Occurrence>) {
    match action {
        StepAction::World(action) => in_world(action),
        StepAction::Rule(rule) => {
            let node = rule.node.clone();
            let what = match episode_of_rule(rule) {
                Some(kind) => on_node(kind, &node),
                None => Occurrence::Fault(fault_of_rule(&rule.effect)),
            };
            (Target::Files(Some(node)), vec![what])
        }
        StepAction::Unrule(_) => (Target::Files(None), Vec::new()),
        StepAction::Connector(node, _) => (
            Target::Connector(node.clone()),
            vec![on_node(Episode::Connector, node)],
        ),
        StepAction::Monitor(node, action) => {
            let episode = episode_of_monitor(action).map(|kind| on_node(kind, node));
            let action = Occurrence::Monitor(action.clone());
            let what = episode.into_iter().chain([action]);
            (Target::Monitor(node.clone()), what.collect())
        }
        StepAction::StateFile(node, _) => (
            Target::StateFile(node.clone()),
            vec![on_node(Episode::StateFile, node)],
        ),
        StepAction::Load(action) => (Target::Workload(action.workload().to_owned()), Vec::new()),
        StepAction::Reboot { node, .. } => (
            Target::Node(node.clone()),
            vec![on_node(Episode::Reboot, node)],
        ),
    }
}

fn in_world(action: &Action) -> (Target, Vec<Occurrence>) {
    match action {
        Action::Port(slot, action) => {
            let on = match action {
                PortAction::Counter { .. } | PortAction::Traffic { .. } => Target::Counter,
                PortAction::CharDevice { .. } => Target::CharDevice,
                _ => Target::Port,
            };
            (on(slot.clone()), on_port(slot, action))
        }
        Action::Ports(slots, PortsAction::Flap { .. }) => {
            let flap = |slot: &SlotRef| Occurrence::Episode {
                kind: Episode::Flap,
                reach: Reach::Function(function_of(slot)),
            };
            let what = slots.iter().map(flap).collect();
            (Target::Ports(slots.clone()), what)
        }
        Action::Ports(slots, PortsAction::SwitchPower { on }) => {
            let dark = Occurrence::Fault(Fault::States(PortState::DOWN, PhysState::POLLING));
            let what = (!on).then_some(dark);
            (Target::Switch(slots.clone()), what.into_iter().collect())
        }
        Action::Device(function, action) => (
            Target::Device(function.clone()),
            on_device(function, action),
        ),
        Action::Node(node, action) => (Target::Node(node.clone()), on_host(node, action)),
        Action::SubnetManager { .. } | Action::StandbyTakesOver | Action::Sweeps { .. } => {
            let what = Occurrence::Episode {
                kind: Episode::SubnetManager,
                reach: Reach::All,
            };
            (Target::Fabric, vec![what])
        }
    }
}

fn on_port(slot: &SlotRef, action: &PortAction) -> Vec<Occurrence> {
    let counted = |name: &str, moved_by| {
        let name = name.to_owned();
        vec![
            Occurrence::Fault(Fault::Counter(name.clone())),
            Occurrence::Counter { name, moved_by },
        ]
    };
    let fault = |fault| vec![Occurrence::Fault(fault)];
    let states = |state, phys_state| fault(Fault::States(state, phys_state));
    let mut what = match action {
        PortAction::Cut
        | PortAction::TakeDown { .. }
        | PortAction::BothTakeDown { .. }
        | PortAction::Quarantine { .. }
        | PortAction::FirmwareReport { .. }
        | PortAction::NeighbourReboot { .. }
        | PortAction::Interface { up: false }
        | PortAction::Module { there: false, .. } => states(PortState::DOWN, PhysState::POLLING),
        PortAction::Disable => states(PortState::DOWN, PhysState::DISABLED),
        PortAction::Set { state, phys_state } => states(
            state.unwrap_or(PortState::ACTIVE),
            phys_state.unwrap_or(PhysState::LINK_UP),
        ),
        PortAction::TrainSlowly { .. } => states(PortState::DOWN, PhysState::TRAINING),
        PortAction::Stick { .. } => states(PortState::INIT, PhysState::LINK_UP),
        PortAction::Speed { .. } | PortAction::LoseLanes { .. } => fault(Fault::Slow),
        PortAction::RemovePort => fault(Fault::GonePort),
        PortAction::ChangeLayer { .. } => fault(Fault::MovedLayer),
        PortAction::PacketError { .. } | PortAction::BufferOverrun { .. } => {
            counted(OVERRUNS, MovedBy::Error)
        }
        PortAction::Counter { name, change } => {
            let mut what = counted(name, MovedBy::Step);
            what.extend(match change {
                CounterChange::Reset => Some(Occurrence::Mended(slot.clone())),
                CounterChange::Add(_)
                | CounterChange::RatePerSecond(_)
                | CounterChange::Set(_)
                | CounterChange::Saturate => None,
            });
            what
        }
        PortAction::Traffic { .. } => counted(XMIT_WAIT, MovedBy::Traffic),
        PortAction::CharDevice { there: false, .. } => fault(Fault::CharDevice),
        PortAction::Mend | PortAction::CharDevice { there: true, .. } => {
            vec![Occurrence::Mended(slot.clone())]
        }
        PortAction::Release { .. }
        | PortAction::ClearReasons { .. }
        | PortAction::Hear { .. }
        | PortAction::ErrorRegisters { .. }
        | PortAction::Overheat
        | PortAction::WidthPolicy { .. }
        | PortAction::ErrorAction { .. }
        | PortAction::Operstate { .. }
        | PortAction::Interface { up: true }
        | PortAction::Module { there: true, .. }
        | PortAction::RestorePort => Vec::new(),
    };
    what.push(Occurrence::Changed(function_of(slot)));
    what
}

fn on_device(function: &FunctionRef, action: &DeviceAction) -> Vec<Occurrence> {
    let gone = Occurrence::Fault(Fault::GoneDevice);
    let changed = Occurrence::Changed(function.clone());
    let of = |kind, function: &FunctionRef| {
        let reach = Reach::Function(function.clone());
        vec![Occurrence::Episode { kind, reach }]
    };
    match action {
        DeviceAction::Remove | DeviceAction::LeaveNamespace => vec![gone, changed],
        DeviceAction::Restore | DeviceAction::ReturnToNamespace => vec![changed],
        DeviceAction::ReleaseVf | DeviceAction::DestroyVfs => vec![gone],
        DeviceAction::AssignVf => Vec::new(),
        DeviceAction::Rename { .. } => vec![on_node(Episode::Rename, &function.node)],
        DeviceAction::Replace => of(Episode::Replaced, function),
        DeviceAction::FirmwareReset { .. } => {
            let reach = Reach::Card(function.node.clone(), function.pci.card());
            let kind = Episode::FirmwareReset;
            vec![Occurrence::Episode { kind, reach }]
        }
        DeviceAction::PciError { .. } => of(Episode::PciError, function),
        DeviceAction::HotAdd { at, .. } => {
            let node = function.node.clone();
            of(Episode::HotAdded, &FunctionRef { node, pci: *at })
        }
        DeviceAction::CreateVfs { .. } => of(Episode::HotAdded, function),
    }
}

fn on_host(node: &NodeName, action: &NodeAction) -> Vec<Occurrence> {
    let episode = |kind| on_node(kind, node);
    match action {
        NodeAction::DriverUnload => vec![episode(Episode::DriverUnload)],
        NodeAction::DriverLoad { .. } => vec![episode(Episode::DriverLoad { is_end: false })],
        NodeAction::Reboot { .. } => vec![episode(Episode::Reboot)],
        NodeAction::Metadata { file } => vec![
            episode(Episode::Metadata),
            Occurrence::Collected(file.clone()),
        ],
        NodeAction::Routes { routes } => vec![
            episode(Episode::Metadata),
            Occurrence::Routed(routes.clone()),
        ],
        NodeAction::ClockStep { .. } => Vec::new(),
    }
}

fn episode_of_monitor(action: &MonitorAction) -> Option<Episode> {
    let restart = Episode::MonitorRestart {
        is_boot_id_ruled: false,
    };
    match action {
        MonitorAction::Restart { flags, config, .. } => Some(match config {
            None if flags.is_empty() => restart,
            _ => Episode::ScopeChange,
        }),
        MonitorAction::Start { .. } | MonitorAction::Stop { .. } => Some(restart),
        MonitorAction::Pause { .. } => None,
    }
}

/// The episode of a rule on files that are not those of a port's state.
pub(super) fn episode_of_rule(rule: &RuleAction) -> Option<Episode> {
    match &rule.file {
        FileRef::StateFile => Some(Episode::StateFile),
        file if is_boot_id(file) => Some(Episode::BootId),
        FileRef::Path(path) if path.starts_with("proc/net/") || path.contains("gpu_metadata") => {
            Some(Episode::Metadata)
        }
        FileRef::Device(_, _, below)
            if below.ends_with("numa_node") || below.ends_with("hca_type") =>
        {
            Some(Episode::Metadata)
        }
        FileRef::Path(_) | FileRef::Device(..) | FileRef::Port(..) => None,
    }
}

pub(super) fn is_boot_id(file: &FileRef) -> bool {
    matches!(file, FileRef::Path(path) if path == BOOT_ID)
}

fn fault_of_rule(effect: &RuleEffect) -> Fault {
    match effect {
        RuleEffect::Hang { .. } => Fault::Hang,
        RuleEffect::Vanish => Fault::GoneDevice,
        RuleEffect::Fail(_)
        | RuleEffect::Content(_)
        | RuleEffect::Truncate(_)
        | RuleEffect::Torn(_)
        | RuleEffect::ShortWrite(_) => Fault::Unreadable,
    }
}

/// The state of the socket path while a connector behaves so; `None` if it accepts calls.
pub(super) fn outage_of(behaviour: &ConnectorBehaviour) -> Option<Socket> {
    match behaviour {
        ConnectorBehaviour::Accept
        | ConnectorBehaviour::Slow(_)
        | ConnectorBehaviour::LoseReply => None,
        ConnectorBehaviour::Absent => Some(Socket::Absent),
        ConnectorBehaviour::Down => Some(Socket::Refusing),
        ConnectorBehaviour::Refuse
        | ConnectorBehaviour::Code(_)
        | ConnectorBehaviour::Hang
        | ConnectorBehaviour::Disconnect => Some(Socket::Listening),
    }
}

fn on_node(kind: Episode, node: &NodeName) -> Occurrence {
    let reach = Reach::Node(node.clone());
    Occurrence::Episode { kind, reach }
}

fn function_of(slot: &SlotRef) -> FunctionRef {
    FunctionRef {
        node: slot.node.clone(),
        pci: slot.pci,
    }
}
