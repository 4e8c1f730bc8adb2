//! Generated identifiers: GUIDs, hardware addresses, boot ids. Each is a function of names and
//! positions, without randomness.

use std::collections::BTreeMap;

use crate::gid::{eui64, port_guid};
use crate::{Gid, GidKind, LinkLayer, NodeName, PciAddress, PortNumber};

/// The first 32 bits of a maker's GUIDs and the first 24 of its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Maker {
    guid: u32,
    address: [u8; 3],
}

impl Maker {
    /// NVIDIA, and every maker without identifiers of its own here: `94:6d:ae` and `03`.
    const NVIDIA: Self = Self {
        guid: 0x946d_ae03,
        address: [0x94, 0x6d, 0xae],
    };
    /// Intel's Omni-Path adapters have the organization of `PathScale`, whose design they continue
    /// (Linux `hfi1/hfi.h`, `HFI1_OUI`).
    const INTEL: Self = Self {
        guid: 0x0011_7501,
        address: [0x00, 0x11, 0x75],
    };
    /// Cornelis Networks (IEEE registry: `D0-06-6A`).
    const CORNELIS: Self = Self {
        guid: 0xd006_6a01,
        address: [0xd0, 0x06, 0x6a],
    };

    /// The maker of a card with this PCI vendor.
    fn of(vendor: u16) -> Self {
        match vendor {
            0x434e => Self::CORNELIS,
            0x8086 => Self::INTEL,
            _ => Self::NVIDIA,
        }
    }

    /// The GUID of a piece of hardware with this number of 24 bits.
    fn guid(self, number: u32) -> u64 {
        u64::from(self.guid) << 32 | u64::from(number)
    }
}

/// The identifiers of a piece of hardware.
#[derive(Clone, Copy, Debug)]
pub struct Ids {
    maker: Maker,

    /// The card's number, 24 bits, the lowest three bits zero.
    card: u32,
    /// The function of the card, 0 to 7.
    function: u32,
}

impl Ids {
    /// The identifiers of the function at `pci` on `node`, of this PCI vendor; another `generation` is
    /// other hardware in that slot.
    #[must_use]
    pub fn of(node: &NodeName, pci: &PciAddress, vendor: u16, generation: u32) -> Self {
        let card = hash(&[
            node.as_str(),
            &pci.card().to_string(),
            &generation.to_string(),
        ]);
        Self {
            maker: Maker::of(vendor),
            card: u32::try_from(card & 0x00ff_fff8).expect("24 bits"),
            function: u32::from(pci.function),
        }
    }

    /// The node GUID: its maker's organization, and the function's number.
    #[must_use]
    pub fn node_guid(&self) -> u64 {
        self.maker.guid(self.card | self.function)
    }

    /// The GUID that all functions of the card share.
    #[must_use]
    pub fn sys_image_guid(&self) -> u64 {
        self.maker.guid(self.card)
    }

    /// The address of the interface of a port: 6 bytes, 20 for IP over InfiniBand.
    #[must_use]
    pub fn hardware_address(&self, arp_type: u16, port: PortNumber) -> Vec<u8> {
        match arp_type {
            32 => {
                let queue_pair = [0x00, 0x00, 0x10, 0x48];
                let prefix = [0xfe, 0x80, 0, 0, 0, 0, 0, 0];
                [
                    &queue_pair[..],
                    &prefix[..],
                    &self.port_guid(port).to_be_bytes()[..],
                ]
                .concat()
            }
            _ => self.mac(port).to_vec(),
        }
    }

    fn port_guid(&self, port: PortNumber) -> u64 {
        port_guid(self.node_guid(), port)
    }

    /// The interface identifier of a port's link-local GIDs: from its GUID, or from its interface's
    /// address.
    #[must_use]
    pub fn interface_id(&self, layer: LinkLayer, port: PortNumber) -> [u8; 8] {
        match layer {
            LinkLayer::InfiniBand => self.port_guid(port).to_be_bytes(),
            LinkLayer::Ethernet => eui64(self.mac(port)),
        }
    }

    fn mac(&self, port: PortNumber) -> [u8; 6] {
        let [_, high, middle, low] = (self.card | self.function).to_be_bytes();
        let [first, second, third] = self.maker.address;
        [first, second, third ^ (port.0 - 1), high, middle, low]
    }

    /// The local identifier that a subnet manager assigns: 1 to 0xbfff.
    pub(crate) fn lid(&self, port: PortNumber) -> u16 {
        let id = hash(&[&self.node_guid().to_string(), &port.to_string()]);
        u16::try_from(2 + id % 0xb000).expect("below 0xbfff")
    }

    /// The GID table of a port whose interface has an address (`lsd 9.1`).
    pub(crate) fn gids(
        &self,
        layer: LinkLayer,
        port: PortNumber,
        netdev: Option<usize>,
    ) -> BTreeMap<u16, Gid> {
        let place = netdev.and_then(|place| u8::try_from(place).ok());
        let id = self.interface_id(layer, port);
        if layer == LinkLayer::InfiniBand {
            return BTreeMap::from([(0, Gid::link_local(id, GidKind::RoceV1, None))]);
        }
        let mut mapped = [0; 16];
        let [_, high, middle, low] = (self.card | self.function).to_be_bytes();
        let address = [172, 16 + (high & 0x0f), middle, low];
        mapped[10..12].copy_from_slice(&[0xff, 0xff]);
        mapped[12..].copy_from_slice(&address);
        let kinds = [GidKind::RoceV1, GidKind::RoceV2];
        let link_local = kinds.map(|kind| Gid::link_local(id, kind, place));
        let mapped = kinds.map(|kind| Gid {
            bytes: mapped,
            kind,
            netdev: place,
        });
        (0..).zip(link_local.into_iter().chain(mapped)).collect()
    }
}

/// The boot id of a node's boot of this number, from 0.
#[must_use]
pub fn boot_id(node: &NodeName, boot: u32) -> String {
    uuid(
        hash(&[node.as_str(), "boot", &boot.to_string()]),
        u64::from(boot),
    )
}

pub(crate) fn uuid(high: u64, salt: u64) -> String {
    let low = hash(&[&high.to_string(), &salt.to_string()]);
    let [a, b, c, d] = [
        high >> 32,
        high >> 16 & 0xffff,
        high & 0x0fff,
        low >> 48 & 0x3fff,
    ];
    format!(
        "{a:08x}-{b:04x}-4{c:03x}-{:04x}-{:012x}",
        d | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

/// FNV-1a over the texts, each terminated by a byte that does not occur in text.
pub(crate) fn hash(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xff]));
    let fnv = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // FNV's low bits are poorly mixed for texts that differ in the last letter only.
    (fnv ^ fnv >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ fnv >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(vendor: u16, guid: &str, address: &str) {
        let pci: PciAddress = "0000:18:00.0".parse().expect("an address");
        let ids = Ids::of(&NodeName::from("node-1"), &pci, vendor, 0);
        let shown = format!("{:016x}", ids.node_guid());
        assert!(shown.starts_with(guid), "{shown}");
        let bytes = ids.hardware_address(1, PortNumber(1));
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let shown = bytes.join(":");
        assert!(shown.starts_with(address), "{shown}");
    }

    #[test]
    fn an_omni_path_card_bears_its_maker_s_organization() {
        check(0x434e, "d0066a", "d0:06:6a");
        check(0x8086, "001175", "00:11:75");
        check(0x15b3, "946dae", "94:6d:ae");
    }
}
