//! Path selection: the local interface of a message, and the interface of the next hop.
//!
//! There are eight cases: source given or any (A, B), destination on a local net or behind a router
//! (1, 2), peer multi-rail or not (C, D); see "LNet Health HLD, Selection Algorithm with Health",
//! with the comparison orders of "lnet/lnet/lib-move.c". Every comparison is lexicographic and ends
//! with the order of the configuration. Each step also states why it passes others over ([`Reasons`]).

use std::cmp::Reverse;

use super::{
    choice::Reasons,
    health::Health,
    message::{Leg, Message},
    nid::{NetName, Nid},
    no_path::NoPath,
    node::Node,
    params::Param,
    peer::PeerNi,
    route::Route,
    trace::{Criterion, PassedOver, Rank, Traced, loses},
    workload_event::{Errand, Log},
};

impl Node {
    /// Selects a path, and counts the selection.
    pub(crate) fn select(&mut self, message: &Message, log: &mut Log) -> Result<Leg, NoPath> {
        let mut reasons = Reasons::new(log.trace.is_some());
        let chosen = self.choose(message, &mut reasons);
        log.note(&self.name, || {
            Traced::Choice(self.choice(message, chosen.as_ref(), &reasons))
        });
        let leg = chosen?;
        if let Some(ni) = self.ni_mut(&leg.by) {
            ni.sequence += 1;
        }
        if let Some(net) = self.nets.get_mut(leg.by.net()) {
            net.sequence += 1;
        }
        if let Some(peer) = self.peer_mut(&leg.to) {
            *peer.net_sequences.entry(leg.to.net().clone()).or_insert(0) += 1;
        }
        if let Some(ni) = self.peer_ni_mut(&leg.to) {
            ni.sequence += 1;
        }
        Ok(leg)
    }

    fn choose(&mut self, message: &Message, why: &mut Reasons) -> Result<Leg, NoPath> {
        let destination = &message.destination;
        if self.is_own(destination) {
            let by = match &message.source_given {
                Some(source) => self.given(source, why)?,
                None => self.best_ni(destination.net(), message, why)?,
            };
            let to = destination.clone();
            return Ok(Leg {
                own: true,
                ..Leg::chosen(by, to)
            });
        }
        let Some(peer) = self.peer(destination) else {
            return Err(self.unknown(message, why));
        };
        let free = is_free(message);
        let any_rail = peer.multi_rail && free;
        match message.source_given.clone() {
            Some(source) => self.choose_from(&source, any_rail, message, why),
            None if any_rail => self.choose_any_rail(message, why),
            None if self.nets.contains_key(destination.net()) => {
                // Only a message of the layer above sets the interface that the peer sees from now
                // on.
                let keep = free && message.errand() == Errand::Ulp;
                self.choose_one_rail(keep, message, why)
            }
            None => self.choose_router(None, message, why),
        }
    }

    /// Why there is no path to a destination that the node does not know: it is behind no router, or it does not exist.
    fn unknown(&self, message: &Message, why: &mut Reasons) -> NoPath {
        let far = message.destination.net();
        if self.nets.contains_key(far) {
            return NoPath::UnknownPeer;
        }
        let route = self.best_route(message.source_given.as_ref(), far, why);
        route.err().unwrap_or(NoPath::UnknownPeer)
    }

    /// Cases A1 and A2: the source is given.
    fn choose_from(
        &self,
        source: &Nid,
        any_rail: bool,
        message: &Message,
        why: &mut Reasons,
    ) -> Result<Leg, NoPath> {
        let by = self.given(source, why)?;
        let destination = &message.destination;
        let yields = self.behaviour().given_must_be_healthy && any_rail;
        let on_net = self
            .peer(destination)
            .and_then(|peer| peer.net_health(by.net()))
            .is_some();
        if destination.net() == by.net() && !yields {
            why.no_peer_ni_is_compared(if any_rail {
                PassedOver::BothGiven
            } else {
                PassedOver::Fixed
            });
            Ok(Leg::chosen(by, destination.clone()))
        } else if on_net && any_rail {
            let to = self.best_peer_ni(destination, &by, message, why)?;
            Ok(Leg::chosen(by, to))
        } else {
            self.choose_router(Some(&by), message, why)
        }
    }

    /// Case B1C, and B2C if no net of the peer is local.
    fn choose_any_rail(&self, message: &Message, why: &mut Reasons) -> Result<Leg, NoPath> {
        match self.best_net(&message.destination) {
            Some(net) => {
                let by = self.best_ni(&net, message, why)?;
                let to = self.best_peer_ni(&message.destination, &by, message, why)?;
                Ok(Leg::chosen(by, to))
            }
            None => self.choose_router(None, message, why),
        }
    }

    /// Case B1D: the peer has this one interface, and always sees the same local interface.
    fn choose_one_rail(
        &mut self,
        keep: bool,
        message: &Message,
        why: &mut Reasons,
    ) -> Result<Leg, NoPath> {
        let to = message.destination.clone();
        let strict = self.behaviour().given_must_be_healthy;
        let peer_ni = self.peer_ni(&to).ok_or(NoPath::UnknownPeer)?;
        if strict && message.tries > 0 && self.counted(peer_ni.health) == Health::ZERO {
            return Err(NoPath::PeerAtZero);
        }
        let preferred = peer_ni.preferred.clone().filter(|_| keep);
        if let Some(ni) = preferred.and_then(|nid| self.ni(&nid)) {
            if strict && (ni.fatal || self.counted(ni.health) == Health::ZERO) {
                return Err(NoPath::PreferredUnusable);
            }
            let by = ni.nid().clone();
            why.no_own_ni_is_compared(PassedOver::OneSource);
            why.no_peer_ni_is_compared(PassedOver::Fixed);
            return Ok(Leg::chosen(by, to));
        }
        let by = self.best_ni(to.net(), message, why)?;
        why.no_peer_ni_is_compared(PassedOver::Fixed);
        if keep && let Some(peer_ni) = self.peer_ni_mut(&to) {
            peer_ni.preferred = Some(by.clone());
        }
        Ok(Leg::chosen(by, to))
    }

    /// Cases A2 and B2: the next hop is a router, on the best route that is up.
    fn choose_router(
        &self,
        source: Option<&Nid>,
        message: &Message,
        why: &mut Reasons,
    ) -> Result<Leg, NoPath> {
        let best = self.best_route(source, message.destination.net(), why)?;
        let gateway = &self.routes[best].spec.gateway;
        let many = self.peer(gateway).is_some_and(|peer| peer.multi_rail);
        let by = match source {
            Some(source) => source.clone(),
            None => {
                let net = self.best_net(gateway).filter(|_| many);
                let net = net.unwrap_or_else(|| gateway.net().clone());
                self.best_ni(&net, message, why)?
            }
        };
        let to = if many {
            self.best_peer_ni(gateway, &by, message, why)?
        } else {
            why.no_peer_ni_is_compared(PassedOver::Fixed);
            gateway.clone()
        };
        Ok(Leg::chosen(by, to))
    }

    /// The place of the best route to a net that is up, and starts on the net of a given source.
    fn best_route(
        &self,
        source: Option<&Nid>,
        far: &NetName,
        why: &mut Reasons,
    ) -> Result<usize, NoPath> {
        let mut usable = Vec::new();
        // A node that is on the net itself looks for a route only because of the source.
        let mut none = if source.is_some() && self.nets.contains_key(far) {
            NoPath::NoRouteFromSource
        } else {
            NoPath::NoRoute
        };
        for (at, route) in self.routes.iter().enumerate() {
            if route.spec.net != *far {
                continue;
            }
            if !self.is_route_up(route) {
                why.route(at, PassedOver::RouteDown);
                if none == NoPath::NoRoute {
                    none = NoPath::RoutesDown;
                }
            } else if !self.is_route_near(route, source) {
                why.route(at, PassedOver::NotNear);
                none = NoPath::NoRouteFromSource;
            } else {
                usable.push(at);
            }
        }
        let best = usable.iter().copied().max_by_key(|&at| self.route_rank(at));
        if let Some(best) = best.filter(|_| why.are_wanted()) {
            why.best_route(best);
            let chosen = self.route_rank(best);
            for at in usable.into_iter().filter(|at| *at != best) {
                let lost = loses(Criterion::OF_ROUTES, &self.route_rank(at), &chosen);
                why.route(at, lost);
            }
        }
        best.ok_or(none)
    }

    /// Whether a route's gateway is on the net of the given source; always if none is given.
    fn is_route_near(&self, route: &Route, source: Option<&Nid>) -> bool {
        source.is_none_or(|source| {
            let gateway = self.peer(&route.spec.gateway);
            gateway.is_some_and(|gateway| gateway.net_health(source.net()).is_some())
        })
    }

    /// A health value as selection counts it: without health evaluation, the HLD's selection takes every
    /// interface as healthy.
    fn counted(&self, health: Health) -> Health {
        let evaluates = self.params.sensitivity() > 0 || self.behaviour().retries_need_health;
        if evaluates { health } else { Health::MAX }
    }

    /// A given source is used regardless of its health; in the HLD profile it fails if it is down.
    fn given(&self, source: &Nid, why: &mut Reasons) -> Result<Nid, NoPath> {
        let ni = self.ni(source).ok_or(NoPath::NotOwn)?;
        if self.behaviour().given_must_be_healthy && ni.fatal {
            return Err(NoPath::SourceFatal);
        }
        why.no_own_ni_is_compared(PassedOver::SourceGiven);
        Ok(source.clone())
    }

    /// The best local net that the peer is on too. A net on which all local interfaces are fatal
    /// comes last.
    fn best_net(&self, destination: &Nid) -> Option<NetName> {
        let peer = self.peer(destination)?;
        let shared = peer
            .nets()
            .into_iter()
            .enumerate()
            .filter(|(_, net)| self.nets.contains_key(*net));
        let best = shared.max_by_key(|(at, net)| {
            let healths = self.nis_on(net).filter(|&ni| !self.nis[ni].fatal);
            let local = healths.map(|ni| self.counted(self.nis[ni].health)).max();
            let state = self.nets[*net];
            (
                local.is_some(),
                peer.net_health(net).map(|health| self.counted(health)),
                local,
                Reverse(state.priority),
                Reverse(peer.net_sequences.get(*net).copied().unwrap_or(0)),
                Reverse(state.sequence),
                Reverse(*at),
            )
        });
        best.map(|(_, net)| net.clone())
    }

    /// The best local interface on a net; if all are fatal and may be used, the first.
    fn best_ni(&self, net: &NetName, message: &Message, why: &mut Reasons) -> Result<Nid, NoPath> {
        let behaviour = self.behaviour();
        let all: Vec<usize> = self.nis_on(net).collect();
        let sound: Vec<usize> = all
            .iter()
            .copied()
            .filter(|&at| !self.nis[at].fatal)
            .collect();
        if sound.is_empty() {
            let first = all.first().filter(|_| behaviour.fatal_is_last_resort);
            let first = *first.ok_or(NoPath::AllFatal)?;
            why.no_own_ni_is_compared(PassedOver::OtherNet);
            for at in all.into_iter().filter(|at| *at != first) {
                why.own_ni(at, PassedOver::AllFatal);
            }
            return Ok(self.nis[first].nid().clone());
        }
        let fresh = |at: &usize| !message.used.contains(self.nis[*at].nid());
        let avoid = behaviour.resend_avoids_used && sound.iter().any(fresh);
        let candidates = sound.iter().copied().filter(|at| !avoid || fresh(at));
        let best = candidates.max_by_key(|&at| self.local_rank(at));
        let best = best.ok_or(NoPath::AllFatal)?;
        if why.are_wanted() {
            why.no_own_ni_is_compared(PassedOver::OtherNet);
            let chosen = self.local_rank(best);
            for at in all.into_iter().filter(|at| *at != best) {
                why.own_ni(
                    at,
                    if self.nis[at].fatal {
                        PassedOver::Fatal
                    } else if avoid && !fresh(&at) {
                        PassedOver::Used
                    } else {
                        loses(Criterion::OF_INTERFACES, &self.local_rank(at), &chosen)
                    },
                );
            }
        }
        Ok(self.nis[best].nid().clone())
    }

    /// The best interface of a peer on the selected local net.
    fn best_peer_ni(
        &self,
        peer: &Nid,
        by: &Nid,
        message: &Message,
        why: &mut Reasons,
    ) -> Result<Nid, NoPath> {
        let peer = self.peer(peer).ok_or(NoPath::UnknownPeer)?;
        let on_net = |at: &usize| peer.nis[*at].nid.net() == by.net();
        let fresh = |at: &usize| !message.used.contains(&peer.nis[*at].nid);
        let all: Vec<usize> = (0..peer.nis.len()).filter(on_net).collect();
        let avoid = self.behaviour().resend_avoids_used && all.iter().any(fresh);
        let candidates = all.iter().copied().filter(|at| !avoid || fresh(at));
        let rank = |at: usize| self.peer_rank(&peer.nis[at], at);
        let best = candidates.max_by_key(|&at| rank(at));
        let best = best.ok_or(NoPath::NoPeerNi)?;
        if why.are_wanted() {
            why.no_peer_ni_is_compared(PassedOver::OtherNet);
            let chosen = rank(best);
            for at in all.into_iter().filter(|at| *at != best) {
                why.peer_ni(
                    at,
                    if avoid && !fresh(&at) {
                        PassedOver::Used
                    } else {
                        loses(Criterion::OF_INTERFACES, &rank(at), &chosen)
                    },
                );
            }
        }
        Ok(peer.nis[best].nid.clone())
    }

    /// The values by which selection compares the local interface at `at`.
    fn local_rank(&self, at: usize) -> Rank {
        let ni = &self.nis[at];
        let range = self.params.get(Param::NumaRange);
        [
            i64::from(self.counted(ni.health).value()),
            -i64::from(ni.spec.priority),
            -i64::from(ni.spec.device_priority),
            -i64::from(ni.spec.numa_distance.max(range)),
            ni.tx_credits,
            -whole(ni.sequence),
            -whole(at as u64),
        ]
    }

    /// The values by which selection compares the route at `at`, with the interface of its gateway.
    fn route_rank(&self, at: usize) -> Rank {
        let spec = &self.routes[at].spec;
        let Some(gateway) = self.peer_ni(&spec.gateway) else {
            return [i64::MIN; 7];
        };
        [
            -i64::from(spec.priority),
            -i64::from(spec.hops),
            i64::from(self.counted(gateway.health).value()),
            -whole(gateway.queued_bytes),
            gateway.tx_credits,
            -whole(gateway.sequence),
            -whole(at as u64),
        ]
    }

    /// The values by which selection compares a peer's interface, its `at`th.
    fn peer_rank(&self, ni: &PeerNi, at: usize) -> Rank {
        [
            i64::from(self.counted(ni.health).value()),
            -i64::from(ni.priority),
            0,
            0,
            ni.tx_credits,
            -whole(ni.sequence),
            -whole(at as u64),
        ]
    }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Whether it may go to any interface of a multi-rail peer: answers, forwarded messages and recovery
/// pings go to a fixed NID.
fn is_free(message: &Message) -> bool {
    message.heard.is_none()
        && !message.forwarded
        && !message.is_recovery()
        && message.errand() != Errand::Answer
}
