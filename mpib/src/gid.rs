//! GIDs of ports on RoCE.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The GID of an end's port (index 3 of the port's table).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gid(Ipv6Addr);

impl Gid {
    /// The IPv4-mapped GID (`::ffff:a.b.c.d`) of an address.
    #[must_use]
    pub const fn of_ipv4(address: Ipv4Addr) -> Self {
        Self(address.to_ipv6_mapped())
    }

    /// Any GID.
    #[must_use]
    pub const fn new(address: Ipv6Addr) -> Self {
        Self(address)
    }

    /// Whether the GID carries an IPv4 address.
    #[must_use]
    pub const fn is_ipv4(self) -> bool {
        self.0.to_ipv4_mapped().is_some()
    }

    /// The IPv4 address in host order; 0 if the GID has none, as in the plugin.
    #[must_use]
    pub const fn ipv4_bits(self) -> u32 {
        match self.0.to_ipv4_mapped() {
            Some(address) => address.to_bits(),
            None => 0,
        }
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
