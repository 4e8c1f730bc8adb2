//! The link layer that a story is about: that of the checks and files that it names, and of the events that it expects
//! on one layer alone.

use std::collections::BTreeSet;

use terms::{Check, LinkLayer};

use super::cast::{Cast, events};
use super::fact::{Fact, Topic};
use crate::expect::{EventSpec, ExpectLine, ExpectationSpec};
use crate::scenario::Scenario;
use crate::story::{FileRef, MonitorAction, StepAction, What};

/// `None` for a story that is about no layer.
pub(crate) fn fact(scenario: &Scenario, cast: &Cast<'_>) -> Option<Fact> {
    let named = named(cast);
    let usual = cast.world.ports.iter().filter(|port| port.is_usual());
    let present: BTreeSet<LinkLayer> = usual.map(|port| port.facts.layer).collect();
    if let Some(layer) = named.iter().find(|layer| !present.contains(layer)) {
        let text = format!("it names {layer}, and no port on {layer} is watched there");
        return Some(Fact::lacks(Topic::Layer, text));
    }
    let alone = alone(scenario);
    let of = if cast.spoken.is_empty() {
        &cast.acted
    } else {
        &cast.spoken
    };
    let played: BTreeSet<LinkLayer> = of
        .iter()
        .map(|port| cast.world.ports[*port].facts.layer)
        .collect();
    if !alone.is_empty() && alone.is_disjoint(&played) {
        let text = format!(
            "its events are about {}, and its port is not",
            joined(&alone)
        );
        return Some(Fact::lacks(Topic::Layer, text));
    }
    let about: BTreeSet<LinkLayer> = alone.intersection(&played).chain(&named).copied().collect();
    (!about.is_empty()).then(|| {
        let layers = joined(&about);
        let text = if named.is_empty() {
            format!("events on {layers} are its topic")
        } else {
            format!("a check or file of {layers} is its topic")
        };
        Fact::holds(Topic::Layer, text)
    })
}

/// The layers of the checks and files that a story names: they must be there.
fn named(cast: &Cast<'_>) -> BTreeSet<LinkLayer> {
    let story = cast.story;
    let mut layers: BTreeSet<LinkLayer> = BTreeSet::new();
    let mut of_check = |name: &str| layers.extend(Check::parse(name).map(Check::layer));
    for event in events(story) {
        event.check.iter().for_each(|check| of_check(check));
    }
    for expected in &story.expectations {
        if let What::Metric { labels, .. } = &expected.what {
            labels.values().for_each(|value| of_check(value));
        }
    }
    let of_restarts = story.actions().filter_map(|action| match action {
        StepAction::Monitor(_, MonitorAction::Restart { flags, .. })
        | StepAction::Monitor(_, MonitorAction::Start { flags }) => Some(flags),
        _ => None,
    });
    for flag in of_restarts.chain([&story.flags]).flatten() {
        if let Some(checks) = flag.strip_prefix("--checks=") {
            checks.split(',').for_each(&mut of_check);
        }
    }
    for action in story.actions() {
        if let StepAction::Rule(rule) = action
            && let FileRef::Path(path) = &rule.file
        {
            layers.extend(layer_of_path(path));
        }
    }
    layers
}

/// The layer whose check alone reads these files: the operstates of all interfaces are read for Ethernet ports, the
/// character devices for InfiniBand ports.
fn layer_of_path(path: &str) -> Option<LinkLayer> {
    if path.contains("class/net/*/") {
        Some(LinkLayer::Ethernet)
    } else if path.contains("infiniband_mad") || path.contains("infiniband_verbs") {
        Some(LinkLayer::InfiniBand)
    } else {
        None
    }
}

/// The layers on which alone the scenario expects some event, or some message: `only:`, and a message for one layer.
/// One of them must be that of its ports.
fn alone(scenario: &Scenario) -> BTreeSet<LinkLayer> {
    let mut layers = BTreeSet::new();
    for step in &scenario.steps {
        for line in &step.expect {
            of_line(line, None, &mut layers);
        }
    }
    layers
}

fn of_line(line: &ExpectLine, around: Option<LinkLayer>, layers: &mut BTreeSet<LinkLayer>) {
    let only = line.only.or(around);
    let mut of_event = |event: &EventSpec| {
        let mut messages = event.message.keys();
        let sole = match (messages.next(), messages.next()) {
            (Some(layer), None) => Some(*layer),
            _ => None,
        };
        layers.extend(only.or(sole));
    };
    match &line.what {
        ExpectationSpec::Event(event) => of_event(event),
        ExpectationSpec::Edges { down, up, .. } => {
            [down, up]
                .into_iter()
                .flatten()
                .for_each(|event| of_event(event));
        }
        ExpectationSpec::Each { line, .. } | ExpectationSpec::Attempt(line) => {
            of_line(line, only, layers);
        }
        ExpectationSpec::Group(lines) | ExpectationSpec::InOrder(lines) => {
            lines.iter().for_each(|line| of_line(line, only, layers));
        }
        _ => {}
    }
}

fn joined(layers: &BTreeSet<LinkLayer>) -> String {
    let names: Vec<String> = layers.iter().map(ToString::to_string).collect();
    names.join(" and ")
}
