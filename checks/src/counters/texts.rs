//! The texts of counters in the state file, kept from save to save: what is known of most counters
//! stays as it was, and is not printed again.
//!
//! A text is kept with what it is the text of, and is used only while that is equal; so what is
//! written never depends on what was kept. The entries themselves are `file`'s. Start at
//! [`Texts::keep`].

use std::collections::BTreeMap;
use std::sync::Arc;

use super::count::Count;
use super::file::{self, Printed, SharedTexts, function_of, shared_key};
use super::remembered::{CounterMemory, PortCounts};
use super::table::CounterId;
use crate::members::Members;
use crate::name::{DeviceName, LinkLayer, PortNumber, SlotKey};

/// How deep a counter lies in our own key: file, `counters`, `devices`, device, `ports`, port, `counts`.
const COUNT_DEPTH: usize = 7;

/// The texts of each device's counters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    devices: BTreeMap<SlotKey, BTreeMap<PortNumber, PortTexts>>,
}

/// The texts of a port's counters, which name the device, the port and its interface.
#[derive(Debug, Clone)]
struct PortTexts {
    name: DeviceName,
    layer: LinkLayer,
    interface: Option<String>,
    counts: BTreeMap<CounterId, Text>,
}

#[derive(Debug, Clone)]
struct Text {
    of: Count,
    own: Arc<[u8]>,
    shared: SharedTexts,
}

impl Texts {
    /// Makes the texts those of this memory.
    pub(crate) fn keep(&mut self, memory: &CounterMemory) {
        let mut printed = Printed::default();
        self.devices
            .retain(|key, _| memory.devices.contains_key(key));
        for (key, device) in &memory.devices {
            let ports = self.devices.entry(key.clone()).or_default();
            ports.retain(|number, _| device.ports.contains_key(number));
            for (number, port) in &device.ports {
                let texts = ports
                    .entry(*number)
                    .or_insert_with(|| PortTexts::of(&device.name, port));
                if !texts.are_of(&device.name, port) {
                    *texts = PortTexts::of(&device.name, port);
                }
                texts.keep(*number, port, &mut printed);
            }
        }
    }

    /// The maps that both monitors know, by the names of their members of the file; one that is empty
    /// is left out.
    pub(crate) fn put_shared(&self, file: &mut Members) {
        let counts = || {
            let ports = self.devices.values().flat_map(BTreeMap::values);
            ports.flat_map(|port| port.counts.values().map(|text| &text.shared))
        };
        let snapshots = counts().filter_map(|text| Some((&*text.key, text.snapshot.as_deref()?)));
        put_map(file, "counter_snapshots", snapshots.collect());
        let flags = counts().filter_map(|text| Some((&*text.key, text.flag.as_deref()?)));
        put_map(file, "breach_flags", flags.collect());
    }

    /// Our own key; nothing when there is nothing to remember.
    pub(crate) fn put_own(&self, memory: &CounterMemory, file: &mut Members) {
        if *memory == CounterMemory::default() {
            return;
        }
        file.put_object("counters", |own| {
            own.put_unless(!memory.is_reborn, "is_reborn", &memory.is_reborn);
            own.put_unless(memory.reboot.is_none(), "reboot", &memory.reboot);
            if !memory.devices.is_empty() {
                own.put_array("devices", |devices| {
                    for (key, device) in &memory.devices {
                        let texts = &self.devices[key];
                        devices.item_object(|entry| {
                            entry.put("device", &device.name);
                            let function = function_of(key);
                            entry.put_unless(function.is_none(), "function", &function);
                            entry.put_object("ports", |ports| {
                                for (number, port) in texts {
                                    ports.put_object(&number.to_string(), |told| port.put(told));
                                }
                            });
                        });
                    }
                });
            }
        });
    }
}

impl PortTexts {
    /// No text yet of a port's counters.
    fn of(name: &DeviceName, port: &PortCounts) -> PortTexts {
        PortTexts {
            name: name.clone(),
            layer: port.layer,
            interface: port.interface.clone(),
            counts: BTreeMap::new(),
        }
    }

    fn are_of(&self, name: &DeviceName, port: &PortCounts) -> bool {
        self.name == *name && self.layer == port.layer && self.interface == port.interface
    }

    fn keep(&mut self, number: PortNumber, port: &PortCounts, printed: &mut Printed) {
        self.counts.retain(|id, _| port.counts.contains_key(id));
        for (id, count) in &port.counts {
            let shared =
                |key, printed| SharedTexts::of(key, &self.name, number, port, *id, printed);
            match self.counts.get_mut(id) {
                Some(text) if text.of == *count => {}
                Some(text) => {
                    if file::shared_part(&text.of) != file::shared_part(count) {
                        let key = std::mem::take(&mut text.shared.key);
                        text.shared = shared(key, printed);
                    }
                    text.of.clone_from(count);
                    text.own = printed.count(count, COUNT_DEPTH);
                }
                None => {
                    let key = shared_key(&self.name, number, port, *id);
                    let text = Text {
                        of: count.clone(),
                        own: printed.count(count, COUNT_DEPTH),
                        shared: shared(key, printed),
                    };
                    self.counts.insert(*id, text);
                }
            }
        }
    }

    fn put(&self, told: &mut Members) {
        told.put("link_layer", &self.layer);
        told.put_unless(self.interface.is_none(), "interface", &self.interface);
        told.put_object("counts", |counts| {
            for (id, text) in &self.counts {
                counts.put_text(id.name(), &text.own);
            }
        });
    }
}

/// A map by its members, sorted here. Of members by the same name the last one counts, as in a map that
/// they are put into.
fn put_map(file: &mut Members, name: &str, mut members: Vec<(&str, &[u8])>) {
    if members.is_empty() {
        return;
    }
    members.sort_by_key(|(key, _)| *key);
    file.put_object(name, |map| {
        for (place, (key, text)) in members.iter().enumerate() {
            let is_last = members.get(place + 1).is_none_or(|(next, _)| next != key);
            if is_last {
                map.put_text(key, text);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Serialize;

    use super::super::count::{Seed, Stamp};
    use super::super::file::DeviceEntry;
    use super::super::remembered::DeviceCounts;
    use super::*;
    use crate::debt::Reboot;
    use crate::members::is_false;

    /// What `serde_json` prints of the same memory at once.
    #[derive(Serialize)]
    struct File {
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        counter_snapshots: BTreeMap<String, file::SnapshotEntry>,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        breach_flags: BTreeMap<String, file::FlagEntry>,
        #[serde(skip_serializing_if = "Option::is_none")]
        counters: Option<Own>,
    }

    #[derive(Serialize)]
    struct Own {
        #[serde(skip_serializing_if = "is_false")]
        is_reborn: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        reboot: Option<Reboot>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        devices: Vec<DeviceEntry>,
    }

    #[track_caller]
    fn check(memory: &CounterMemory, texts: &mut Texts) {
        texts.keep(memory);
        let mut told = Members::of_file(Vec::new());
        texts.put_shared(&mut told);
        texts.put_own(memory, &mut told);
        let shared = file::tests::shared(memory.devices.values());
        let devices = memory.devices.iter();
        let whole = File {
            counter_snapshots: shared.snapshots,
            breach_flags: shared.flags,
            counters: (*memory != CounterMemory::default()).then(|| Own {
                is_reborn: memory.is_reborn,
                reboot: memory.reboot.clone(),
                devices: devices.map(|(key, d)| file::tests::entry(key, d)).collect(),
            }),
        };
        let expected = serde_json::to_string_pretty(&whole).unwrap();
        assert_eq!(String::from_utf8(told.object()).unwrap(), expected);
    }

    /// Sets one counter: of a device by its key, under a name that others may bear or whose members
    /// lie between those of another.
    fn set(memory: &mut CounterMemory, (key, name, port, id, value): (u8, usize, u32, usize, u64)) {
        let names = ["mlx5_0", "mlx5_0:1", "mlx5_1", "net"];
        let ids = ["link_downed", "symbol_error", "carrier_changes"];
        let key = SlotKey::Name(format!("key{key}").as_str().into());
        let name = DeviceName::from(names[name]);
        let device = memory.devices.entry(key);
        let device = device.or_insert_with(|| DeviceCounts::new(name.clone()));
        device.name = name;
        let port = device.ports.entry(PortNumber(port));
        let port = port.or_insert_with(|| PortCounts::new(LinkLayer::Ethernet));
        port.interface = (value % 3 == 0).then(|| format!("eth{}", value % 2));
        let since = Stamp {
            boot_ns: value,
            wall_ns: value / 2 * 1_000_000_000,
        };
        let count = Count {
            seed: (value % 4 != 0).then_some(Seed {
                value: value / 2,
                since,
                last: value,
            }),
            said_since_ns: (value % 4 < 2).then_some(value / 2),
            ..Count::default()
        };
        port.counts
            .insert(CounterId::parse(ids[id]).unwrap(), count);
    }

    proptest! {
        #[test]
        fn what_was_kept_never_shows(
            sets in prop::collection::vec((0_u8..3, 0_usize..4, 1_u32..3, 0_usize..3, 0_u64..8), 0..12),
            is_reborn: bool,
        ) {
            let mut texts = Texts::default();
            let mut memory = CounterMemory::default();
            check(&memory, &mut texts);
            memory.is_reborn = is_reborn;
            memory.reboot = is_reborn.then_some(Reboot { known: 1, since_ns: None });
            for one in sets {
                if one.4 == 7 {
                    memory.devices.pop_first();
                }
                set(&mut memory, one);
                check(&memory, &mut texts);
            }
        }
    }
}
