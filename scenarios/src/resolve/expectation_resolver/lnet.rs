//! Resolves expected states of LNet interfaces.

use platforms::NodeName;

use super::{Around, ExpectationResolver};
use crate::error::Unfit;
use crate::expect::{ExpectLine, LnetSpec};
use crate::resolve::known_workload;
use crate::story::{LnetIs, Plan};

impl ExpectationResolver<'_> {
    /// The one node that a line names, if it is on the LNet of the workload.
    pub(super) fn node_on_lnet(
        &self,
        workload: &str,
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<NodeName, Unfit> {
        known_workload(&self.source, self.workloads, workload, line.place)?;
        let Some(Plan::Storage(plan)) = self.plans.get(workload) else {
            let what = format!("`{workload}` is no workload `lnet`");
            return Err(self.source.wrong(line.place, what).into());
        };
        let known = plan.nodes.iter().map(|node| node.name.as_str());
        match around.named {
            [(name, _)] if known.clone().any(|known| known == name) => {
                Ok(NodeName::from(name.as_str()))
            }
            [(name, place)] => {
                let what = format!("node of `{workload}`");
                Err(self.source.unknown(*place, &what, name, known).into())
            }
            _ => {
                let known: Vec<&str> = known.collect();
                let hint = format!("write `node: …`, one of `{}`", known.join("`, `"));
                let wrong = self.source.wrong(line.place, "the counter of which node?");
                Err(wrong.hint(hint).into())
            }
        }
    }

    /// The interface, in the view of the node that is named, or of its own node.
    pub(super) fn lnet(
        &self,
        spec: &LnetSpec,
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<LnetIs, Unfit> {
        known_workload(&self.source, self.workloads, &spec.workload, line.place)?;
        let ports = self.resolved.find_ports(&spec.of, around.it);
        let [port] = ports[..] else {
            let what = format!("one port is meant here, this names {}", ports.len());
            return Err(self.source.wrong(spec.of.place, what).into());
        };
        let own = self.resolved.node_of(port);
        let named: Vec<&str> = around.named.iter().map(|(name, _)| name.as_str()).collect();
        let seen_from = match named[..] {
            [] if !spec.peers => own.clone(),
            [node] => NodeName::from(node),
            _ => {
                return Err(self
                    .source
                    .wrong(line.place, "the view of which node?")
                    .hint("write `node: …`")
                    .into());
            }
        };
        if (seen_from != *own) != spec.peers {
            return Err(self
                .source
                .wrong(
                    line.place,
                    format!("the port is on `{own}`, seen from `{seen_from}`"),
                )
                .hint("`ni` is a node's own interface, `peer_ni` another's")
                .into());
        }
        Ok(LnetIs {
            workload: spec.workload.clone(),
            seen_from,
            slot: self.resolved.slot(port),
            up: spec.up,
            fatal: spec.fatal,
            health: spec.health.clone(),
        })
    }
}
