//! What is still owed: clearings under names and in scopes of the past, and the settling of a reboot.
//!
//! Who makes debts is `recognise`, `absence` and the counters' and character devices' own books; they
//! are paid when a batch with them is accepted. Start with [`PendingClear`].

use proto::Check;
use serde::{Deserialize, Serialize};

use crate::chars::CharKind;
use crate::counters::CounterId;
use crate::name::{Card, DeviceName, PortNumber, check_name};

/// Whom an event is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subject {
    Device(DeviceName),
    Port(DeviceName, PortNumber),
    Card(Card),
    Counter(DeviceName, PortNumber, CounterId),
    Char(CharKind, DeviceName, Option<PortNumber>),
}

/// A fault that no longer stands under its name and has not been cleared yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct PendingClear {
    #[serde(with = "check_name")]
    pub(crate) check: Check,
    pub(crate) subject: Subject,
    pub(crate) message: String,
}

/// A reboot whose absent faults are not settled yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reboot {
    /// Monitored devices that the old state knew.
    pub(crate) known: usize,
    /// Boot time of the first poll that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since_ns: Option<u64>,
}
