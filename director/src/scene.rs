//! The state of one node in a drill.

use std::collections::BTreeMap;

use fabric::Kmsg;
use platforms::Machine;
use scenarios::{CallMoment, FileRef, RuleAction, Step};
use simfs::{Fs, MomentId, OpMoment, OpSet, Pattern, RuleId, SimTime, Turn};

use super::views::Mirror;
use super::{MissingFile, MonitorInstances, StageError};
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
    /// Rules whose files were said to appear later and have not.
    pub(super) awaited: Vec<(OpSet, RuleAbout<'s>)>,
}

impl<'s> Scene<'s> {
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
            awaited: Vec::new(),
        }
    }

    /// Notes which files of coming rules are in the tree now.
    pub(super) fn meet(&mut self, fs: &mut Fs) {
        for change in &mut self.changes {
            if let Some((ops, pattern, about)) = change.about() {
                about.met |= fs.unmet(ops, pattern).is_none();
            }
        }
    }

    /// Notes that a rule begins: its file has to be there, unless the story says that it appears later.
    ///
    /// # Errors
    /// [`StageError::File`] if it is not there.
    pub(super) fn begins(
        &mut self,
        (ops, pattern): (OpSet, &Pattern),
        about: RuleAbout<'s>,
        fs: &mut Fs,
    ) -> Result<(), StageError> {
        let unmet = fs.unmet(ops, pattern).filter(|_| !about.met);
        if unmet.is_none() {
            return Ok(());
        }
        if about.action.appears_later {
            self.awaited.push((ops, about));
            return Ok(());
        }
        let path = pattern.as_str().to_owned();
        let missing = MissingFile {
            path,
            unmet,
            appears_later: false,
        };
        Err(StageError::file(about.step, missing))
    }
}

impl<'s> Change<'s> {
    /// What a rule that begins is about.
    fn about(&mut self) -> Option<(OpSet, &Pattern, &mut RuleAbout<'s>)> {
        match self {
            Self::Arm { rule, about, .. } => Some((rule.ops, &rule.pattern, about)),
            Self::AwaitVanishing(moment, about) => match &moment.turn {
                Turn::Before(spot) => Some((spot.ops, &spot.pattern, about)),
                _ => None,
            },
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct ArmedRule<'s> {
    pub(super) id: RuleId,
    pub(super) action: &'s RuleAction,
    pub(super) until: SimTime,
    /// The path of its file in the tree, which changes with the device's name.
    pub(super) path: String,
}

/// What a rule is about, until it was found in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleAbout<'s> {
    pub(super) action: &'s RuleAction,
    pub(super) step: &'s Step,
    /// Whether it was there at the time of the step, or in the tree before the tick's edits.
    pub(super) met: bool,
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
        about: RuleAbout<'s>,
    },
    Disarm(RuleId),
    Await(OpMoment),
    /// A file vanishes at this moment.
    AwaitVanishing(OpMoment, RuleAbout<'s>),
    Forget(MomentId),
    Disk(&'s scenarios::StateFileAction, &'s Step),
    Vanish(&'s RuleAction, String),
    Reappear(Option<&'s FileRef>),
    Mend,
}
