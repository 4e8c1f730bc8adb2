//! Identifiers of a single machine: GUIDs, hardware addresses, serial numbers, the host's name. A
//! platform has none by default, and its machines generate their own (`ids.rs`); a capture keeps
//! those of the node on request.
//!
//! Local identifiers and IP addresses, which a network assigns, are not included, nor are those of
//! replaced devices. Start at [`Identifiers`].

use std::collections::BTreeMap;
use std::fmt;

use files::yaml::Refused;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::gid::{eui64, port_guid};
use crate::{Function, LinkLayer, Machine, NetDev, NodeName, PortNumber};

/// Identifiers that a machine has instead of generated ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identifiers {
    /// The host's name, as the metadata collector wrote it.
    pub host: Option<String>,
    /// Identifiers of RDMA devices, by their names at rest; virtual functions included.
    #[serde(default)]
    pub devices: BTreeMap<String, DeviceIdentifiers>,
    /// Identifiers of GPUs, in the order of their numbers.
    #[serde(default)]
    pub gpus: Vec<GpuIdentifiers>,
    /// Addresses of interfaces that do not belong to an RDMA device, by name.
    #[serde(default)]
    pub interfaces: BTreeMap<String, HardwareAddress>,
}

/// Identifiers of an RDMA device and its interfaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceIdentifiers {
    /// The content of `node_desc`.
    pub node_desc: Option<String>,
    /// The content of `node_guid`.
    pub node_guid: Option<Guid>,
    /// The content of `sys_image_guid`, which all functions of a card share.
    pub sys_image_guid: Option<Guid>,
    /// Addresses of its interfaces, in the order of their ports.
    #[serde(default)]
    pub addresses: Vec<HardwareAddress>,
}

/// Identifiers of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuIdentifiers {
    /// Its UUID.
    pub uuid: String,
    /// Its serial number.
    pub serial: String,
}

/// A GUID in the kernel's notation: `a088:c203:00e3:142a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guid(pub u64);

impl Guid {
    /// Parses its text; `None` if it is invalid.
    #[must_use]
    pub(crate) fn by_text(text: &str) -> Option<Self> {
        let groups: Vec<&str> = text.split(':').collect();
        let is_group = |group: &&str| group.len() == 4 && is_hex(group);
        let fits = groups.len() == 4 && groups.iter().all(is_group);
        let number = u64::from_str_radix(&groups.concat(), 16).ok()?;
        fits.then_some(Self(number))
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(&self.0.to_be_bytes(), 2))
    }
}

impl<'de> Deserialize<'de> for Guid {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::by_text(&text).ok_or_else(|| {
            serde::de::Error::custom(Refused {
                what: format!("`{text}` is no GUID"),
                hint: "write four groups of four digits, as in `a088:c203:00e3:142a`",
            })
        })
    }
}

/// The address of an interface: 6 bytes, 20 for IP over InfiniBand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardwareAddress(pub Vec<u8>);

impl HardwareAddress {
    /// Parses its text; `None` if it is invalid.
    #[must_use]
    pub(crate) fn by_text(text: &str) -> Option<Self> {
        let byte = |pair: &str| {
            let is_pair = pair.len() == 2 && is_hex(pair);
            u8::from_str_radix(pair, 16).ok().filter(|_| is_pair)
        };
        let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
        bytes
            .filter(|bytes| matches!(bytes.len(), 6 | 20))
            .map(Self)
    }
}

impl fmt::Display for HardwareAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(&self.0, 1))
    }
}

impl<'de> Deserialize<'de> for HardwareAddress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::by_text(&text).ok_or_else(|| {
            serde::de::Error::custom(Refused {
                what: format!("invalid hardware address `{text}`"),
                hint: "write 6 bytes (20 for IP over InfiniBand), as in `94:6d:ae:01:02:03`",
            })
        })
    }
}

impl Identifiers {
    /// Whether there are no identifiers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The name of the node in the metadata collector's file.
    pub(crate) fn host_or(&self, node: &NodeName) -> NodeName {
        let host = self.host.as_ref();
        host.map_or_else(|| node.clone(), |host| host.clone().into())
    }

    /// Replaces the generated identifiers of a machine at rest by these.
    pub(crate) fn keep(&self, machine: &mut Machine) {
        let mut gpus = machine.gpus.to_vec();
        for (gpu, kept) in gpus.iter_mut().zip(&self.gpus) {
            (gpu.uuid, gpu.serial) = (kept.uuid.clone(), kept.serial.clone());
        }
        machine.gpus = gpus.into();
        for (name, address) in &self.interfaces {
            if let Some(interface) = machine.interfaces.get_mut(name) {
                interface.address.clone_from(&address.0);
            }
        }
        for function in machine.functions.values_mut() {
            let kept = function.rdma.as_ref();
            let kept = kept.and_then(|rdma| self.devices.get(rdma.name.as_str()));
            if let Some(kept) = kept {
                kept.keep(function);
            }
        }
    }
}

impl DeviceIdentifiers {
    fn keep(&self, function: &mut Function) {
        for (netdev, address) in function.netdevs.iter_mut().zip(&self.addresses) {
            netdev.address.clone_from(&address.0);
        }
        let Function { rdma, netdevs, .. } = function;
        let Some(rdma) = rdma else { return };
        if let Some(node_desc) = &self.node_desc {
            rdma.node_desc.clone_from(node_desc);
        }
        if let Some(guid) = self.node_guid {
            rdma.node_guid = guid.0;
        }
        if let Some(guid) = self.sys_image_guid {
            rdma.sys_image_guid = guid.0;
        }
        for (number, port) in &mut rdma.ports {
            let netdev = netdevs.get(usize::from(number.0) - 1);
            let Some(id) = self.interface_id(port.layer, *number, netdev) else {
                continue;
            };
            port.gids.values_mut().for_each(|gid| gid.lend(id));
        }
    }

    /// The interface identifier of a port's link-local GIDs: the modified EUI-64 of its interface's
    /// address (RFC 4291, appendix A); on InfiniBand the port's GUID, which is part of the
    /// interface's address, or without an interface follows from the node's GUID. `None` if none of
    /// these is given.
    fn interface_id(
        &self,
        layer: LinkLayer,
        number: PortNumber,
        netdev: Option<&NetDev>,
    ) -> Option<[u8; 8]> {
        let address = netdev.filter(|_| !self.addresses.is_empty());
        let address = address.map(|netdev| netdev.address.as_slice());
        match (layer, address) {
            (LinkLayer::Ethernet, Some(address)) => address.try_into().ok().map(eui64),
            (LinkLayer::InfiniBand, Some(address)) => address.last_chunk().copied(),
            (LinkLayer::InfiniBand, None) => {
                Some(port_guid(self.node_guid?.0, number).to_be_bytes())
            }
            (LinkLayer::Ethernet, None) => None,
        }
    }
}

/// Bytes in the kernel's notation: groups of `size` bytes, separated by colons.
pub(crate) fn grouped(bytes: &[u8], size: usize) -> String {
    let groups = bytes.chunks(size);
    let groups = groups.map(|group| group.iter().map(|byte| format!("{byte:02x}")).collect());
    groups.collect::<Vec<String>>().join(":")
}

/// Whether a text has hexadecimal digits only, without a sign.
fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_kernel_are_read_and_written_alike() {
        for text in ["a088:c203:00e3:142a", "0000:0000:0000:0000"] {
            assert_eq!(
                Guid::by_text(text).map(|it| it.to_string()).as_deref(),
                Some(text)
            );
        }
        for text in [
            "a088:c203:00e3",
            "a088c20300e3142a",
            "a088:c203:00e3:142g",
            "",
        ] {
            assert_eq!(Guid::by_text(text), None, "{text}");
        }
        let ipoib = "00:00:10:48:fe:80:00:00:00:00:00:00:94:6d:ae:03:00:01:02:03";
        for text in ["94:6d:ae:01:02:03", ipoib] {
            let address = HardwareAddress::by_text(text).map(|it| it.to_string());
            assert_eq!(address.as_deref(), Some(text));
        }
        for text in [
            "94:6d:ae:01:02",
            "94:6d:ae:01:02:+3",
            "94-6d-ae-01-02-03",
            "",
        ] {
            assert_eq!(HardwareAddress::by_text(text), None, "{text}");
        }
    }
}
