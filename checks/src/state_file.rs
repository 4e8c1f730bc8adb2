//! `state.json`: the memory as text, and back.
//!
//! Schema version 2 of NVSentinel's nic-health-monitor, so that either monitor can read the other's
//! file. What only this monitor stores is in further keys (`slots`, `cards`, `pending_clears`, …);
//! where they are present, only they are read. Version 1, and a file without a version, have the
//! shared keys only. If a file cannot be understood, the monitor starts without old state and logs
//! a warning with the reason.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use terms::LinkLayer;

use crate::counters::file::{
    self as counters, CountersEntry, FlagEntry, SharedKeys, SnapshotEntry,
};
use crate::discovery::slot_key;
use crate::hands::ReadError;
use crate::log_record::{Level, LogRecord};
use crate::memory::{CardFault, CardMemory, Judged, Memory, Port, Slot};
use crate::name::{AssignedRole, DeviceName, PortNumber};
use crate::optional::OptionalEntries;
use crate::pending_clear::{PendingClear, Reboot};
use crate::reading::{PhysState, PortState, Reading, Severity, severity};
use crate::skip::is_false;

mod entries;
mod lines;

use entries::{
    CardEntry, DeviceEntry, GonePortEntry, MissEntry, OurCardEntry, PortEntry, Shared, SlotEntry,
};

/// The version that is written.
const VERSION: u64 = 2;

/// The bytes that the file of a large node has: so many are allocated at once.
const SIZE: usize = 32 << 10;

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct File<'a> {
    version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    boot_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    port_states: BTreeMap<String, PortEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    known_devices: Vec<DeviceName>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    anomalous_cards: BTreeMap<String, CardEntry>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    disappeared_devices: BTreeMap<String, DeviceEntry>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    disappeared_ports: BTreeMap<String, GonePortEntry>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    device_miss_counts: BTreeMap<String, MissEntry>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    counter_snapshots: BTreeMap<String, SnapshotEntry>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    breach_flags: BTreeMap<String, FlagEntry>,

    // Keys of this monitor only, from here on.
    #[serde(skip_serializing_if = "is_false")]
    blind: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    slots: Option<Vec<SlotEntry<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cards: Vec<OurCardEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending_clears: Vec<PendingClear>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reboot: Option<Reboot>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor_missing_since_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<CountersEntry<'a>>,

    /// Keys of the optional checks, shared ones and those of this monitor.
    #[serde(flatten)]
    optional: OptionalEntries,
}

/// The bytes of the file.
pub(crate) fn write(memory: &Memory) -> Vec<u8> {
    let shared = Shared::of(memory);
    let counters = counters::shared(&memory.counters);
    let file = File {
        version: VERSION,
        boot_id: memory.boot_id.clone(),
        scope: memory.scope.clone(),
        known_devices: shared.known_devices(),
        port_states: shared.port_states,
        anomalous_cards: shared.anomalous_cards,
        disappeared_devices: shared.disappeared_devices,
        disappeared_ports: shared.disappeared_ports,
        device_miss_counts: shared.device_miss_counts,
        counter_snapshots: counters.snapshots,
        breach_flags: counters.flags,
        blind: memory.blind,
        slots: Some(memory.slots.values().map(SlotEntry::of).collect()),
        cards: memory.cards.iter().map(OurCardEntry::of).collect(),
        pending_clears: memory.pending_clears.clone(),
        reboot: memory.reboot.clone(),
        anchor_missing_since_ns: memory.anchor_missing_since_ns,
        counters: counters::own(&memory.counters),
        optional: memory.optional.entries(),
    };
    let mut bytes = lines::to_vec(&file, SIZE).expect("every key is text");
    bytes.push(b'\n');
    bytes
}

/// Reads a saved memory; `None` if there is no usable state, with a log record that states why.
pub(crate) fn read(
    path: &str,
    bytes: Result<&[u8], ReadError>,
    records: &mut Vec<LogRecord>,
) -> Option<Memory> {
    let fresh = |level: Level, why: String, records: &mut Vec<LogRecord>| {
        let record = LogRecord::new(level, "fresh start without an old state");
        records.push(record.with("path", path).with("why", why));
        None
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(ReadError::ENOENT) => {
            return fresh(
                Level::Warn,
                "missing: there is no such file".to_owned(),
                records,
            );
        }
        Err(error) => return fresh(Level::Warn, format!("unreadable: {error}"), records),
    };
    let value: serde_json::Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return fresh(Level::Warn, format!("corrupt: {error}"), records),
    };
    let Some(table) = value.as_object() else {
        return fresh(Level::Warn, "corrupt: not an object".to_owned(), records);
    };
    let version = match table.get("version").map(serde_json::Value::as_u64) {
        None => 1,
        Some(Some(version @ 1..)) => version,
        Some(_) => {
            return fresh(
                Level::Warn,
                "unknown: `version` is no number".to_owned(),
                records,
            );
        }
    };
    if version > VERSION {
        let why = format!("newer: version {version}, and {VERSION} is known");
        return fresh(Level::Warn, why, records);
    }
    let file: File<'_> = match serde_json::from_value(value) {
        Ok(file) => file,
        Err(error) => return fresh(Level::Warn, format!("corrupt: {error}"), records),
    };
    Some(if version < VERSION || file.slots.is_none() {
        let record = LogRecord::new(Level::Info, "state of another version is migrated");
        records.push(record.with("path", path).with("version", version));
        migrate(file)
    } else {
        restore(file)
    })
}

fn restore(file: File<'_>) -> Memory {
    let mut memory = Memory {
        boot_id: file.boot_id.filter(|text| !text.is_empty()),
        scope: file.scope.filter(|text| !text.is_empty()),
        blind: file.blind,
        slots: BTreeMap::new(),
        cards: BTreeMap::new(),
        pending_clears: file.pending_clears,
        reboot: file.reboot,
        anchor_missing_since_ns: file.anchor_missing_since_ns,
        counters: file.counters.map(counters::restore).unwrap_or_default(),
        optional: file.optional.restore(),
    };
    for entry in file.slots.unwrap_or_default() {
        let slot = Slot {
            name: entry.device,
            function: entry.function,
            role: entry.role,
            ports: entry.ports.into_owned(),
            misses: entry.misses,
            empty_listings: entry.empty_listings,
            stale: entry.stale,
            gone: entry.gone,
            pending: entry.pending,
        };
        let mut key = slot_key(&slot.name, slot.function.as_ref());
        if memory.slots.contains_key(&key) {
            key = slot_key(&slot.name, None);
        }
        memory.slots.insert(key, slot);
    }
    for entry in file.cards {
        let card = CardMemory {
            judged: entry.judged,
            pending: entry.pending,
            fault: entry.fault,
            stale: entry.stale,
        };
        memory.cards.insert((entry.link_layer, entry.card), card);
    }
    memory
}

/// Converts a file of another version: it has readings, and which devices, ports and cards were
/// reported as disappeared or unhealthy. It does not say what was reported of an unhealthy port, so
/// the port's healthy event stays pending.
fn migrate(file: File<'_>) -> Memory {
    let layers: BTreeMap<(DeviceName, PortNumber), LinkLayer> = file
        .port_states
        .values()
        .map(|entry| ((entry.device.clone(), entry.port), entry.link_layer))
        .collect();
    let counters = SharedKeys {
        snapshots: file.counter_snapshots,
        flags: file.breach_flags,
    };
    let layer_of = |name: &DeviceName, number| layers.get(&(name.clone(), number)).copied();
    let mut memory = Memory {
        boot_id: file.boot_id.filter(|text| !text.is_empty()),
        scope: file.scope.filter(|text| !text.is_empty()),
        counters: counters::migrate(counters, layer_of),
        optional: file.optional.migrate(),
        ..Memory::default()
    };
    for entry in file.port_states.into_values() {
        let reading = Reading {
            state: PortState::from(entry.state),
            phys: PhysState::from(entry.physical_state),
        };
        let is_healthy = reading.is_healthy();
        let port = Port {
            was_healthy: is_healthy,
            pending: !is_healthy,
            judged: if is_healthy {
                Judged::Open
            } else {
                Judged::Quiet(severity(entry.link_layer, &reading))
            },
            reading: Some(reading),
            ..Port::new(entry.link_layer)
        };
        let slot = migrated_slot(&mut memory, entry.device);
        slot.ports.insert(entry.port, port);
    }
    for entry in file.disappeared_devices.into_values() {
        let slot = migrated_slot(&mut memory, entry.device);
        slot.gone.insert(entry.link_layer, false);
    }
    for entry in file.disappeared_ports.into_values() {
        let slot = migrated_slot(&mut memory, entry.device);
        let port = slot
            .ports
            .entry(entry.port)
            .or_insert_with(|| Port::new(entry.link_layer));
        port.said = Some(Severity::Fatal);
        port.judged = Judged::Open;
    }
    for entry in file.device_miss_counts.into_values() {
        migrated_slot(&mut memory, entry.device).misses = entry.count;
    }
    for entry in file.anomalous_cards.into_values() {
        let fault = CardFault {
            // The file does not have the expected number; it was at least one active port.
            expected: 1,
            role: AssignedRole::Compute,
            again: false,
        };
        let card = CardMemory {
            judged: true,
            fault: Some(fault),
            ..CardMemory::default()
        };
        memory.cards.insert((entry.link_layer, entry.card), card);
    }
    memory
}

fn migrated_slot(memory: &mut Memory, device: DeviceName) -> &mut Slot {
    let key = slot_key(&device, None);
    memory.slots.entry(key).or_insert_with(|| Slot {
        name: device,
        function: None,
        // The other version's file does not have the role; the first poll sets it.
        role: AssignedRole::Compute,
        ports: BTreeMap::new(),
        misses: 0,
        empty_listings: 0,
        stale: false,
        gone: BTreeMap::new(),
        pending: Vec::new(),
    })
}
