//! The status table: what the end of a try costs whom, and whether there is another.
//!
//! `lnet_health_check()` in "lnet/lnet/lib-msg.c", gate by gate; `lnet_handle_local_failure`,
//! `lnet_handle_remote_failure`.

use super::{
    health::Health,
    message::Message,
    ni::whole_secs,
    nid::Nid,
    node::Node,
    params::Param,
    status::{MsgStatus, Resend},
    workload_event::{Cause, Ending, Log, Side, What},
};

/// What follows from the end of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Resend,
    End(Ending),
}

impl Node {
    /// Judges the end of a try of a message that this node has sent.
    ///
    /// A message that was sent again and then fails counts as `failed_resends`, also where it is
    /// not the retries that ran out: every message that was sent again ends in one of three ways.
    pub(crate) fn judge(&mut self, message: &Message, status: MsgStatus, log: &mut Log) -> Verdict {
        let Some(leg) = &message.leg else {
            return Verdict::End(Ending::Failure);
        };
        if status != MsgStatus::Ok && message.is_past_deadline(log.now) {
            return Verdict::End(Ending::Deadline);
        }
        self.stats.count(status);
        if status == MsgStatus::Ok {
            log.say(
                &self.name,
                What::Judged {
                    message: message.id,
                    status,
                    resend: false,
                },
            );
            self.succeed(message, &leg.by, log);
            return Verdict::End(Ending::Success);
        }
        let behaviour = self.behaviour();
        let gates = behaviour.single_rail_gates;
        let one_ni = self.nis.len() <= 1;
        let peer = self.peer(&leg.to);
        let peer_has_one = leg.own || peer.is_none_or(|peer| peer.nis.len() <= 1);
        let peer_routes = peer.is_some_and(|peer| peer.router);
        let resend = match status.resend() {
            None => false,
            Some(Resend::Local) => !(gates && one_ni),
            Some(Resend::Remote) => !(gates && peer_has_one),
        } && !message.is_recovery()
            && message.resends() < self.params.get(Param::RetryCount);
        log.say(
            &self.name,
            What::Judged {
                message: message.id,
                status,
                resend,
            },
        );

        let cause = Cause::Status(message.id, status);
        if status.blames_local() {
            if let Some(ni) = self.ni_mut(&leg.by) {
                ni.stats.count_failure(status);
            }
            if behaviour.single_rail_blamed || !one_ni {
                self.blame_local(&leg.by, cause, log);
            }
        }
        if status.blames_peer() && !leg.own {
            if let Some(ni) = self.peer_ni_mut(&leg.to) {
                ni.stats.count_failure(status);
                ni.alive = false;
            }
            if !(gates && peer_has_one) || peer_routes || self.routing {
                self.blame_peer(&leg.to, cause, log);
            }
        }
        if resend {
            Verdict::Resend
        } else {
            Verdict::End(Ending::Failure)
        }
    }

    fn succeed(&mut self, message: &Message, by: &Nid, log: &mut Log) {
        let cause = Cause::Status(message.id, MsgStatus::Ok);
        if self.behaviour().success_by_sensitivity {
            self.raise_local(by, self.params.sensitivity(), cause, log);
        }
        // A GET that came in is judged together with the REPLY that it has become.
        if let Some(heard) = &message.heard {
            self.trust(&heard.by, &heard.from, log);
        }
    }

    /// Something arrived well: both interfaces are worth more. The step of our own interface is the
    /// caller's.
    pub(crate) fn trust(&mut self, by: &Nid, from: &Nid, log: &mut Log) {
        if let Some(ni) = self.ni_mut(by) {
            ni.recovery.ping_count = 0;
        }
        let sensitivity = self.params.sensitivity();
        let routers = self.routing || self.peer(from).is_some_and(|peer| peer.router);
        let counts = self.behaviour().success_by_sensitivity;
        let Some(ni) = self.peer_ni_mut(from) else {
            return;
        };
        ni.recovery.ping_count = 0;
        if counts && sensitivity > 0 {
            let step = if routers {
                Health::MAX.value()
            } else {
                sensitivity
            };
            self.raise_peer(from, step, Cause::Arrival, log);
            self.queue_peer(from, whole_secs(log.now));
        }
    }

    /// A step down for one of our interfaces, and onto the recovery queue.
    pub(crate) fn blame_local(&mut self, nid: &Nid, cause: Cause, log: &mut Log) {
        let step = self.params.sensitivity();
        if step == 0 {
            return;
        }
        if let Some(ni) = self.ni(nid) {
            self.set_local(nid, ni.health.lowered(step), cause, log);
            self.queue_local(nid, whole_secs(log.now));
        }
    }

    /// A step down for an interface of a peer, and onto the recovery queue.
    pub(crate) fn blame_peer(&mut self, nid: &Nid, cause: Cause, log: &mut Log) {
        let step = self.params.sensitivity();
        if step == 0 {
            return;
        }
        if let Some(ni) = self.peer_ni(nid) {
            self.set_peer(nid, ni.health.lowered(step), cause, log);
            self.queue_peer(nid, whole_secs(log.now));
        }
    }

    pub(crate) fn raise_local(&mut self, nid: &Nid, step: u16, cause: Cause, log: &mut Log) {
        if let Some(ni) = self.ni(nid) {
            self.set_local(nid, ni.health.raised(step), cause, log);
        }
    }

    pub(crate) fn raise_peer(&mut self, nid: &Nid, step: u16, cause: Cause, log: &mut Log) {
        if let Some(ni) = self.peer_ni(nid) {
            self.set_peer(nid, ni.health.raised(step), cause, log);
        }
    }

    pub(crate) fn set_local(&mut self, nid: &Nid, after: Health, cause: Cause, log: &mut Log) {
        let Some(ni) = self.ni_mut(nid) else {
            return;
        };
        let before = ni.health;
        ni.set_health(after);
        if before != after {
            let ni = nid.clone();
            log.say(
                &self.name,
                What::Health {
                    ni,
                    side: Side::Local,
                    before,
                    after,
                    cause,
                },
            );
        }
    }

    pub(crate) fn set_peer(&mut self, nid: &Nid, after: Health, cause: Cause, log: &mut Log) {
        let Some(ni) = self.peer_ni_mut(nid) else {
            return;
        };
        let before = ni.health;
        ni.health = after;
        if before != after {
            let ni = nid.clone();
            log.say(
                &self.name,
                What::Health {
                    ni,
                    side: Side::Peer,
                    before,
                    after,
                    cause,
                },
            );
        }
    }
}
