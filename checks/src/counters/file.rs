//! Counters in the state file: NVSentinel's two keys, so that its monitor can continue from this
//! file, and the key of this monitor, which is the one that is read.
//!
//! NVSentinel identifies a counter by the device's name, which two devices may have had; this
//! monitor's key identifies it by device. If that key is absent, another monitor wrote the file,
//! and its values and breaches are taken over ([`migrate`]).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use terms::{Check, CheckKind, LinkLayer};

use super::count::{Count, Seed, Stamp};
use super::remembered::{CounterMemory, DeviceCounts, PortCounts};
use super::table::CounterId;
use crate::name::{DeviceName, PciFunction, PortNumber, SlotKey};
use crate::pending_clear::Reboot;
use crate::skip::is_false;

/// NVSentinel's entry for a value.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SnapshotEntry {
    value: u64,
    #[serde(default)]
    timestamp: String,
}

/// NVSentinel's entry for a reported breach.
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

/// The keys that both monitors use.
#[derive(Debug, Default)]
pub(crate) struct SharedKeys {
    pub(crate) snapshots: BTreeMap<String, SnapshotEntry>,
    pub(crate) flags: BTreeMap<String, FlagEntry>,
}

/// The counters of a device, in this monitor's key.
#[derive(Debug, Serialize, Deserialize)]
struct DeviceEntry<'a> {
    device: DeviceName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<PciFunction>,
    ports: Cow<'a, BTreeMap<PortNumber, PortCounts>>,
}

/// This monitor's key.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CountersEntry<'a> {
    #[serde(skip_serializing_if = "is_false")]
    is_reborn: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reboot: Option<Reboot>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<DeviceEntry<'a>>,
}

/// The memory as this monitor's key; `None` if it is empty.
pub(crate) fn own(memory: &CounterMemory) -> Option<CountersEntry<'_>> {
    if *memory == CounterMemory::default() {
        return None;
    }
    let devices = memory.devices.iter().map(|(key, device)| DeviceEntry {
        device: device.name.clone(),
        function: match key {
            SlotKey::Function(function) => Some(function.clone()),
            SlotKey::Name(_) => None,
        },
        ports: Cow::Borrowed(&device.ports),
    });
    Some(CountersEntry {
        is_reborn: memory.is_reborn,
        reboot: memory.reboot.clone(),
        devices: devices.collect(),
    })
}

/// The memory as the keys that both monitors use. If two counters have the same key, the later one
/// is written.
pub(crate) fn shared(memory: &CounterMemory) -> SharedKeys {
    let mut snapshots = Vec::new();
    let mut flags = BTreeMap::new();
    // Most counters were read in the same few polls.
    let mut times = BTreeMap::new();
    let mut read_at = |wall_ns| {
        let text: &mut String = times.entry(wall_ns).or_insert_with(|| timestamp(wall_ns));
        text.clone()
    };
    for device in memory.devices.values() {
        for (number, port) in &device.ports {
            let of_port = format!("{}:{number}:", device.name);
            for (id, count) in &port.counts {
                let key = shared_key(&of_port, port, *id);
                if let Some(since_ns) = count.said_since_ns {
                    let flag = FlagEntry {
                        breached: true,
                        check_name: port.layer.degradation_check().to_string(),
                        is_fatal: id.row().is_fatal,
                        since: timestamp(since_ns),
                        device: device.name.to_string(),
                        port: number.to_string(),
                    };
                    flags.insert(key.clone(), flag);
                }
                if let Some(seed) = &count.seed {
                    let snapshot = SnapshotEntry {
                        value: seed.value,
                        timestamp: read_at(seed.since.wall_ns),
                    };
                    snapshots.push((key, snapshot));
                }
            }
        }
    }
    SharedKeys {
        snapshots: snapshots.into_iter().collect(),
        flags,
    }
}

fn timestamp(wall_ns: u64) -> String {
    proto::timestamp_from_ns(wall_ns).to_string()
}

/// NVSentinel's key of a counter; `of_port` is what precedes the name of a counter of its port.
fn shared_key(of_port: &str, port: &PortCounts, id: CounterId) -> String {
    match &port.interface {
        Some(interface) if id.row().place.is_net() => ["net:", interface, ":", id.name()].concat(),
        _ => [of_port, id.name()].concat(),
    }
}

/// The memory from this monitor's key.
pub(crate) fn restore(entry: CountersEntry<'_>) -> CounterMemory {
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
            ports: entry.ports.into_owned(),
        };
        memory.devices.insert(key, device);
    }
    memory
}

/// The memory from the shared keys only. If a layer, a device or a counter is not in them, the
/// counter counts as new in the next poll.
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
        // The file does not have the window's start in boot time: it counts as long ago.
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
        let layer = check.map(Check::layer);
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

/// The parts of a shared key; only the flag's entry tells which port a key of an interface belongs
/// to.
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

fn nanoseconds(text: &str) -> Option<u64> {
    let stamp: prost_types::Timestamp = text.parse().ok()?;
    let seconds = u64::try_from(stamp.seconds).ok()?;
    let nanos = u64::try_from(stamp.nanos).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let again = shared(&memory);
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
        let text = serde_json::to_string(&own(&memory)).unwrap();
        let entry: CountersEntry<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(restore(entry), memory);
    }
}
