//! Whose ports a monitor monitors, by its promises instead of by the documents. Start at [`scoped`].

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use director::{NodeView, Truth};
use observe::promises::{Pinned, Scope, ScopeRole};
use platforms::{NicRole, NodeName, PciAddress, PortNumber};
use regex::Regex;
use scenarios::Story;

/// The key of a monitor's configuration that pins devices by name (docs/decisions.md, 12).
pub(crate) const PINS: &str = "nicInclusionRegexOverride";

/// The key of a monitor's configuration that leaves devices out by name.
pub(crate) const EXCLUSIONS: &str = "nicExclusionRegex";

/// The ports of a node that a scope decides about, by function: all, and those that it leaves out.
#[derive(Debug, Default)]
struct Selected {
    monitored: BTreeMap<PciAddress, bool>,
    left_out: BTreeSet<(PciAddress, PortNumber)>,
    /// Names that are pinned: their bearers are monitored whatever they are.
    pinned: Option<Vec<Regex>>,
}

/// The truth of a drill in which functions are monitored by a scope. A port that is left out is not in it.
pub(crate) fn scoped<'t>(story: &Story, truth: &'t Truth, scope: Option<&Scope>) -> Cow<'t, Truth> {
    let pinned = scope.and_then(|scope| pinned(story, scope));
    let scope = scope.filter(|scope| decides(scope));
    if scope.is_none() && pinned.is_none() {
        return Cow::Borrowed(truth);
    }
    let selected: BTreeMap<&NodeName, Selected> = story
        .nodes
        .iter()
        .map(|(node, platform)| {
            let mut selected =
                scope.map_or_else(Selected::default, |scope| select(platform, scope));
            selected.pinned.clone_from(&pinned);
            (node, selected)
        })
        .collect();
    let mut truth = truth.clone();
    // Views are shared between ticks, and stay so.
    let mut made: BTreeMap<(NodeName, *const NodeView), Arc<NodeView>> = BTreeMap::new();
    for tick in &mut truth.ticks {
        let names: Vec<NodeName> = tick.nodes.keys().cloned().collect();
        for name in names {
            let Some(selected) = selected.get(&name) else {
                continue;
            };
            let Some(node) = tick.nodes.get(&name).cloned() else {
                continue;
            };
            let mut of = |views: &Arc<NodeView>| {
                let made = made
                    .entry((name.clone(), Arc::as_ptr(views)))
                    .or_insert_with(|| Arc::new(selected.views(views)));
                Arc::clone(made)
            };
            let mut changed = node.clone();
            (changed.views, changed.after) = (of(&node.views), of(&node.after));
            tick.nodes.insert(name, changed);
        }
    }
    Cow::Owned(truth)
}

/// The names that a story pins for a monitor to which these are all that counts.
pub(crate) fn pinned(story: &Story, scope: &Scope) -> Option<Vec<Regex>> {
    if scope.pinned != Some(Pinned::All) {
        return None;
    }
    names(&story.config, PINS)
}

/// The names that a key of a configuration lists, as patterns; `None` if it has no such key.
pub(crate) fn names(config: &str, key: &str) -> Option<Vec<Regex>> {
    let of_key = |line: &'_ str| {
        let rest = line.trim_start().strip_prefix(key)?.trim_start();
        let value = rest.strip_prefix('=')?;
        Some(value.split('"').nth(1)?.replace("\\\\", "\\"))
    };
    let patterns = config.lines().find_map(of_key)?;
    let parts = patterns
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    Some(parts.filter_map(|part| Regex::new(part).ok()).collect())
}

/// Whether a scope is another one than that of the documents. Vendors are chosen where platforms are read.
pub(crate) fn decides(scope: &Scope) -> bool {
    let documented = BTreeSet::from([ScopeRole::Compute, ScopeRole::Storage]);
    let by_role = scope
        .roles
        .as_ref()
        .is_some_and(|roles| *roles != documented);
    by_role
        || scope.cabled == Some(true)
        || scope.default_route == Some(false)
        || scope.numa_node == Some(true)
        || scope.devices.is_some()
}

fn select(platform: &platforms::Platform, scope: &Scope) -> Selected {
    let mut selected = Selected::default();
    for port in platform.ports() {
        let role = match port.role {
            NicRole::Compute => ScopeRole::Compute,
            NicRole::Storage => ScopeRole::Storage,
            NicRole::Management => ScopeRole::Management,
        };
        let by_role = match &scope.roles {
            Some(roles) => roles.contains(&role),
            None => role != ScopeRole::Management,
        };
        let names = scope.devices.as_ref();
        let by_name = names.is_none_or(|names| names.contains(port.device.as_str()));
        let by_route = scope.default_route != Some(false) || !port.has_default_route;
        let by_numa = scope.numa_node != Some(true) || port.has_numa_node;
        let is_monitored =
            by_role && by_name && by_route && by_numa && port.is_of_vendor && !port.is_vf;
        selected.monitored.insert(port.pci, is_monitored);
        if scope.cabled == Some(true) && !port.cabled {
            selected.left_out.insert((port.pci, port.port));
        }
    }
    selected
}

impl Selected {
    /// A function that no platform declares stays as it is.
    fn views(&self, views: &NodeView) -> NodeView {
        let mut views = views.clone();
        for (pci, function) in &mut views.0 {
            if let Some(monitored) = self.monitored.get(pci) {
                function.monitored = *monitored;
            }
            let names = self.pinned.as_ref();
            let is_pinned = |names: &Vec<Regex>| {
                names
                    .iter()
                    .any(|name| name.is_match(function.name.as_str()))
            };
            function.monitored = names.map_or(function.monitored, is_pinned);
            function
                .ports
                .retain(|port, _| !self.left_out.contains(&(*pci, *port)));
        }
        views
    }
}
