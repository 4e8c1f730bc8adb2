//! What its calls and events are like. Start at [`fit`].

use std::collections::{BTreeMap, BTreeSet};

use observe::{
    Call, Observation,
    promises::{
        Baselines, Calls, ClearedBy, ErrorCodes, FirstPollEvents, PortNaming, Stamps, Wire,
    },
};
use scenarios::ChecksRun;
use terms::{Check, CheckKind, Severity};

use crate::{
    drill::Drill,
    evidence::Evidence,
    fitted::Fitted,
    heard::{Entity, heard},
};

/// Fields that the documents leave empty, and the beginning of the names of metadata.
const EXTRA: [&str; 4] = [
    "id",
    "customRecommendedAction",
    "quarantineOverrides",
    "drainOverrides",
];
const METADATA: &str = "metadata.";

/// Finds the promises about the wire.
pub(crate) fn fit(drills: &[Drill<'_>], fitted: &mut Fitted) {
    let calls: Vec<&Call> = drills.iter().flat_map(calls).collect();
    let events: Vec<&Observation> = calls.iter().flat_map(|call| &call.observations).collect();
    if events.is_empty() {
        return;
    }
    let rests: Vec<&Drill<'_>> = drills.iter().filter(|drill| drill.asks("wire")).collect();
    let first_poll = first_poll(&rests, fitted);
    fitted.promises.wire = Some(Wire {
        checks: Some(checks(drills)).filter(|renamed| !renamed.is_empty()),
        agent: only_one(&events, "agent"),
        component_class: only_one(&events, "componentClass"),
        port: naming(drills),
        calls: Some(match calls.iter().any(|call| is_mixed(call)) {
            true => Calls::Mixed,
            false => Calls::PerCheck,
        }),
        stamps: stamps(&calls),
        extra_fields: Some(events.iter().any(|event| has_extra(event))),
        documented_actions: Some(events.iter().all(|event| has_documented_action(event))),
        error_codes: Some(match drills.iter().all(are_codes_documented) {
            true => ErrorCodes::Documented,
            false => ErrorCodes::Own,
        }),
        first_poll: Some(match first_poll {
            Some(_) => FirstPollEvents::Events,
            None => FirstPollEvents::None,
        }),
        baselines: first_poll,
        clears: Some(ClearedBy::Subject),
        recoveries: None,
    });
}

fn calls<'a>(drill: &Drill<'a>) -> impl Iterator<Item = &'a Call> {
    let ticks = drill.recording.ticks.iter();
    ticks
        .flat_map(|tick| tick.monitors.values())
        .flat_map(|monitor| &monitor.calls)
}

/// The value of a field that all events share.
fn only_one(events: &[&Observation], field: &str) -> Option<String> {
    let value = |event: &&Observation| {
        let mut fields = event.fields.iter();
        let found = fields.find(|(name, _)| name == field);
        found.map_or_else(String::new, |(_, value)| value.clone())
    };
    let values: BTreeSet<String> = events.iter().map(value).collect();
    let mut values = values.into_iter();
    values.next().filter(|_| values.next().is_none())
}

/// The names of its checks that are not those of the documents, by the faults of ports that it reports under them.
fn checks(drills: &[Drill<'_>]) -> BTreeMap<String, String> {
    let mut names: BTreeMap<Check, BTreeSet<String>> = BTreeMap::new();
    for drill in drills {
        let first = drill.truth.ticks.first();
        let Some(rest) = first.and_then(|tick| tick.nodes.values().next()) else {
            continue;
        };
        for it in heard(drill) {
            let (Entity::Port(device, _), Some(name)) = (it.said(), &it.event.check) else {
                continue;
            };
            let mut functions = rest.views.0.values();
            let of_name = functions.find(|view| view.name.as_str() == device);
            let layer = of_name.and_then(|view| view.ports.values().next());
            let Some(layer) = layer.map(|port| port.layer) else {
                continue;
            };
            let check = match drill.story.checks {
                ChecksRun::State => layer.state_check(),
                ChecksRun::Counters => layer.degradation_check(),
                ChecksRun::CharDevices | ChecksRun::All => continue,
            };
            names.entry(check).or_default().insert(name.clone());
        }
    }
    let renamed = names.into_iter().filter_map(|(check, own)| {
        let is_own = |name: &String| Check::parse(name).is_none();
        let name = own.into_iter().find(is_own)?;
        Some((check.name().to_owned(), name))
    });
    renamed.collect()
}

/// How ports are named; `None` if none is.
fn naming(drills: &[Drill<'_>]) -> Option<PortNaming> {
    let mut named = None;
    for it in drills.iter().flat_map(heard) {
        match (it.said(), it.event.subject.port()) {
            (Entity::Port(..), Some(_)) => return Some(PortNaming::NicThenPort),
            (Entity::Port(..), None) => return Some(PortNaming::Joined),
            (Entity::Device(_), _) => named = Some(PortNaming::Device),
            _ => {}
        }
    }
    named
}

fn is_mixed(call: &Call) -> bool {
    let checks: BTreeSet<&Option<String>> =
        call.observations.iter().map(|event| &event.check).collect();
    checks.len() > 1
}

/// How the stamps of a call relate; `None` if no call had several events.
fn stamps(calls: &[&Call]) -> Option<Stamps> {
    let pairs = calls.iter().flat_map(|call| call.observations.windows(2));
    let rise: Vec<bool> = pairs
        .map(|pair| pair[0].stamped_ns < pair[1].stamped_ns)
        .collect();
    (!rise.is_empty()).then(|| match rise.iter().all(|rises| *rises) {
        true => Stamps::Rising,
        false => Stamps::Equal,
    })
}

fn has_extra(event: &Observation) -> bool {
    let mut fields = event.fields.iter();
    fields.any(|(name, _)| name.starts_with(METADATA) || EXTRA.contains(&name.as_str()))
}

fn has_documented_action(event: &Observation) -> bool {
    let documented = match event.severity {
        Severity::Fatal => "REPLACE_VM",
        _ => "NONE",
    };
    let mut fields = event.fields.iter();
    let action = fields.find(|(name, _)| name == "recommendedAction");
    action.is_none_or(|(_, action)| action == documented)
}

/// Whether events of states have no code, and those of counters one.
fn are_codes_documented(drill: &Drill<'_>) -> bool {
    let right = |event: &Observation| {
        let check = event.check.as_deref().and_then(Check::parse);
        match check.map(Check::kind) {
            Some(CheckKind::State) => event.codes.is_empty(),
            Some(CheckKind::Degradation) => {
                event.codes.len() == 1 || event.subject == observe::Subject::Node
            }
            Some(CheckKind::CharDevice) => true,
            None => match drill.story.checks {
                ChecksRun::State => event.codes.is_empty(),
                ChecksRun::Counters => event.codes.len() == 1,
                ChecksRun::CharDevices | ChecksRun::All => true,
            },
        }
    };
    calls(drill).flat_map(|call| &call.observations).all(right)
}

/// The subjects of the healthy events of a first poll at rest; `None` if there are none.
fn first_poll(rests: &[&Drill<'_>], fitted: &mut Fitted) -> Option<Baselines> {
    let mut found = Baselines {
        ports: false,
        devices: false,
        cards: false,
        counters: false,
        check: false,
        ..Baselines::default()
    };
    let mut any = false;
    for drill in rests {
        let first = heard(drill);
        let first = first.iter().filter(|it| it.tick == 0 && it.is_healthy());
        let mut count = 0;
        for it in first {
            count += 1;
            match it.said() {
                _ if is_of_counters(it.event) => found.counters = true,
                Entity::Port(..) => found.ports = true,
                Entity::Device(_) => found.devices = true,
                Entity::Card(_) => found.cards = true,
                Entity::Node => found.check = true,
                Entity::Other => {}
            }
        }
        any |= count > 0;
        let evidence = Evidence {
            drill: drill.name(),
            poll: Some(0),
            came: format!("{count} healthy events"),
        };
        fitted
            .keys
            .entry("wire.first_poll")
            .or_default()
            .push(evidence);
    }
    any.then_some(found)
}

fn is_of_counters(event: &Observation) -> bool {
    let check = event.check.as_deref().and_then(Check::parse);
    check.map(Check::kind) == Some(CheckKind::Degradation) && !event.codes.is_empty()
}
