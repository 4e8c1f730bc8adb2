//! The simulated world beside the node: the platform at rest with all recorded actions applied.

use std::collections::{BTreeMap, BTreeSet};

use platforms::{CLASS_INFINIBAND, PciAddress, Platform, SlotRef};
use simfs::{Errno, Fs, SimTime};

use super::{
    change::{Change, Rule, Slots},
    seen::{FileSeen, Seen, see},
    write::Handle,
};
use crate::node::{Guest, Unread};
use fabric::SingleNode;

/// A world of one node, and its tree.
pub(super) struct Shadow {
    node: SingleNode,
    fs: Fs,
    slots: Slots,
    vfs: BTreeSet<PciAddress>,
    /// Counters of transferred data, by driver: they follow traffic, which is not recorded.
    traffic: BTreeMap<SlotRef, Vec<String>>,
    list_fails: Option<Errno>,
    read_fails: BTreeMap<(SlotRef, String), Errno>,
}

/// Counters of an interface that change with every packet.
const PACKETS: &[&str] = &[
    "multicast",
    "rx_bytes",
    "rx_packets",
    "tx_bytes",
    "tx_packets",
];

impl Shadow {
    pub(super) fn new(platform: &Platform) -> Self {
        let (node, at_rest) = SingleNode::at_rest(platform);
        let mut fs = Fs::new();
        fs.alias_folder(CLASS_INFINIBAND);
        fs.apply(&at_rest);
        fs.set_tracing(false);
        let mut slots = Slots::new();
        let mut traffic = BTreeMap::new();
        let mut vfs = BTreeSet::new();
        for port in platform.ports() {
            if port.is_vf {
                vfs.insert(port.pci);
            }
            let slot = SlotRef {
                node: node.name().clone(),
                pci: port.pci,
                port: port.port,
            };
            let driver = platform.driver(&port.driver_file);
            let of_port = driver.map(|driver| &driver.traffic);
            let of_port = of_port
                .into_iter()
                .flat_map(platforms::TrafficCounters::counters);
            traffic.insert(slot.clone(), of_port.cloned().collect());
            slots.insert(slot, port.device);
        }
        Self {
            node,
            fs,
            slots,
            vfs,
            traffic,
            list_fails: None,
            read_fails: BTreeMap::new(),
        }
    }

    pub(super) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The handle of a port: its device's name at rest, with the port number if it is not 1.
    pub(super) fn handle(&self, slot: &SlotRef) -> Handle {
        let device = self.slots.get(slot).or_else(|| {
            let same = self.slots.iter().find(|(known, _)| known.pci == slot.pci);
            same.map(|(_, name)| name)
        });
        let device = device.expect("a change is about a port at rest");
        Handle::of(device, slot.port, self.vfs.contains(&slot.pci))
    }

    pub(super) fn advance(&mut self, to: SimTime) {
        self.node.advance(to);
        self.show();
    }

    /// Applies a change; returns `false` if this world cannot perform it.
    pub(super) fn done(&mut self, change: &Change) -> bool {
        match change.rule() {
            Some(Rule { file: None, fails }) => self.list_fails = fails,
            Some(Rule {
                file: Some((slot, file)),
                fails,
            }) => {
                let key = (slot.clone(), file.to_owned());
                match fails {
                    Some(errno) => drop(self.read_fails.insert(key, errno)),
                    None => drop(self.read_fails.remove(&key)),
                }
            }
            None => {
                let Some(action) = change.action(self.node.name()) else {
                    return false;
                };
                if self.node.fabric.act(&action).is_err() {
                    return false;
                }
                self.show();
            }
        }
        true
    }

    /// A snapshot of this world.
    pub(super) fn shown(&mut self) -> Seen {
        let mut seen = see(&mut Tree(&mut self.fs));
        if let Ok(devices) = &mut seen.devices {
            for ((slot, file), errno) in &self.read_fails {
                let device = devices.get_mut(&slot.pci);
                let port = device.and_then(|device| device.ports.get_mut(&slot.port));
                if let Some(port) = port {
                    port.insert(file.clone(), FileSeen::Fails(*errno));
                }
            }
        }
        if let Some(errno) = self.list_fails {
            seen.devices = Err(errno);
        }
        self.comparable(&seen)
    }

    /// The part of a snapshot that this world can show: without counters of transferred data, and
    /// without devices that are not NICs at rest.
    pub(super) fn comparable(&self, seen: &Seen) -> Seen {
        let mut seen = seen.clone();
        seen.boot_id = None;
        let known: BTreeSet<PciAddress> = self.slots.keys().map(|slot| slot.pci).collect();
        seen.functions.retain(|pci| known.contains(pci));
        let devices = seen.devices.iter_mut().flatten();
        for (pci, device) in devices {
            for (number, port) in &mut device.ports {
                let slot = SlotRef {
                    node: self.node.name().clone(),
                    pci: *pci,
                    port: *number,
                };
                let own = self.traffic.get(&slot).map(Vec::as_slice);
                let own = own.unwrap_or_default();
                port.retain(|file, _| match file.split_once('/') {
                    Some(("statistics", name)) => !PACKETS.contains(&name),
                    Some((_, name)) => !own.iter().any(|it| it == name),
                    None => true,
                });
            }
        }
        seen
    }

    fn show(&mut self) {
        let edits = self.node.unshown();
        self.fs.apply(&edits);
    }
}

/// A tree in memory, read like a node.
struct Tree<'a>(&'a mut Fs);

impl Guest for Tree<'_> {
    fn list(&mut self, folder: &str) -> Option<Result<Vec<String>, Unread>> {
        unread(self.0.list(&format!("/{folder}")))
    }

    fn read(&mut self, file: &str) -> Option<Result<String, Unread>> {
        let read = self.0.read(&format!("/{file}"));
        unread(read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn link(&mut self, path: &str) -> Option<String> {
        self.0.read_link(&format!("/{path}")).ok()
    }
}

fn unread<T>(answer: Result<T, simfs::Refused>) -> Option<Result<T, Unread>> {
    match answer {
        Err(simfs::Refused::Errno(Errno::ENOENT)) => None,
        Err(simfs::Refused::Errno(errno)) => Some(Err(Unread {
            cause: errno.to_string(),
            errno: Some(errno),
        })),
        Err(refused) => Some(Err(Unread {
            cause: format!("{refused:?}"),
            errno: None,
        })),
        Ok(answer) => Some(Ok(answer)),
    }
}
