//! `state.json`: the memory as text, and back.
//!
//! Schema version 2 of NVSentinel's nic-health-monitor, so that either monitor can read the other's
//! file; what only this one knows is in further keys (`slots`, `cards`, `debts`, …), and where they
//! are present they are what is read. Version 1, and a file without a version, hold the same keys
//! without ours. A file that cannot be understood is a fresh start, with a warning that says why.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::counters::file::{
    self as counters, CountersEntry, FlagEntry, SharedKeys, SnapshotEntry,
};
use crate::counters::texts::Texts;
use crate::debt::{Debt, Reboot};
use crate::eyes::slot_key;
use crate::hands::ReadError;
use crate::members::{Members, is_false, is_zero};
use crate::memory::{CardFault, CardMemory, Judged, Memory, Port, Slot};
use crate::name::{Card, DeviceName, LinkLayer, PciFunction, PortNumber, Role};
use crate::note::{Level, Note};
use crate::optional::OptionalEntries;
use crate::reading::{PhysState, PortState, Reading, Severity, severity};

mod told;

use told::Told;

/// The version that is written.
const VERSION: u64 = 2;

/// The file as it is read; as it is written it is told member by member, in this order ([`write`]).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    version: u64,
    boot_id: Option<String>,
    scope: Option<String>,
    port_states: BTreeMap<String, PortEntry>,
    known_devices: Vec<DeviceName>,
    anomalous_cards: BTreeMap<String, CardEntry>,
    disappeared_devices: BTreeMap<String, DeviceEntry>,
    disappeared_ports: BTreeMap<String, GonePortEntry>,
    device_miss_counts: BTreeMap<String, MissEntry>,
    counter_snapshots: BTreeMap<String, SnapshotEntry>,
    breach_flags: BTreeMap<String, FlagEntry>,

    // Ours, from here on.
    blind: bool,
    slots: Option<Vec<SlotEntry<'static>>>,
    cards: Vec<OurCardEntry>,
    debts: Vec<Debt>,
    reboot: Option<Reboot>,
    anchor_missing_since_ns: Option<u64>,
    counters: Option<CountersEntry>,

    #[serde(flatten)]
    optional: OptionalEntries,
}

#[derive(Debug, Serialize, Deserialize)]
struct PortEntry {
    device: DeviceName,
    port: PortNumber,
    #[serde(default)]
    state: String,
    #[serde(default)]
    physical_state: String,
    link_layer: LinkLayer,
}

#[derive(Debug, Serialize, Deserialize)]
struct CardEntry {
    card: Card,
    link_layer: LinkLayer,
}

#[derive(Debug, Serialize, Deserialize)]
struct DeviceEntry {
    device: DeviceName,
    link_layer: LinkLayer,
    #[serde(default, skip_serializing_if = "is_false")]
    observed_this_boot: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct GonePortEntry {
    device: DeviceName,
    port: PortNumber,
    link_layer: LinkLayer,
    #[serde(default, skip_serializing_if = "is_false")]
    observed_this_boot: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct MissEntry {
    device: DeviceName,
    link_layer: LinkLayer,
    count: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct SlotEntry<'a> {
    device: DeviceName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<PciFunction>,
    role: Role,
    ports: Cow<'a, BTreeMap<PortNumber, Port>>,
    #[serde(default, skip_serializing_if = "is_zero")]
    misses: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    empty_listings: u32,
    #[serde(default, skip_serializing_if = "is_false")]
    stale: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    gone: BTreeMap<LinkLayer, bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    owed: Vec<LinkLayer>,
}

impl SlotEntry<'_> {
    fn of(slot: &Slot) -> SlotEntry<'_> {
        SlotEntry {
            device: slot.name.clone(),
            function: slot.function.clone(),
            role: slot.role,
            ports: Cow::Borrowed(&slot.ports),
            misses: slot.misses,
            empty_listings: slot.empty_listings,
            stale: slot.stale,
            gone: slot.gone.clone(),
            owed: slot.owed.clone(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct OurCardEntry {
    card: Card,
    link_layer: LinkLayer,
    #[serde(default, skip_serializing_if = "is_false")]
    judged: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    owed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<CardFault>,
    #[serde(default, skip_serializing_if = "is_false")]
    stale: bool,
}

/// Reads a saved memory; `None` when there is none to start from, with a note that says why.
pub(crate) fn read(
    path: &str,
    bytes: Result<&[u8], ReadError>,
    notes: &mut Vec<Note>,
) -> Option<Memory> {
    let fresh = |level: Level, why: String, notes: &mut Vec<Note>| {
        let note = Note::new(level, "fresh start without an old state");
        notes.push(note.with("path", path).with("why", why));
        None
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(ReadError::ENOENT) => {
            return fresh(
                Level::Warn,
                "missing: there is no such file".to_owned(),
                notes,
            );
        }
        Err(error) => return fresh(Level::Warn, format!("unreadable: {error}"), notes),
    };
    let value: serde_json::Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return fresh(Level::Warn, format!("corrupt: {error}"), notes),
    };
    let Some(table) = value.as_object() else {
        return fresh(Level::Warn, "corrupt: not an object".to_owned(), notes);
    };
    let version = match table.get("version").map(serde_json::Value::as_u64) {
        None => 1,
        Some(Some(version @ 1..)) => version,
        Some(_) => {
            return fresh(
                Level::Warn,
                "unknown: `version` is no number".to_owned(),
                notes,
            );
        }
    };
    if version > VERSION {
        let why = format!("newer: version {version}, and {VERSION} is known");
        return fresh(Level::Warn, why, notes);
    }
    let file: File = match serde_json::from_value(value) {
        Ok(file) => file,
        Err(error) => return fresh(Level::Warn, format!("corrupt: {error}"), notes),
    };
    Some(if version < VERSION || file.slots.is_none() {
        let note = Note::new(Level::Info, "state of another version is migrated");
        notes.push(note.with("path", path).with("version", version));
        migrate(file)
    } else {
        restore(file)
    })
}

fn restore(file: File) -> Memory {
    let mut memory = Memory {
        boot_id: file.boot_id.filter(|text| !text.is_empty()),
        scope: file.scope.filter(|text| !text.is_empty()),
        blind: file.blind,
        slots: BTreeMap::new(),
        cards: BTreeMap::new(),
        debts: file.debts,
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
            owed: entry.owed,
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
            owed: entry.owed,
            fault: entry.fault,
            stale: entry.stale,
        };
        memory.cards.insert((entry.link_layer, entry.card), card);
    }
    memory
}

/// Takes what another version tells: readings, and which devices, ports and cards were reported
/// gone or odd. What was said of an unhealthy port it does not tell, so its health is owed.
fn migrate(file: File) -> Memory {
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
            owed: !is_healthy,
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
            // The number that was expected is not told; one active port is the least it can be.
            expected: 1,
            role: Role::Compute,
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
        // The role of the file's other version is not told; the first poll sets it.
        role: Role::Compute,
        ports: BTreeMap::new(),
        misses: 0,
        empty_listings: 0,
        stale: false,
        gone: BTreeMap::new(),
        owed: Vec::new(),
    })
}

/// What is kept from save to save, so that what stayed as it was is not printed again. What is written
/// never depends on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    told: Told,
    counters: Texts,
    /// Where the file is printed: room that is there from the last time.
    room: Vec<u8>,
}

/// The bytes of the file.
pub(crate) fn write(memory: &Memory, kept: &mut Kept) -> Arc<[u8]> {
    kept.told.keep(memory);
    kept.counters.keep(&memory.counters);

    let mut file = Members::of_file(std::mem::take(&mut kept.room));
    file.put("version", &VERSION);
    file.put_unless(memory.boot_id.is_none(), "boot_id", &memory.boot_id);
    file.put_unless(memory.scope.is_none(), "scope", &memory.scope);
    file.put_all(&kept.told.shared);
    kept.counters.put_shared(&mut file);
    memory.optional.put_shared(&mut file);

    file.put_unless(!memory.blind, "blind", &memory.blind);
    file.put_all(&kept.told.own);
    file.put_list("debts", &memory.debts);
    file.put_unless(memory.reboot.is_none(), "reboot", &memory.reboot);
    let since = memory.anchor_missing_since_ns;
    file.put_unless(since.is_none(), "anchor_missing_since_ns", &since);
    kept.counters.put_own(&memory.counters, &mut file);
    memory.optional.put_own(&mut file);
    kept.room = file.object();
    kept.room.push(b'\n');
    kept.room.as_slice().into()
}
