//! Resolves what lines do to workloads: fault rules of LNet, and MPIB's agents.

use files::Place;
use lnet::{FaultRule, Nid, Request, Side, StoragePlan};
use mpib::AgentAction;
use platforms::NodeName;

use super::LineResolver;
use crate::error::Unfit;
use crate::resolve::{known_node, known_workload, lnet_interface};
use crate::story::{NiChange, Plan, WorkloadAction};
use crate::subject::Subjects;
use crate::verbs::spec::{AgentSpec, RulePlaces, SendSpec};

impl LineResolver<'_> {
    pub(super) fn known_workload(&self, name: &str) -> Result<(), Unfit> {
        Ok(known_workload(
            &self.source,
            self.workloads,
            name,
            self.line.place,
        )?)
    }

    /// The storage workload of this name.
    pub(super) fn storage(&self, workload: &str) -> Result<&StoragePlan, Unfit> {
        self.known_workload(workload)?;
        let Some(Plan::Storage(plan)) = self.plans.get(workload) else {
            let what = format!("`{workload}` is no workload `lnet`");
            return Err(self.source.wrong(self.line.place, what).into());
        };
        Ok(plan)
    }

    /// A change of an interface, in the view of the node that the line names, or of its own node.
    pub(super) fn lnet_ni(
        &self,
        workload: &str,
        (peers, of): &(bool, Subjects),
        change: NiChange,
    ) -> Result<WorkloadAction, Unfit> {
        let plan = self.storage(workload)?;
        let named = (self.named, self.line.place);
        let (node, slot) = lnet_interface(&self.source, self.resolved, (*peers, of, None), named)?;
        let nis = plan.nodes.iter().flat_map(|node| &node.nis);
        let Some(ni) = nis.into_iter().find(|ni| ni.slot == slot) else {
            let what = format!("`{workload}` has no interface on this port");
            return Err(self.source.wrong(of.place, what).into());
        };
        Ok(WorkloadAction::LnetNi {
            workload: workload.to_owned(),
            node,
            side: if *peers { Side::Peer } else { Side::Local },
            nid: ni.nid.clone(),
            change,
        })
    }

    /// Rejects a rule about a NID that no interface of the workload has, or an interface that the rule's node does not
    /// have.
    pub(super) fn known_nids(
        &self,
        workload: &str,
        rule: &FaultRule,
        places: RulePlaces,
    ) -> Result<(), Unfit> {
        let plan = self.storage(workload)?;
        let all = nids(plan, None);
        for (pattern, place) in [(&rule.source, places.from), (&rule.destination, places.to)] {
            if let Some(place) = place
                && !all.iter().any(|nid| pattern.fits(nid))
            {
                return Err(self.no_nid(workload, &pattern.to_string(), place, &all));
            }
        }
        if let Some((via, place)) = rule.via.as_ref().zip(places.ni) {
            for node in self.each_node(|node| node)? {
                self.known_nid((via, place), node.as_str(), &nids(plan, Some(&node)))?;
            }
        }
        Ok(())
    }

    /// Rejects a NID that is none of these.
    fn known_nid(
        &self,
        (nid, place): (&Nid, Place),
        whose: &str,
        known: &[&Nid],
    ) -> Result<(), Unfit> {
        if known.contains(&nid) {
            return Ok(());
        }
        Err(self.no_nid(whose, &nid.to_string(), place, known))
    }

    fn no_nid(&self, whose: &str, name: &str, place: Place, known: &[&Nid]) -> Unfit {
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        let known = known.iter().map(String::as_str);
        let what = format!("NID of `{whose}`");
        self.source.unknown(place, &what, name, known).into()
    }

    /// A request of each node that the line names, to a NID of the workload, by an own one if it is given.
    pub(super) fn requests(&self, workload: &str, send: &SendSpec) -> Result<Vec<Request>, Unfit> {
        let plan = self.storage(workload)?;
        let (to, place) = &send.to;
        self.known_nid((to, *place), workload, &nids(plan, None))?;
        let mut requests = Vec::new();
        for node in self.each_node(|node| node)? {
            if let Some((from, place)) = &send.from {
                self.known_nid((from, *place), node.as_str(), &nids(plan, Some(&node)))?;
            }
            requests.push(Request {
                node,
                verb: send.verb,
                source: send.from.as_ref().map(|(nid, _)| nid.clone()),
                destination: send.to.0.clone(),
                length: send.length,
                portal: send.portal,
            });
        }
        Ok(requests)
    }

    pub(super) fn agent(&self, spec: &AgentSpec) -> Result<AgentAction, Unfit> {
        let node = |(name, place): &(String, Place)| {
            known_node(&self.source, self.resolved, name, *place)?;
            Ok::<_, Unfit>(NodeName::from(name.as_str()))
        };
        Ok(match spec {
            AgentSpec::Hint { pair, share } => AgentAction::Hint {
                to: node(pair)?,
                share: *share,
            },
            AgentSpec::Dies => AgentAction::Dies,
            AgentSpec::DiesWhileWriting { pair } => {
                AgentAction::DiesWhileWriting { to: node(pair)? }
            }
        })
    }
}

/// The NIDs of a node of the workload, or of all.
fn nids<'p>(plan: &'p StoragePlan, of: Option<&NodeName>) -> Vec<&'p Nid> {
    let nodes = plan.nodes.iter();
    let nodes = nodes.filter(|node| of.is_none_or(|of| node.name == *of));
    nodes
        .flat_map(|node| node.nis.iter().map(|ni| &ni.nid))
        .collect()
}
