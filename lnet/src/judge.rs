//! The status table: the effect of an attempt's status on health, and whether the message is sent
//! again.
//!
//! It follows `lnet_health_check()` in "lnet/lnet/lib-msg.c", condition by condition; also
//! `lnet_handle_local_failure` and `lnet_handle_remote_failure`.

use super::{
    health::Health,
    message::{Message, Purpose},
    ni::whole_secs,
    nid::{Lnd, Nid},
    node::Node,
    params::Param,
    status::{MsgStatus, Resend},
    trace::{NoResend, Traced},
    wire::Trouble,
    workload_event::{Cause, Ending, Errand, Log, Side, What},
};

/// The consequence of an attempt's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Resend,
    End(Ending),
}

impl Node {
    /// Classifies the end of an attempt for a message of this node.
    ///
    /// A message that was resent and then fails counts as `failed_resends`, also if its retries had
    /// not run out: every resent message ends in one of three ways.
    pub(crate) fn judge(&mut self, message: &Message, status: MsgStatus, log: &mut Log) -> Verdict {
        let Some(leg) = &message.leg else {
            return Verdict::End(Ending::Failure);
        };
        if status != MsgStatus::Ok && message.is_past_deadline(log.now) {
            self.refuse(message, NoResend::Deadline, log);
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
        let retry_count = self.params.get(Param::RetryCount);
        let refused = match status.resend() {
            None => Some(NoResend::Status(status)),
            Some(Resend::Local) if gates && one_ni => Some(NoResend::OneLocalNi),
            Some(Resend::Remote) if gates && peer_has_one => Some(NoResend::OnePeerNi),
            Some(_) if message.is_recovery() => Some(NoResend::RecoveryPing),
            Some(_) if message.resends() >= retry_count => Some(NoResend::RetriesUsed(retry_count)),
            Some(_) => None,
        };
        let resend = refused.is_none();
        log.say(
            &self.name,
            What::Judged {
                message: message.id,
                status,
                resend,
            },
        );

        let cause = Cause::Status(message.id, status);
        let by_ping = behaviour.failed_ping_blames_pinged && message.is_recovery();
        let own_ping = by_ping && message.errand() == Errand::RecoverLocal;
        if status.blames_local() {
            if let Some(ni) = self.ni_mut(&leg.by) {
                ni.stats.count_failure(status);
            }
            if (behaviour.single_rail_blamed || !one_ni) && !own_ping {
                self.blame_local(&leg.by, cause, log);
            }
        }
        if status.blames_peer() && !leg.own {
            if let Some(ni) = self.peer_ni_mut(&leg.to) {
                ni.stats.count_failure(status);
                ni.alive = false;
            }
            if (!(gates && peer_has_one) || peer_routes || self.routing) && !by_ping {
                self.blame_peer(&leg.to, cause, log);
            }
        }
        if by_ping {
            self.blame_pinged(&message.purpose, log);
        }
        match refused {
            None => Verdict::Resend,
            Some(why) => {
                self.refuse(message, why, log);
                Verdict::End(Ending::Failure)
            }
        }
    }

    /// A recovery ping failed: blames the interface that it was to recover.
    pub(crate) fn blame_pinged(&mut self, purpose: &Purpose, log: &mut Log) {
        match purpose {
            Purpose::RecoverLocal(nid) => self.blame_local(nid, Cause::PingFailed, log),
            Purpose::RecoverPeer(nid) => self.blame_peer(nid, Cause::PingFailed, log),
            Purpose::Ulp | Purpose::RouterPing(_) | Purpose::Push(_) | Purpose::Answer(_) => {}
        }
    }

    /// The status of an attempt that its driver failed.
    pub(crate) fn status_of(&self, trouble: Trouble, lnd: Lnd) -> MsgStatus {
        let connecting = matches!(
            trouble,
            Trouble::ConnectTimedOut
                | Trouble::ConnectUnreachable
                | Trouble::ConnectRefused
                | Trouble::ConnectFailed
        );
        if connecting && self.behaviour().connecting_fails_remotely {
            MsgStatus::RemoteDropped
        } else {
            trouble.status(lnd)
        }
    }

    fn refuse(&self, message: &Message, why: NoResend, log: &mut Log) {
        let message = message.id;
        log.note(&self.name, || Traced::NoResend { message, why });
    }

    fn succeed(&mut self, message: &Message, by: &Nid, log: &mut Log) {
        let cause = Cause::Status(message.id, MsgStatus::Ok);
        if self.behaviour().success_by_sensitivity {
            self.raise_local(by, self.params.sensitivity(), cause, log);
        }
        // The receipt of a GET is counted together with the REPLY to it.
        if let Some(heard) = &message.heard {
            self.trust(&heard.by, &heard.from, log);
        }
    }

    /// A message arrived: the health of both interfaces rises. The caller raises that of the local
    /// interface.
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

    /// Lowers the health of a local interface by one step, and queues it for recovery.
    pub(crate) fn blame_local(&mut self, nid: &Nid, cause: Cause, log: &mut Log) {
        let step = self.params.sensitivity();
        if step == 0 {
            return;
        }
        if let Some(ni) = self.ni(nid) {
            self.note_zero(nid, ni.health, cause, log);
            self.set_local(nid, ni.health.lowered(step), cause, log);
            self.queue_local(nid, whole_secs(log.now));
        }
    }

    /// Lowers the health of a peer's interface by one step, and queues it for recovery.
    pub(crate) fn blame_peer(&mut self, nid: &Nid, cause: Cause, log: &mut Log) {
        let step = self.params.sensitivity();
        if step == 0 {
            return;
        }
        if let Some(ni) = self.peer_ni(nid) {
            self.note_zero(nid, ni.health, cause, log);
            self.set_peer(nid, ni.health.lowered(step), cause, log);
            self.queue_peer(nid, whole_secs(log.now));
        }
    }

    fn note_zero(&self, nid: &Nid, health: Health, cause: Cause, log: &mut Log) {
        if health == Health::ZERO {
            let ni = nid.clone();
            log.note(&self.name, || Traced::AtZero { ni, cause });
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
