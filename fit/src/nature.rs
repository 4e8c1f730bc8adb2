//! The nature of the reports: style, granularity, and whose ports they are about. Start at [`fit`].

use std::collections::{BTreeMap, BTreeSet};

use observe::{
    Descriptor,
    promises::{Granularity, Kind, Named, Names, PromisedSubject, Scope, ScopeRole, Style},
};
use platforms::Role;

use crate::{
    answers::{Answer, answers},
    drill::Drill,
    evidence::Evidence,
    fitted::Fitted,
    heard::{Entity, heard},
    words,
};

/// How often a report must be repeated while its fault stands, to state what is. Chosen.
const REPEATED: usize = 3;

/// Finds style, granularity and scope.
pub(crate) fn fit(descriptor: &Descriptor, drills: &[Drill<'_>], fitted: &mut Fitted) {
    let kind = Kind::from(Named::Polling);
    let asked = drills.iter().filter(|drill| drill.asks("polling"));
    let all: Vec<Answer> = asked
        .flat_map(|drill| answers(descriptor, drill, &kind))
        .collect();
    let reported: Vec<&Answer> = all.iter().filter(|it| it.report.is_some()).collect();
    if let Some(longest) = reported.iter().max_by_key(|it| (it.lasted(), it.repeats)) {
        style(longest, fitted);
        granularity(&reported, longest, fitted);
    }
    for drill in drills.iter().filter(|drill| drill.asks("scope")) {
        scope(drill, fitted);
    }
}

fn style(longest: &Answer, fitted: &mut Fitted) {
    let is_level = longest.repeats >= REPEATED;
    fitted.promises.style = Some(match is_level {
        true => Style::Level,
        false => Style::Edge,
    });
    let lasted = words::polls(longest.lasted());
    let came = match longest.repeats {
        0 => format!("a fault of {lasted} was reported once"),
        repeats => format!("a fault of {lasted} was reported again {repeats} times"),
    };
    note(longest, came, "style", fitted);
}

fn granularity(reported: &[&Answer], longest: &Answer, fitted: &mut Fitted) {
    let named = reported
        .iter()
        .filter_map(|it| Some(it.report.as_ref()?.subject));
    let coarsest = named.max().unwrap_or(PromisedSubject::Port);
    fitted.promises.granularity = Some(match coarsest {
        PromisedSubject::Port => Granularity::Port,
        PromisedSubject::Device | PromisedSubject::Card => Granularity::Device,
        PromisedSubject::Node => Granularity::Node,
    });
    fitted.promises.names = Some(Names::First);
    let line = longest.report.as_ref().map(|report| report.line.clone());
    note(longest, line.unwrap_or_default(), "granularity", fitted);
}

/// The declared roles whose ports were reported when every cable was pulled.
fn scope(drill: &Drill<'_>, fitted: &mut Fitted) {
    let first = drill.truth.ticks.first();
    let Some(rest) = first.and_then(|tick| tick.nodes.values().next()) else {
        return;
    };
    let said: Vec<_> = heard(drill)
        .into_iter()
        .filter(|it| it.verdict().is_some())
        .collect();
    let is_named = |name: &str, card: &str| {
        said.iter().any(|it| match it.said() {
            Entity::Port(device, _) | Entity::Device(device) => device == name,
            Entity::Card(of) => of == card,
            Entity::Node | Entity::Other => false,
        })
    };
    let mut counts: BTreeMap<ScopeRole, (u32, u32)> = BTreeMap::new();
    for (pci, function) in &rest.views.0 {
        let is_up = function.ports.values().any(director::PortView::healthy);
        if !function.listed || !is_up {
            continue;
        }
        let role = match function.role {
            Role::Compute => ScopeRole::Compute,
            Role::Storage => ScopeRole::Storage,
            Role::Management => ScopeRole::Management,
        };
        let (named, all) = counts.entry(role).or_default();
        *all += 1;
        *named += u32::from(is_named(function.name.as_str(), &pci.card()));
    }
    let roles = counts.iter().filter(|(_, (named, _))| *named > 0);
    let roles: BTreeSet<ScopeRole> = roles.map(|(role, _)| *role).collect();
    if roles.is_empty() {
        return;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(role, (named, all))| format!("{named} of {all} {} devices", role_word(*role)))
        .collect();
    let evidence = Evidence {
        drill: drill.name(),
        poll: None,
        came: format!("{} were named", parts.join(", ")),
    };
    fitted.keys.entry("scope").or_default().push(evidence);
    let scope = fitted.promises.scope.get_or_insert_with(Scope::default);
    scope.roles.get_or_insert_default().extend(roles);
}

/// A declared role in a descriptor.
pub(crate) fn role_word(role: ScopeRole) -> &'static str {
    match role {
        ScopeRole::Compute => "compute",
        ScopeRole::Storage => "storage",
        ScopeRole::Management => "management",
    }
}

fn note(answer: &Answer, came: String, key: &'static str, fitted: &mut Fitted) {
    let evidence = Evidence {
        drill: answer.drill.clone(),
        poll: answer.report.as_ref().map(|report| report.poll),
        came,
    };
    fitted.keys.entry(key).or_default().push(evidence);
}
