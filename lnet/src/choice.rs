//! A selection of a path for the trace: each interface, and why it was passed over.
//!
//! The reasons are stated by the steps of `select` themselves ([`Reasons`]); nothing is compared afterwards. The values
//! beside them are taken before the choice is counted.

use std::collections::BTreeMap;

use super::{
    message::{Leg, Message},
    ni::LocalNi,
    no_path::NoPath,
    node::Node,
    peer::PeerNi,
    route::Route,
    trace::{Candidate, Choice, PassedOver},
};

/// What the steps of a selection state: for interfaces and routes by their places, or for all that a step does not
/// look at. A later step replaces what an earlier one stated. Nothing is kept if no trace is recorded.
#[derive(Debug)]
pub(crate) struct Reasons {
    wanted: bool,
    routes: BTreeMap<usize, PassedOver>,
    best_route: Option<usize>,
    own: Side,
    peers: Side,
}

/// The own interfaces, or the peer's.
#[derive(Debug)]
struct Side {
    others: PassedOver,
    compared: BTreeMap<usize, PassedOver>,
}

impl Side {
    const UNSEEN: Self = Self {
        others: PassedOver::NoPath,
        compared: BTreeMap::new(),
    };

    fn why(&self, at: usize) -> PassedOver {
        self.compared.get(&at).copied().unwrap_or(self.others)
    }
}

impl Reasons {
    pub(crate) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            routes: BTreeMap::new(),
            best_route: None,
            own: Side::UNSEEN,
            peers: Side::UNSEEN,
        }
    }

    /// Whether they are kept.
    pub(crate) fn are_wanted(&self) -> bool {
        self.wanted
    }

    /// Why the route at `at` is not taken.
    pub(crate) fn route(&mut self, at: usize, why: PassedOver) {
        if self.wanted {
            self.routes.insert(at, why);
        }
    }

    /// The route at `at` is taken.
    pub(crate) fn best_route(&mut self, at: usize) {
        self.best_route = Some(at);
    }

    /// Why an own interface is not taken that no later step looks at.
    pub(crate) fn no_own_ni_is_compared(&mut self, why: PassedOver) {
        self.own.others = why;
    }

    /// Why an interface of the next hop is not taken that no later step looks at.
    pub(crate) fn no_peer_ni_is_compared(&mut self, why: PassedOver) {
        self.peers.others = why;
    }

    /// Why the own interface at `at` is not taken.
    pub(crate) fn own_ni(&mut self, at: usize, why: PassedOver) {
        if self.wanted {
            self.own.compared.insert(at, why);
        }
    }

    /// Why the next hop's interface at `at` is not taken.
    pub(crate) fn peer_ni(&mut self, at: usize, why: PassedOver) {
        if self.wanted {
            self.peers.compared.insert(at, why);
        }
    }
}

impl Node {
    /// The choice for a message, with the present values of all interfaces.
    pub(crate) fn choice(
        &self,
        message: &Message,
        chosen: Result<&Leg, &NoPath>,
        reasons: &Reasons,
    ) -> Choice {
        let leg = chosen.ok();
        Choice {
            message: message.id,
            request: message.transaction,
            kind: message.kind,
            errand: message.errand(),
            portal: message.portal,
            length: message.length,
            attempt: message.tries + 1,
            destination: message.destination.clone(),
            path: match chosen {
                Ok(leg) => Ok((leg.by.clone(), leg.to.clone())),
                Err(no_path) => Err(*no_path),
            },
            gateways: self.gateway_candidates(leg, reasons),
            local: self.local_candidates(leg, reasons),
            remote: leg.map_or_else(Vec::new, |leg| self.remote_candidates(leg, reasons)),
        }
    }

    /// The gateways of all routes that were looked at.
    fn gateway_candidates(&self, leg: Option<&Leg>, reasons: &Reasons) -> Vec<Candidate> {
        let candidate = |(at, route): (usize, &Route)| {
            let passed_over = match reasons.routes.get(&at) {
                Some(why) => Some(*why),
                None if reasons.best_route != Some(at) => return None,
                None if leg.is_none() => Some(PassedOver::NoPath),
                None => None,
            };
            let ni = self.peer_ni(&route.spec.gateway)?;
            Some(Candidate {
                nid: ni.nid.clone(),
                health: ni.health,
                down: !self.is_route_up(route),
                credits: ni.tx_credits,
                priority: route.spec.priority,
                sequence: ni.sequence,
                passed_over,
            })
        };
        let routes = self.routes.iter().enumerate();
        routes.filter_map(candidate).collect()
    }

    fn local_candidates(&self, leg: Option<&Leg>, reasons: &Reasons) -> Vec<Candidate> {
        let passed_over = |at: usize, ni: &LocalNi| match leg {
            None => Some(PassedOver::NoPath),
            Some(leg) => (leg.by != *ni.nid()).then(|| reasons.own.why(at)),
        };
        let candidate = |(at, ni): (usize, &LocalNi)| Candidate {
            nid: ni.nid().clone(),
            health: ni.health,
            down: ni.fatal,
            credits: ni.tx_credits,
            priority: ni.spec.priority,
            sequence: ni.sequence,
            passed_over: passed_over(at, ni),
        };
        self.nis.iter().enumerate().map(candidate).collect()
    }

    fn remote_candidates(&self, leg: &Leg, reasons: &Reasons) -> Vec<Candidate> {
        let Some(peer) = self.peer(&leg.to).filter(|_| !leg.own) else {
            return Vec::new();
        };
        let candidate = |(at, ni): (usize, &PeerNi)| Candidate {
            nid: ni.nid.clone(),
            health: ni.health,
            down: ni.reported_down,
            credits: ni.tx_credits,
            priority: ni.priority,
            sequence: ni.sequence,
            passed_over: (ni.nid != leg.to).then(|| reasons.peers.why(at)),
        };
        peer.nis.iter().enumerate().map(candidate).collect()
    }
}
