//! How a line goes down: what either end remembers, counts and tells.
//!
//! It leaves out who takes it down (`doing.rs`). Start at [`Network::lose`].

use crate::KernelLine;

use super::{
    kernel::{FirmwareReport, KernelEvent, KernelEventKind, state_line},
    layout::{EndRef, NodeKind},
    line::Phase,
    network::Network,
    reason::LinkDownReason,
    record::{Initiative, Profile, fall},
    state::{Logical, Physical},
};

impl Network {
    /// Takes a line down, if it is up, or breaks its training off. Whoever calls lets go of the
    /// signal afterwards, if it goes, and refreshes.
    pub(super) fn lose(&mut self, index: usize, by: [Option<Initiative>; 2]) {
        self.lose_reported(index, by, [None, None]);
    }

    /// The same, where the firmware of an end has something of its own to say of it.
    pub(super) fn lose_reported(
        &mut self,
        index: usize,
        by: [Option<Initiative>; 2],
        reports: [Option<FirmwareReport>; 2],
    ) {
        let now = self.now;
        match self.lines[index].phase {
            Phase::Quiet | Phase::Dark => return,
            Phase::Polling | Phase::Training => self.break_training(index, by),
            Phase::Up => self.bring_down(index, by, reports),
        }
        let quiet = self.quiet;
        let line = &mut self.lines[index];
        line.phase = Phase::Quiet;
        line.next = Some(now + quiet);
        let ends = line.ends.clone();
        for end in ends {
            let port = self.port_mut(&end);
            port.go(Logical::Down, Physical::Offline, now);
            if port.record.profile() == Profile::Spec {
                port.goes_offline(LinkDownReason::TRANSIENT);
            }
        }
    }

    fn break_training(&mut self, index: usize, by: [Option<Initiative>; 2]) {
        for (end, own) in self.lines[index].ends.clone().into_iter().zip(by) {
            if own.is_none() && self.is_on(&end) {
                self.port_mut(&end).break_training();
                self.log(&end, state_line::LINK_DOWN.to_owned());
            }
        }
    }

    fn bring_down(
        &mut self,
        index: usize,
        by: [Option<Initiative>; 2],
        reports: [Option<FirmwareReport>; 2],
    ) {
        let ends = self.lines[index].ends.clone();
        let [a, b] = &ends;
        let (mut one, mut other) = (self.port_mut(a).record, self.port_mut(b).record);
        fall([&mut one, &mut other], by);
        let said = by.map(|own| own.and_then(|own| own.message));
        for (end, record, place) in [(a, one, 0), (b, other, 1)] {
            let plain =
                said[1 - place].map_or(FirmwareReport::Unexpected, FirmwareReport::Neighbour);
            let report = reports[place].unwrap_or(plain);
            let report = Some(report).filter(|_| by[place].is_none());
            let on = self.is_on(end);
            let port = self.port_mut(end);
            let before = port.logical;
            port.link_downed = port.link_downed.saturating_add(1);
            if !on {
                continue;
            }
            port.record = record;
            for line in state_line::went_down(before, report) {
                self.log(end, line);
            }
            self.tell(end, KernelEventKind::PortErr);
        }
        let reachable = |end: &EndRef| {
            self.is_on(end)
                && self
                    .node(&end.node)
                    .is_ok_and(|node| node.kind == NodeKind::Switch)
        };
        if ends.iter().any(reachable) {
            self.trap();
        }
    }

    /// A host's kernel tells its users of a port.
    pub(super) fn tell(&mut self, end: &EndRef, kind: KernelEventKind) {
        let host = self
            .node(&end.node)
            .is_ok_and(|node| node.kind == NodeKind::Host);
        if host {
            self.events.push(KernelEvent {
                at: self.now,
                end: end.clone(),
                kind,
            });
        }
    }

    /// An hfi1 host's kernel log gets a line.
    pub(super) fn log(&mut self, end: &EndRef, text: String) {
        let at = self.now;
        let by_driver = self.port(end).map(|port| port.record.profile());
        if by_driver == Ok(Profile::Hfi1) {
            self.node_mut(&end.node).log.push(KernelLine { at, text });
        }
    }
}
