//! Whose ports the reports are about, found where every cable is pulled: roles, and what distinguishes those of a role
//! that are named from those that are not. Start at [`fit`].

use std::collections::{BTreeMap, BTreeSet};

use observe::promises::{Scope, ScopeRole};
use platforms::{Card, NicRole, PciAddress, PortFacts};

use crate::{
    drill::Drill,
    evidence::Evidence,
    fitted::Fitted,
    heard::{Entity, heard},
};

/// A function that was up, and whether a report named it.
struct Seen {
    role: ScopeRole,
    has_default_route: bool,
    has_numa_node: bool,
    is_named: bool,
}

/// Finds the scope.
pub(crate) fn fit(drills: &[Drill<'_>], fitted: &mut Fitted) {
    let mut all: Vec<Seen> = Vec::new();
    for drill in drills.iter().filter(|drill| drill.asks("scope")) {
        let seen = seen(drill);
        let evidence = Evidence {
            drill: drill.name(),
            poll: None,
            came: counted(&seen),
        };
        fitted.keys.entry("scope").or_default().push(evidence);
        all.extend(seen);
    }
    let named = all.iter().filter(|it| it.is_named);
    let roles: BTreeSet<ScopeRole> = named.map(|it| it.role).collect();
    if roles.is_empty() {
        fitted.keys.remove("scope");
        return;
    }
    all.retain(|it| roles.contains(&it.role));
    // What no report ever names although others of its role are named.
    let never = |is_it: fn(&Seen) -> bool| {
        let mut of_it = all.iter().filter(|it| is_it(it)).peekable();
        of_it.peek().is_some() && of_it.all(|it| !it.is_named)
    };
    let by_route = never(|it| it.has_default_route);
    let by_numa = never(|it| !it.has_numa_node);
    fitted.promises.scope = Some(Scope {
        roles: Some(roles),
        default_route: by_route.then_some(false),
        numa_node: by_numa.then_some(true),
        ..Scope::default()
    });
    let is_left = |it: &&Seen| {
        let by_route = by_route && it.has_default_route;
        let by_numa = by_numa && !it.has_numa_node;
        !it.is_named && !by_route && !by_numa
    };
    let left = all.iter().filter(is_left).count();
    if left > 0 {
        let text = format!(
            "scope: {left} of {} devices of these roles were not named, and no key of `scope` tells them apart",
            all.len()
        );
        fitted.unfound.push(text);
    }
}

/// The functions of a drill that were up before the cables were pulled.
fn seen(drill: &Drill<'_>) -> Vec<Seen> {
    let first = drill.truth.ticks.first();
    let Some((node, rest)) = first.and_then(|tick| tick.nodes.iter().next()) else {
        return Vec::new();
    };
    let platform = drill.story.nodes.iter().find(|(name, _)| name == node);
    let ports = platform.map(|(_, platform)| platform.ports());
    let facts: BTreeMap<PciAddress, PortFacts> = ports
        .unwrap_or_default()
        .into_iter()
        .map(|port| (port.pci, port))
        .collect();
    let said: Vec<_> = heard(drill)
        .into_iter()
        .filter(|it| it.verdict().is_some())
        .collect();
    let is_named = |name: &str, card: Card| {
        said.iter().any(|it| match it.said() {
            Entity::Port(device, _) | Entity::Device(device) => device == name,
            Entity::Card(of) => card.is_called(of),
            Entity::Node | Entity::Other => false,
        })
    };
    let functions = rest.views.0.iter().filter(|(_, function)| {
        function.listed && function.ports.values().any(director::PortView::healthy)
    });
    functions
        .filter_map(|(pci, function)| {
            let facts = facts
                .get(pci)
                .filter(|facts| facts.is_of_vendor && !facts.is_vf)?;
            Some(Seen {
                role: match function.role {
                    NicRole::Compute => ScopeRole::Compute,
                    NicRole::Storage => ScopeRole::Storage,
                    NicRole::Management => ScopeRole::Management,
                },
                has_default_route: facts.has_default_route,
                has_numa_node: facts.has_numa_node,
                is_named: is_named(function.name.as_str(), pci.card()),
            })
        })
        .collect()
}

/// How many of each role were named.
fn counted(seen: &[Seen]) -> String {
    let mut counts: BTreeMap<ScopeRole, (u32, u32)> = BTreeMap::new();
    for it in seen {
        let (named, all) = counts.entry(it.role).or_default();
        *all += 1;
        *named += u32::from(it.is_named);
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(role, (named, all))| format!("{named} of {all} {} devices", role_word(*role)))
        .collect();
    format!("{} were named", parts.join(", "))
}

/// A declared role in a descriptor.
pub(crate) fn role_word(role: ScopeRole) -> &'static str {
    match role {
        ScopeRole::Compute => "compute",
        ScopeRole::Storage => "storage",
        ScopeRole::Management => "management",
    }
}
