//! The sending side of a message: path selection, attempts, their results, resends, completion.
//!
//! Start at `launch`; `arrival` has the receiving side.

use platforms::NodeName;
use simfs::SimTime;

use super::{
    judge::Verdict,
    message::{Leg, Message, MessageId, Purpose},
    network::{Event, Lnet},
    ni::PEER_CREDITS,
    nid::Nid,
    node::Open,
    params::Param,
    rule::{FaultEffect, Passing},
    stats::MessageKind,
    status::MsgStatus,
    trace::{EndsBy, Loss, Traced},
    wire::{Noticed, Trouble, Wire},
    workload_event::{Ending, UlpEvent, UlpResult, What},
};

/// The result that an attempt will have, given the present path.
enum Prospect {
    Lands(SimTime),
    Fails(MsgStatus, SimTime, EndsBy),
}

impl Lnet {
    /// Selects a path and makes an attempt.
    pub(crate) fn launch(&mut self, mut message: Message) {
        let now = self.log.now;
        let Some(node) = self.nodes.get_mut(&message.holder) else {
            return;
        };
        if message.wants_answer && message.tries == 0 && !message.forwarded {
            let tracked = tracks(&message, node.params.get(Param::ResponseTracking));
            let deadline = tracked.then(|| now + node.params.transaction_timeout());
            node.stats.rst_alloc += u64::from(tracked);
            let open = Open {
                purpose: message.purpose.clone(),
                deadline,
                next_hop: None,
            };
            node.open.insert(message.transaction, open);
            if let Some(until) = deadline {
                let request = message.transaction;
                self.log
                    .note(&message.holder, || Traced::Tracked { request, until });
            }
        }
        let leg = match node.select(&message, &mut self.log) {
            Ok(leg) => leg,
            Err(no_path) => return self.conclude(message, no_path.status(), Ending::Failure),
        };
        if message.deadline.is_none() {
            let deadline = now + node.params.message_timeout(leg.by.net().lnd());
            message.deadline = Some(deadline);
            self.log.note(&message.holder, || Traced::Deadline {
                message: message.id,
                at: deadline,
            });
        }
        if !message.forwarded {
            message.origin = Some(leg.by.clone());
        }
        // The header names the selected interface if it belongs to the destination.
        if node.is_same_peer(&leg.to, &message.destination) {
            message.destination = leg.to.clone();
        }
        // A router checks that the next hop is alive before it forwards anything.
        let dead = node.peer_ni(&leg.to).is_some_and(|ni| !ni.alive);
        if message.forwarded && dead {
            node.stats.drop_count += 1;
            node.stats.drop_length += message.payload();
            let (lost, why) = (message.id, Loss::DeadHop);
            self.log
                .note(&message.holder, || Traced::Loss { message: lost, why });
            self.log.say(
                &message.holder,
                What::Dropped {
                    by: leg.by,
                    kind: message.kind,
                },
            );
            return self.conclude(message, MsgStatus::RemoteError, Ending::Failure);
        }
        let prospect = self.prospect(&message, &leg);
        let Some(node) = self.nodes.get_mut(&message.holder) else {
            return;
        };
        if let Some(ni) = node.ni_mut(&leg.by) {
            ni.tx_credits -= 1;
        }
        if let Some(ni) = node.peer_ni_mut(&leg.to) {
            ni.tx_credits -= 1;
            ni.queued_bytes += message.length;
        }
        if let Some(open) = node
            .open
            .get_mut(&message.transaction)
            .filter(|_| message.wants_answer)
        {
            open.next_hop = Some(leg.to.clone()).filter(|_| !leg.own);
        }
        message.tries += 1;
        node.stats.resend_count += u64::from(message.tries > 1);
        let sent = What::Sent {
            message: message.id,
            kind: message.kind,
            errand: message.errand(),
            by: leg.by.clone(),
            to: leg.to.clone(),
            attempt: message.tries,
        };
        self.log.say(&message.holder, sent);
        for nid in [&leg.by, &leg.to] {
            if !message.used.contains(nid) {
                message.used.push(nid.clone());
            }
        }
        message.leg = Some(leg);
        let (id, attempt) = (message.id, message.tries);
        message.trouble = None;
        let (after, by, event) = match prospect {
            Prospect::Lands(after) => (after, EndsBy::Arrival, Event::Land(id, attempt)),
            Prospect::Fails(status, after, by) => {
                if let EndsBy::Driver(trouble) = by {
                    message.trouble = Some(trouble);
                }
                (after, by, Event::Fail(id, attempt, status, message.trouble))
            }
        };
        self.foresee(&message.holder, id, by, now + after);
        self.flying.insert(id, message);
        self.plan(now + after, event);
    }

    fn foresee(&mut self, holder: &NodeName, message: MessageId, by: EndsBy, at: SimTime) {
        self.log
            .note(holder, || Traced::Prospect { message, by, at });
    }

    /// Checks rules first, then the ports, then the wire, then the node at the other end.
    fn prospect(&mut self, message: &Message, leg: &Leg) -> Prospect {
        let now = self.log.now;
        if let Some(node) = self.nodes.get_mut(&message.holder) {
            let passing = passing(message, leg, &leg.by);
            for rule in &mut node.rules {
                if matches!(rule.spec.effect, FaultEffect::Simulate(_))
                    && rule.hits(&passing, now)
                    && let Some(status) = rule.status()
                {
                    return Prospect::Fails(status, SimTime::ZERO, EndsBy::Rule);
                }
            }
        }
        let (_, from) = &self.owners[&leg.by];
        let (target, to) = &self.owners[&leg.to];
        let node = &self.nodes[&message.holder];
        let connected = node.connections.contains(&(leg.by.clone(), leg.to.clone()));
        let under_way = node
            .ni(&leg.by)
            .map_or(0, |ni| i64::from(ni.spec.credits) - ni.tx_credits);
        let wire = self
            .wires
            .get(&(from.clone(), to.clone()))
            .copied()
            .unwrap_or(Wire::Carries);
        let trouble = if self.dark.contains(from) {
            let behind = under_way >= PEER_CREDITS;
            Some(if behind {
                Trouble::StillQueued
            } else {
                Trouble::CompletionFailed
            })
        } else if self.dark.contains(to) {
            Some(if connected {
                Trouble::CompletionFailed
            } else {
                Trouble::ConnectTimedOut
            })
        } else if let Wire::Fails(trouble) = wire {
            Some(trouble)
        } else if !self.nodes[target].loaded {
            Some(Trouble::ConnectRefused)
        } else {
            None
        };
        match (trouble, wire) {
            (Some(trouble), _) => {
                let after = match trouble.noticed() {
                    Noticed::AtOnce => SimTime::ZERO,
                    Noticed::AfterRetries => self.timing.rc_retry,
                    Noticed::AfterLndTimeout => {
                        let messages = message.lnd_messages(leg.by.net().lnd());
                        node.params.attempt_timeout(messages)
                    }
                };
                let status = node.status_of(trouble, leg.by.net().lnd());
                Prospect::Fails(status, after, EndsBy::Driver(trouble))
            }
            (None, Wire::Delays(more)) => Prospect::Lands(self.timing.latency + more),
            (None, _) => Prospect::Lands(self.timing.latency),
        }
    }

    /// The message reaches the end of the wire. If a port went dark meanwhile, the completion fails
    /// once the retries have run out.
    pub(crate) fn land(&mut self, id: MessageId, attempt: u32) {
        let flying = self.flying.get_mut(&id);
        let Some(message) = flying.filter(|message| message.tries == attempt) else {
            return;
        };
        let Some(leg) = message.leg.clone() else {
            return;
        };
        let (_, from) = &self.owners[&leg.by];
        let (target, to) = &self.owners[&leg.to];
        let trouble = if self.dark.contains(from) || self.dark.contains(to) {
            Some(Trouble::CompletionFailed)
        } else if !self.nodes[target].loaded {
            Some(Trouble::ConnectRefused)
        } else {
            None
        };
        if let Some(trouble) = trouble {
            let after = match trouble.noticed() {
                Noticed::AtOnce => SimTime::ZERO,
                Noticed::AfterRetries | Noticed::AfterLndTimeout => self.timing.rc_retry,
            };
            let at = self.log.now + after;
            message.trouble = Some(trouble);
            let holder = message.holder.clone();
            let status = self.nodes[&holder].status_of(trouble, leg.by.net().lnd());
            self.foresee(&holder, id, EndsBy::Driver(trouble), at);
            return self.plan(at, Event::Fail(id, attempt, status, Some(trouble)));
        }
        let copy = message.clone();
        self.complete(id, MsgStatus::Ok);
        self.receive(copy);
    }

    /// Takes a message from its driver, and returns its credits. What the driver says was sent counts at
    /// both interfaces ("lnet/lnet/lib-msg.c", `lnet_msg_decommit_tx`).
    fn decommit(&mut self, id: MessageId, sent: bool) -> Option<Message> {
        let message = self.flying.remove(&id)?;
        let node = self.nodes.get_mut(&message.holder)?;
        let leg = message.leg.as_ref()?;
        if let Some(ni) = node.ni_mut(&leg.by) {
            ni.tx_credits += 1;
            if sent {
                ni.stats.sent.count(message.kind);
            }
        }
        if let Some(ni) = node.peer_ni_mut(&leg.to) {
            ni.tx_credits += 1;
            ni.queued_bytes -= message.length;
            if sent {
                ni.stats.sent.count(message.kind);
            }
        }
        Some(message)
    }

    /// Finalises the messages of a node whose deadline has come, although their drivers hold them.
    pub(crate) fn expire_messages(&mut self, name: &NodeName) {
        let now = self.log.now;
        let held = self.flying.values().filter(|message| {
            message.holder == *name && message.deadline.is_some_and(|deadline| deadline <= now)
        });
        let expired: Vec<MessageId> = held.map(|message| message.id).collect();
        for id in expired {
            if let Some(message) = self.decommit(id, false) {
                self.conclude(message, MsgStatus::NetworkTimeout, Ending::Deadline);
            }
        }
    }

    /// An attempt has failed. If its driver closes the connection for it, all other messages of the node on that
    /// connection are dropped with it ("LNet Health HLD, LNet Resend Handling").
    pub(crate) fn fail(
        &mut self,
        id: MessageId,
        attempt: u32,
        status: MsgStatus,
        trouble: Option<Trouble>,
    ) {
        let flying = self.flying.get(&id);
        let Some(message) = flying.filter(|message| message.tries == attempt) else {
            return;
        };
        let holder = message.holder.clone();
        let closed = trouble.filter(|trouble| trouble.closes_connection());
        let mut dropped: Vec<(MessageId, MsgStatus)> = Vec::new();
        if let Some((trouble, leg)) = closed.zip(message.leg.as_ref()) {
            let lnd = leg.by.net().lnd();
            let others = self.flying.values().filter(|other| {
                other.id != id && other.holder == holder && other.leg.as_ref() == Some(leg)
            });
            dropped.extend(others.filter_map(|other| {
                let status = trouble.status_of_dropped(other.trouble, lnd)?;
                Some((other.id, status))
            }));
        }
        self.complete(id, status);
        let now = self.log.now;
        for (other, status) in dropped {
            if let Some(trouble) = closed {
                self.foresee(&holder, other, EndsBy::Closed(trouble), now);
            }
            self.complete(other, status);
        }
    }

    /// The driver has completed an attempt.
    pub(crate) fn complete(&mut self, id: MessageId, status: MsgStatus) {
        let Some(message) = self.decommit(id, status == MsgStatus::Ok) else {
            return;
        };
        let (Some(node), Some(leg)) = (self.nodes.get_mut(&message.holder), &message.leg) else {
            return;
        };
        let ends = (leg.by.clone(), leg.to.clone());
        if status == MsgStatus::Ok {
            node.connections.insert(ends);
        } else {
            node.connections.remove(&ends);
        }
        match node.judge(&message, status, &mut self.log) {
            Verdict::Resend => self.launch(message),
            Verdict::End(ending) => self.conclude(message, status, ending),
        }
    }

    /// A message is completed at the node that held it.
    fn conclude(&mut self, message: Message, status: MsgStatus, ending: Ending) {
        let Some(node) = self.nodes.get_mut(&message.holder) else {
            return;
        };
        node.stats.msgs_alloc -= 1;
        let again = u64::from(message.resends() > 0);
        match ending {
            Ending::Success => {
                if message.forwarded {
                    node.stats.route_count += 1;
                    node.stats.route_length += message.payload();
                }
                node.stats.send_count += 1;
                node.stats.send_length += message.payload();
                node.stats.successful_resends += again;
            }
            Ending::Failure => {
                node.stats.errors += 1;
                node.stats.failed_resends += again;
            }
            Ending::Deadline => node.stats.errors += 1,
        }
        let (id, resends) = (message.id, message.resends());
        self.log.say(
            &node.name,
            What::Ended {
                message: id,
                status,
                resends,
                ending,
            },
        );
        if ending == Ending::Deadline && node.behaviour().failed_ping_blames_pinged {
            node.blame_pinged(&message.purpose, &mut self.log);
        }
        if message.forwarded {
            return;
        }
        let failed = status != MsgStatus::Ok;
        let was_open = failed && message.wants_answer && {
            let open = node.open.remove(&message.transaction);
            node.stats.rst_alloc -=
                u64::from(open.as_ref().is_some_and(|open| open.deadline.is_some()));
            open.is_some()
        };
        match &message.purpose {
            Purpose::Ulp => {
                let finalised = node.behaviour().monitor_finalises && ending == Ending::Deadline;
                let result = match (failed, finalised) {
                    (false, _) => UlpResult::Ok,
                    (true, true) => UlpResult::TimedOut,
                    (true, false) => UlpResult::Failed(status),
                };
                let last = was_open || !message.wants_answer;
                let request = message.transaction;
                let event = UlpEvent::Send;
                self.log.say(
                    &node.name,
                    What::Told {
                        request,
                        event,
                        result,
                        last,
                    },
                );
            }
            Purpose::RecoverLocal(nid) if !failed => {
                node.local_ping_went_well(nid, false, &mut self.log);
            }
            Purpose::RouterPing(gateway) if failed => {
                if let Some(peer) = node.peer_mut(gateway) {
                    peer.alive = false;
                }
            }
            Purpose::RecoverLocal(_)
            | Purpose::RouterPing(_)
            | Purpose::RecoverPeer(_)
            | Purpose::Push(_)
            | Purpose::Answer(_) => {}
        }
    }

    /// Unloads LNet: pending requests of the layer above end, and all state is lost.
    pub(crate) fn unload(&mut self, name: &NodeName) {
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        node.loaded = false;
        let mut waiting: Vec<MessageId> = Vec::new();
        for (id, open) in std::mem::take(&mut node.open) {
            if open.purpose == Purpose::Ulp {
                waiting.push(id);
            }
        }
        let held = self
            .flying
            .values()
            .filter(|message| message.holder == *name);
        for message in held {
            let bare =
                message.purpose == Purpose::Ulp && !message.wants_answer && !message.forwarded;
            if bare {
                waiting.push(message.transaction);
            }
        }
        self.flying.retain(|_, message| message.holder != *name);
        for request in waiting {
            let (event, result) = (UlpEvent::Unlink, UlpResult::Shutdown);
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
    }
}

/// A message in the form that rules match.
pub(crate) fn passing<'a>(message: &'a Message, leg: &'a Leg, via: &'a Nid) -> Passing<'a> {
    Passing {
        source: message.origin.as_ref().unwrap_or(&leg.by),
        destination: if message.forwarded {
            &message.destination
        } else {
            &leg.to
        },
        kind: message.kind,
        portal: message.portal,
        via,
    }
}

/// Whether a missing answer is tracked: always for LNet's own messages, for others depending on the
/// parameter.
fn tracks(message: &Message, tracking: u32) -> bool {
    message.purpose != Purpose::Ulp
        || match message.kind {
            MessageKind::Get => tracking & 1 != 0,
            MessageKind::Put => tracking & 2 != 0,
            MessageKind::Reply | MessageKind::Ack | MessageKind::Hello => false,
        }
}
