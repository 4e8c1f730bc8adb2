//! Why a world has none of the ports that a story asks for, where a number alone hides the cause: nothing of it is monitored, or
//! its functions have their virtual functions already. Start at [`ResolvedWorld::and_why`].

use std::collections::BTreeSet;

use super::{ResolvedPort, ResolvedWorld};
use crate::handle::Filter;

impl ResolvedWorld {
    /// A reason why a story does not fit, with the cause added where no port of the world is monitored.
    pub(crate) fn and_why(&self, reason: String) -> String {
        with(reason, self.unwatched())
    }

    /// The same of a handle that found no port.
    pub(super) fn and_why_none(&self, filter: &Filter, reason: String) -> String {
        match self.vfs_at_rest(filter) {
            Some(cause) => with(reason, Some(cause)),
            None => self.and_why(reason),
        }
    }

    /// Why the monitor under test watches nothing here; `None` if it watches a port.
    fn unwatched(&self) -> Option<String> {
        if self.ports.iter().any(|port| port.facts.is_monitored()) {
            return None;
        }
        let refusal = self.nodes.iter().find_map(|node| node.platform.refusal());
        if let Some(refusal) = refusal {
            return Some(format!(
                "a monitor must refuse to start there, because {refusal}"
            ));
        }
        let foreign = self.ports.iter().filter(|port| !port.facts.is_of_vendor);
        let vendors = foreign.filter_map(|port| {
            let functions = &self.nodes[port.node].machine.functions;
            functions.get(&port.facts.pci).map(|it| it.vendor)
        });
        let vendors: BTreeSet<u16> = vendors.collect();
        if vendors.is_empty() {
            return None;
        }
        let ids: Vec<String> = vendors.iter().map(|id| format!("{id:#06x}")).collect();
        Some(format!(
            "the monitor does not watch cards of the vendor {} (`vendors` of its descriptor)",
            ids.join(", ")
        ))
    }

    /// Why no virtual function of these appears later; `None` if one may, or none is asked for.
    fn vfs_at_rest(&self, filter: &Filter) -> Option<String> {
        let of = filter.vf_of.as_ref().filter(|_| filter.appears_later)?;
        let owners = self.find_ports(of, None);
        let has_some = |owner: &usize| {
            let owner = &self.ports[*owner];
            let is_its = |it: &ResolvedPort| {
                it.node == owner.node && !it.later && it.physfn == Some(owner.facts.pci)
            };
            self.ports.iter().any(is_its)
        };
        owners.iter().any(has_some).then(|| {
            "its function has virtual functions at rest, and `create_vfs` adds none to them"
                .to_owned()
        })
    }
}

fn with(reason: String, cause: Option<String>) -> String {
    match cause {
        Some(cause) => format!("{reason}: {cause}"),
        None => reason,
    }
}
