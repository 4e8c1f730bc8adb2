//! Hosts: two NICs, an environment, an agent.

use std::net::Ipv4Addr;

use platforms::{DeviceName, LinkLayer, NodeName};

use super::{Agent, Environment, Gid, PerRail, SupBandwidth};

/// The number of a host in its topology, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(u16);

impl HostId {
    /// The host with this number.
    #[must_use]
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
}

/// A NIC of a host; the plugin uses its port 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nic {
    /// The device's name, such as `mlx5_0`.
    pub device: DeviceName,
    /// The port's GID at index 3.
    pub gid: Gid,
    /// The port's link layer; the plugin accepts Ethernet only.
    pub link_layer: LinkLayer,
    /// The port's speed in Mbit/s.
    pub speed_mbps: u32,
}

/// A host as a job finds it.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name, such as `vm1`.
    pub name: NodeName,
    /// Its NICs by rail. Its environment must name them accordingly.
    pub nics: PerRail<Nic>,
    /// The address of its control interface, by which the second generation determines islands.
    pub oob: Ipv4Addr,
    /// The environment of its rank.
    pub environment: Environment,
    /// The content of `/tmp/mpib`.
    pub agent: Agent,
}

impl Host {
    /// A host with the given addresses, the document's example environment and its dummy agent.
    ///
    /// Chosen, because the document does not state it: both NICs run at 100 Gbit/s, and the control
    /// interface has the SOUT address.
    #[must_use]
    pub fn new(name: &str, sout: Ipv4Addr, sup: Ipv4Addr) -> Self {
        let nic = |device: &str, address| Nic {
            device: device.into(),
            gid: Gid::of_ipv4(address),
            link_layer: LinkLayer::Ethernet,
            speed_mbps: 100_000,
        };
        Self {
            name: name.into(),
            nics: PerRail {
                sout: nic("mlx5_0", sout),
                sup: nic("mlx5_1", sup),
            },
            oob: sout,
            environment: Environment::baseline(),
            agent: Agent::running(SupBandwidth::MAX),
        }
    }
}

/// The document's eight machines in two islands: name, SOUT address, SUP address ("Baseline:
/// Isolated Path Separation", 2.1).
const EIGHT_VMS: [(&str, [u8; 4], [u8; 4]); 8] = [
    ("vm1", [10, 0, 1, 1], [10, 9, 1, 1]),
    ("vm2", [10, 0, 1, 2], [10, 9, 1, 2]),
    ("vm3", [10, 0, 1, 3], [10, 9, 1, 3]),
    ("vm4", [10, 0, 1, 4], [10, 9, 1, 4]),
    ("vm5", [10, 0, 2, 5], [10, 9, 2, 5]),
    ("vm6", [10, 0, 2, 6], [10, 9, 2, 6]),
    ("vm7", [10, 0, 2, 7], [10, 9, 2, 7]),
    ("vm8", [10, 0, 2, 8], [10, 9, 2, 8]),
];

/// The document's eight machines: `vm1` to `vm4` in one island, `vm5` to `vm8` in the other.
#[must_use]
pub fn eight_vms() -> Vec<Host> {
    EIGHT_VMS
        .into_iter()
        .map(|(name, sout, sup)| Host::new(name, sout.into(), sup.into()))
        .collect()
}
