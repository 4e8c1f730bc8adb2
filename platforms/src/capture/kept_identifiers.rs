//! The identifiers of a node, for captures that keep them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::snapshot::Snapshot;
use crate::profile::Profile;
use crate::{DeviceIdentifiers, GpuIdentifiers, Guid, HardwareAddress, Identifiers};

/// The identifiers in the metadata collector's file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    node_name: Option<String>,
    gpus: Vec<WrittenGpu>,
}

#[derive(Deserialize)]
struct WrittenGpu {
    pci_address: String,
    uuid: String,
    serial_number: String,
}

/// The identifiers that were read, for the parts that the profile has.
pub(super) fn identifiers(snapshot: &Snapshot, profile: &Profile) -> Identifiers {
    let written = snapshot.text("gpu_metadata.json");
    let written = written.and_then(|text| serde_json::from_str(text).ok());
    let written: Written = written.unwrap_or_default();
    let gpus = profile.gpus.pci.iter().map(|pci| {
        let mut gpus = written.gpus.iter();
        let gpu = gpus.find(|gpu| gpu.pci_address.parse() == Ok(*pci))?;
        Some(GpuIdentifiers {
            uuid: gpu.uuid.clone(),
            serial: gpu.serial_number.clone(),
        })
    });
    // All or none, because they are identified by position.
    let gpus: Option<Vec<GpuIdentifiers>> = gpus.collect();
    let addresses = addresses(snapshot);
    let devices = snapshot.names("infiniband").into_iter().map(|name| {
        let text = |key: &str| snapshot.text(&format!("infiniband/{name}/{key}"));
        let guid = |key: &str| text(key).and_then(Guid::by_text);
        let kept = DeviceIdentifiers {
            node_desc: text("node_desc").map(str::to_owned),
            node_guid: guid("node_guid"),
            sys_image_guid: guid("sys_image_guid"),
            addresses: addresses.get(name).cloned().unwrap_or_default(),
        };
        (name.to_owned(), kept)
    });
    let interfaces = profile.interfaces.iter().filter_map(|interface| {
        let address = snapshot.text(&format!("net/{}/address", interface.name));
        let address = address.and_then(HardwareAddress::by_text)?;
        Some((interface.name.clone(), address))
    });
    Identifiers {
        host: written.node_name,
        devices: devices
            .filter(|(_, kept)| *kept != DeviceIdentifiers::default())
            .collect(),
        gpus: gpus.unwrap_or_default(),
        interfaces: interfaces.collect(),
    }
}

/// The addresses of each device's interfaces, in the order of their ports, up to the first that could
/// not be read.
fn addresses(snapshot: &Snapshot) -> BTreeMap<&str, Vec<HardwareAddress>> {
    let devices = snapshot.names("infiniband").into_iter();
    let of = devices.filter_map(|name| {
        let pci = snapshot.address(&format!("infiniband/{name}/device"))?;
        let netdevs = snapshot.names("net").into_iter();
        let netdevs =
            netdevs.filter(|it| snapshot.address(&format!("net/{it}/device")) == Some(pci));
        let mut netdevs: Vec<(i64, &str)> = netdevs
            .map(|it| {
                let port = snapshot.number(&format!("net/{it}/dev_port"));
                (port.unwrap_or(0), it)
            })
            .collect();
        netdevs.sort_unstable();
        let read = netdevs.into_iter().map_while(|(_, netdev)| {
            snapshot
                .text(&format!("net/{netdev}/address"))
                .and_then(HardwareAddress::by_text)
        });
        Some((name, read.collect()))
    });
    of.collect()
}
