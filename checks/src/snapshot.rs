//! A snapshot: everything that one poll read, to be judged afterwards.
//!
//! Absent, unreadable and garbled are three different values. `discovery` reads the snapshot,
//! `judge` interprets it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use terms::LinkLayer;

use crate::counters::target::Target;
use crate::discovery::Batch;
use crate::hands::{Clocks, ReadError};
use crate::log_record::LogRecord;
use crate::name::{AssignedRole, DeviceName, PciFunction, PortNumber, SlotKey};
use crate::optional::SeenOptional;
use crate::reading::Reading;
use crate::schedule::Due;
use crate::scope::{Placement, Reason};

/// Why a path gave no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// The read failed.
    Failed(ReadError),
    /// The text is one that the kernel does not write.
    Garbled,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Failed(error) => error.fmt(f),
            Cause::Garbled => f.write_str("garbled"),
        }
    }
}

/// No value: because of a race with the kernel, or because the path cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blind {
    /// The entry was listed in this poll and was gone at the next read; the next poll decides.
    Race,
    Unreadable(Cause),
}

/// How a device's entry in the class folder identifies its PCI function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The target of the entry, which is a link.
    Link(String),
    /// The entry is a folder; `uevent` names the function.
    Folder(Option<PciFunction>),
}

/// Facts that are constant while the identity is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) identity: Identity,
    pub(crate) function: Option<PciFunction>,
    pub(crate) key: SlotKey,
    pub(crate) placement: Result<Placement, Blind>,
    /// The topology has a row for it.
    pub(crate) is_in_topology: bool,
}

/// One port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenPort {
    pub(crate) number: PortNumber,
    pub(crate) layer: Option<LinkLayer>,
    /// Both states, if both could be read.
    pub(crate) reading: Result<Reading, Blind>,
    pub(crate) operstate: Option<String>,
    /// Why it is not monitored although its device is.
    pub(crate) out: Option<Reason>,
}

/// The ports of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SeenPorts {
    Blind(Blind),
    Listed(Vec<SeenPort>),
}

/// Whether and how a device is monitored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SeenScope {
    Out(Reason),
    In(AssignedRole, SeenPorts),
    /// Unknown, and not known from an earlier poll either.
    Unknown(Blind),
}

/// One entry of the class folder.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) name: DeviceName,
    pub(crate) facts: Option<Arc<Facts>>,
    pub(crate) scope: SeenScope,
}

/// Why a counter's file gave no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// This hardware or kernel does not have the counter.
    Missing,
    /// Gone since the listing, or unreadable: the last known value is kept.
    Held,
}

/// The counters of a poll.
#[derive(Debug, Clone)]
pub(crate) struct SeenCounts {
    /// The ports, and the requests.
    pub(crate) reads: Arc<Batch<Target>>,
    /// One result for each request.
    pub(crate) values: Vec<Result<u64, Unread>>,
}

/// The class folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Listed,
    Missing,
    Unreadable(ReadError),
}

/// Everything that one poll read.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) clocks: Clocks,
    pub(crate) anchor: Anchor,
    /// The boot id, if it was requested.
    pub(crate) boot_id: Option<Result<String, Cause>>,
    /// In the order of their names.
    pub(crate) devices: Vec<Seen>,
    /// Paths below a listed device that did not exist.
    pub(crate) missing: BTreeSet<String>,
    /// Paths that could not be read, and why.
    pub(crate) troubles: Vec<(String, Cause)>,
    /// Records to be logged once each.
    pub(crate) records: Vec<LogRecord>,
    /// The checks that run in this poll.
    pub(crate) due: Due,
    /// Counters, if they are due.
    pub(crate) counts: Option<SeenCounts>,
    /// What the optional checks read.
    pub(crate) optional: SeenOptional,
}

impl Snapshot {
    pub(crate) fn new(clocks: Clocks, anchor: Anchor) -> Snapshot {
        Snapshot {
            clocks,
            anchor,
            boot_id: None,
            devices: Vec::new(),
            missing: BTreeSet::new(),
            troubles: Vec::new(),
            records: Vec::new(),
            due: Due::default(),
            counts: None,
            optional: SeenOptional::default(),
        }
    }
}
