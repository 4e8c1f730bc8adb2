//! The two recovery queues: their entries, the times of pings, and the end of recovery.

use super::{
    health::Health,
    ni::{Recovery, whole_secs},
    nid::Nid,
    node::Node,
    params::{Param, Params},
    workload_event::{Cause, Log},
};

impl Recovery {
    /// Starts recovery.
    fn begins(&mut self, now_s: u64, params: &Params) {
        self.queued = true;
        self.next_ping_s = now_s + params.recovery_ping_gap_s(self.ping_count);
    }

    /// Whether it is pinged now; if so, sets the time of the next ping.
    fn pings(&mut self, now_s: u64, params: &Params) -> bool {
        let due = now_s >= self.next_ping_s;
        if due {
            self.ping_count += 1;
            self.next_ping_s = now_s + params.recovery_ping_gap_s(self.ping_count);
        }
        due
    }
}

impl Node {
    /// Puts a local interface on its queue, unless it is healthy or queued already, or health is
    /// disabled.
    pub(crate) fn queue_local(&mut self, nid: &Nid, now_s: u64) {
        if self.params.sensitivity() == 0 {
            return;
        }
        let params = self.params.clone();
        if let Some(ni) = self.ni_mut(nid)
            && ni.health < Health::MAX
            && !ni.recovery.queued
        {
            ni.recovery.begins(now_s, &params);
            self.local_queue.push(nid.clone());
        }
    }

    /// Puts a peer's interface on its queue, unless it is healthy or queued already, no message ever
    /// arrived from it, it has aged out, or health is disabled.
    pub(crate) fn queue_peer(&mut self, nid: &Nid, now_s: u64) {
        let limit_s = u64::from(self.params.get(Param::RecoveryLimit));
        if self.params.sensitivity() == 0 {
            return;
        }
        let params = self.params.clone();
        if let Some(ni) = self.peer_ni_mut(nid)
            && ni.health < Health::MAX
            && !ni.recovery.queued
            && let Some(last_alive) = ni.last_alive
        {
            if is_aged_out(whole_secs(last_alive), limit_s, now_s) {
                ni.recovery.ping_count = 0;
                return;
            }
            ni.recovery.begins(now_s, &params);
            self.peer_queue.push(nid.clone());
        }
    }

    /// The local interfaces to be pinged now.
    pub(crate) fn due_local_pings(&mut self, now_s: u64) -> Vec<Nid> {
        let params = self.params.clone();
        let mut due = Vec::new();
        for nid in std::mem::take(&mut self.local_queue) {
            let Some(ni) = self.ni_mut(&nid) else {
                continue;
            };
            if ni.health == Health::MAX {
                ni.recovery.queued = false;
                continue;
            }
            if ni.recovery.pings(now_s, &params) {
                due.push(nid.clone());
            }
            self.local_queue.push(nid);
        }
        due
    }

    /// The peers' interfaces to be pinged now.
    pub(crate) fn due_peer_pings(&mut self, now_s: u64) -> Vec<Nid> {
        let params = self.params.clone();
        let limit_s = u64::from(params.get(Param::RecoveryLimit));
        let mut due = Vec::new();
        for nid in std::mem::take(&mut self.peer_queue) {
            let Some(ni) = self.peer_ni_mut(&nid) else {
                continue;
            };
            let last_alive_s = ni.last_alive.map_or(0, whole_secs);
            if is_aged_out(last_alive_s, limit_s, now_s) {
                ni.recovery.ping_count = 0;
                ni.recovery.queued = false;
                continue;
            }
            if ni.health == Health::MAX {
                ni.recovery.queued = false;
                continue;
            }
            if ni.recovery.pings(now_s, &params) {
                due.push(nid.clone());
            }
            self.peer_queue.push(nid);
        }
        due
    }

    /// A recovery ping of a local interface succeeded: raises its health at the ping's SEND and at
    /// its REPLY. In the HLD profile the ping as a whole raises it by 1.
    pub(crate) fn local_ping_went_well(&mut self, nid: &Nid, answered: bool, log: &mut Log) {
        let step = match (self.behaviour().success_by_sensitivity, answered) {
            (true, _) => self.params.sensitivity(),
            (false, answered) => u16::from(answered && self.params.sensitivity() > 0),
        };
        self.raise_local(nid, step, Cause::Recovery, log);
        if let Some(ni) = self.ni_mut(nid).filter(|_| answered) {
            ni.recovery.ping_count = 0;
        }
    }

    /// A peer's interface answered. Its REPLY has been counted already, except in the HLD profile.
    pub(crate) fn peer_ping_went_well(&mut self, nid: &Nid, log: &mut Log) {
        if !self.behaviour().success_by_sensitivity && self.params.sensitivity() > 0 {
            self.raise_peer(nid, 1, Cause::Recovery, log);
        }
        if let Some(ni) = self.peer_ni_mut(nid) {
            ni.recovery.ping_count = 0;
        }
    }

    /// Health was disabled: ends all recovery.
    pub(crate) fn empty_queues(&mut self) {
        self.local_queue.clear();
        self.peer_queue.clear();
        let at_rest = |recovery: &Recovery| !recovery.queued && recovery.ping_count == 0;
        let own = self.nis.iter_mut().map(|ni| &mut ni.recovery);
        let peers = self.peers.iter_mut();
        let theirs = peers
            .filter(|peer| !peer.nis.iter().all(|ni| at_rest(&ni.recovery)))
            .flat_map(|peer| &mut peer.nis)
            .map(|ni| &mut ni.recovery);
        for recovery in own.chain(theirs) {
            recovery.queued = false;
            recovery.ping_count = 0;
        }
    }
}

fn is_aged_out(last_alive_s: u64, limit_s: u64, now_s: u64) -> bool {
    limit_s > 0 && now_s > last_alive_s + limit_s
}
