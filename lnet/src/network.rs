//! [`Lnet`]: every node of a world, the messages between them, and one clock.
//!
//! It is a discrete event simulation: due events are in one agenda; at equal times, those scheduled
//! first happen first. `flight` implements sending, `monitor` the monitor thread.

use std::collections::{BTreeMap, BTreeSet};

use platforms::{NodeName, PortRef, Shared};
use simfs::SimTime;

use super::{
    error::LnetError,
    message::{Message, MessageId, PING_PORTAL, Purpose, Request, Verb},
    ni::whole_secs,
    nid::{Lnd, Nid},
    node::{Known, Node, NodeSpec, Places},
    peer::Peer,
    stats::MessageKind,
    status::MsgStatus,
    trace::TraceEntry,
    wire::{Notice, PortEvent, Timing, Trouble, Wire},
    workload_event::{Log, UlpEvent, UlpResult, What, WorkloadEvent},
};

/// A scheduled event.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Every node's monitor thread runs.
    Wake,
    /// The attempt of a message with this number reaches the other end of its wire, if that still carries.
    Land(MessageId, u32),
    /// That attempt has failed, in this way of its driver unless a rule says so.
    Fail(MessageId, u32, MsgStatus, Option<Trouble>),
    /// A message delayed by a rule arrives, at an interface of this name.
    Admit(Box<Message>),
}

/// An LNet: its nodes, and the messages between them.
#[derive(Clone, Debug)]
pub struct Lnet {
    pub(crate) specs: Vec<NodeSpec>,
    pub(crate) timing: Timing,
    pub(crate) seed: u64,
    pub(crate) nodes: BTreeMap<NodeName, Node>,
    /// The node and port of each interface.
    pub(crate) owners: BTreeMap<Nid, (NodeName, PortRef)>,
    /// The place of its node among `specs`.
    places: Places,
    /// Ports that carry nothing.
    pub(crate) dark: BTreeSet<PortRef>,
    /// Wires that do not simply carry.
    pub(crate) wires: BTreeMap<(PortRef, PortRef), Wire>,
    pub(crate) flying: BTreeMap<MessageId, Message>,
    agenda: BTreeMap<(SimTime, u64), Event>,
    pub(crate) planned: u64,
    last_message: u64,
    pub(crate) log: Log,
}

/// Peers with all their interfaces, by node: at first all nodes that know a peer know the same.
type Whole = BTreeMap<NodeName, Shared<Peer>>;

impl Lnet {
    /// A network whose nodes know each other, as if discovered just before the start. `seed` seeds
    /// the random choices of rules.
    ///
    /// # Errors
    /// An [`LnetError`] for duplicate names, nodes without interfaces, and routes through nodes
    /// that do not forward.
    pub fn new(specs: Vec<NodeSpec>, timing: Timing, seed: u64) -> Result<Self, LnetError> {
        let mut owners = BTreeMap::new();
        let mut names = BTreeSet::new();
        for spec in &specs {
            if !names.insert(&spec.name) {
                return Err(LnetError::NodeTwice(spec.name.clone()));
            }
            if spec.nis.is_empty() {
                return Err(LnetError::NoInterface(spec.name.clone()));
            }
            for ni in &spec.nis {
                let owner = (spec.name.clone(), ni.port.clone());
                if owners.insert(ni.nid.clone(), owner).is_some() {
                    return Err(LnetError::NidTwice(ni.nid.clone()));
                }
            }
        }
        for spec in &specs {
            for route in &spec.routes {
                let near = spec
                    .nis
                    .iter()
                    .any(|ni| ni.nid.net() == route.gateway.net());
                let routing = specs.iter().any(|other| {
                    other.routing && other.nis.iter().any(|ni| ni.nid == route.gateway)
                });
                if !(near && routing) {
                    let (node, gateway) = (spec.name.clone(), route.gateway.clone());
                    return Err(LnetError::NotAGateway { node, gateway });
                }
            }
        }
        let of_node = |(at, spec): (usize, &NodeSpec)| {
            let nids = spec.nis.iter().map(move |ni| (ni.nid.clone(), at));
            nids.collect::<Vec<_>>()
        };
        let mut lnet = Self {
            nodes: BTreeMap::new(),
            owners,
            places: specs.iter().enumerate().flat_map(of_node).collect(),
            dark: BTreeSet::new(),
            wires: BTreeMap::new(),
            flying: BTreeMap::new(),
            agenda: BTreeMap::new(),
            planned: 0,
            last_message: 0,
            log: Log::default(),
            specs,
            timing,
            seed,
        };
        let mut whole = Whole::new();
        for at in 0..lnet.specs.len() {
            lnet.load(at, &mut whole);
        }
        lnet.plan(SimTime::from_secs(1), Event::Wake);
        Ok(lnet)
    }

    /// The time up to which everything has happened.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.log.now
    }

    /// The time of the next event; the monitor threads run every second.
    #[must_use]
    pub fn next_due(&self) -> SimTime {
        self.agenda
            .keys()
            .next()
            .map_or(SimTime::MAX, |(at, _)| *at)
    }

    /// The nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values()
    }

    /// One node.
    #[must_use]
    pub fn node(&self, name: &NodeName) -> Option<&Node> {
        self.nodes.get(name)
    }

    /// Advances time to `to`, and returns the events since the previous call, in order. A time in
    /// the past changes nothing.
    pub fn advance(&mut self, to: SimTime) -> Vec<WorkloadEvent> {
        while let Some(entry) = self.agenda.first_entry() {
            if entry.key().0 > to {
                break;
            }
            let ((at, _), event) = entry.remove_entry();
            self.log.now = at;
            self.happen(event);
            if self.log.trace.is_some() {
                for node in self.nodes.values_mut() {
                    node.trace_routes(&mut self.log);
                }
            }
        }
        self.log.now = self.log.now.max(to);
        std::mem::take(&mut self.log.reported)
    }

    /// Applies a change of a port, a wire or a node, now. A port or wire without an interface is
    /// recorded without effect.
    ///
    /// # Errors
    /// [`LnetError::NoNode`].
    pub fn notify(&mut self, notice: Notice) -> Result<(), LnetError> {
        match notice {
            Notice::Port { port, event } => self.note_port(port, event),
            Notice::Wire {
                from,
                to,
                wire: Wire::Carries,
            } => {
                self.wires.remove(&(from, to));
            }
            Notice::Wire { from, to, wire } => {
                self.wires.insert((from, to), wire);
            }
            Notice::Node { node, loaded } => {
                let at = self.specs.iter().position(|spec| spec.name == node);
                let at = at.ok_or(LnetError::NoNode(node.clone()))?;
                let was = self.nodes[&node].loaded;
                if was && !loaded {
                    self.unload(&node);
                } else if !was && loaded {
                    self.load(at, &mut Whole::new());
                }
            }
        }
        Ok(())
    }

    /// Sends a request of the layer above. Its results are emitted as [`What::Told`].
    ///
    /// # Errors
    /// [`LnetError::NoNode`], [`LnetError::NotLoaded`].
    pub fn send(&mut self, request: Request) -> Result<MessageId, LnetError> {
        self.loaded(&request.node)?;
        let kind = match request.verb {
            Verb::Put | Verb::PutAck => MessageKind::Put,
            Verb::Get => MessageKind::Get,
        };
        let mut message = self.draft(&request.node, kind, Purpose::Ulp, request.destination);
        message.wants_answer = request.verb != Verb::Put;
        message.source_given = request.source;
        message.length = request.length;
        message.portal = request.portal;
        let id = message.id;
        self.launch(message);
        Ok(id)
    }

    pub(crate) fn plan(&mut self, at: SimTime, event: Event) {
        self.planned += 1;
        self.agenda.insert((at, self.planned), event);
    }

    /// Creates a message of a node, not yet sent.
    pub(crate) fn draft(
        &mut self,
        node: &NodeName,
        kind: MessageKind,
        purpose: Purpose,
        destination: Nid,
    ) -> Message {
        self.last_message += 1;
        let id = MessageId(self.last_message);
        if let Some(node) = self.nodes.get_mut(node) {
            node.stats.began();
        }
        Message {
            id,
            transaction: id,
            holder: node.clone(),
            kind,
            purpose,
            forwarded: false,
            wants_answer: false,
            source_given: None,
            origin: None,
            destination,
            length: 0,
            portal: PING_PORTAL,
            deadline: None,
            tries: 0,
            used: Vec::new(),
            leg: None,
            trouble: None,
            heard: None,
        }
    }

    pub(crate) fn loaded(&mut self, name: &NodeName) -> Result<&mut Node, LnetError> {
        match self.nodes.get_mut(name) {
            Some(node) if node.loaded => Ok(node),
            Some(_) => Err(LnetError::NotLoaded(name.clone())),
            None => Err(LnetError::NoNode(name.clone())),
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Wake => {
                self.wake();
                self.plan(self.log.now + SimTime::from_secs(1), Event::Wake);
            }
            Event::Land(id, attempt) => self.land(id, attempt),
            Event::Fail(id, attempt, status, trouble) => self.fail(id, attempt, status, trouble),
            Event::Admit(message) => self.admit(*message),
        }
    }

    fn note_port(&mut self, port: PortRef, event: PortEvent) {
        let nodes = self.nodes.values_mut().filter(|node| node.loaded);
        for node in nodes {
            let removal_is_fatal = node.behaviour().removal_is_fatal;
            for ni in node.nis.iter_mut().filter(|ni| ni.spec.port == port) {
                // `socklnd` knows a netdev only, which is down when it is removed.
                let removal_is_fatal = removal_is_fatal || ni.nid().net().lnd() == Lnd::Sock;
                ni.fatal = match event {
                    PortEvent::Active => false,
                    PortEvent::Error => true,
                    PortEvent::Gone => ni.fatal || removal_is_fatal,
                    PortEvent::Lost => ni.fatal,
                };
                if event == PortEvent::Gone && !removal_is_fatal {
                    let line =
                        format!("{}: device removed, shut down LNet to release it", ni.nid());
                    self.log.say(&node.name, What::Console(line));
                }
            }
        }
        if event == PortEvent::Active {
            self.dark.remove(&port);
        } else {
            self.dark.insert(port);
        }
    }

    /// A node starts without any state; a port that carries nothing sets the fatal flag from the
    /// start.
    fn load(&mut self, at: usize, whole: &mut Whole) {
        let spec = &self.specs[at];
        let known = self.discovered(spec, whole);
        let mut node = Node::new(spec, known, self.places.clone(), whole_secs(self.log.now));
        for ni in &mut node.nis {
            ni.fatal = self.dark.contains(&ni.spec.port);
        }
        self.nodes.insert(spec.name.clone(), node);
    }

    /// The peers that a node knows: each other node it can reach, with all interfaces if both
    /// discover, otherwise one peer per NID.
    fn discovered(&self, spec: &NodeSpec, whole: &mut Whole) -> Known {
        let reaches = |nid: &Nid| {
            spec.nis.iter().any(|ni| ni.nid.net() == nid.net())
                || spec.routes.iter().any(|route| route.net == *nid.net())
        };
        let mut known = Known::default();
        for other in &self.specs {
            known.starts.push(known.peers.len());
            let nids: Vec<Nid> = other.nis.iter().map(|ni| ni.nid.clone()).collect();
            if other.name == spec.name || !nids.iter().any(reaches) {
                continue;
            }
            if spec.discovery && other.discovery {
                let peer = || Peer::new(nids, true, other.routing, self.log.now);
                let peer = whole
                    .entry(other.name.clone())
                    .or_insert_with(|| peer().into());
                known.peers.push(peer.clone());
            } else {
                let each = nids.into_iter().filter(|nid| reaches(nid));
                let now = self.log.now;
                known
                    .peers
                    .extend(each.map(|nid| Peer::new(vec![nid], false, other.routing, now).into()));
            }
        }
        known.starts.push(known.peers.len());
        known
    }

    /// How often the layer above of a node was told this event with this result.
    #[must_use]
    pub fn told(&self, node: &NodeName, event: UlpEvent, result: UlpResult) -> u64 {
        let key = (node.clone(), event, result);
        self.log.told.get(&key).copied().unwrap_or(0)
    }

    /// Records a trace from now on.
    pub fn record(&mut self) {
        self.log.trace.get_or_insert_default();
    }

    /// The trace, in order; empty unless it is recorded.
    #[must_use]
    pub fn trace(&self) -> &[TraceEntry] {
        self.log.trace.as_deref().unwrap_or_default()
    }
}
