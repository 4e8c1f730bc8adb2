//! The subnet manager: it comes round, reads what it can reach, logs, arms.
//!
//! A trap brings it round soon, and it comes by itself every so often. It reaches every switch that
//! is on, and hosts through their links. It leaves out what its notices look like (`notice.rs`).
//! Start at [`Network::sweep`].

use std::collections::{BTreeMap, BTreeSet};

use simfs::SimTime;

use crate::Timing;

use super::{
    init::LinkInitReason,
    layout::{EndRef, NodeKind},
    line::{Phase, Port},
    log::LinkDownErrorLog,
    network::Network,
    notice::{Condition, Notice},
    record::Pair,
    state::{Logical, Physical},
};

/// The world's clock at its start, 2025-03-01T00:00:00Z, in seconds since 1970. Later than 0, for a
/// time of 0 means an empty entry of a log.
pub const START_S: u64 = 1_740_787_200;

/// A subnet manager.
#[derive(Clone, Debug)]
pub(super) struct Manager {
    /// When it comes round by itself; `None` while it does not run.
    by_itself: Option<SimTime>,
    /// When it comes round for traps.
    trapped: BTreeSet<SimTime>,
    /// What it keeps of each port.
    pub(super) logs: BTreeMap<EndRef, LinkDownErrorLog>,
    /// Whether each port was up in the last sweep.
    known: BTreeMap<EndRef, bool>,
    /// The ports that it leaves in Init, and why.
    pub(super) quarantined: BTreeMap<EndRef, LinkInitReason>,
    pub(super) notices: Vec<Notice>,
}

impl Manager {
    /// One that runs since the start.
    pub(super) fn running(timing: &Timing) -> Self {
        Self {
            by_itself: Some(timing.sweep),
            trapped: BTreeSet::new(),
            logs: BTreeMap::new(),
            known: BTreeMap::new(),
            quarantined: BTreeMap::new(),
            notices: Vec::new(),
        }
    }

    pub(super) fn runs(&self) -> bool {
        self.by_itself.is_some()
    }

    /// When it comes round next.
    pub(super) fn next(&self) -> Option<SimTime> {
        self.by_itself
            .into_iter()
            .chain(self.trapped.first().copied())
            .min()
    }

    /// Notes whether a port is up.
    pub(super) fn know(&mut self, end: &EndRef, up: bool) {
        self.known.insert(end.clone(), up);
    }
}

impl Network {
    /// A port's trap, if there is anyone to hear it.
    pub(super) fn trap(&mut self) {
        if self.manager.runs() {
            let at = self.now + self.timing.trap_to_sweep;
            self.manager.trapped.insert(at);
        }
    }

    /// The subnet manager stops: what it was about to do is not done.
    pub(super) fn stop_manager(&mut self) {
        self.manager.by_itself = None;
        self.manager.trapped.clear();
        for line in &mut self.lines {
            if line.phase == Phase::Up {
                line.next = None;
            }
        }
    }

    /// It starts, and comes round soon; one that runs already goes on.
    pub(super) fn start_manager(&mut self, keeps_logs: bool) {
        if self.manager.runs() {
            return;
        }
        if !keeps_logs {
            self.manager.logs.clear();
        }
        self.manager.by_itself = Some(self.now + self.timing.sweep);
        self.trap();
    }

    /// Whether the manager can ask a port: a switch is reached by its own management, a host only
    /// through the link itself.
    pub(super) fn is_reachable(&self, end: &EndRef) -> bool {
        let by_itself = self
            .node(&end.node)
            .is_ok_and(|node| node.kind == NodeKind::Switch);
        self.is_on(end) && (by_itself || self.port(end).is_ok_and(Port::is_up))
    }

    /// The subnet manager comes round: first it reads and logs, then it arms.
    pub(super) fn sweep(&mut self) {
        let now = self.now;
        self.manager.trapped = self.manager.trapped.split_off(&(now + SimTime::from_ns(1)));
        if self.manager.by_itself.is_some_and(|due| due <= now) {
            self.manager.by_itself = Some(now + self.timing.sweep.max(SimTime::from_ns(1)));
        }
        let at_s = START_S + now.as_ns() / 1_000_000_000;
        for end in self.ports.keys().cloned().collect::<Vec<_>>() {
            self.read(&end, at_s);
        }
        for index in 0..self.lines.len() {
            self.configure(index);
        }
    }

    /// Reads one port into its log, and notices hosts that came or went.
    fn read(&mut self, end: &EndRef, at_s: u64) {
        let reachable = self.is_reachable(end);
        let (pair, logical) = {
            let port = &self.ports[end];
            (port.record.shown(), port.logical)
        };
        let up = reachable && logical > Logical::Down;
        if reachable {
            let log = self.manager.logs.entry(end.clone()).or_default();
            if logical > Logical::Init {
                log.armed();
            }
            log.read(pair, at_s);
        }
        if let Some(reason) = self.manager.quarantined.get(end).copied()
            && logical == Logical::Init
        {
            self.port_mut(end).init = reason;
        }
        let knew = self.manager.known.insert(end.clone(), up);
        let kind = self.node(&end.node).map(|node| node.kind);
        if kind == Ok(NodeKind::Host) && knew != Some(up) {
            let linked = self.neighbour(end).filter(|other| self.is_reachable(other));
            let linked = linked.map(|other| self.ports[&other].record.shown());
            let notice = Notice {
                at: self.now,
                end: end.clone(),
                kind: NodeKind::Host,
                condition: if up {
                    Condition::Appearance
                } else {
                    Condition::Disappearance
                },
                local: if reachable { pair } else { Pair::CLEAR },
                linked,
            };
            self.manager.notices.push(notice);
        }
    }

    /// Arms both ends of a line that waits for it, and sees to those that are armed already.
    fn configure(&mut self, index: usize) {
        let line = &self.lines[index];
        if line.phase != Phase::Up || line.next.is_some() {
            return;
        }
        let ends = line.ends.clone();
        if ends
            .iter()
            .any(|end| self.manager.quarantined.contains_key(end))
        {
            return;
        }
        let active = |end| self.ports[end].logical == Logical::Active;
        if ends.iter().all(active) {
            return;
        }
        for end in &ends {
            self.arm(end);
        }
        self.lines[index].next = Some(self.now + self.timing.arming);
    }

    /// Arms a port, and so clears both its reasons.
    fn arm(&mut self, end: &EndRef) {
        let now = self.now;
        let port = self.port_mut(end);
        if port.logical == Logical::Init {
            port.go(Logical::Armed, Physical::LinkUp, now);
            port.record.clear(true, true);
            port.configured = true;
            self.manager.logs.entry(end.clone()).or_default().armed();
        }
    }
}
