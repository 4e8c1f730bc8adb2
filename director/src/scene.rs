//! The state of one node in a drill.

use std::collections::BTreeMap;

use fabric::Kmsg;
use platforms::Machine;
use scenarios::{CallMoment, FileRef, RuleAction, Step};
use simfs::{MomentId, RuleId, SimTime};

use super::MonitorInstances;
use super::views::Mirror;
use crate::connector::ConnectorScript;

/// The state of one node in a drill.
#[derive(Debug)]
pub(super) struct Scene<'s> {
    pub(super) shown: Machine,
    pub(super) kmsg: Kmsg,
    pub(super) mirror: Mirror,
    pub(super) connector: ConnectorScript,
    pub(super) instances: Option<MonitorInstances>,
    pub(super) rules: Vec<ArmedRule<'s>>,
    pub(super) moments: BTreeMap<MomentId, Sequel<'s>>,
    pub(super) call_moments: Vec<(CallMoment, &'s Step)>,
    pub(super) calls: u32,
    pub(super) calls_accepted: u32,
    pub(super) changes: Vec<Change<'s>>,
    pub(super) vanished: Vec<(&'s RuleAction, String)>,
}

impl Scene<'_> {
    /// A node at the start, with or without a monitor.
    pub(super) fn new(shown: Machine, instances: Option<MonitorInstances>) -> Self {
        Self {
            shown,
            kmsg: Kmsg::default(),
            mirror: Mirror::default(),
            connector: ConnectorScript::default(),
            instances,
            rules: Vec::new(),
            moments: BTreeMap::new(),
            call_moments: Vec::new(),
            calls: 0,
            calls_accepted: 0,
            changes: Vec::new(),
            vanished: Vec::new(),
        }
    }
}

#[derive(Debug)]
pub(super) struct ArmedRule<'s> {
    pub(super) id: RuleId,
    pub(super) action: &'s RuleAction,
    pub(super) until: SimTime,
}

/// What to execute when a moment comes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sequel<'s> {
    Step(&'s Step),
    Vanish(&'s RuleAction, &'s Step),
}

/// A change to a served tree that is not an edit of the machine.
#[derive(Debug)]
pub(super) enum Change<'s> {
    Arm {
        rule: simfs::Rule,
        torn: Option<&'s [u8]>,
    },
    Disarm(RuleId),
    Await(simfs::Moment),
    Forget(MomentId),
    Disk(&'s scenarios::StateFileAction, &'s Step),
    Vanish(&'s RuleAction, String),
    Reappear(Option<&'s FileRef>),
    Mend,
}
