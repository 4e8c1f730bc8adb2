//! Reads the node in one poll: in few batches, no file twice, and without taking an error for a
//! value.
//!
//! First the class folder is listed, then the clocks are read, then the link of every entry, which
//! names its PCI function. Facts that are constant while a function keeps its identity
//! ([`standing`]) are read again only if a device is new, its identity has changed, or an earlier
//! read failed. Ports and their states ([`ports`]) are read in every poll.

pub(crate) mod batch;
mod counter_reads;
mod identity;
mod interfaces;
mod ports;
mod standing;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::slice;
use std::sync::Arc;

use terms::{Check, CheckKind, LinkLayer};

use self::batch::Batches;
use self::counter_reads::Shapes;
use self::identity::disown;
use crate::config::Config;
use crate::flags::Paths;
use crate::hands::{Answer, Hands, ReadError, Request};
use crate::memory::Memory;
use crate::metadata::Metadata;
use crate::name::{DeviceName, PciFunction, SlotKey};
use crate::policy::Policy;
use crate::route::Route;
use crate::schedule::Schedule;
use crate::snapshot::{Anchor, Blind, Cause, Facts, Snapshot};

/// What a poll found out in addition to its [`Snapshot`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Learnt {
    route: Option<Route>,
    /// At least one device has new facts.
    facts_changed: bool,
    batches: Batches,
}

/// The paths to read, and what is cached between polls.
#[derive(Debug, Clone)]
pub(crate) struct Discovery {
    pub(crate) config: Config,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) route: Route,
    pub(crate) route_path: String,
    pub(crate) boot_id_path: String,
    /// The boot id must still be read.
    pub(crate) wants_boot_id: bool,
    pub(crate) enabled: Vec<LinkLayer>,
    anchor: Request,
    facts: BTreeMap<DeviceName, Arc<Facts>>,
    missing: BTreeSet<String>,
    batches: Batches,
    pub(crate) shapes: Shapes,
    /// The checks that run.
    pub(crate) checks: Vec<Check>,
    pub(crate) policy: Rc<dyn Policy>,
}

impl Discovery {
    pub(crate) fn new(
        config: Config,
        metadata: Option<Metadata>,
        route: Route,
        checks: Vec<Check>,
        paths: &Paths,
        policy: Rc<dyn Policy>,
    ) -> Discovery {
        let states = checks.iter().filter(|it| it.kind() == CheckKind::State);
        let mut enabled: Vec<LinkLayer> = states.map(|it| it.layer()).collect();
        enabled.sort_unstable();
        let shapes = Shapes::new(config.counters.watched.clone(), &checks);
        Discovery {
            anchor: Request::List(config.sys_class_infiniband.clone()),
            config,
            metadata,
            route,
            route_path: paths.route.clone(),
            boot_id_path: paths.boot_id.clone(),
            wants_boot_id: false,
            enabled,
            facts: BTreeMap::new(),
            missing: BTreeSet::new(),
            batches: Batches::default(),
            shapes,
            checks,
            policy,
        }
    }

    /// Reads the node once. Fails if no clock can be read.
    pub(crate) fn look(
        &self,
        hands: &dyn Hands,
        memory: &Memory,
        schedule: &Schedule,
    ) -> Result<(Snapshot, Learnt), ReadError> {
        let mut learnt = Learnt {
            batches: self.batches.clone(),
            ..Learnt::default()
        };
        let listing = fetch_one(hands, &self.anchor);
        let mut snapshot = Snapshot::new(self.policy.clocks(hands.clocks()?), Anchor::Listed);
        snapshot.due = schedule.due(snapshot.clocks.boot_ns);
        let listing = match listing {
            Ok(Answer::Names(names)) => Ok(names),
            Ok(_) => Err(ReadError::EIO),
            Err(error) => Err(error),
        };
        let mut names = match listing {
            Ok(names) => names,
            Err(error) => {
                snapshot.anchor = if error.is_absence() {
                    Anchor::Missing
                } else {
                    let path = self.config.sys_class_infiniband.clone();
                    snapshot.troubles.push((path, Cause::Failed(error)));
                    Anchor::Unreadable(error)
                };
                return Ok((snapshot, learnt));
            }
        };
        if self.wants_boot_id {
            let answer = fetch_one(hands, &Request::Read(self.boot_id_path.clone()));
            snapshot.boot_id = Some(boot_id(answer));
        }
        names.sort_unstable();
        names.dedup();
        let mut drafts = self.identify(hands, &names, &mut snapshot, &mut learnt);
        self.read_standing(hands, &mut drafts, &mut snapshot, &mut learnt);
        disown(&mut drafts);
        self.read_ports(hands, drafts, memory, &mut snapshot, &mut learnt);
        if snapshot.due.counters && self.shapes.is_watching() {
            self.read_counters(hands, memory, &mut snapshot, &mut learnt);
        }
        Ok((snapshot, learnt))
    }

    /// Stores what the next poll need not read again.
    pub(crate) fn keep(&mut self, snapshot: &Snapshot, learnt: Learnt) {
        if snapshot.anchor != Anchor::Listed {
            return;
        }
        if let Some(route) = learnt.route {
            self.route = route;
        }
        if learnt.facts_changed || self.facts.len() != snapshot.devices.len() {
            let known = snapshot.devices.iter().filter_map(|seen| {
                let facts = seen.facts.as_ref()?;
                Some((seen.name.clone(), Arc::clone(facts)))
            });
            self.facts = known.collect();
        }
        self.batches = learnt.batches;
        self.missing.clone_from(&snapshot.missing);
    }

    pub(crate) fn path(&self, device: &DeviceName, rest: impl fmt::Display) -> String {
        let anchor = &self.config.sys_class_infiniband;
        format!("{anchor}/{device}/{rest}")
    }

    /// Classifies a failed read below a listed device as a race (missing for the first time) or as
    /// unreadable, and records the path.
    fn blind(&self, path: &str, error: ReadError, snapshot: &mut Snapshot) -> Blind {
        if error.is_absence() {
            snapshot.missing.insert(path.to_owned());
            if !self.missing.contains(path) {
                return Blind::Race;
            }
        }
        snapshot
            .troubles
            .push((path.to_owned(), Cause::Failed(error)));
        Blind::Unreadable(Cause::Failed(error))
    }

    fn garbled(path: &str, snapshot: &mut Snapshot) -> Blind {
        snapshot.troubles.push((path.to_owned(), Cause::Garbled));
        Blind::Unreadable(Cause::Garbled)
    }
}

pub(crate) fn fetch_one(hands: &dyn Hands, request: &Request) -> Result<Answer, ReadError> {
    let mut answers = hands.fetch(slice::from_ref(request));
    answers.pop().unwrap_or(Err(ReadError::EIO))
}

/// The boot id in the bytes of its file; an empty text counts as garbled.
pub(crate) fn boot_id(answer: Result<Answer, ReadError>) -> Result<String, Cause> {
    match answer {
        Ok(Answer::Bytes(bytes)) => {
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            if text.is_empty() {
                Err(Cause::Garbled)
            } else {
                Ok(text)
            }
        }
        Ok(_) => Err(Cause::Garbled),
        Err(error) => Err(Cause::Failed(error)),
    }
}

/// The key of a device's faults: its PCI function, or its name if the function could not be read.
pub(crate) fn slot_key(name: &DeviceName, function: Option<&PciFunction>) -> SlotKey {
    match function {
        Some(function) => SlotKey::Function(function.clone()),
        None => SlotKey::Name(name.clone()),
    }
}
