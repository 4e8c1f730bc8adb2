//! GIDs: entries of a port's table, and the interface identifier of a link-local one.

use crate::PortNumber;

/// First bytes of a link-local address (RFC 4291, 2.5.6).
const LINK_LOCAL: [u8; 2] = [0xfe, 0x80];

/// An entry of a GID table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gid {
    /// Its sixteen bytes.
    pub bytes: [u8; 16],
    /// Its type.
    pub kind: GidKind,
    /// The interface it belongs to, by index among the function's `netdevs`.
    pub netdev: Option<u8>,
}

/// The type of a GID, as `gid_attrs/types` spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
pub enum GidKind {
    /// InfiniBand, or RoCE version 1: `IB/RoCE v1`.
    #[serde(rename = "IB/RoCE v1")]
    RoceV1,
    /// RoCE version 2: `RoCE v2`.
    #[serde(rename = "RoCE v2")]
    RoceV2,
}

impl Gid {
    /// The link-local address with this interface identifier.
    pub(crate) fn link_local(interface_id: [u8; 8], kind: GidKind, netdev: Option<u8>) -> Self {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(&LINK_LOCAL);
        bytes[8..].copy_from_slice(&interface_id);
        Self {
            bytes,
            kind,
            netdev,
        }
    }

    /// Whether it is a link-local address.
    #[must_use]
    pub fn is_link_local(&self) -> bool {
        self.bytes.starts_with(&LINK_LOCAL)
    }

    /// Sets the interface identifier of a link-local address; any other stays the same.
    pub fn lend(&mut self, interface_id: [u8; 8]) {
        if self.is_link_local() {
            self.bytes[8..].copy_from_slice(&interface_id);
        }
    }
}

/// The modified EUI-64 of a hardware address (RFC 4291, appendix A).
pub(crate) fn eui64([a, b, c, d, e, f]: [u8; 6]) -> [u8; 8] {
    [a ^ 2, b, c, 0xff, 0xfe, d, e, f]
}

/// The GUID of a port of the node with this GUID.
pub(crate) fn port_guid(node_guid: u64, port: PortNumber) -> u64 {
    node_guid.wrapping_add((u64::from(port.0) - 1) * 0x0100_0000)
}
