//! The LNet of one node: its interfaces, peers, routes, queues and counters.
//!
//! `judge` has the status table, `select` path selection, `recovery` the recovery queues.

use std::collections::{BTreeMap, BTreeSet};

use platforms::{NodeName, Shared};
use simfs::SimTime;

use super::{
    message::{MessageId, NiWord, Purpose},
    ni::{LocalNi, NiSpec},
    nid::{NetName, Nid},
    params::Params,
    peer::{Peer, PeerNi},
    profile::{Behaviour, LnetProfile},
    route::{Route, RouteSpec},
    rule::Rule,
    stats::Statistics,
};

/// The configuration of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// Its name.
    pub name: NodeName,
    /// The profile that it runs.
    pub profile: LnetProfile,
    /// Whether it forwards messages.
    pub routing: bool,
    /// Whether it discovers its peers; otherwise every NID is a peer of its own.
    pub discovery: bool,
    /// Its interfaces, at least one; the first is the primary one.
    pub nis: Vec<NiSpec>,
    /// Its routes to nets that it is not on.
    pub routes: Vec<RouteSpec>,
}

/// The nodes of a network by the NIDs of their interfaces: places in its configuration. All nodes share it.
pub(crate) type Places = Shared<BTreeMap<Nid, usize>>;

/// The peers that a node knows, those of each node of the network together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) peers: Vec<Shared<Peer>>,
    /// The place of the first peer of each node, in the order of the configuration, and the number of peers.
    pub(crate) starts: Vec<usize>,
}

/// A request without an answer yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) purpose: Purpose,
    /// When it is overdue; not tracked if `None`.
    pub(crate) deadline: Option<SimTime>,
    /// The next hop's interface in the last attempt.
    pub(crate) next_hop: Option<Nid>,
}

/// The preference of a local net, and how often it was selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NetState {
    pub(crate) priority: u32,
    pub(crate) sequence: u64,
}

/// The state of one node's LNet.
#[derive(Clone, Debug)]
pub struct Node {
    pub(crate) name: NodeName,
    pub(crate) params: Params,
    pub(crate) routing: bool,
    pub(crate) loaded: bool,
    pub(crate) nis: Vec<LocalNi>,
    pub(crate) nets: BTreeMap<NetName, NetState>,
    pub(crate) peers: Vec<Shared<Peer>>,
    /// As [`Known::starts`].
    starts: Vec<usize>,
    places: Places,
    pub(crate) routes: Vec<Route>,
    pub(crate) local_queue: Vec<Nid>,
    pub(crate) peer_queue: Vec<Nid>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) stats: Statistics,
    pub(crate) open: BTreeMap<MessageId, Open>,
    /// Pairs of a local interface and a peer's with an established connection.
    pub(crate) connections: BTreeSet<(Nid, Nid)>,
    pub(crate) next_response_scan_s: u64,
    pub(crate) next_router_check_s: u64,
    pub(crate) next_console_s: u64,
    /// The status of its interfaces that peers were last notified of.
    pub(crate) advertised: Vec<NiWord>,
}

/// Seconds between two pings of a gateway (`alive_router_check_interval`).
pub(crate) const ROUTER_CHECK_INTERVAL_S: u64 = 60;

impl Node {
    pub(crate) fn new(spec: &NodeSpec, known: Known, places: Places, now_s: u64) -> Self {
        let mut params = spec.profile.defaults();
        if !spec.discovery {
            params
                .set(super::Param::Discovery, 0)
                .expect("0 is a value of `discovery`");
        }
        let nis: Vec<LocalNi> = spec.nis.iter().cloned().map(LocalNi::new).collect();
        let nets = nis
            .iter()
            .map(|ni| (ni.nid().net().clone(), NetState::default()));
        let mut node = Self {
            name: spec.name.clone(),
            next_response_scan_s: now_s + params.response_scan_interval_s(),
            next_router_check_s: now_s + ROUTER_CHECK_INTERVAL_S,
            next_console_s: now_s,
            params,
            routing: spec.routing,
            loaded: true,
            nets: nets.collect(),
            nis,
            peers: known.peers,
            starts: known.starts,
            places,
            routes: spec.routes.iter().cloned().map(Route::new).collect(),
            local_queue: Vec::new(),
            peer_queue: Vec::new(),
            rules: Vec::new(),
            stats: Statistics::default(),
            open: BTreeMap::new(),
            connections: BTreeSet::new(),
            advertised: Vec::new(),
        };
        node.advertised = node.ping_buffer();
        node
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &NodeName {
        &self.name
    }

    /// Its parameters.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Whether its LNet is loaded.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// Its own interfaces, in the configured order.
    #[must_use]
    pub fn nis(&self) -> &[LocalNi] {
        &self.nis
    }

    /// One of its own interfaces.
    #[must_use]
    pub fn ni(&self, nid: &Nid) -> Option<&LocalNi> {
        self.nis.iter().find(|ni| ni.nid() == nid)
    }

    /// The peers it knows.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.iter().map(|peer| &**peer)
    }

    /// The peer that has an interface with this NID.
    #[must_use]
    pub fn peer(&self, nid: &Nid) -> Option<&Peer> {
        self.peer_at(nid).map(|at| &*self.peers[at])
    }

    /// The place of the peer that has an interface with this NID. It does not search all peers, of which there can be
    /// as many as nodes.
    fn peer_at(&self, nid: &Nid) -> Option<usize> {
        let node = *self.places.get(nid)?;
        let mut of_node = self.starts[node]..self.starts[node + 1];
        of_node.find(|&at| self.peers[at].nis.iter().any(|ni| ni.nid == *nid))
    }

    /// Whether both are interfaces of one peer, or neither is of any.
    pub(crate) fn is_same_peer(&self, one: &Nid, other: &Nid) -> bool {
        self.peer_at(one) == self.peer_at(other)
    }

    /// One interface of a peer.
    #[must_use]
    pub fn peer_ni(&self, nid: &Nid) -> Option<&PeerNi> {
        let peer = self.peer(nid)?;
        peer.nis.iter().find(|ni| ni.nid == *nid)
    }

    /// Its routes.
    #[must_use]
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Its own interfaces that are being recovered, in order.
    #[must_use]
    pub fn local_queue(&self) -> &[Nid] {
        &self.local_queue
    }

    /// The peers' interfaces that are being recovered, in order.
    #[must_use]
    pub fn peer_queue(&self) -> &[Nid] {
        &self.peer_queue
    }

    /// Its counters.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.stats
    }

    /// Its rules, in the order in which they are applied.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether an interface has status up: not fatal, and, if the profile requires it, not on its
    /// way back from health 0. Clearing the fatal flag restores the status: an interface with
    /// health 900 before is up with 900.
    #[must_use]
    pub fn is_up(&self, ni: &LocalNi) -> bool {
        !(ni.fatal || (ni.sunk && self.behaviour().down_at_zero))
    }

    pub(crate) fn behaviour(&self) -> Behaviour {
        self.params.profile().behaviour()
    }

    pub(crate) fn discovers(&self) -> bool {
        self.params.get(super::Param::Discovery) == 1
    }

    pub(crate) fn is_own(&self, nid: &Nid) -> bool {
        self.ni(nid).is_some()
    }

    pub(crate) fn ni_mut(&mut self, nid: &Nid) -> Option<&mut LocalNi> {
        self.nis.iter_mut().find(|ni| ni.nid() == nid)
    }

    pub(crate) fn peer_mut(&mut self, nid: &Nid) -> Option<&mut Peer> {
        let at = self.peer_at(nid)?;
        Some(&mut *self.peers[at])
    }

    pub(crate) fn peer_ni_mut(&mut self, nid: &Nid) -> Option<&mut PeerNi> {
        let peer = self.peer_mut(nid)?;
        peer.nis.iter_mut().find(|ni| ni.nid == *nid)
    }

    /// The status of its own interfaces, for the answer to a ping.
    pub(crate) fn ping_buffer(&self) -> Vec<NiWord> {
        let words = self.nis.iter().map(|ni| NiWord {
            nid: ni.nid().clone(),
            up: self.is_up(ni),
        });
        words.collect()
    }

    /// Indexes of the interfaces on a net.
    pub(crate) fn nis_on<'a>(&'a self, net: &'a NetName) -> impl Iterator<Item = usize> + 'a {
        (0..self.nis.len()).filter(move |&at| self.nis[at].nid().net() == net)
    }
}
