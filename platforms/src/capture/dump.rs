//! Dumps of a node's tree: one line per file, or a JSON map of paths and texts.
//!
//! `dump/line.rs` reads a line, `dump/place.rs` finds what a path is about. Start at [`from_dump`].

mod line;
mod place;

use std::collections::{BTreeMap, BTreeSet};

use super::snapshot::Snapshot;
use line::{Content, Line};
use place::Place;

/// Reads a dump: lines such as `mlx5_0/ports/1/state = 4: ACTIVE`, `eth0/device -> ../0000:0c:00.0` and,
/// as `grep -r` prints them, `/sys/class/infiniband/mlx5_0/fw_ver:28.41.1000`; or a JSON map from paths to
/// texts. Files of RDMA devices, interfaces and PCI functions are read; folders above the device,
/// interface or function are ignored, except a PCI address.
///
/// # Errors
/// The first line that is none of these, or that the JSON is not a map of texts.
pub fn from_dump(text: &str) -> Result<Snapshot, String> {
    let lines = if text.trim_start().starts_with('{') {
        let files: BTreeMap<String, String> = serde_json::from_str(text)
            .map_err(|error| format!("this is no map of paths and texts: {error}"))?;
        let line = |(path, text)| Line {
            path,
            content: Content::Text(text),
        };
        files.into_iter().map(line).collect()
    } else {
        line::lines(text)?
    };
    // A path without a class is about an RDMA device if another path shows that its owner is one.
    let rdma: BTreeSet<String> = lines
        .iter()
        .filter_map(|line| place::rdma_owner(&line.path))
        .map(str::to_owned)
        .collect();
    let mut snapshot = Snapshot::default();
    let mut below: BTreeMap<String, String> = BTreeMap::new();
    for line in &lines {
        if let Some(place) = Place::of(&line.path, &rdma) {
            put(&mut snapshot, &place, &line.content);
            below.extend(place.parent.map(|parent| (place.owner, parent)));
        }
    }
    adopt(&mut snapshot);
    for (owner, parent) in below {
        let device = format!("{owner}/device");
        let address = snapshot.address(&format!("{parent}/device"));
        if let (Some(address), None) = (address, snapshot.address(&device)) {
            snapshot.link(device, address.to_string());
        }
    }
    Ok(snapshot)
}

/// Adds what a line says to the snapshot.
fn put(snapshot: &mut Snapshot, place: &Place, content: &Content) {
    if let Some(address) = &place.address {
        snapshot.link(format!("{}/device", place.owner), address.clone());
    }
    let path = place.path();
    match content {
        Content::Link(target) if place.rest.is_empty() => {
            // The entry of a class leads to `…/0000:0c:00.0/infiniband/mlx5_0`.
            if let Some(address) = place::address_in(target) {
                snapshot.link(format!("{}/device", place.owner), address);
            }
        }
        _ if place.rest.is_empty() => {}
        Content::Link(target) => snapshot.link(path, target.clone()),
        Content::Unread(cause) => snapshot.unreadable(path, cause.clone()),
        // Dumps show an unreadable file as empty.
        Content::Text(text) if text.is_empty() => snapshot.unreadable(path, "empty in the dump"),
        // Some dumps mask a value by the file's own name.
        Content::Text(text) if place.rest.rsplit('/').next() == Some(text.trim()) => {
            snapshot.unreadable(path, "masked in the dump");
        }
        Content::Text(text) => snapshot.file(path, text.clone()),
    }
}

/// Moves the files below a device's link `device` to its function, as far as its address is known, and
/// reads `uevent` (`drivers/pci/pci-driver.c`, `pci_uevent`) for what no other file says.
fn adopt(snapshot: &mut Snapshot) {
    for class in ["infiniband", "net"] {
        let owners: Vec<String> = snapshot
            .names(class)
            .into_iter()
            .map(str::to_owned)
            .collect();
        for owner in owners {
            let device = format!("{class}/{owner}/device");
            let uevent = snapshot
                .text(&format!("{device}/uevent"))
                .map(str::to_owned);
            let slot = uevent.as_deref().and_then(|it| value(it, "PCI_SLOT_NAME"));
            if let (Some(slot), None) = (slot, snapshot.address(&device)) {
                snapshot.link(device.clone(), slot);
            }
            if let Some(address) = snapshot.address(&device) {
                snapshot.rename_below(&format!("{device}/"), &format!("pci/{address}/"));
            } else if let Some(uevent) = uevent {
                facts(snapshot, &device, &uevent);
            }
        }
    }
    let functions: Vec<String> = snapshot
        .names("pci")
        .into_iter()
        .map(str::to_owned)
        .collect();
    for function in functions {
        let function = format!("pci/{function}");
        if let Some(uevent) = snapshot.text(&format!("{function}/uevent")) {
            let uevent = uevent.to_owned();
            facts(snapshot, &function, &uevent);
        }
    }
}

/// Adds a function's ids and driver by its `uevent`, where its own files are not in the dump.
fn facts(snapshot: &mut Snapshot, function: &str, uevent: &str) {
    let ids = [
        ("PCI_ID", ["vendor", "device"]),
        ("PCI_SUBSYS_ID", ["subsystem_vendor", "subsystem_device"]),
    ];
    for (key, files) in ids {
        let pair = value(uevent, key).and_then(|it| it.split_once(':'));
        let Some((first, second)) = pair else {
            continue;
        };
        for (file, id) in files.into_iter().zip([first, second]) {
            let path = format!("{function}/{file}");
            if snapshot.text(&path).is_none() {
                snapshot.file(path, format!("0x{}", id.to_lowercase()));
            }
        }
    }
    let driver = format!("{function}/driver");
    if let (Some(name), None) = (value(uevent, "DRIVER"), snapshot.target(&driver)) {
        snapshot.link(driver, name);
    }
}

/// The value of a key in a `uevent`.
fn value<'a>(uevent: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = uevent.lines();
    lines.find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))
}

#[cfg(test)]
mod tests;
