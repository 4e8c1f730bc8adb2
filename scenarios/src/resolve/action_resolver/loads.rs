//! Resolves what lines do to workloads: fault rules of LNet, and MPIB's agents.

use lnet::{FaultRule, Nid, NidPattern, Request, Side, StoragePlan};
use mpib::AgentAction;
use platforms::NodeName;
use platforms::yaml::Place;

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

    /// Rejects a rule about a NID that no interface of the workload has.
    pub(super) fn known_nids(
        &self,
        workload: &str,
        rule: &FaultRule,
        places: RulePlaces,
    ) -> Result<(), Unfit> {
        let plan = self.storage(workload)?;
        let nids: Vec<&Nid> = plan
            .nodes
            .iter()
            .flat_map(|node| node.nis.iter().map(|ni| &ni.nid))
            .collect();
        let via = rule.via.clone().map(NidPattern::One);
        for (pattern, place) in [
            (Some(&rule.source), places.from),
            (Some(&rule.destination), places.to),
            (via.as_ref(), places.ni),
        ] {
            let (Some(pattern), Some(place)) = (pattern, place) else {
                continue;
            };
            if !nids.iter().any(|nid| pattern.fits(nid)) {
                let known: Vec<String> = nids.iter().map(ToString::to_string).collect();
                let known = known.iter().map(String::as_str);
                let what = format!("NID of `{workload}`");
                let name = pattern.to_string();
                return Err(self.source.unknown(place, &what, &name, known).into());
            }
        }
        Ok(())
    }

    /// A request of each node that the line names, to a NID of the workload, by an own one if it is given.
    pub(super) fn requests(&self, workload: &str, send: &SendSpec) -> Result<Vec<Request>, Unfit> {
        let plan = self.storage(workload)?;
        let nids = |of: Option<&NodeName>| -> Vec<String> {
            let nodes = plan.nodes.iter();
            let nodes = nodes.filter(|node| of.is_none_or(|of| node.name == *of));
            let nis = nodes.flat_map(|node| &node.nis);
            nis.map(|ni| ni.nid.to_string()).collect()
        };
        let check = |(nid, place): &(Nid, Place), whose: &str, known: &[String]| {
            let (name, known) = (nid.to_string(), known.iter().map(String::as_str));
            if known.clone().any(|known| known == name) {
                return Ok(());
            }
            let what = format!("NID of `{whose}`");
            Err(Unfit::from(
                self.source.unknown(*place, &what, &name, known),
            ))
        };
        check(&send.to, workload, &nids(None))?;
        let mut requests = Vec::new();
        for node in self.each_node(|node| node)? {
            if let Some(from) = &send.from {
                check(from, node.as_str(), &nids(Some(&node)))?;
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
