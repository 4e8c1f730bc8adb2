//! Resolves expected counters of workloads: which node counts, and what.

use files::Place;
use lnet::{Nid, NodePlan};
use platforms::NodeName;

use super::{Around, ExpectationResolver};
use crate::error::Unfit;
use crate::expect::{CountOfSpec, CountSpec, ExpectLine};
use crate::resolve::known_workload;
use crate::story::{CountIs, CounterOf, Plan, WorkloadCounter};

impl ExpectationResolver<'_> {
    pub(super) fn count(
        &self,
        spec: &CountSpec,
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<CountIs, Unfit> {
        let workload = &spec.workload;
        known_workload(&self.source, self.workloads, workload, line.place)?;
        let nodes = self.nodes_of(spec, line)?;
        let (node, of) = match &spec.of {
            CountOfSpec::Lnet {
                counter,
                interface: Some((peers, of)),
            } => {
                let (seen_from, slot) = self.interface((*peers, of), line, around)?;
                (seen_from, CounterOf::LnetNi(slot, counter.clone()))
            }
            CountOfSpec::Lnet { counter, .. } => {
                let of = CounterOf::Lnet(counter.clone());
                (self.counting_node(spec, &nodes, line, around)?, of)
            }
            CountOfSpec::LnetUlp(event, result) => {
                let of = CounterOf::LnetUlp(*event, *result);
                (self.counting_node(spec, &nodes, line, around)?, of)
            }
            CountOfSpec::LnetRoute(router, place) => {
                let node = self.counting_node(spec, &nodes, line, around)?;
                let gateway = self.gateway(spec, &node, router, *place)?;
                (node, CounterOf::LnetRoute(gateway))
            }
            CountOfSpec::Mpib { counter, pair } => {
                let pair = pair.as_ref();
                let pair = pair.map(|(name, place)| self.node_among(spec, &nodes, name, *place));
                let of = CounterOf::Mpib(*counter, pair.transpose()?);
                (self.counting_node(spec, &nodes, line, around)?, of)
            }
            CountOfSpec::MpibLog(text) => {
                let of = CounterOf::MpibLog(text.clone());
                (self.counting_node(spec, &nodes, line, around)?, of)
            }
        };
        Ok(CountIs {
            counter: WorkloadCounter {
                workload: workload.clone(),
                node,
                of,
            },
            is: spec.is.clone(),
        })
    }

    /// The nodes of the workload, which is of the kind that the line is about.
    fn nodes_of(&self, spec: &CountSpec, line: &ExpectLine) -> Result<Vec<&NodeName>, Unfit> {
        match (&spec.of, self.plans.get(&spec.workload)) {
            (
                CountOfSpec::Lnet { .. } | CountOfSpec::LnetUlp(..) | CountOfSpec::LnetRoute(..),
                Some(Plan::Storage(plan)),
            ) => Ok(plan.nodes.iter().map(|node| &node.name).collect()),
            (CountOfSpec::Mpib { .. } | CountOfSpec::MpibLog(_), Some(Plan::Job(plan))) => {
                Ok(plan.hosts.iter().map(|host| &host.name).collect())
            }
            (of, _) => {
                let kind = match of {
                    CountOfSpec::Mpib { .. } | CountOfSpec::MpibLog(_) => "mpib",
                    _ => "lnet",
                };
                let what = format!("`{}` is no workload `{kind}`", spec.workload);
                Err(self.source.wrong(line.place, what).into())
            }
        }
    }

    /// The gateway of a node's route by a router.
    fn gateway(
        &self,
        spec: &CountSpec,
        node: &NodeName,
        router: &str,
        place: Place,
    ) -> Result<Nid, Unfit> {
        let Some(Plan::Storage(plan)) = self.plans.get(&spec.workload) else {
            unreachable!("`nodes_of` found its nodes");
        };
        let plans = plan.nodes.iter();
        let routes = plans
            .filter(|of| of.name == *node)
            .flat_map(|of| &of.routes);
        let by: Vec<(&str, &Nid)> = routes
            .filter_map(|route| {
                let has = |of: &&NodePlan| of.nis.iter().any(|ni| ni.nid == route.gateway);
                let router = plan.nodes.iter().find(has)?;
                Some((router.name.as_str(), &route.gateway))
            })
            .collect();
        if by.is_empty() {
            let what = format!("`{node}` has no routes");
            let hint = "`routers` of the workload gives them to its clients and its server";
            return Err(self.source.wrong(place, what).hint(hint).into());
        }
        let known = by.iter().map(|(name, _)| *name);
        let found = by.iter().find(|(name, _)| *name == router);
        let Some((_, gateway)) = found else {
            let what = format!("gateway of `{node}`");
            return Err(self.source.unknown(place, &what, router, known).into());
        };
        Ok((*gateway).clone())
    }

    /// The one node that a line names, if it is one of the workload's.
    fn counting_node(
        &self,
        spec: &CountSpec,
        nodes: &[&NodeName],
        line: &ExpectLine,
        around: &Around<'_>,
    ) -> Result<NodeName, Unfit> {
        if let [(name, place)] = around.named {
            return self.node_among(spec, nodes, name, *place);
        }
        let known: Vec<&str> = nodes.iter().map(|node| node.as_str()).collect();
        let hint = format!("write `node: …`, one of `{}`", known.join("`, `"));
        let what = match spec.of {
            CountOfSpec::MpibLog(_) => "the log of which node?",
            CountOfSpec::LnetUlp(..) => "the layer above LNet on which node?",
            CountOfSpec::LnetRoute(..) => "the route of which node?",
            _ => "the counter of which node?",
        };
        Err(self.source.wrong(line.place, what).hint(hint).into())
    }

    fn node_among(
        &self,
        spec: &CountSpec,
        nodes: &[&NodeName],
        name: &str,
        place: Place,
    ) -> Result<NodeName, Unfit> {
        let known = nodes.iter().map(|node| node.as_str());
        if known.clone().any(|known| known == name) {
            return Ok(NodeName::from(name));
        }
        let what = format!("node of `{}`", spec.workload);
        Err(self.source.unknown(place, &what, name, known).into())
    }
}
