//! How each known device and port looks in the present poll: neither saved nor compared.
//!
//! It is kept beside the [`Memory`], which alone is saved and compared. A poll whose class folder is
//! missing leaves it as it was. Start with [`Samples`].

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Memory, Port};
use crate::name::{DeviceName, PortNumber, SlotKey};
use crate::reading::Reading;
use crate::scope::Reason;
use crate::snapshot::Cause;

/// How a port looks in the present poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum PortSample {
    /// Not looked at, or nothing is said of it in this poll.
    #[default]
    Held,
    /// Its files were read.
    Read { operstate: Option<String> },
    /// Not in the listing of `ports/`.
    Missing,
    /// A file of it cannot be read.
    Unreadable(Cause),
}

/// How a device looks in the present poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Not in the listing.
    #[default]
    Absent,
    /// In the listing and monitored; `true` when its ports could be listed.
    Present { readable: bool },
    /// In the listing, and not monitored.
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

    /// Read in this poll?
    pub(crate) fn is_read(&self, number: PortNumber) -> bool {
        matches!(self.port(number), PortSample::Read { .. })
    }

    /// Read in this poll, and healthy? `port` is what is remembered of it.
    pub(crate) fn is_healthy(&self, number: PortNumber, port: &Port) -> bool {
        self.is_read(number) && port.reading.as_ref().is_some_and(Reading::is_healthy)
    }

    /// Read in this poll, and unhealthy? `port` is what is remembered of it.
    pub(crate) fn is_unhealthy(&self, number: PortNumber, port: &Port) -> bool {
        self.is_read(number) && !port.reading.as_ref().is_some_and(Reading::is_healthy)
    }
}

/// Whoever is not in the listing.
const ABSENT: &DeviceSample = &DeviceSample {
    presence: Presence::Absent,
    ports: BTreeMap::new(),
};

/// All known devices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    devices: BTreeMap<SlotKey, DeviceSample>,
    /// Since when a device that nobody can place may be this one under a new name, boot time.
    pub(crate) maybe_renamed_since_ns: BTreeMap<SlotKey, u64>,
    /// Listed devices that are not known and cannot be placed.
    pub(crate) strangers: BTreeSet<DeviceName>,
}

impl Samples {
    /// Begins a poll: everybody that is remembered is absent until seen.
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

    /// What was found of a device is found of it under another key.
    pub(crate) fn rekey(&mut self, old: &SlotKey, new: &SlotKey) {
        if let Some(device) = self.devices.remove(old) {
            self.devices.insert(new.clone(), device);
        }
        if let Some(since_ns) = self.maybe_renamed_since_ns.remove(old) {
            self.maybe_renamed_since_ns.insert(new.clone(), since_ns);
        }
    }
}
