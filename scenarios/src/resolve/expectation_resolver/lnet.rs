//! Resolves expected states of LNet interfaces.

use platforms::{NodeName, SlotRef};

use super::{Around, ExpectationResolver};
use crate::error::Unfit;
use crate::expect::{ExpectLine, LnetSpec};
use crate::resolve::known_workload;
use crate::story::LnetIs;
use crate::subject::Subjects;

impl ExpectationResolver<'_> {
    /// The interface, in the view of the node that is named, or of its own node.
    pub(super) fn lnet(
        &self,
        spec: &LnetSpec,
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<LnetIs, Unfit> {
        known_workload(&self.source, self.workloads, &spec.workload, line.place)?;
        let (seen_from, slot) = self.interface((spec.peers, &spec.of), line, around)?;
        Ok(LnetIs {
            workload: spec.workload.clone(),
            seen_from,
            slot,
            up: spec.up,
            fatal: spec.fatal,
            health: spec.health.clone(),
            queued: spec.queued,
            pings: spec.pings.clone(),
            next_ping_s: spec.next_ping_s,
        })
    }

    /// The node whose view is meant, and the port of the interface.
    pub(super) fn interface(
        &self,
        (peers, of): (bool, &Subjects),
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<(NodeName, SlotRef), Unfit> {
        let ports = self.resolved.find_ports(of, around.it);
        let [port] = ports[..] else {
            let what = format!("one port is meant here, this names {}", ports.len());
            return Err(self.source.wrong(of.place, what).into());
        };
        let own = self.resolved.node_of(port);
        let named: Vec<&str> = around.named.iter().map(|(name, _)| name.as_str()).collect();
        let seen_from = match named[..] {
            [] if !peers => own.clone(),
            [node] => NodeName::from(node),
            _ => {
                return Err(self
                    .source
                    .wrong(line.place, "the view of which node?")
                    .hint("write `node: …`")
                    .into());
            }
        };
        if (seen_from != *own) != peers {
            return Err(self
                .source
                .wrong(
                    line.place,
                    format!("the port is on `{own}`, seen from `{seen_from}`"),
                )
                .hint("`ni` is a node's own interface, `peer_ni` another's")
                .into());
        }
        Ok((seen_from, self.resolved.slot(port)))
    }
}
