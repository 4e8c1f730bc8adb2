//! A node's view of another node: its interfaces, and their health.

use std::collections::BTreeMap;

use simfs::SimTime;

use super::{
    health::Health,
    ni::{PEER_CREDITS, Recovery},
    nid::{NetName, Nid},
    stats::NiStats,
};

/// A node's view of one interface of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerNi {
    /// Its NID.
    pub nid: Nid,
    /// Its health.
    pub health: Health,
    /// Whether the peer reported it down.
    pub reported_down: bool,
    /// Whether the last attempt or arrival shows that it is alive; used by routers only.
    pub alive: bool,
    /// When a message last arrived from it.
    pub last_alive: Option<SimTime>,
    /// Its selection priority; a lower value is preferred.
    pub priority: u32,
    /// The local interface that is always used for it; set by the first send to a peer that is not
    /// multi-rail.
    pub preferred: Option<Nid>,
    /// Available credits; negative if messages wait.
    pub tx_credits: i64,
    /// Number of bytes in flight to it.
    pub queued_bytes: u64,
    /// How often it was selected.
    pub sequence: u64,
    /// Its state on the recovery queue.
    pub recovery: Recovery,
    /// Its counters.
    pub stats: NiStats,
}

impl PeerNi {
    fn new(nid: Nid, heard: SimTime) -> Self {
        Self {
            nid,
            health: Health::MAX,
            reported_down: false,
            alive: true,
            last_alive: Some(heard),
            priority: 0,
            preferred: None,
            tx_credits: PEER_CREDITS,
            queued_bytes: 0,
            sequence: 0,
            recovery: Recovery::default(),
            stats: NiStats::default(),
        }
    }
}

/// A peer: a node if both sides discover, otherwise one NID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Whether all its interfaces are known and may be used.
    pub multi_rail: bool,
    /// Whether it forwards messages.
    pub router: bool,
    /// Whether it answered the last router ping, as a gateway.
    pub alive: bool,
    /// Its interfaces; the first is the primary one.
    pub nis: Vec<PeerNi>,
    /// How often each of its nets was selected.
    pub net_sequences: BTreeMap<NetName, u64>,
}

impl Peer {
    /// A peer that was discovered at `heard`.
    pub(crate) fn new(nids: Vec<Nid>, multi_rail: bool, router: bool, heard: SimTime) -> Self {
        Self {
            multi_rail,
            router,
            alive: true,
            nis: nids
                .into_iter()
                .map(|nid| PeerNi::new(nid, heard))
                .collect(),
            net_sequences: BTreeMap::new(),
        }
    }

    /// Its primary NID.
    ///
    /// # Panics
    /// Never: a peer has at least one interface.
    #[must_use]
    pub fn primary(&self) -> &Nid {
        &self.nis[0].nid
    }

    /// The health of one of its nets: that of its best interface on it; `None` if it has none.
    #[must_use]
    pub fn net_health(&self, net: &NetName) -> Option<Health> {
        let on_net = self.nis.iter().filter(|ni| ni.nid.net() == net);
        on_net.map(|ni| ni.health).max()
    }

    /// Its nets, in the order of its interfaces.
    #[must_use]
    pub fn nets(&self) -> Vec<&NetName> {
        let mut nets = Vec::new();
        for ni in &self.nis {
            if !nets.contains(&ni.nid.net()) {
                nets.push(ni.nid.net());
            }
        }
        nets
    }
}
