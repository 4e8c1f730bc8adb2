//! The state of each known device and port in the present poll; neither saved nor compared.
//!
//! It is kept beside the [`Memory`], which is saved and compared. A poll in which the class folder
//! is missing leaves it unchanged. Start with [`Samples`].

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Memory, Port};
use crate::name::{DeviceName, PortNumber, SlotKey};
use crate::reading::Reading;
use crate::scope::Reason;
use crate::snapshot::Cause;

/// The state of a port in the present poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum PortSample {
    /// Not read, or without effect in this poll.
    #[default]
    Held,
    /// Its files were read.
    Read { operstate: Option<String> },
    /// Missing from the listing of `ports/`.
    Missing,
    /// One of its files cannot be read.
    Unreadable(Cause),
}

/// The state of a device in the present poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Not listed.
    #[default]
    Absent,
    /// Listed and monitored; `true` if its ports could be listed.
    Present { readable: bool },
    /// Listed and not monitored.
    Out(Reason),
}

/// A device with its ports.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeviceSample {
    pub(crate) presence: Presence,
    pub(crate) ports: BTreeMap<PortNumber, PortSample>,
}

impl DeviceSample {
    pub(crate) fn is_present(&self) -> bool {
        matches!(self.presence, Presence::Present { .. })
    }

    pub(crate) fn port(&self, number: PortNumber) -> &PortSample {
        self.ports.get(&number).unwrap_or(&PortSample::Held)
    }

    /// Whether it was read in this poll.
    pub(crate) fn is_read(&self, number: PortNumber) -> bool {
        matches!(self.port(number), PortSample::Read { .. })
    }

    /// Whether it was read in this poll and is healthy. `port` is what is remembered of it.
    pub(crate) fn is_healthy(&self, number: PortNumber, port: &Port) -> bool {
        self.is_read(number) && port.reading.as_ref().is_some_and(Reading::is_healthy)
    }

    /// Whether it was read in this poll and is unhealthy. `port` is what is remembered of it.
    pub(crate) fn is_unhealthy(&self, number: PortNumber, port: &Port) -> bool {
        self.is_read(number) && !port.reading.as_ref().is_some_and(Reading::is_healthy)
    }
}

/// The sample of every device that is not listed.
const ABSENT: &DeviceSample = &DeviceSample {
    presence: Presence::Absent,
    ports: BTreeMap::new(),
};

/// All known devices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    devices: BTreeMap<SlotKey, DeviceSample>,
    /// Since when (boot time) a listed device that cannot be placed could be this one under a new
    /// name.
    pub(crate) maybe_renamed_since_ns: BTreeMap<SlotKey, u64>,
    /// Listed devices that are unknown and cannot be placed.
    pub(crate) strangers: BTreeSet<DeviceName>,
}

impl Samples {
    /// Begins a poll: every known device counts as absent until it is found.
    pub(crate) fn begin(&mut self, memory: &Memory) {
        self.devices.clear();
        self.maybe_renamed_since_ns
            .retain(|key, _| memory.slots.contains_key(key));
    }

    pub(crate) fn of(&self, key: &SlotKey) -> &DeviceSample {
        self.devices.get(key).unwrap_or(ABSENT)
    }

    pub(crate) fn of_mut(&mut self, key: &SlotKey) -> &mut DeviceSample {
        self.devices.entry(key.clone()).or_default()
    }

    /// Moves the sample of a device to its new key.
    pub(crate) fn rekey(&mut self, old: &SlotKey, new: &SlotKey) {
        if let Some(device) = self.devices.remove(old) {
            self.devices.insert(new.clone(), device);
        }
        if let Some(since_ns) = self.maybe_renamed_since_ns.remove(old) {
            self.maybe_renamed_since_ns.insert(new.clone(), since_ns);
        }
    }
}
