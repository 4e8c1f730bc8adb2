//! LNet interfaces that are expected to stand in some way.

use platforms::NodeName;

use super::{Around, Expecting};
use crate::error::Unfit;
use crate::expect::{ExpectLine, LnetSaid};
use crate::story::LnetIs;
use crate::telling::known_workload;

impl Expecting<'_> {
    /// An interface, in the eyes of the node that is named, or of its own.
    pub(super) fn lnet(
        &self,
        said: &LnetSaid,
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<LnetIs, Unfit> {
        known_workload(&self.source, self.workloads, &said.workload, line.place)?;
        let ports = self.ground.find_ports(&said.of, around.it);
        let [port] = ports[..] else {
            let what = format!("one port is meant here, this names {}", ports.len());
            return Err(self.source.wrong(said.of.place, what).into());
        };
        let own = self.ground.node_of(port);
        let named: Vec<&str> = around.named.iter().map(|(name, _)| name.as_str()).collect();
        let seen_from = match named[..] {
            [] if !said.peers => own.clone(),
            [node] => NodeName::from(node),
            _ => {
                return Err(self
                    .source
                    .wrong(line.place, "in the eyes of which node?")
                    .hint("write `node: …`")
                    .into());
            }
        };
        if (seen_from != *own) != said.peers {
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
            workload: said.workload.clone(),
            seen_from,
            slot: self.ground.slot(port),
            up: said.up,
            fatal: said.fatal,
            health: said.health.clone(),
        })
    }
}
