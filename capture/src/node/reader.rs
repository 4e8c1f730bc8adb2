//! Reads a node: the folders to list, the files to read, and their paths in the snapshot.

use std::collections::BTreeSet;

use platforms::{PciAddress, capture::Snapshot};
use simfs::Errno;

use super::asked;

/// Access to a node's file system; paths have no leading slash.
pub trait Guest {
    /// The names in a folder, sorted; `None` if it does not exist, an error if it cannot be listed.
    fn list(&mut self, folder: &str) -> Option<Result<Vec<String>, Unread>>;
    /// A file's text; `None` if it does not exist, an error if it cannot be read.
    fn read(&mut self, file: &str) -> Option<Result<String, Unread>>;
    /// The target of a link; `None` if there is none.
    fn link(&mut self, path: &str) -> Option<String>;
}

/// Why a file or folder cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The error as text.
    pub cause: String,
    /// The error number; `None` on a timeout.
    pub errno: Option<Errno>,
}

/// What is read on request only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The counters of ports, each of which is a query to the card's firmware.
    pub counters: bool,
    /// GUIDs, hardware addresses, serial numbers and names.
    pub identifiers: bool,
}

/// Reads everything that a platform is built from.
pub fn read(guest: &mut dyn Guest, asked: Asked) -> Snapshot {
    let mut reading = Reading {
        guest,
        asked,
        snapshot: Snapshot::default(),
    };
    let nics = reading.devices();
    reading.functions(&nics);
    reading.interfaces(&nics);
    for (path, place) in asked::NODE {
        reading.file(path, place);
    }
    reading.snapshot
}

struct Reading<'a> {
    guest: &'a mut dyn Guest,
    asked: Asked,
    snapshot: Snapshot,
}

impl Reading<'_> {
    /// Reads the RDMA devices; returns their functions.
    fn devices(&mut self) -> BTreeSet<PciAddress> {
        let mut functions = BTreeSet::<PciAddress>::new();
        for name in self.names("sys/class/infiniband") {
            let path = format!("sys/class/infiniband/{name}");
            let place = format!("infiniband/{name}");
            self.snapshot.folder(place.clone());
            // The entry leads to `…/0000:0c:00.0/infiniband/mlx5_0`, or that of a subfunction to
            // `…/mlx5_core.sf.4/infiniband/mlx5_0`.
            let target = self.guest.link(&path).unwrap_or_default();
            if let Some(parent) = target.rsplit('/').nth(2) {
                functions.extend(parent.parse::<PciAddress>());
                self.snapshot.link(format!("{place}/device"), parent);
            }
            self.files(&path, &place, asked::DEVICE);
            if self.asked.identifiers {
                self.files(&path, &place, asked::DEVICE_IDENTIFIERS);
            }
            for port in self.names(&format!("{path}/ports")) {
                let (path, place) = (
                    format!("{path}/ports/{port}"),
                    format!("{place}/ports/{port}"),
                );
                self.snapshot.folder(place.clone());
                self.files(&path, &place, asked::PORT);
                let counters = self.asked.counters;
                for folder in asked::COUNTERS.iter().filter(|_| counters) {
                    for file in self.names(&format!("{path}/{folder}")) {
                        self.file(
                            &format!("{path}/{folder}/{file}"),
                            &format!("{place}/{folder}/{file}"),
                        );
                    }
                }
            }
        }
        functions
    }

    /// Reads the functions of NICs and of GPUs.
    fn functions(&mut self, nics: &BTreeSet<PciAddress>) {
        for address in self.names("sys/bus/pci/devices") {
            let path = format!("sys/bus/pci/devices/{address}");
            let place = format!("pci/{address}");
            let is_nic = address.parse().is_ok_and(|pci| nics.contains(&pci));
            if !is_nic {
                self.files(&path, &place, asked::ANY_FUNCTION);
                let class = self.snapshot.text(&format!("{place}/class"));
                let is_gpu =
                    class.is_some_and(|it| it.starts_with("0x03") || it.starts_with("0x12"));
                if !is_gpu {
                    continue;
                }
            }
            self.files(&path, &place, asked::FUNCTION);
            for name in asked::FUNCTION_LINKS {
                if let Some(target) = self.guest.link(&format!("{path}/{name}")) {
                    self.snapshot.link(format!("{place}/{name}"), target);
                }
            }
        }
    }

    fn interfaces(&mut self, nics: &BTreeSet<PciAddress>) {
        let names = self.names("sys/class/net").into_iter();
        for name in names.filter(|name| name != "lo") {
            let path = format!("sys/class/net/{name}");
            let place = format!("net/{name}");
            self.snapshot.folder(place.clone());
            self.files(&path, &place, asked::INTERFACE);
            if self.asked.identifiers {
                self.files(&path, &place, asked::INTERFACE_IDENTIFIERS);
            }
            let device = self.guest.link(&format!("{path}/device"));
            let pci = device
                .as_deref()
                .and_then(|it| it.rsplit('/').next()?.parse().ok());
            if let Some(target) = device {
                self.snapshot.link(format!("{place}/device"), target);
            }
            if pci.is_some_and(|pci| nics.contains(&pci)) {
                continue;
            }
            self.files(&path, &place, asked::OTHER_INTERFACE);
            for lower in self.names(&path) {
                if lower.starts_with("lower_") {
                    self.snapshot
                        .link(format!("{place}/{lower}"), lower.clone());
                }
            }
        }
    }

    /// The names in a folder; empty if it does not exist or cannot be listed.
    fn names(&mut self, folder: &str) -> Vec<String> {
        let listed = self.guest.list(folder).and_then(Result::ok);
        listed.unwrap_or_default()
    }

    fn files(&mut self, path: &str, place: &str, names: &[&str]) {
        for name in names {
            self.file(&format!("{path}/{name}"), &format!("{place}/{name}"));
        }
    }

    fn file(&mut self, path: &str, place: &str) {
        match self.guest.read(path) {
            None => {}
            Some(Ok(text)) => self.snapshot.file(place, text),
            Some(Err(unread)) => self.snapshot.unreadable(place, unread.cause),
        }
    }
}
