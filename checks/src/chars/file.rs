//! Character devices in the state file: NVSentinel's key, and the key of this monitor, which is the
//! one that is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CharDevice, CharKind, CharMemory, NodeMemory};
use crate::name::{DeviceName, PciFunction, PortNumber, SlotKey};

/// The part of the state file about character devices.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CharEntries {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    missing_char_devices: BTreeMap<String, MissingEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    char_devices: Vec<CharsEntry>,
}

impl CharEntries {
    /// Converts the memory.
    pub(crate) fn of(memory: &CharMemory) -> CharEntries {
        CharEntries {
            missing_char_devices: shared(memory),
            char_devices: store(memory),
        }
    }

    /// The memory from this monitor's key.
    pub(crate) fn restore(self) -> CharMemory {
        restore(self.char_devices)
    }

    /// The memory from the shared key, if the file has that one only.
    pub(crate) fn migrate(self) -> CharMemory {
        migrate(self.missing_char_devices.into_values())
    }
}

/// NVSentinel's entry for a missing character device; the port is absent or 0 if it belongs to a
/// device.
#[derive(Debug, Serialize, Deserialize)]
struct MissingEntry {
    kind: CharKind,
    device: DeviceName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    port: Option<PortNumber>,
}

#[derive(Debug, Serialize, Deserialize)]
struct NodeEntry {
    kind: CharKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    port: Option<PortNumber>,
    memory: NodeMemory,
}

/// This monitor's entry for one device.
#[derive(Debug, Serialize, Deserialize)]
struct CharsEntry {
    device: DeviceName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<PciFunction>,
    nodes: Vec<NodeEntry>,
}

/// The memory as the key that both monitors know.
fn shared(memory: &CharMemory) -> BTreeMap<String, MissingEntry> {
    let devices = memory.devices.values();
    let entries = devices.flat_map(|device| {
        let standing = device.nodes.iter().filter(|(_, node)| node.said);
        standing.map(|((kind, port), _)| {
            let number = port.map_or(0, |port| port.0);
            let entry = MissingEntry {
                kind: *kind,
                device: device.name.clone(),
                port: *port,
            };
            (format!("{kind}/{}_{number}", device.name), entry)
        })
    });
    entries.collect()
}

/// The memory as this monitor's key.
fn store(memory: &CharMemory) -> Vec<CharsEntry> {
    let devices = memory.devices.iter();
    let kept = devices.filter(|(_, device)| !device.nodes.is_empty());
    kept.map(|(key, device)| CharsEntry {
        device: device.name.clone(),
        function: match key {
            SlotKey::Function(function) => Some(function.clone()),
            SlotKey::Name(_) => None,
        },
        nodes: device
            .nodes
            .iter()
            .map(|((kind, port), memory)| NodeEntry {
                kind: *kind,
                port: *port,
                memory: memory.clone(),
            })
            .collect(),
    })
    .collect()
}

fn restore(entries: Vec<CharsEntry>) -> CharMemory {
    let devices = entries.into_iter().map(|entry| {
        let by_name = SlotKey::Name(entry.device.clone());
        let nodes = entry.nodes.into_iter();
        let device = CharDevice {
            name: entry.device,
            nodes: nodes
                .map(|node| ((node.kind, node.port), node.memory))
                .collect(),
        };
        (entry.function.map_or(by_name, SlotKey::Function), device)
    });
    CharMemory {
        devices: devices.collect(),
    }
}

fn migrate(entries: impl Iterator<Item = MissingEntry>) -> CharMemory {
    let mut memory = CharMemory::default();
    for entry in entries {
        let device = memory.devices.entry(SlotKey::Name(entry.device.clone()));
        let device = device.or_insert_with(|| CharDevice {
            name: entry.device,
            nodes: BTreeMap::new(),
        });
        let port = entry.port.filter(|port| port.0 != 0);
        let node = NodeMemory {
            said: true,
            ..NodeMemory::default()
        };
        device.nodes.insert((entry.kind, port), node);
    }
    memory
}
