//! Resolves what lines do to workloads: fault rules of LNet, and MPIB's agents.

use lnet::{FaultRule, Nid, NidPattern, Side, StoragePlan};
use mpib::AgentAction;
use platforms::NodeName;
use platforms::yaml::Place;

use super::LineResolver;
use crate::error::Unfit;
use crate::resolve::{known_node, known_workload, lnet_interface};
use crate::story::{NiChange, Plan, WorkloadAction};
use crate::subject::Subjects;
use crate::verbs::spec::{AgentSpec, RulePlaces};

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
