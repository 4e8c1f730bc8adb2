//! The receiving side of a message: it is accepted and answered, forwarded, or dropped.

use platforms::NodeName;

use super::{
    flight::passing,
    message::{Heard, Leg, Message, NiWord, PING_PORTAL, Purpose},
    network::{Event, Lnet},
    node::Node,
    params::Param,
    rule::FaultEffect,
    stats::MessageKind,
    trace::{Loss, Traced},
    workload_event::{Cause, UlpEvent, UlpResult, What},
};

impl Lnet {
    /// A message arrives: a rule drops or delays it, or it is admitted.
    pub(crate) fn receive(&mut self, message: Message) {
        let (now, Some(leg)) = (self.log.now, message.leg.clone()) else {
            return;
        };
        let (target, _) = &self.owners[&leg.to];
        let Some(node) = self.nodes.get_mut(target) else {
            return;
        };
        let passing = passing(&message, &leg, &leg.to);
        for rule in &mut node.rules {
            if matches!(rule.spec.effect, FaultEffect::Simulate(_)) || !rule.hits(&passing, now) {
                continue;
            }
            match rule.spec.effect {
                FaultEffect::Delay(more) => {
                    return self.plan(now + more, Event::Admit(Box::new(message)));
                }
                FaultEffect::Drop | FaultEffect::Simulate(_) => {
                    return self.discard(&message, &leg, Loss::Rule);
                }
            }
        }
        self.admit(message);
    }

    /// An arrived message is forwarded, accepted, or dropped.
    pub(crate) fn admit(&mut self, message: Message) {
        let Some(leg) = message.leg.clone() else {
            return;
        };
        let (name, _) = self.owners[&leg.to].clone();
        let Some(node) = self.nodes.get_mut(&name).filter(|node| node.loaded) else {
            return;
        };
        let here = node.is_own(&message.destination);
        let late = !node.routing && message.is_past_deadline(self.log.now);
        let asymmetric =
            node.params.get(Param::DropAsymRoute) == 1 && !node.leads_back(&message, &leg);
        let unknown = matches!(message.purpose, Purpose::Answer(_))
            && here
            && !node.open.contains_key(&message.transaction);
        let losses = [
            (late, Loss::Late),
            (asymmetric, Loss::Asymmetric),
            (unknown, Loss::NoRequest),
            (!(here || node.routing), Loss::NotForwarded),
        ];
        if let Some((_, why)) = losses.into_iter().find(|(lost, _)| *lost) {
            return self.discard(&message, &leg, why);
        }
        if let Some(ni) = node.ni_mut(&leg.to) {
            ni.stats.received.count(message.kind);
        }
        if let Some(ni) = node.peer_ni_mut(&leg.by) {
            ni.stats.received.count(message.kind);
            ni.last_alive = Some(self.log.now);
            ni.alive = true;
        }
        // A connection serves both directions.
        node.connections.insert((leg.to.clone(), leg.by.clone()));
        node.stats.recv_count += 1;
        node.stats.recv_length += message.payload();
        if !here || message.kind != MessageKind::Get {
            if node.behaviour().success_by_sensitivity {
                let step = node.params.sensitivity();
                node.raise_local(&leg.to, step, Cause::Arrival, &mut self.log);
            }
            node.trust(&leg.to, &leg.by, &mut self.log);
        }
        if here {
            self.take(&name, &message, &leg);
        } else {
            let mut onward = self.draft(&name, message.kind, message.purpose, message.destination);
            onward.transaction = message.transaction;
            onward.forwarded = true;
            onward.wants_answer = message.wants_answer;
            onward.origin = message.origin;
            onward.length = message.length;
            onward.portal = message.portal;
            self.launch(onward);
        }
    }

    /// Accepts a message for this node.
    fn take(&mut self, name: &NodeName, message: &Message, leg: &Leg) {
        let Some(origin) = message.origin.clone() else {
            return;
        };
        match &message.purpose {
            Purpose::Ulp => {
                let (request, kind, length) = (message.transaction, message.kind, message.length);
                self.log.say(
                    name,
                    What::Arrived {
                        request,
                        kind,
                        from: origin.clone(),
                        length,
                    },
                );
            }
            Purpose::Push(words) => self.read_ping_buffer(name, words),
            Purpose::Answer(words) => return self.close(name, message, words.as_deref()),
            Purpose::RecoverLocal(_) | Purpose::RecoverPeer(_) | Purpose::RouterPing(_) => {}
        }
        if !message.wants_answer {
            return;
        }
        let get = message.kind == MessageKind::Get;
        let words = self.nodes[name].ping_buffer();
        let purpose = Purpose::Answer((message.portal == PING_PORTAL).then_some(words));
        let kind = if get {
            MessageKind::Reply
        } else {
            MessageKind::Ack
        };
        let mut answer = self.draft(name, kind, purpose, origin);
        answer.transaction = message.transaction;
        answer.source_given = Some(message.destination.clone());
        answer.length = if get { message.length } else { 0 };
        answer.portal = message.portal;
        answer.heard = get.then(|| Heard {
            by: leg.to.clone(),
            from: leg.by.clone(),
        });
        self.launch(answer);
    }

    /// An answer completes its request.
    fn close(&mut self, name: &NodeName, answer: &Message, words: Option<&[NiWord]>) {
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        let Some(open) = node.open.remove(&answer.transaction) else {
            return;
        };
        node.stats.rst_alloc -= u64::from(open.deadline.is_some());
        match open.purpose {
            Purpose::Ulp => {
                let ack = answer.kind == MessageKind::Ack;
                let event = if ack { UlpEvent::Ack } else { UlpEvent::Reply };
                let (request, result) = (answer.transaction, UlpResult::Ok);
                self.log.say(
                    name,
                    What::Told {
                        request,
                        event,
                        result,
                        last: true,
                    },
                );
            }
            Purpose::RecoverLocal(nid) => node.local_ping_went_well(&nid, true, &mut self.log),
            Purpose::RecoverPeer(nid) => node.peer_ping_went_well(&nid, &mut self.log),
            Purpose::RouterPing(gateway) => {
                if let Some(peer) = node.peer_mut(&gateway) {
                    peer.alive = true;
                }
                self.read_ping_buffer(name, words.unwrap_or_default());
            }
            Purpose::Push(_) | Purpose::Answer(_) => {}
        }
    }

    fn discard(&mut self, message: &Message, leg: &Leg, why: Loss) {
        let (name, _) = &self.owners[&leg.to];
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        node.stats.drop_count += 1;
        node.stats.drop_length += message.payload();
        if let Some(ni) = node.ni_mut(&leg.to) {
            ni.stats.dropped.count(message.kind);
        }
        if let Some(ni) = node.peer_ni_mut(&leg.by) {
            ni.stats.dropped.count(message.kind);
        }
        let lost = message.id;
        self.log.note(name, || Traced::Loss { message: lost, why });
        self.log.say(
            name,
            What::Dropped {
                by: leg.to.clone(),
                kind: message.kind,
            },
        );
    }
}

impl Node {
    /// Whether a message came directly, or through a gateway of one of this node's routes to its origin.
    fn leads_back(&self, message: &Message, leg: &Leg) -> bool {
        let Some(origin) = &message.origin else {
            return true;
        };
        let direct = *origin == leg.by || self.nets.contains_key(origin.net());
        direct
            || self.routes.iter().any(|route| {
                let gateway = &route.spec.gateway;
                route.spec.net == *origin.net()
                    && self.peer(gateway).is_some()
                    && self.is_same_peer(gateway, &leg.by)
            })
    }
}
