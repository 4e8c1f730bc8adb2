//! The recorded history: health of ports, what they carried, and the kernel log.

use simfs::SimTime;

use crate::opa::{Logical, Physical};

/// A change of a port's health (`ACTIVE` with `LinkUp` in sysfs); a missing port is not healthy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// When.
    pub at: SimTime,
    /// Whether it is healthy from then on.
    pub healthy: bool,
}

/// Whether a port carries data, independently of its view in sysfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carriage {
    /// Its link is active.
    Data,
    /// Its link is not active.
    Nothing,
    /// Its device is off the bus, or no driver runs it.
    Gone,
}

/// A change of what a port carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriageChange {
    /// When.
    pub at: SimTime,
    /// What it carries from then on.
    pub carriage: Carriage,
}

/// The states of both ends of a link from an instant on, the node's own port first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkStep {
    /// The time from which they apply; the first step applies from the start.
    pub at: SimTime,
    /// Their logical states.
    pub logical: [Logical; 2],
    /// Their physical states.
    pub physical: [Physical; 2],
}

/// An event that a kernel delivers to the users of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortEvent {
    /// When.
    pub at: SimTime,
    /// Its kind.
    pub kind: PortEventKind,
}

/// Kinds of events (`include/rdma/ib_verbs.h`, `ib_event_type`). A device that is gone delivers
/// none.
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
    /// The line, without timestamp and newline.
    pub text: String,
}
