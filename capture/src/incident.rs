//! Records a node's NICs over time as a scenario: `nicdrill record`.
//!
//! A recorder simulates a world with the node's platform beside the node. At each snapshot it advances
//! that world to the same time, writes the differences as actions of the scenario language, and
//! applies them to its world; remaining differences cannot be expressed and are reported. So a story
//! has only the actions that the simulation does not perform by itself, and quiet times need no lines.
//!
//! `seen.rs` reads the node, `change.rs` computes the actions, `write.rs` writes the file; the caller
//! adds expectations. Start at [`Incident`].

mod change;
mod seen;
mod shadow;
mod write;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use platforms::Platform;
use simfs::SimTime;

use change::Change;
pub use change::text as quoted;
pub use seen::{DeviceSeen, FileSeen, PortSeen, Seen, see};
use shadow::Shadow;
pub use write::{Expected, Handle};

/// A duration as scenarios write it, such as `1h`.
#[must_use]
pub fn span(text: &str) -> Option<Duration> {
    scenarios::parse_time(text).map(|time| Duration::from_nanos(time.as_ns()))
}

/// Why no story can be made.
#[derive(Debug, thiserror::Error)]
pub enum IncidentError {
    /// The node is another machine than the platform.
    #[error("the node is not `{platform}`: {what}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    OtherMachine {
        /// The platform.
        platform: String,
        /// The difference.
        what: String,
    },
    /// The node was rebooted during the recording.
    #[error("the node was rebooted\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Rebooted,
}

impl IncidentError {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::OtherMachine { .. } => {
                "`nicdrill platform capture` makes a platform of the node".into()
            }
            Self::Rebooted => "start another recording after it".into(),
        })
    }
}

/// A story in the making.
pub struct Incident {
    platform: Platform,
    shadow: Shadow,
    began: Option<Began>,
    given: Vec<String>,
    actions: BTreeMap<SimTime, Vec<String>>,
    /// Ports named by actions, by handle.
    handles: BTreeMap<String, Handle>,
    last: SimTime,
    renamed: bool,
    unsaid: BTreeSet<String>,
}

/// The start of the recording.
struct Began {
    boot_id: Option<String>,
}

impl Incident {
    /// A recording of a node with this platform, without a snapshot yet.
    #[must_use]
    pub fn new(platform: &Platform) -> Self {
        Self {
            platform: platform.clone(),
            shadow: Shadow::new(platform),
            began: None,
            given: Vec::new(),
            actions: BTreeMap::new(),
            handles: BTreeMap::new(),
            last: SimTime::ZERO,
            renamed: false,
            unsaid: BTreeSet::new(),
        }
    }

    /// Adds a snapshot at this time after the first one, which is at zero. Times must not decrease.
    ///
    /// # Errors
    /// If the node is another machine, or was rebooted; then the story ends with the previous
    /// snapshot.
    pub fn take(&mut self, at: Duration, seen: &Seen) -> Result<(), IncidentError> {
        let at = SimTime::from_ns(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
        let is_first = self.began.is_none();
        match &self.began {
            None => {
                self.is_this_machine(seen)?;
                self.began = Some(Began {
                    boot_id: seen.boot_id.clone(),
                });
            }
            Some(began) if began.boot_id != seen.boot_id => return Err(IncidentError::Rebooted),
            Some(_) => {}
        }
        let seen = self.shadow.comparable(seen);
        // A function needs time until its device exists: it returned between the snapshots.
        let (changes, _) = change::returns(&self.shadow.shown(), &seen, self.shadow.slots());
        if !changes.is_empty() {
            let between = SimTime::from_ns(self.last.as_ns().midpoint(at.as_ns()));
            self.shadow.advance(between);
            self.write(between, changes);
        }
        self.shadow.advance(at);
        // Steps are ordered, because the presence of a device determines which actions on its ports
        // are possible; a device that has returned has a name and lists ports.
        let steps = [
            change::rules,
            change::presence,
            change::presence,
            change::ports,
        ];
        for step in steps {
            let shown = self.shadow.shown();
            let (changes, unsaid) = step(&shown, &seen, self.shadow.slots());
            self.unsaid.extend(unsaid);
            self.write(at, changes);
        }
        self.unsaid
            .extend(change::left(&self.shadow.shown(), &seen));
        if is_first {
            self.given = self.actions.remove(&at).unwrap_or_default();
        }
        self.last = at;
        Ok(())
    }

    /// Whether the recording has no action.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.given.is_empty() && self.actions.is_empty()
    }

    /// What was seen but cannot be expressed in the scenario language.
    pub fn unsaid(&self) -> impl Iterator<Item = &str> {
        self.unsaid.iter().map(String::as_str)
    }

    /// The scenario's file, expecting the first poll's events only.
    #[must_use]
    pub fn yaml(&self) -> String {
        self.yaml_with_expectations(&Expected::default())
    }

    /// The scenario's file with these expectations.
    #[must_use]
    pub fn yaml_with_expectations(&self, expected: &Expected) -> String {
        write::yaml(self, expected)
    }

    /// The node's platform.
    #[must_use]
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// Applies changes to the simulated world, and records those that it can perform.
    fn write(&mut self, at: SimTime, changes: Vec<Change>) {
        for change in changes {
            if self.shadow.done(&change) {
                self.renamed |= change.is_rename();
                let line = self.line(&change);
                self.actions.entry(at).or_default().push(line);
            } else {
                let what = format!("{} was seen and cannot be done", change.rendered());
                self.unsaid.insert(what);
            }
        }
    }

    fn line(&mut self, change: &Change) -> String {
        let slot = change.slot();
        let handle = slot.map(|slot| self.shadow.handle(slot));
        if let Some(reported) = &handle {
            self.handles.insert(reported.name.clone(), reported.clone());
        }
        change.line(
            handle
                .as_ref()
                .map_or("", |reported| reported.name.as_str()),
        )
    }

    /// The handle of a port by its device's name, while names are those at rest.
    #[must_use]
    pub fn handle_of(&self, device: &str, port: u8) -> Option<Handle> {
        if self.renamed {
            return None;
        }
        let slots = self.shadow.slots().iter();
        let mut slots = slots.filter(|(slot, name)| slot.port.0 == port && name.as_str() == device);
        slots.next().map(|(slot, _)| self.shadow.handle(slot))
    }

    /// Checks that the devices of the platform at rest are the node's, even if some are absent at
    /// present.
    fn is_this_machine(&self, seen: &Seen) -> Result<(), IncidentError> {
        let other = |what: String| IncidentError::OtherMachine {
            platform: self.platform.name(),
            what,
        };
        let slots = self.shadow.slots();
        let known: BTreeSet<_> = slots.keys().map(|slot| slot.pci).collect();
        let there = seen.devices.iter().flatten();
        for (pci, device) in there {
            if !known.contains(pci) {
                return Err(other(format!(
                    "`{}` is at {pci}, where it has no NIC",
                    device.name
                )));
            }
        }
        if known.is_disjoint(&seen.functions) {
            return Err(other("none of its NICs is on the bus".to_owned()));
        }
        Ok(())
    }
}
