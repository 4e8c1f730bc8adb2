//! Another node as this one knows it: its interfaces, and what each is worth.

use std::collections::BTreeMap;

use simfs::SimTime;

use super::{
    health::Health,
    ni::{PEER_CREDITS, Recovery},
    nid::{NetName, Nid},
    stats::NiStats,
};

/// One interface of a peer, as a node sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerNi {
    /// Its name.
    pub nid: Nid,
    /// How far it is trusted.
    pub health: Health,
    /// The peer has said that it is down.
    pub reported_down: bool,
    /// The last try or arrival says that something is there. Only routers ask.
    pub alive: bool,
    /// When something last arrived from it.
    pub last_alive: Option<SimTime>,
    /// Its selection priority: lower is preferred.
    pub priority: u32,
    /// The local interface that is always used for it; set by the first send to a peer that is not
    /// multi-rail.
    pub preferred: Option<Nid>,
    /// Messages that may still be sent; negative when more wait.
    pub tx_credits: i64,
    /// Bytes under way to it.
    pub queued_bytes: u64,
    /// How often it was chosen.
    pub sequence: u64,
    /// Its place on the recovery queue.
    pub recovery: Recovery,
    /// What it has counted.
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

/// A peer: one node where both sides discover, otherwise one NID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// It is known with all its interfaces, any of which may be used.
    pub multi_rail: bool,
    /// It passes messages on.
    pub router: bool,
    /// As a gateway: it answered the last router ping.
    pub alive: bool,
    /// Its interfaces; the first is the primary one.
    pub nis: Vec<PeerNi>,
    /// How often each of its nets was chosen.
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
    /// Never: a peer has an interface.
    #[must_use]
    pub fn primary(&self) -> &Nid {
        &self.nis[0].nid
    }

    /// The health of one of its nets: that of its best interface there; `None` if it has none.
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
