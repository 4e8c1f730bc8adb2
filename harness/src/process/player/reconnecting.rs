//! After nothing listened on a socket: whether the client of a monitor has connected again.
//!
//! A client that was refused waits before it tries again; stock channels of gRPC wait a second of real time, in which a drill
//! has many polls. A descriptor states the longest such wait (`real_time.backoff`), and the first poll after an outage is
//! held until the client is connected, for that long at most. Start at [`Player::await_connection`].

use std::time::{Duration, Instant};

use director::MonitorId;
use platforms::NodeName;

use super::{Play, Player, waiting::Waited};

/// How long one look for a message takes while a poll is held.
const LOOK: Duration = Duration::from_millis(5);

impl Player<'_> {
    /// Holds the first poll after an outage until the monitor's client is connected again, and has done with it.
    pub(super) fn await_connection(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        let Some(outage) = &mut self.node_runtime(node).outage else {
            return Ok(());
        };
        if !outage.is_over || std::mem::replace(&mut outage.waited, true) {
            return Ok(());
        }
        let outage = *outage;
        let Some(backoff) = outage.backoff(&self.descriptor.real_time) else {
            return Ok(());
        };
        let began = Instant::now();
        while !self.is_connected(node) {
            self.goes_on()?;
            let is_there = self.node_runtime(node).instances.contains_key(&monitor);
            if !is_there || began.elapsed() >= backoff {
                return Ok(());
            }
            if let Some(event) = self.next(LOOK) {
                self.react(event)?;
            }
        }
        self.rest(node, monitor).map(|_: Waited| ())
    }

    /// Notes at a tick's end whether the connector listens again and nobody has connected to it.
    pub(super) fn note_unreached(&mut self, node: &NodeName) {
        let is_over = self
            .node_runtime(node)
            .outage
            .is_some_and(|outage| outage.is_over);
        if !is_over {
            return;
        }
        if self.is_connected(node) {
            self.node_runtime(node).outage = None;
        } else {
            self.unreached
                .insert((node.as_str().to_owned(), self.tick()));
        }
    }

    fn is_connected(&mut self, node: &NodeName) -> bool {
        let (transport, _) = self.arm.transport(self.descriptor.speaks);
        transport.is_connected(node)
    }
}
