//! An expected health event. Start at [`EventPattern`].

use std::collections::BTreeMap;

use platforms::{DeviceName, LinkLayer, NodeName, PciAddress, PortNumber, SlotRef};
use simfs::SimTime;
use terms::Severity;

/// Inclusive bounds on how often something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// For each subject; 0 allows none.
    pub at_least: u32,
    /// For each subject; not below [`Self::at_least`].
    pub at_most: u32,
}

impl Times {
    /// Exactly once.
    pub const ONCE: Self = Self {
        at_least: 1,
        at_most: 1,
    };
}

/// The entity of an event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// A port, under the name that its device has when the event is emitted.
    Port(SlotRef),
    /// A device, under the name that it has (or had last).
    Device(NodeName, PciAddress),
    /// A card: PCI domain:bus:device.
    Card(NodeName, PciAddress),
    /// A port of the device that has this name.
    NamedPort(DeviceName, PortNumber),
    /// The device that has this name.
    NamedDevice(DeviceName),
    /// The whole check: the event has no entities.
    Check,
}

/// An expected event. In addition to the stated fields, every matched event must have the fields that the wire contract
/// fixes: agent, component class, versions, node name, strategy, an action that fits the severity, no error code on
/// state events, entities in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern {
    /// Its severity.
    pub tone: Severity,
    /// Its entity.
    pub about: About,
    /// The check; by the port's link layer if `None`.
    pub check: Option<String>,
    /// The message by link layer; not checked for a missing layer. `…` matches any text; `{device}`, `{port}`,
    /// `{card}`, `{role}`, `{netdev}` are the subject's (those of handles are already filled in).
    pub message: BTreeMap<LinkLayer, String>,
    /// `generatedTimestamp` is at or after this instant of the drill (the monitor's clock converted to the drill's).
    pub stamped_from: Option<SimTime>,
    /// `generatedTimestamp` is at or before this instant.
    pub stamped_to: Option<SimTime>,
    /// Error codes, if stated.
    pub error_codes: Option<Vec<String>>,
    /// The counter of the event: emitted by the counter check of the port's layer unless `check` is stated, with the
    /// counter's name as its only error code.
    pub counter: Option<String>,
}
