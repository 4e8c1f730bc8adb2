//! One snapshot of a node: what a monitor could see of its NICs.
//!
//! It opens each file once; reading a counter is a query to the card's firmware, as for a monitor. The
//! class of RDMA devices is listed first, as at the start of a monitor's poll, so a snapshot waits at
//! the same gate.

use std::collections::{BTreeMap, BTreeSet};

use platforms::{PciAddress, PortNumber};
use simfs::Errno;

use crate::node::{Guest, Unread};

/// What one snapshot contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The kernel's boot id.
    pub boot_id: Option<String>,
    /// The functions on the PCI bus.
    pub functions: BTreeSet<PciAddress>,
    /// The RDMA devices by function; an error if they cannot be listed.
    pub devices: Result<BTreeMap<PciAddress, DeviceSeen>, Errno>,
}

impl Seen {
    /// Whether a signal interrupted the listing, so that the snapshot is incomplete.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.devices == Err(Errno::EINTR)
    }
}

/// An RDMA device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSeen {
    /// Its name.
    pub name: String,
    /// Its listed ports.
    pub ports: BTreeMap<PortNumber, PortSeen>,
}

/// The files of a port and its interface: `state`, `phys_state`, `operstate`, `carrier_changes`, and
/// those of `counters/`, `hw_counters/` and `statistics/`.
pub type PortSeen = BTreeMap<String, FileSeen>;

/// The result of reading a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSeen {
    /// This text, without trailing blanks.
    Text(String),
    /// An error.
    Fails(Errno),
}

/// The folder with the RDMA devices.
const CLASS: &str = "sys/class/infiniband";

/// Takes a snapshot.
pub fn see(guest: &mut dyn Guest) -> Seen {
    let listed = guest.list(CLASS);
    let boot_id = match guest.read("proc/sys/kernel/random/boot_id") {
        Some(Ok(text)) => Some(text.trim().to_owned()),
        _ => None,
    };
    let functions = names(guest, "sys/bus/pci/devices").into_iter();
    Seen {
        boot_id,
        functions: functions.filter_map(|name| name.parse().ok()).collect(),
        devices: match listed {
            None => Ok(BTreeMap::new()),
            Some(Err(unread)) => Err(errno(&unread)),
            Some(Ok(names)) => {
                let devices = names.into_iter().filter_map(|name| device(guest, name));
                Ok(devices.collect())
            }
        },
    }
}

fn device(guest: &mut dyn Guest, name: String) -> Option<(PciAddress, DeviceSeen)> {
    let folder = format!("{CLASS}/{name}");
    // The entry leads to `…/0000:0c:00.0/infiniband/mlx5_0`.
    let target = guest.link(&folder)?;
    let pci = target.rsplit('/').nth(2)?.parse().ok()?;
    let mut ports = BTreeMap::new();
    for port in names(guest, &format!("{folder}/ports")) {
        let Ok(number) = port.parse() else { continue };
        let folder = format!("{folder}/ports/{port}");
        let mut seen = PortSeen::new();
        for file in ["state", "phys_state"] {
            file_in(guest, &folder, file, file, &mut seen);
        }
        for counters in ["counters", "hw_counters"] {
            for file in names(guest, &format!("{folder}/{counters}")) {
                let key = format!("{counters}/{file}");
                file_in(guest, &folder, &key, &key, &mut seen);
            }
        }
        ports.insert(PortNumber(number), seen);
    }
    for netdev in names(guest, &format!("{folder}/device/net")) {
        let of = format!("sys/class/net/{netdev}");
        let number = match guest.read(&format!("{of}/dev_port")) {
            Some(Ok(text)) => text
                .trim()
                .parse::<u8>()
                .ok()
                .and_then(|it| it.checked_add(1)),
            _ => None,
        };
        let port = number.and_then(|number| ports.get_mut(&PortNumber(number)));
        let Some(seen) = port else { continue };
        for file in ["operstate", "carrier_changes"] {
            file_in(guest, &of, file, file, seen);
        }
        for file in names(guest, &format!("{of}/statistics")) {
            let key = format!("statistics/{file}");
            file_in(guest, &of, &key, &key, seen);
        }
    }
    Some((pci, DeviceSeen { name, ports }))
}

fn file_in(guest: &mut dyn Guest, folder: &str, file: &str, key: &str, seen: &mut PortSeen) {
    let read = match guest.read(&format!("{folder}/{file}")) {
        None => return,
        Some(Ok(text)) => FileSeen::Text(text.trim_end().to_owned()),
        Some(Err(unread)) => FileSeen::Fails(errno(&unread)),
    };
    seen.insert(key.to_owned(), read);
}

/// The names in a folder; empty if it cannot be listed.
fn names(guest: &mut dyn Guest, folder: &str) -> Vec<String> {
    guest.list(folder).and_then(Result::ok).unwrap_or_default()
}

/// A read that exceeded the time limit counts as `ETIMEDOUT`.
fn errno(unread: &Unread) -> Errno {
    unread.errno.unwrap_or(Errno::ETIMEDOUT)
}
