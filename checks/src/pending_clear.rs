//! Pending clears: healthy events that are still to be sent under old names and for old scopes; and
//! the open decisions after a reboot.
//!
//! `recognise`, `absence`, the counters and the character devices add them. They are removed when a
//! batch that contains them is accepted. Start with [`PendingClear`].

use serde::{Deserialize, Serialize};
use terms::Check;

use crate::chars::CharKind;
use crate::counters::CounterId;
use crate::name::{Card, DeviceName, PortNumber, check_name};

/// The entity of an event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subject {
    Device(DeviceName),
    Port(DeviceName, PortNumber),
    Card(Card),
    Counter(DeviceName, PortNumber, CounterId),
    Char(CharKind, DeviceName, Option<PortNumber>),
}

/// A fault that no longer exists under its name, and whose clear has not been accepted yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct PendingClear {
    #[serde(with = "check_name")]
    pub(crate) check: Check,
    pub(crate) subject: Subject,
    pub(crate) message: String,
}

/// A reboot after which the faults of absent entities are not settled yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reboot {
    /// Number of monitored devices in the old state.
    pub(crate) known: usize,
    /// Boot time of the first poll that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since_ns: Option<u64>,
}
