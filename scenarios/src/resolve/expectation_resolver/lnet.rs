//! Resolves expected states of LNet interfaces.

use platforms::{NodeName, SlotRef};

use super::{Around, ExpectationResolver};
use crate::error::Unfit;
use crate::expect::{ExpectLine, LnetSpec};
use crate::resolve::{known_workload, lnet_interface};
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
        let of = (peers, of, around.it);
        let named = (around.named, line.place);
        Ok(lnet_interface(&self.source, self.resolved, of, named)?)
    }
}
