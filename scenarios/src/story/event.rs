//! A health event as expected. Start at [`EventPattern`].

use std::collections::BTreeMap;

use platforms::{DeviceName, LinkLayer, NodeName, PciAddress, PortNumber, SlotRef};
use simfs::SimTime;

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// At least.
    pub at_least: u32,
    /// At most.
    pub at_most: u32,
}

impl Times {
    /// Exactly once.
    pub const ONCE: Self = Self {
        at_least: 1,
        at_most: 1,
    };
}

/// What an event says of its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// `isFatal`, `REPLACE_VM`.
    Fatal,
    /// Unhealthy, not fatal, `NONE`.
    NonFatal,
    /// Healthy.
    Healthy,
}

/// Whom an event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// A port, under the name its device bears when the event is said.
    Port(SlotRef),
    /// A device, under the name it bears (or bore last).
    Device(NodeName, PciAddress),
    /// A card: PCI domain:bus:device.
    Card(NodeName, PciAddress),
    /// A port of whatever bears this name.
    NamedPort(DeviceName, PortNumber),
    /// Whatever bears this name.
    NamedDevice(DeviceName),
    /// The whole check: no entities.
    Check,
}

/// An event as expected. Beside what is stated, every matched event must have the fields that the
/// wire's contract fixes: agent, component class, versions, node name, strategy, an action that
/// fits the tone, no error code on state events, entities in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern {
    /// What it says.
    pub tone: Tone,
    /// Of whom.
    pub about: About,
    /// The check; by the port's link layer if `None`.
    pub check: Option<String>,
    /// The message by link layer; unchecked where there is none. `…` stands for anything, and
    /// `{device}`, `{port}`, `{card}`, `{role}`, `{netdev}` for the subject's (already resolved where a handle was named).
    pub message: BTreeMap<LinkLayer, String>,
    /// `generatedTimestamp` at or after this instant of the drill (monitor's clock on the drill's).
    pub stamped_from: Option<SimTime>,
    /// And at or before this one.
    pub stamped_to: Option<SimTime>,
    /// Error codes, if stated.
    pub error_codes: Option<Vec<String>>,
    /// The counter whose event it is: said by the counter check of the port's layer unless `check`
    /// says otherwise, with the counter's name as its one error code.
    pub counter: Option<String>,
}
