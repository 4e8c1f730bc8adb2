//! The episodes of a drill: what happened to its nodes and devices that changes how faults are reported.
//! Start at [`Episodes`].

use director::{Act, Fault, Log, Occurrence, Reach};
use observe::promises::{Kind, Named, Row, WhileUnreadable};
use platforms::{NodeName, PciAddress};

use crate::{fits::JudgeContext, readings::of_states};

/// The episodes of a drill, in its order.
#[derive(Debug, Default)]
pub(crate) struct Episodes(Vec<Episode>);

/// One of them, or a step that is in none.
#[derive(Debug)]
struct Episode {
    /// `None` for a step that makes a fault of a port or device by itself, or mends it.
    kind: Option<Named>,
    /// The first tick that can show it.
    from: u64,
    reach: Reach,
}

impl Episodes {
    /// Those of a drill, for a monitor that waits for a boot id that it cannot read.
    pub(crate) fn of(context: &JudgeContext<'_>) -> Self {
        Self::told(context, false)
    }

    /// Those of a drill for its monitor with its promises: one may take an unreadable boot id for another one.
    pub(crate) fn promised(context: &JudgeContext<'_>) -> Self {
        let reboot = context.descriptor.promises.row(&Named::Reboot.into(), None);
        let missing = Some(WhileUnreadable::Missing);
        let is_missing = matches!(reboot, Some(Row::Says(says)) if says.unreadable == missing);
        Self::told(context, is_missing)
    }

    fn told(context: &JudgeContext<'_>, unreadable_is_reboot: bool) -> Self {
        let mut episodes = Vec::new();
        for (node, platform) in &context.story.nodes {
            // The metadata of its machine do not tell NICs apart.
            if platform.refusal().is_some() {
                episodes.push(Episode {
                    kind: Some(Named::Metadata),
                    from: 0,
                    reach: Reach::Node(node.clone()),
                });
            }
        }
        for act in &context.truth.log.acts {
            for what in &act.what {
                let (kind, reach) = match what {
                    Occurrence::Episode { kind, reach } => {
                        let is_hidden = director::Episode::MonitorRestart {
                            is_boot_id_ruled: true,
                        };
                        let kind = match unreadable_is_reboot && *kind == is_hidden {
                            true => Named::Reboot,
                            false => named(*kind),
                        };
                        (Some(kind), reach.clone())
                    }
                    Occurrence::Changed(function) => (None, Reach::Function(function.clone())),
                    _ => continue,
                };
                let from = act.tick;
                episodes.push(Episode { kind, from, reach });
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
            (from..=to).contains(&episode.from) && episode.reach.includes(node, pci)
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

    /// Whether a step adds a function to a node.
    pub(crate) fn adds(&self, node: &NodeName, pci: PciAddress) -> bool {
        self.0.iter().any(|episode| {
            episode.kind == Some(Named::HotAdded) && episode.reach.includes(node, Some(pci))
        })
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
        let last = steps.find(|step| step.from <= until && step.reach.includes(node, pci))?;
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
            step.from <= until
                && step.reach.includes(node, Some(pci))
                && step.kind.is_none_or(makes)
        })?;
        Some((last.kind, last.from))
    }

    /// The episodes that concern a node or a part of it, with the first tick that can show each.
    pub(crate) fn on_node(&self, node: &NodeName) -> impl Iterator<Item = (Named, u64)> {
        let of_node = self.0.iter().filter(|episode| episode.reach.is_on(node));
        of_node.filter_map(|episode| Some((episode.kind?, episode.from)))
    }

    /// The latest that began in these ticks and concerns the monitor of a node: what it remembers, reads once, or
    /// can deliver.
    pub(crate) fn latest_of_monitor(&self, node: &NodeName, from: u64, to: u64) -> Option<Named> {
        let episodes = self.0.iter().rev();
        let mut kinds = episodes.filter_map(|episode| {
            let is_meant =
                (from..=to).contains(&episode.from) && episode.reach.includes(node, None);
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
                && step.reach.includes(node, Some(pci))
                && step.kind.is_none_or(|kind| !is_of_monitor(kind))
        });
        last.and_then(|step| step.kind)
    }
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

/// The kinds of what an action did: of a fault, or of an episode. Empty for what is no fault: a repair, a step of the
/// wall clock, what a workload meets.
#[must_use]
pub fn kinds_of(what: &[Occurrence]) -> Vec<Kind> {
    let kinds = what.iter().filter_map(|what| match what {
        Occurrence::Episode { kind, .. } => Some(named(*kind).into()),
        Occurrence::Fault(fault) => kind_of(fault),
        _ => None,
    });
    kinds.collect()
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

/// What happened to a node, in order. The end of an episode, such as the load of a driver that was unloaded, is none.
pub(crate) fn happened(log: &Log, node: &NodeName) -> Vec<Happened> {
    let is_end = |what: &Occurrence| {
        let end = director::Episode::DriverLoad { is_end: true };
        matches!(what, Occurrence::Episode { kind, .. } if *kind == end)
    };
    let is_meant =
        |act: &&Act| act.on.node().is_none_or(|of| of == node) && !act.what.iter().any(is_end);
    let acts = log.acts.iter().filter(is_meant);
    acts.flat_map(|act| {
        let function = act.what.iter().find_map(|what| match what {
            Occurrence::Changed(function) => Some(function.pci),
            _ => None,
        });
        let kinds = kinds_of(&act.what).into_iter();
        kinds.map(move |kind| Happened {
            tick: act.tick,
            kind,
            function,
        })
    })
    .collect()
}

/// The kind of an episode, as promises name it.
pub(crate) fn named(kind: director::Episode) -> Named {
    use director::Episode;
    match kind {
        Episode::Rename => Named::Rename,
        Episode::Replaced => Named::Replaced,
        Episode::FirmwareReset => Named::FirmwareReset,
        Episode::DriverUnload | Episode::DriverLoad { .. } | Episode::PciError => {
            Named::DriverReload
        }
        Episode::HotAdded => Named::HotAdded,
        Episode::Reboot | Episode::BootId => Named::Reboot,
        Episode::Metadata => Named::Metadata,
        Episode::Flap => Named::Flap,
        Episode::SubnetManager => Named::SmGone,
        Episode::StateFile => Named::StateFile,
        Episode::Connector => Named::Connector,
        Episode::ScopeChange => Named::ScopeChange,
        Episode::MonitorRestart { .. } => Named::MonitorRestart,
    }
}

/// The kind of a fault, as promises name it; `None` if a port shows healthy states.
pub(crate) fn kind_of(fault: &Fault) -> Option<Kind> {
    let kind = match fault {
        Fault::States(state, phys_state) => of_states(*state, *phys_state)?,
        Fault::Slow => Named::Slow,
        Fault::GonePort => Named::GonePort,
        Fault::MovedLayer => Named::MovedLayer,
        Fault::CharDevice => Named::CharDevice,
        Fault::Counter(name) => return Some(Kind::Counter(name.clone())),
        Fault::GoneDevice => Named::GoneDevice,
        Fault::Unreadable => Named::Unreadable,
        Fault::Hang => Named::Hang,
    };
    Some(kind.into())
}
