//! What is remembered of the past: when ports were healthy, what they carried, and the kernel's log.

use simfs::SimTime;

use crate::opa::{Logical, Physical};

/// A port's leaving or return to `ACTIVE` with `LinkUp`, as sysfs shows it; a port that is not
/// there is not healthy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// When.
    pub at: SimTime,
    /// Healthy from then on, or not.
    pub healthy: bool,
}

/// Whether a port carries data, whatever its face shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carriage {
    /// Its link is active.
    Data,
    /// It is not.
    Nothing,
    /// Its device is off the bus, or no driver runs it.
    Gone,
}

/// A port's beginning to carry something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriageChange {
    /// When.
    pub at: SimTime,
    /// From then on.
    pub carriage: Carriage,
}

/// What both ends of a link show from an instant on, the node's own port first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkStep {
    /// From when; the first is from the start.
    pub at: SimTime,
    /// Their logical states.
    pub logical: [Logical; 2],
    /// Their physical states.
    pub physical: [Physical; 2],
}

/// Something that a kernel tells the users of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortEvent {
    /// When.
    pub at: SimTime,
    /// What.
    pub kind: PortEventKind,
}

/// What a kernel tells (`include/rdma/ib_verbs.h`, `ib_event_type`). Of a device that is gone nobody
/// tells anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortEventKind {
    /// `IB_EVENT_PORT_ERR`: the link went down.
    PortErr,
    /// `IB_EVENT_PORT_ACTIVE`: the subnet manager has activated the port.
    PortActive,
    /// `IB_EVENT_DEVICE_FATAL`: the device failed.
    DeviceFatal,
}

/// A line of a node's kernel log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLine {
    /// When.
    pub at: SimTime,
    /// The line, without time stamp and new line.
    pub text: String,
}
