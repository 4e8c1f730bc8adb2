//! The texts of counters in the state file, kept from save to save: most devices' counters are at
//! rest, and theirs are not printed again.
//!
//! A text is kept with what it is the text of, and is used only while that is equal; so what is
//! written never depends on what was kept. The entries themselves are `file`'s. Start at
//! [`Texts::keep`].

use std::collections::BTreeMap;

use serde::Serialize;

use super::file::{self, DeviceEntry, SharedKeys};
use super::watch::{CounterMemory, DeviceCounts};
use crate::members::{Members, print};
use crate::memory::SlotKey;

/// How deep the members of a map lie that is a member of the file.
const MEMBER_DEPTH: usize = 2;
/// How deep a device's entry lies, in the array `devices` of our own key.
const ENTRY_DEPTH: usize = 3;

/// The texts of each device's counters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    devices: BTreeMap<SlotKey, Text>,
}

#[derive(Debug, Clone)]
struct Text {
    of: DeviceCounts,
    entry: Vec<u8>,
    snapshots: Vec<Run>,
    flags: Vec<Run>,
}

/// Members of a map between which no other device's lie, as a rule: their keys begin alike.
#[derive(Debug, Clone)]
struct Run {
    first: String,
    last: String,
    text: Vec<u8>,
}

impl Texts {
    /// Makes the texts those of this memory.
    pub(crate) fn keep(&mut self, memory: &CounterMemory) {
        self.devices
            .retain(|key, text| memory.devices.get(key) == Some(&text.of));
        for (key, device) in &memory.devices {
            if !self.devices.contains_key(key) {
                self.devices.insert(key.clone(), Text::of(key, device));
            }
        }
    }

    /// The maps that both monitors know, by the names of their members of the file.
    pub(crate) fn put_shared(&self, memory: &CounterMemory, file: &mut Members) {
        let texts = || self.devices.values();
        let snapshots = in_order(texts().flat_map(|text| &text.snapshots));
        let flags = in_order(texts().flat_map(|text| &text.flags));
        let (anew_snapshots, anew_flags);
        let (snapshots, flags) = match (snapshots, flags) {
            (Some(snapshots), Some(flags)) => (snapshots, flags),
            _ => {
                let anew = file::shared(memory.devices.values());
                (anew_snapshots, anew_flags) = (runs_of(&anew.snapshots), runs_of(&anew.flags));
                (anew_snapshots.iter().collect(), anew_flags.iter().collect())
            }
        };
        let put = |file: &mut Members, name: &str, runs: &[&Run]| {
            file.put_object(name, &mut runs.iter().map(|run| run.text.as_slice()));
        };
        put(file, "counter_snapshots", &snapshots);
        put(file, "breach_flags", &flags);
    }

    /// Our own key; nothing when there is nothing to remember.
    pub(crate) fn put_own(&self, memory: &CounterMemory, file: &mut Members) {
        if *memory == CounterMemory::default() {
            return;
        }
        let mut own = Members::at(MEMBER_DEPTH);
        own.put_unless(!memory.is_reborn, "is_reborn", &memory.is_reborn);
        own.put_unless(memory.reboot.is_none(), "reboot", &memory.reboot);
        let mut entries = self.devices.values().map(|text| text.entry.as_slice());
        own.put_array("devices", &mut entries);
        let own = own.text();
        file.put_object("counters", &mut std::iter::once(own.as_slice()));
    }
}

impl Text {
    fn of(key: &SlotKey, device: &DeviceCounts) -> Text {
        let SharedKeys { snapshots, flags } = file::shared([device].into_iter());
        let mut entry = Vec::new();
        print(&mut entry, ENTRY_DEPTH, &DeviceEntry::of(key, device));
        Text {
            of: device.clone(),
            entry,
            snapshots: runs_of(&snapshots),
            flags: runs_of(&flags),
        }
    }
}

/// The members of a map, cut where the keys of other devices may come between.
fn runs_of(map: &BTreeMap<String, impl Serialize>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let beginning = |key: &str| key.rfind(':').map_or(0, |at| at + 1);
    let mut members = Members::at(MEMBER_DEPTH);
    let mut keys = map.iter().peekable();
    let mut first: Option<&str> = None;
    while let Some((key, value)) = keys.next() {
        members.put(key, value);
        let first_key = *first.get_or_insert(key);
        let begins = &key[..beginning(key)];
        let goes_on = keys
            .peek()
            .is_some_and(|(next, _)| next[..beginning(next)] == *begins);
        if !goes_on {
            let text = std::mem::replace(&mut members, Members::at(MEMBER_DEPTH)).text();
            runs.push(Run {
                first: first_key.to_owned(),
                last: key.clone(),
                text,
            });
            first = None;
        }
    }
    runs
}

/// The runs in the order of their keys; `None` if two have members in common or between each other.
fn in_order<'r>(runs: impl Iterator<Item = &'r Run>) -> Option<Vec<&'r Run>> {
    let mut runs: Vec<&Run> = runs.collect();
    runs.sort_by(|one, other| one.first.cmp(&other.first));
    let is_apart = |pair: &[&Run]| pair[0].last < pair[1].first;
    runs.windows(2).all(is_apart).then_some(runs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::count::{Count, Seed, Stamp};
    use super::super::table::CounterId;
    use super::super::watch::PortCounts;
    use super::*;
    use crate::memory::{Reboot, is_false};
    use crate::name::{DeviceName, LinkLayer, PortNumber};

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
        let mut told = Members::at(1);
        texts.put_shared(memory, &mut told);
        texts.put_own(memory, &mut told);
        let shared = file::shared(memory.devices.values());
        let devices = memory.devices.iter();
        let whole = File {
            counter_snapshots: shared.snapshots,
            breach_flags: shared.flags,
            counters: (*memory != CounterMemory::default()).then(|| Own {
                is_reborn: memory.is_reborn,
                reboot: memory.reboot.clone(),
                devices: devices.map(|(key, d)| DeviceEntry::of(key, d)).collect(),
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
            wall_ns: value * 1_000_000_000,
        };
        let count = Count {
            seed: (value % 4 != 0).then_some(Seed {
                value,
                since,
                last: value,
            }),
            said_since_ns: (value % 2 == 0).then_some(value),
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
