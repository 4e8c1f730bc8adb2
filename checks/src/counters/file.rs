//! Counters in the state file: NVSentinel's two keys, so that its monitor can go on from ours, and
//! our own, which is what we read.
//!
//! NVSentinel keys a counter by the device's name, which two devices may have borne; ours is by
//! device. Where ours is absent, another monitor wrote the file: its values and its breaches are
//! taken over ([`migrate`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use proto::{Check, CheckKind};
use serde::{Deserialize, Serialize};

use super::count::{Count, Seed, Stamp};
use super::remembered::{CounterMemory, DeviceCounts, PortCounts};
use super::table::CounterId;
use crate::debt::Reboot;
use crate::members::print;
use crate::name::{DeviceName, LinkLayer, PciFunction, PortNumber, SlotKey};

/// How deep an entry lies that both monitors know: in a map that is a member of the file.
const SHARED_DEPTH: usize = 2;

/// An entry's text fits in this, so that printing it moves no bytes twice.
const ENTRY_BYTES: usize = 128;
/// And a counter's in this.
const COUNT_BYTES: usize = 320;

/// NVSentinel's memory of a value.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SnapshotEntry {
    value: u64,
    #[serde(default)]
    timestamp: String,
}

/// NVSentinel's memory of a breach that stands.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FlagEntry {
    #[serde(default)]
    breached: bool,
    #[serde(default)]
    check_name: String,
    #[serde(default)]
    is_fatal: bool,
    #[serde(default)]
    since: String,
    #[serde(default)]
    device: String,
    #[serde(default)]
    port: String,
}

/// The keys that both monitors know.
#[derive(Debug, Default)]
pub(crate) struct SharedKeys {
    pub(crate) snapshots: BTreeMap<String, SnapshotEntry>,
    pub(crate) flags: BTreeMap<String, FlagEntry>,
}

/// The counters of a device, in our own key.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(Serialize))]
pub(crate) struct DeviceEntry {
    device: DeviceName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<PciFunction>,
    ports: BTreeMap<PortNumber, PortCounts>,
}

/// The function of a device that is remembered by it, not by its name.
pub(crate) fn function_of(key: &SlotKey) -> Option<&PciFunction> {
    match key {
        SlotKey::Function(function) => Some(function),
        SlotKey::Name(_) => None,
    }
}

/// Our own key.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CountersEntry {
    #[serde(default)]
    is_reborn: bool,
    #[serde(default)]
    reboot: Option<Reboot>,
    #[serde(default)]
    devices: Vec<DeviceEntry>,
}

/// NVSentinel's key of a counter.
pub(crate) fn shared_key(
    name: &DeviceName,
    number: PortNumber,
    port: &PortCounts,
    id: CounterId,
) -> String {
    match &port.interface {
        Some(interface) if id.row().place.is_net() => format!("net:{interface}:{id}"),
        _ => format!("{name}:{number}:{id}"),
    }
}

/// NVSentinel's memory of a counter's value.
fn snapshot(seed: &Seed, stamps: &mut Stamps) -> SnapshotEntry {
    SnapshotEntry {
        value: seed.value,
        timestamp: stamps.text(seed.since.wall_ns),
    }
}

/// NVSentinel's memory of a counter's breach, if one stands.
fn flag(
    name: &DeviceName,
    number: PortNumber,
    port: &PortCounts,
    id: CounterId,
    stamps: &mut Stamps,
) -> Option<FlagEntry> {
    port.counts[&id].said_since_ns.map(|since_ns| FlagEntry {
        breached: true,
        check_name: port.layer.degradation_check().to_string(),
        is_fatal: id.row().is_fatal,
        since: stamps.text(since_ns),
        device: name.to_string(),
        port: number.to_string(),
    })
}

/// What of a counter these entries tell, beside whose it is.
pub(crate) fn shared_part(count: &Count) -> (Option<(u64, u64)>, Option<u64>) {
    let seed = count.seed.as_ref();
    let seed = seed.map(|seed| (seed.value, seed.since.wall_ns));
    (seed, count.said_since_ns)
}

/// The same as text, as it lies in the maps that both monitors know.
#[derive(Debug, Clone)]
pub(crate) struct SharedTexts {
    pub(crate) key: String,
    pub(crate) snapshot: Option<Arc<[u8]>>,
    pub(crate) flag: Option<Vec<u8>>,
}

impl SharedTexts {
    /// Of a counter of this port, by its key.
    pub(crate) fn of(
        key: String,
        name: &DeviceName,
        number: PortNumber,
        port: &PortCounts,
        id: CounterId,
        printed: &mut Printed,
    ) -> SharedTexts {
        let seed = port.counts[&id].seed.as_ref();
        let snapshot = seed.map(|seed| printed.snapshot(seed));
        let flag = flag(name, number, port, id, &mut printed.stamps);
        SharedTexts {
            key,
            snapshot,
            flag: flag.as_ref().map(shared_text),
        }
    }
}

/// What one save has printed. Hundreds of counters stand at few values since few times.
#[derive(Default)]
pub(crate) struct Printed {
    stamps: Stamps,
    /// By value, and wall time of its window's beginning.
    snapshots: BTreeMap<(u64, u64), Arc<[u8]>>,
    counts: BTreeMap<Count, Arc<[u8]>>,
}

impl Printed {
    fn snapshot(&mut self, seed: &Seed) -> Arc<[u8]> {
        let text = self.snapshots.entry((seed.value, seed.since.wall_ns));
        let print = || shared_text(&snapshot(seed, &mut self.stamps)).into();
        Arc::clone(text.or_insert_with(print))
    }

    /// A counter as it lies in our own key, so deep in the file.
    pub(crate) fn count(&mut self, count: &Count, depth: usize) -> Arc<[u8]> {
        if let Some(text) = self.counts.get(count) {
            return Arc::clone(text);
        }
        let mut text = Vec::with_capacity(COUNT_BYTES);
        print(&mut text, depth, count);
        let text: Arc<[u8]> = text.into();
        self.counts.insert(count.clone(), Arc::clone(&text));
        text
    }
}

fn shared_text(entry: &impl Serialize) -> Vec<u8> {
    let mut text = Vec::with_capacity(ENTRY_BYTES);
    print(&mut text, SHARED_DEPTH, entry);
    text
}

/// The memory from our own key.
pub(crate) fn restore(entry: CountersEntry) -> CounterMemory {
    let mut memory = CounterMemory {
        is_reborn: entry.is_reborn,
        reboot: entry.reboot,
        ..CounterMemory::default()
    };
    for entry in entry.devices {
        let by_name = SlotKey::Name(entry.device.clone());
        let key = entry.function.map_or(by_name, SlotKey::Function);
        let device = DeviceCounts {
            name: entry.device,
            ports: entry.ports,
        };
        memory.devices.insert(key, device);
    }
    memory
}

/// The memory of a monitor that knows the shared keys only. Where a layer, a device or a counter is
/// not told, the counter is seen for the first time in the next poll.
pub(crate) fn migrate(
    keys: SharedKeys,
    layer_of: impl Fn(&DeviceName, PortNumber) -> Option<LinkLayer>,
) -> CounterMemory {
    let mut memory = CounterMemory::default();
    for (key, entry) in keys.snapshots {
        let flag = keys.flags.get(&key);
        let Some((name, number, interface, id)) = parts(&key, flag) else {
            continue;
        };
        let Some(layer) = layer_of(&name, number) else {
            continue;
        };
        let count = migrated(&mut memory, name, number, layer, interface).entry(id);
        // When the window began on boot time is not told: it counts as long ago.
        count.or_default().seed = Some(Seed {
            value: entry.value,
            since: Stamp {
                boot_ns: 0,
                wall_ns: nanoseconds(&entry.timestamp).unwrap_or_default(),
            },
            last: entry.value,
        });
    }
    for (key, flag) in keys.flags.iter().filter(|(_, flag)| flag.breached) {
        let Some((name, number, interface, id)) = parts(key, Some(flag)) else {
            continue;
        };
        let check = Check::parse(&flag.check_name);
        let check = check.filter(|check| check.kind() == CheckKind::Degradation);
        let layer = check.map(|check| check.layer().into());
        let Some(layer) = layer.or_else(|| layer_of(&name, number)) else {
            continue;
        };
        let count = migrated(&mut memory, name, number, layer, interface).entry(id);
        let since_ns = nanoseconds(&flag.since).unwrap_or_default();
        count.or_default().said_since_ns = Some(since_ns);
    }
    memory
}

fn migrated<'a>(
    memory: &'a mut CounterMemory,
    name: DeviceName,
    number: PortNumber,
    layer: LinkLayer,
    interface: Option<&str>,
) -> &'a mut BTreeMap<CounterId, Count> {
    let device = memory.devices.entry(SlotKey::Name(name.clone()));
    let device = device.or_insert_with(|| DeviceCounts::new(name));
    let port = device.ports.entry(number);
    let port = port.or_insert_with(|| PortCounts::new(layer));
    if let Some(interface) = interface {
        port.interface = Some(interface.to_owned());
    }
    &mut port.counts
}

/// What a shared key speaks of; a key of an interface is told by its flag only.
fn parts<'a>(
    key: &'a str,
    flag: Option<&FlagEntry>,
) -> Option<(DeviceName, PortNumber, Option<&'a str>, CounterId)> {
    let mut parts = key.splitn(3, ':');
    let (first, second, id) = (parts.next()?, parts.next()?, parts.next()?);
    let id = CounterId::parse(id)?;
    if first == "net" {
        let flag = flag?;
        let number = flag.port.parse().ok().map(PortNumber)?;
        return Some((flag.device.as_str().into(), number, Some(second), id));
    }
    Some((first.into(), PortNumber(second.parse().ok()?), None, id))
}

/// Times as text.
#[derive(Default)]
struct Stamps(BTreeMap<u64, String>);

impl Stamps {
    fn text(&mut self, wall_ns: u64) -> String {
        let text = self.0.entry(wall_ns);
        text.or_insert_with(|| proto::timestamp_from_ns(wall_ns).to_string())
            .clone()
    }
}

fn nanoseconds(text: &str) -> Option<u64> {
    let stamp: prost_types::Timestamp = text.parse().ok()?;
    let seconds = u64::try_from(stamp.seconds).ok()?;
    let nanos = u64::try_from(stamp.nanos).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::counters::remembered::DeviceCounts;
    use crate::counters::texts::Texts;
    use crate::members::Members;

    /// These devices as the keys that both monitors know; of two counters with one key the later one
    /// counts.
    pub(in crate::counters) fn shared<'d>(
        devices: impl Iterator<Item = &'d DeviceCounts>,
    ) -> SharedKeys {
        let mut keys = SharedKeys::default();
        for device in devices {
            for (number, port) in &device.ports {
                for id in port.counts.keys() {
                    let mut stamps = Stamps::default();
                    let key = shared_key(&device.name, *number, port, *id);
                    if let Some(seed) = &port.counts[id].seed {
                        keys.snapshots
                            .insert(key.clone(), snapshot(seed, &mut stamps));
                    }
                    if let Some(flag) = flag(&device.name, *number, port, *id, &mut stamps) {
                        keys.flags.insert(key, flag);
                    }
                }
            }
        }
        keys
    }

    /// The entry of a device in our own key.
    pub(in crate::counters) fn entry(key: &SlotKey, device: &DeviceCounts) -> DeviceEntry {
        DeviceEntry {
            device: device.name.clone(),
            function: function_of(key).cloned(),
            ports: device.ports.clone(),
        }
    }

    #[test]
    fn a_breach_of_another_monitor_is_taken_over() {
        let snapshot = |value| SnapshotEntry {
            value,
            timestamp: "2025-03-01T00:00:05.5Z".to_owned(),
        };
        let flag = |device: &str| FlagEntry {
            breached: true,
            check_name: "EthernetDegradationCheck".to_owned(),
            is_fatal: false,
            since: String::new(),
            device: device.to_owned(),
            port: "1".to_owned(),
        };
        let keys = SharedKeys {
            snapshots: BTreeMap::from([
                ("mlx5_0:1:link_downed".to_owned(), snapshot(3)),
                ("mlx5_0:1:collisions".to_owned(), snapshot(3)),
                ("mlx5_9:1:link_downed".to_owned(), snapshot(3)),
                ("net:eth0:carrier_changes".to_owned(), snapshot(8)),
                ("net:eth1:carrier_changes".to_owned(), snapshot(8)),
            ]),
            flags: BTreeMap::from([
                ("net:eth0:carrier_changes".to_owned(), flag("mlx5_1")),
                ("net:eth2:carrier_changes".to_owned(), flag("mlx5_2")),
            ]),
        };
        let layer_of = |name: &DeviceName, _| match name.as_str() {
            "mlx5_0" => Some(LinkLayer::InfiniBand),
            "mlx5_1" => Some(LinkLayer::Ethernet),
            _ => None,
        };
        let memory = migrate(keys, layer_of);
        let names: Vec<&str> = memory.devices.values().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["mlx5_0", "mlx5_1", "mlx5_2"]);
        let third = &memory.devices[&SlotKey::Name("mlx5_2".into())];
        assert_eq!(
            third.ports[&PortNumber(1)].layer,
            LinkLayer::Ethernet,
            "its check tells the layer"
        );
        let again = shared(memory.devices.values());
        let snapshots: Vec<&String> = again.snapshots.keys().collect();
        assert_eq!(
            snapshots,
            ["mlx5_0:1:link_downed", "net:eth0:carrier_changes"]
        );
        assert_eq!(
            again.snapshots["mlx5_0:1:link_downed"].timestamp,
            "2025-03-01T00:00:05.500Z"
        );
        let flags: Vec<&String> = again.flags.keys().collect();
        assert_eq!(
            flags,
            ["net:eth0:carrier_changes", "net:eth2:carrier_changes"]
        );
    }

    #[test]
    fn our_own_key_gives_back_a_memory_that_waits_after_a_reboot() {
        let mut memory = CounterMemory::default();
        let name = DeviceName::from("mlx5_0");
        let layer = LinkLayer::InfiniBand;
        let id = CounterId::parse("link_downed").unwrap();
        let count = Count {
            said_since_ns: Some(7),
            ..Count::default()
        };
        migrated(&mut memory, name, PortNumber(1), layer, None).insert(id, count);
        memory.after_reboot();
        assert!(memory.is_reborn && memory.reboot.is_some());
        let mut texts = Texts::default();
        texts.keep(&memory);
        let mut file = Members::of_file(Vec::new());
        texts.put_own(&memory, &mut file);
        let file: BTreeMap<String, CountersEntry> = serde_json::from_slice(&file.object()).unwrap();
        let entry = file.into_values().next().unwrap();
        assert_eq!(restore(entry), memory);
    }

    #[test]
    fn each_time_has_its_own_text() {
        let mut stamps = Stamps::default();
        let texts = [1, 1, 2].map(|second| stamps.text(second * 1_000_000_000));
        assert_eq!(
            texts,
            [
                "1970-01-01T00:00:01Z",
                "1970-01-01T00:00:01Z",
                "1970-01-01T00:00:02Z"
            ]
        );
    }
}
