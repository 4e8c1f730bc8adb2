//! A small monitor of a card vendor, drilled by `tests/command/made_up_vendor.rs`. It monitors functions
//! of one PCI vendor, stores reported faults in a file, and classifies states by a few rules of its own.
//!
//! It has no counters, no comparison of cards, and no flags except for paths.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    process, thread,
    time::Duration,
};

use proto::{
    Entity, HealthEvent, HealthEvents, ProcessingStrategy, RecommendedAction,
    platform_connector_client::PlatformConnectorClient,
};
use serde::{Deserialize, Serialize};
use signal_hook::{consts::SIGTERM, iterator::Signals};
use tonic::{Code, Status};

/// How long a port may be neither healthy nor dead, or unreadable.
const PATIENCE_NS: u64 = 30_000_000_000;
/// Number of polls at the start in which it waits for an unreadable port.
const FIRST_POLLS: u32 = 3;
/// Number of attempts of a call in a poll, if it can be retried.
const ATTEMPTS: u32 = 5;

/// The last report about something.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
enum Spoken {
    #[default]
    Nothing,
    Well,
    Ill,
    Dead,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Port {
    reported: Spoken,
    /// Boot time since which it has been neither healthy nor dead.
    ill_since: Option<u64>,
    /// Boot time since which it cannot be read.
    unread_since: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Device {
    check: String,
    gone: bool,
    ports: BTreeMap<String, Port>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Memory {
    boot_id: String,
    devices: BTreeMap<String, Device>,
    /// Devices that are not monitored.
    others: BTreeMap<String, ()>,
    has_begun: bool,
}

/// An event, and what to store once it was accepted.
struct Change {
    device: String,
    port: Option<String>,
    reported: Spoken,
    text: String,
}

struct Watch {
    root: PathBuf,
    vendor: String,
    node: String,
    state: PathBuf,
    memory: Memory,
    polls: u32,
    clock: (u64, u64),
    /// The last timestamp: each is later than the one before.
    stamp: u64,
}

/// The state of a port, if it could be read.
enum Seen {
    Well,
    Ill(String),
    Dead(String),
    /// A state without consequence.
    Idle,
    Unread(String),
}

impl Watch {
    fn class(&self) -> PathBuf {
        self.root.join("sys/class/infiniband")
    }

    /// Polls once; returns the events; none if the devices cannot be listed.
    fn poll(&mut self) -> Vec<Change> {
        let listed = names(&self.class());
        let (wall, boot) = self.clock;
        let text = fs::read_to_string(self.root.join("nicdrill/clock")).unwrap_or_default();
        let mut numbers = text.split_whitespace().map(str::parse);
        self.clock = match (numbers.next(), numbers.next()) {
            (Some(Ok(wall)), Some(Ok(boot))) => (wall, boot),
            _ => (wall, boot),
        };
        let listed = match listed {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(_) => return Vec::new(),
        };
        for name in &listed {
            let known =
                self.memory.devices.contains_key(name) || self.memory.others.contains_key(name);
            if !known {
                match self.is_ours(name) {
                    true => drop(self.memory.devices.insert(name.clone(), Device::default())),
                    false => drop(self.memory.others.insert(name.clone(), ())),
                }
            }
        }
        let mut change = Vec::new();
        let mut devices = std::mem::take(&mut self.memory.devices);
        let mut waits = false;
        for (name, device) in &mut devices {
            if listed.contains(name) {
                waits |= self.look(name, device, &mut change);
            } else if !device.gone {
                change.push(Change {
                    device: name.clone(),
                    port: None,
                    reported: Spoken::Dead,
                    text: format!("{name} is no longer there"),
                });
            }
        }
        self.memory.devices = devices;
        self.polls += 1;
        if waits && !self.memory.has_begun && self.polls <= FIRST_POLLS {
            return Vec::new();
        }
        self.memory.has_begun = true;
        change
    }

    /// Checks one present device; returns whether a port of it cannot be read.
    fn look(&self, name: &str, device: &mut Device, change: &mut Vec<Change>) -> bool {
        let (_, now) = self.clock;
        let folder = self.class().join(name).join("ports");
        let ports = names(&folder).unwrap_or_default();
        let mut reported = Vec::new();
        let mut unread = false;
        let mut all_well = !ports.is_empty();
        for number in ports {
            let layer = fs::read_to_string(folder.join(&number).join("link_layer"));
            let is_ethernet = layer.is_ok_and(|layer| layer.trim() == "Ethernet");
            device.check = if is_ethernet {
                "EthernetStateCheck"
            } else {
                "InfiniBandStateCheck"
            }
            .into();
            let seen = seen(&folder.join(&number), is_ethernet);
            let before = device.ports.get(&number).cloned().unwrap_or_default();
            let port = device.ports.entry(number.clone()).or_default();
            all_well &=
                matches!(seen, Seen::Well) || before.reported == Spoken::Nothing && !device.gone;
            let mut report = |it: Spoken, text: String| {
                let (device, port) = (name.to_owned(), Some(number.clone()));
                reported.push(Change {
                    device,
                    port,
                    reported: it,
                    text,
                });
            };
            if !matches!(seen, Seen::Unread(_)) {
                port.unread_since = None;
            }
            if !matches!(seen, Seen::Ill(_) | Seen::Unread(_)) {
                port.ill_since = None;
            }
            match seen {
                Seen::Well if before.reported != Spoken::Well => {
                    report(Spoken::Well, "carries traffic".into())
                }
                Seen::Well | Seen::Idle => {}
                Seen::Dead(text) if matches!(before.reported, Spoken::Well | Spoken::Ill) => {
                    report(Spoken::Dead, text)
                }
                Seen::Dead(_) => {}
                Seen::Ill(text) => {
                    let since = *port.ill_since.get_or_insert(now);
                    let is_late = now.saturating_sub(since) > PATIENCE_NS;
                    match before.reported {
                        Spoken::Well => report(Spoken::Ill, text),
                        Spoken::Ill if is_late => report(Spoken::Dead, text),
                        _ => {}
                    }
                }
                Seen::Unread(text) => {
                    unread = true;
                    let since = *port.unread_since.get_or_insert(now);
                    if now.saturating_sub(since) > PATIENCE_NS && before.reported == Spoken::Well {
                        report(Spoken::Ill, text);
                    }
                }
            }
        }
        if device.gone {
            // The device first, then its ports: no healthy event about it before all are healthy.
            if !all_well {
                return unread;
            }
            let (device, port) = (name.to_owned(), None);
            let text = format!("{name} is back");
            change.push(Change {
                device,
                port,
                reported: Spoken::Well,
                text,
            });
        }
        change.extend(reported);
        unread
    }

    /// Whether it is a physical function of our vendor on a GPU's NUMA node, other than the host's
    /// management NIC.
    fn is_ours(&self, name: &str) -> bool {
        let device = self.class().join(name).join("device");
        let text = |file: &str| fs::read_to_string(device.join(file)).unwrap_or_default();
        let routes = fs::read_to_string(self.root.join("proc/net/route")).unwrap_or_default();
        let mut doors = routes.lines().filter_map(|line| {
            let mut columns = line.split_whitespace();
            let (interface, to) = (columns.next()?, columns.next()?);
            (to == "00000000").then_some(interface)
        });
        let own = names(&device.join("net")).unwrap_or_default();
        let is_door = doors.any(|door| own.iter().any(|name| name == door));
        let is_virtual = device.join("physfn").exists();
        text("vendor").trim() == self.vendor
            && text("numa_node").trim() != "-1"
            && !is_virtual
            && !is_door
    }

    /// Stores what was reported and accepted.
    fn remember(&mut self, change: &Change) {
        let Some(device) = self.memory.devices.get_mut(&change.device) else {
            return;
        };
        match &change.port {
            None if change.reported == Spoken::Dead => {
                device.gone = true;
                device
                    .ports
                    .values_mut()
                    .for_each(|port| *port = Port::default());
            }
            None => device.gone = false,
            Some(number) => {
                device.ports.entry(number.clone()).or_default().reported = change.reported
            }
        }
    }

    fn event(&mut self, change: &Change) -> HealthEvent {
        self.stamp = self.clock.0.max(self.stamp + 1);
        let entity = |kind: &str, value: &str| Entity {
            entity_type: kind.to_owned(),
            entity_value: value.to_owned(),
        };
        let mut entities = vec![entity("NIC", &change.device)];
        entities.extend(change.port.iter().map(|port| entity("NICPort", port)));
        let dead = change.reported == Spoken::Dead;
        let action = if dead {
            RecommendedAction::ReplaceVm
        } else {
            RecommendedAction::None
        };
        HealthEvent {
            version: proto::VERSION,
            agent: "nic-health-monitor".to_owned(),
            component_class: "NIC".to_owned(),
            check_name: self.memory.devices[&change.device].check.clone(),
            is_fatal: dead,
            is_healthy: change.reported == Spoken::Well,
            message: change.text.clone(),
            recommended_action: action.into(),
            entities_impacted: entities,
            generated_timestamp: Some(proto::timestamp_from_ns(self.stamp)),
            node_name: self.node.clone(),
            processing_strategy: ProcessingStrategy::ExecuteRemediation.into(),
            ..HealthEvent::default()
        }
    }

    /// Writes the stored reports durably to the file.
    fn save(&self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.memory).map_err(io::Error::other)?;
        let beside = self.state.with_extension("part");
        fs::write(&beside, text)?;
        fs::rename(beside, &self.state)
    }
}

/// The state in a port's two files; the kernel's number and name must agree.
fn seen(folder: &Path, is_ethernet: bool) -> Seen {
    const STATES: [&str; 6] = ["NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"];
    const PHYS: [&str; 8] = [
        "",
        "Sleep",
        "Polling",
        "Disabled",
        "PortConfigurationTraining",
        "LinkUp",
        "LinkErrorRecovery",
        "Phy Test",
    ];
    let read = |file: &str, words: &[&str]| {
        let text = fs::read_to_string(folder.join(file)).map_err(|error| error.to_string())?;
        let (number, word) = text.trim_end().split_once(": ").ok_or("garbled")?;
        let number: usize = number.parse().map_err(|_| "garbled")?;
        match words.get(number) {
            Some(known) if *known != word && !known.is_empty() => Err("garbled".to_owned()),
            _ => Ok((number, word.to_owned())),
        }
    };
    match (read("state", &STATES), read("phys_state", &PHYS)) {
        (Err(error), _) | (_, Err(error)) => Seen::Unread(format!("cannot be read: {error}")),
        (Ok((4, _)), Ok((5, _))) => Seen::Well,
        (Ok((state, word)), Ok((phys, phys_word))) => {
            let text = format!("is {word}, {phys_word}");
            match (state, phys) {
                (1, _) => Seen::Dead(text),
                (_, 3) if !is_ethernet => Seen::Dead(text),
                _ if is_ethernet => Seen::Idle,
                _ => Seen::Ill(text),
            }
        }
    }
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = entries.collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

/// Sends a batch until it is accepted, rejected permanently, or was tried often enough.
fn send(runtime: &tokio::runtime::Runtime, socket: &str, events: Vec<HealthEvent>) -> bool {
    let batch = HealthEvents {
        version: proto::VERSION,
        events,
    };
    for _ in 0..ATTEMPTS {
        let sent = runtime.block_on(async {
            let client = PlatformConnectorClient::connect(format!("unix://{socket}")).await;
            let client = client.map_err(|_| Status::unavailable("no connector"));
            client?.health_event_occurred_v1(batch.clone()).await
        });
        match sent {
            Ok(_) => return true,
            Err(status) if !matches!(status.code(), Code::Unavailable | Code::Unknown) => {
                return false;
            }
            Err(_) => thread::sleep(Duration::from_millis(2)),
        }
    }
    false
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().collect();
    let after = |flag: &str| {
        let place = arguments.iter().position(|word| word == flag);
        let value = place.and_then(|place| arguments.get(place + 1));
        value.cloned().unwrap_or_default()
    };
    let mut signals = Signals::new([SIGTERM])?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            process::exit(0);
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let root = PathBuf::from(after("--root"));
    let state = PathBuf::from(after("--state"));
    let saved = fs::read(&state).ok();
    let saved = saved.and_then(|bytes| serde_json::from_slice::<Memory>(&bytes).ok());
    let boot_id =
        fs::read_to_string(root.join("proc/sys/kernel/random/boot_id")).unwrap_or_default();
    let mut watch = Watch {
        vendor: after("--vendor"),
        node: after("--node"),
        memory: saved
            .filter(|memory| memory.boot_id == boot_id)
            .unwrap_or_default(),
        state,
        root,
        polls: 0,
        clock: (0, 0),
        stamp: 0,
    };
    watch.memory.boot_id = boot_id;
    let socket = after("--socket");
    loop {
        let before = watch.memory.clone();
        let change = watch.poll();
        for check in ["InfiniBandStateCheck", "EthernetStateCheck"] {
            let own = change
                .iter()
                .filter(|change| watch.memory.devices[&change.device].check == check);
            let own: Vec<&Change> = own.collect();
            let events: Vec<HealthEvent> = own.iter().map(|change| watch.event(change)).collect();
            if !events.is_empty() && send(&runtime, &socket, events) {
                own.into_iter().for_each(|change| watch.remember(change));
            }
        }
        if watch.memory != before {
            // What cannot be stored is reported again after a restart.
            drop(watch.save());
        }
        thread::sleep(Duration::from_millis(1));
    }
}
