//! A NIC health monitor of another vendor, drilled by `tests/command/another_make.rs`.
//!
//! It shares no code with this project: its own discovery, two listings per poll, a publishing thread, its
//! own texts, and disappearance reported at the third poll. `--without WORD` disables one of its features.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

#[derive(Clone, PartialEq, prost::Message)]
struct Batch {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(message, repeated, tag = "2")]
    events: Vec<Event>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Event {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(string, tag = "2")]
    agent: String,
    #[prost(string, tag = "3")]
    component_class: String,
    #[prost(string, tag = "4")]
    check: String,
    #[prost(bool, tag = "5")]
    fatal: bool,
    #[prost(bool, tag = "6")]
    healthy: bool,
    #[prost(string, tag = "7")]
    message: String,
    #[prost(int32, tag = "8")]
    action: i32,
    #[prost(message, repeated, tag = "10")]
    entities: Vec<Entity>,
    #[prost(message, optional, tag = "12")]
    at: Option<Stamp>,
    #[prost(string, tag = "13")]
    node: String,
    #[prost(int32, tag = "16")]
    strategy: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Entity {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Stamp {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Nothing {}

/// The last report about something: none, healthy, or its severity.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Spoken {
    Nothing,
    Well,
    Ill,
    Dead,
}

#[derive(Default)]
struct Card {
    check: &'static str,
    ports: BTreeMap<String, (Spoken, bool)>,
    absent: u32,
    gone: bool,
}

struct Watch {
    root: PathBuf,
    node: String,
    without: String,
    cards: BTreeMap<String, Card>,
    ignored: BTreeSet<String>,
    polls: u32,
}

impl Watch {
    fn class(&self) -> PathBuf {
        self.root.join("sys/class/infiniband")
    }

    fn listing(&self) -> BTreeSet<String> {
        names(&self.class())
    }

    /// Polls once; returns the events.
    fn poll(&mut self) -> Vec<Event> {
        let listed = self.listing();
        let mut reported = Vec::new();
        for name in &listed {
            if !self.cards.contains_key(name) && !self.ignored.contains(name) {
                if self.is_ours(name) {
                    self.cards.insert(name.clone(), Card::default());
                } else {
                    self.ignored.insert(name.clone());
                }
            }
        }
        let mut cards = std::mem::take(&mut self.cards);
        for (name, card) in &mut cards {
            if !listed.contains(name) {
                card.absent += 1;
                let patience = if self.without == "debounce" { 1 } else { 3 };
                if card.absent == patience {
                    card.gone = true;
                    reported.push(self.event(card.check, name, "", Spoken::Dead, "left the bus"));
                }
                continue;
            }
            card.absent = 0;
            self.ports(name, card, &mut reported);
        }
        self.cards = cards;
        self.polls += 1;
        // A second listing: what has come meanwhile is reported in the next poll.
        let _ = self.listing();
        reported
    }

    fn ports(&self, name: &str, card: &mut Card, reported: &mut Vec<Event>) {
        let folder = self.class().join(name).join("ports");
        let mut well = BTreeMap::new();
        for port in names(&folder) {
            let read = |file: &str| fs::read_to_string(folder.join(&port).join(file));
            let (Ok(layer), Ok(state), Ok(phys)) =
                (read("link_layer"), read("state"), read("phys_state"))
            else {
                continue; // not read is not ill
            };
            let ethernet = layer.trim() == "Ethernet";
            card.check = if ethernet {
                "EthernetStateCheck"
            } else {
                "InfiniBandStateCheck"
            };
            let now = match (state.trim(), phys.trim()) {
                ("4: ACTIVE", "5: LinkUp") => Spoken::Well,
                ("1: DOWN", _) => Spoken::Dead,
                (_, "3: Disabled") if !ethernet => Spoken::Dead,
                _ if ethernet => Spoken::Nothing,
                _ => Spoken::Ill,
            };
            well.insert(port, now);
        }
        if card.gone {
            if self.without == "return" || !well.values().all(|now| *now == Spoken::Well) {
                return;
            }
            card.gone = false;
            reported.push(self.event(card.check, name, "", Spoken::Well, "is back on the bus"));
            for before in card.ports.values_mut() {
                *before = (Spoken::Nothing, true);
            }
        }
        for (port, now) in well {
            let first = self.polls == 0;
            let (before, owes) = card
                .ports
                .entry(port.clone())
                .or_insert((Spoken::Nothing, first));
            let text = match now {
                Spoken::Well if *before > Spoken::Well || *owes || *before == Spoken::Nothing => {
                    "carries traffic"
                }
                Spoken::Ill | Spoken::Dead if *before != Spoken::Nothing && now > *before => {
                    "carries no traffic"
                }
                _ => continue,
            };
            if now == Spoken::Well && self.without == "recovery" && *before > Spoken::Well {
                continue;
            }
            (*before, *owes) = (now, false);
            reported.push(self.event(card.check, name, &port, now, text));
        }
    }

    /// Whether it is a Mellanox function other than the host's management NIC.
    fn is_ours(&self, name: &str) -> bool {
        let device = self.class().join(name).join("device");
        let vendor = fs::read_to_string(device.join("vendor")).unwrap_or_default();
        let numa = fs::read_to_string(device.join("numa_node")).unwrap_or_default();
        let routes = fs::read_to_string(self.root.join("proc/net/route")).unwrap_or_default();
        let door = routes
            .lines()
            .filter_map(|line| {
                line.split_whitespace()
                    .take(2)
                    .collect::<Vec<_>>()
                    .try_into()
                    .ok()
            })
            .find_map(|[interface, to]: [&str; 2]| (to == "00000000").then_some(interface));
        let is_door = door.is_some_and(|door| names(&device.join("net")).contains(door));
        vendor.trim() == "0x15b3"
            && numa.trim() != "-1"
            && !device.join("physfn").exists()
            && (!is_door || self.without == "front-door")
    }

    fn event(&self, check: &str, name: &str, port: &str, reported: Spoken, text: &str) -> Event {
        let entity = |kind: &str, value: &str| Entity {
            kind: kind.into(),
            value: value.into(),
        };
        let mut entities = vec![entity("NIC", name)];
        if !port.is_empty() {
            entities.push(entity("NICPort", port));
        }
        Event {
            version: 1,
            agent: "nic-health-monitor".into(),
            component_class: "NIC".into(),
            check: check.into(),
            fatal: reported == Spoken::Dead,
            healthy: reported == Spoken::Well,
            message: format!("{name} {port} {text}"),
            action: if reported == Spoken::Dead { 25 } else { 0 },
            entities,
            at: None,
            node: self.node.clone(),
            strategy: 1,
        }
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// Publishes events, retrying once per poll until they are accepted.
fn publish(socket: &str, without: &str, polls: &mpsc::Receiver<Vec<Event>>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let channel = runtime.block_on(async {
        tonic::transport::Endpoint::from_shared(format!("unix://{socket}"))
            .expect("a path")
            .connect_lazy()
    });
    let mut pending: Vec<Event> = Vec::new();
    for events in polls {
        pending.extend(events);
        for check in ["InfiniBandStateCheck", "EthernetStateCheck"] {
            let mut events: Vec<Event> = pending
                .iter()
                .filter(|event| event.check == check)
                .cloned()
                .collect();
            if events.is_empty() {
                continue;
            }
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .expect("after 1970");
            for (place, event) in (0..).zip(&mut events) {
                let at = now + Duration::from_nanos(place);
                let seconds = i64::try_from(at.as_secs()).expect("before 2262");
                event.at = Some(Stamp {
                    seconds,
                    nanos: at.subsec_nanos().cast_signed(),
                });
            }
            let mut client = tonic::client::Grpc::new(channel.clone());
            let sent = runtime.block_on(async {
                client
                    .ready()
                    .await
                    .map_err(|_| tonic::Status::unavailable("no connector"))?;
                let codec = tonic_prost::ProstCodec::<Batch, Nothing>::default();
                let path = "/datamodels.PlatformConnector/HealthEventOccurredV1"
                    .parse()
                    .expect("a path");
                client
                    .unary(
                        tonic::Request::new(Batch { version: 1, events }),
                        path,
                        codec,
                    )
                    .await
            });
            if sent.is_ok() || without == "retry" {
                pending.retain(|event| event.check != check);
            }
        }
    }
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let after = |flag: &str| {
        let place = arguments.iter().position(|word| word == flag);
        place
            .and_then(|place| arguments.get(place + 1))
            .cloned()
            .unwrap_or_default()
    };
    let mut watch = Watch {
        root: PathBuf::from(after("--root")),
        node: after("--node"),
        without: after("--without"),
        cards: BTreeMap::new(),
        ignored: BTreeSet::new(),
        polls: 0,
    };
    let (socket, without) = (after("--socket"), after("--without"));
    let (sender, polls) = mpsc::channel();
    thread::spawn(move || publish(&socket, &without, &polls));
    while sender.send(watch.poll()).is_ok() {
        thread::sleep(Duration::from_millis(2));
    }
}
