//! `InfiniBandCharDeviceCheck`: the character devices that InfiniBand ports cannot work without.
//!
//! A pod opens `/dev/infiniband/umad*`, `issm*` and `uverbs*`; the class folders show which exist,
//! and for which device and port. Each InfiniBand port has one `umad` and one `issm`, each device
//! with such a port one `uverbs`. A character device that is missing in three polls in a row is a
//! fault. Unreadable is not missing: while a class folder or an entry of it cannot be read, no
//! event about its kind is sent. Source: NVSentinel, nic-health-monitor,
//! `InfiniBandCharDeviceCheck`. Off unless `--checks` names it.

pub(crate) mod file;
pub(crate) mod judge;
pub(crate) mod read;

pub(crate) use file::CharEntries;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use terms::Check;

use crate::name::{DeviceName, PortNumber, SlotKey};
use crate::skip::is_false;
use crate::standing::Standing;

/// A kind of character device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CharKind {
    /// Subnet management, one per port.
    Issm,
    /// Management datagrams, one per port.
    Umad,
    /// Verbs, one per device.
    Uverbs,
}

impl CharKind {
    /// The prefix of the kind's entries, and the error code of its events.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CharKind::Issm => "issm",
            CharKind::Umad => "umad",
            CharKind::Uverbs => "uverbs",
        }
    }
}

impl fmt::Display for CharKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One character device that is expected; `port` is `None` if it belongs to a device.
pub(crate) type Node = (CharKind, Option<PortNumber>);

/// The character devices of a poll.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenChars {
    pub(crate) here: BTreeSet<(DeviceName, Node)>,
    /// Kinds that could not be read completely.
    pub(crate) blind: BTreeSet<CharKind>,
}

/// What is remembered of a character device that is missing or was reported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct NodeMemory {
    /// Polls in a row without it, up to the limit.
    pub(crate) misses: u32,
    /// Its fault was accepted by the connector, or may have been.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) said: bool,
    /// The fault must be reported again: under a new name, or in a new boot.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) again: bool,
}

/// What an accepted event changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CharChange {
    /// It was reported as missing.
    Reported(SlotKey, Node),
    /// It was reported as present again.
    Healthy(SlotKey, Node),
}

/// The character devices of one RDMA device that are missing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CharDevice {
    pub(crate) name: DeviceName,
    pub(crate) nodes: BTreeMap<Node, NodeMemory>,
}

/// Everything remembered of character devices.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CharMemory {
    pub(crate) devices: BTreeMap<SlotKey, CharDevice>,
}

impl CharMemory {
    /// Remembers that an event was accepted.
    pub(crate) fn apply(&mut self, change: &CharChange) {
        match change {
            CharChange::Reported(key, node) => {
                if let Some(kept) = self.node_mut(key, *node) {
                    (kept.said, kept.again) = (true, false);
                }
            }
            CharChange::Healthy(key, node) => {
                if let Some(device) = self.devices.get_mut(key) {
                    device.nodes.remove(node);
                }
            }
        }
    }

    /// Remembers that the connector may have an event although it did not accept it: the fault
    /// counts as reported, and is reported again if it still holds.
    pub(crate) fn doubt(&mut self, change: &CharChange) {
        if let CharChange::Reported(key, node) = change
            && let Some(kept) = self.node_mut(key, *node)
        {
            (kept.said, kept.again) = (true, true);
        }
    }

    /// One character device, if it is missing or was reported.
    fn node_mut(&mut self, key: &SlotKey, node: Node) -> Option<&mut NodeMemory> {
        self.devices.get_mut(key)?.nodes.get_mut(&node)
    }

    /// Moves a device that was known by its name to the key that can be read now.
    pub(crate) fn adopt(&mut self, key: &SlotKey, name: &DeviceName) {
        let by_name = SlotKey::Name(name.clone());
        if *key != by_name
            && !self.devices.contains_key(key)
            && let Some(device) = self.devices.remove(&by_name)
        {
            self.devices.insert(key.clone(), device);
        }
    }

    /// After a reboot only reported faults are kept; each is reported again if it still holds.
    pub(crate) fn after_reboot(&mut self) {
        for device in self.devices.values_mut() {
            device.nodes.retain(|_, node| node.said);
            for node in device.nodes.values_mut() {
                node.again = true;
            }
        }
        self.devices.retain(|_, device| !device.nodes.is_empty());
    }

    /// Every fault that was reported, or may have been.
    pub(crate) fn standing(&self) -> impl Iterator<Item = Standing> + '_ {
        self.devices.values().flat_map(|device| {
            let said = device.nodes.iter().filter(|(_, node)| node.said);
            said.map(|((kind, port), _)| Standing {
                check: Check::InfiniBandCharDevice,
                entity: match port {
                    Some(number) => format!("{}/{number}/{kind}", device.name),
                    None => format!("{}/{kind}", device.name),
                },
                fatal: true,
            })
        })
    }
}
