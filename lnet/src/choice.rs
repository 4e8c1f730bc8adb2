//! A selection of a path for the trace: each interface, and why it was passed over.
//!
//! Taken after `select` has chosen, and before it counts its choice.

use super::{
    message::{Leg, Message},
    ni::LocalNi,
    node::Node,
    peer::PeerNi,
    route::Route,
    select::{NoPath, is_free},
    trace::{Candidate, Choice, Criterion, PassedOver, Rank, loses},
};

impl Node {
    /// The choice for a message, with the present values of all interfaces.
    pub(crate) fn choice(&self, message: &Message, chosen: Result<&Leg, &NoPath>) -> Choice {
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
                Err(no_path) => Err(no_path.status()),
            },
            gateways: self.gateway_candidates(message, leg),
            local: self.local_candidates(message, leg),
            remote: leg.map_or_else(Vec::new, |leg| self.remote_candidates(message, leg)),
        }
    }

    /// The gateways of all routes to the destination's net, unless the message stays on a net of this node.
    fn gateway_candidates(&self, message: &Message, leg: Option<&Leg>) -> Vec<Candidate> {
        let far = message.destination.net();
        let direct = match leg {
            // A message of the node to itself goes to no peer.
            Some(leg) => self.peer(&leg.to) == self.peer(&message.destination),
            None => self.nets.contains_key(far),
        };
        if direct {
            return Vec::new();
        }
        let source = message.source_given.as_ref();
        let best = leg.and_then(|_| self.best_route(source, far));
        let candidate = |(at, route): (usize, &Route)| {
            let ni = self.peer_ni(&route.spec.gateway)?;
            let up = self.is_route_up(route);
            let passed_over = match best {
                _ if !up => Some(PassedOver::RouteDown),
                _ if !self.is_route_near(route, source) => Some(PassedOver::NotNear),
                None => Some(PassedOver::NoPath),
                Some(best) if at == best => None,
                Some(best) => {
                    let (own, best) = (self.route_rank(at), self.route_rank(best));
                    Some(loses(Criterion::OF_ROUTES, &own, &best))
                }
            };
            Some(Candidate {
                nid: ni.nid.clone(),
                health: ni.health,
                down: !up,
                credits: ni.tx_credits,
                priority: route.spec.priority,
                sequence: ni.sequence,
                passed_over,
            })
        };
        let routes = self.routes.iter().enumerate();
        let there = routes.filter(|(_, route)| route.spec.net == *far);
        there.filter_map(candidate).collect()
    }

    fn local_candidates(&self, message: &Message, leg: Option<&Leg>) -> Vec<Candidate> {
        let best = leg.and_then(|leg| self.nis.iter().position(|ni| *ni.nid() == leg.by));
        let passed_over = |at: usize| {
            let Some((best, leg)) = best.zip(leg) else {
                return Some(PassedOver::NoPath);
            };
            let ni = &self.nis[at];
            if at == best {
                None
            } else if message.source_given.is_some() {
                Some(PassedOver::SourceGiven)
            } else if ni.nid().net() != leg.by.net() {
                Some(PassedOver::OtherNet)
            } else if leg.kept {
                Some(PassedOver::OneSource)
            } else if ni.fatal && self.nis[best].fatal {
                // If all are fatal the first of the configuration is used.
                Some(PassedOver::Loses(Criterion::Order))
            } else if ni.fatal {
                Some(PassedOver::Fatal)
            } else {
                let ranks = (self.local_rank(at), self.local_rank(best));
                Some(self.compared(message.used.contains(ni.nid()), &ranks))
            }
        };
        let candidate = |(at, ni): (usize, &LocalNi)| Candidate {
            nid: ni.nid().clone(),
            health: ni.health,
            down: ni.fatal,
            credits: ni.tx_credits,
            priority: ni.spec.priority,
            sequence: ni.sequence,
            passed_over: passed_over(at),
        };
        self.nis.iter().enumerate().map(candidate).collect()
    }

    fn remote_candidates(&self, message: &Message, leg: &Leg) -> Vec<Candidate> {
        let Some(peer) = self.peer(&leg.to).filter(|_| !leg.own) else {
            return Vec::new();
        };
        let free = is_free(message) && peer.multi_rail;
        let best = peer.nis.iter().position(|ni| ni.nid == leg.to);
        let passed_over = |at: usize| {
            let (ni, best) = (&peer.nis[at], best?);
            if at == best {
                None
            } else if !free {
                Some(PassedOver::Fixed)
            } else if ni.nid.net() != leg.by.net() {
                Some(PassedOver::OtherNet)
            } else {
                let ranks = (
                    self.peer_rank(ni, at),
                    self.peer_rank(&peer.nis[best], best),
                );
                Some(self.compared(message.used.contains(&ni.nid), &ranks))
            }
        };
        let candidate = |(at, ni): (usize, &PeerNi)| Candidate {
            nid: ni.nid.clone(),
            health: ni.health,
            down: ni.reported_down,
            credits: ni.tx_credits,
            priority: ni.priority,
            sequence: ni.sequence,
            passed_over: passed_over(at),
        };
        peer.nis.iter().enumerate().map(candidate).collect()
    }

    /// Why the first of two interfaces is not the second, which was chosen.
    fn compared(&self, used: bool, (own, best): &(Rank, Rank)) -> PassedOver {
        if used && self.behaviour().resend_avoids_used {
            PassedOver::Used
        } else {
            loses(Criterion::OF_INTERFACES, own, best)
        }
    }
}
