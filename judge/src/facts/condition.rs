//! A condition of a node at the end of polls.

use observe::promises::Wire;
use platforms::{LinkLayer, NodeName, PciAddress};
use reports::CauseKind;
use scenarios::{About, ConditionIs, ConditionOf, What, Window};

use super::fact::{Fact, FactKind, FactLane, Outcome, Scene};
use super::stands::{opposite, standing, stands};
use crate::{
    altered::change::{Alteration, AlteredSubject, with},
    consequences::{ClusterState, Consequences},
    fits::{JudgeContext, counter_check, state_check},
};

/// It stands, or does not.
pub(super) struct Condition<'w>(pub(super) &'w ConditionIs);

impl Fact for Condition<'_> {
    fn kind(&self) -> FactKind {
        FactKind {
            needs_connector: true,
            needs_events: self.0.about.is_some(),
            ..FactKind::of("condition", CauseKind::Condition)
        }
    }

    fn about(&self) -> Option<About> {
        self.0.about.clone()
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Cluster
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let window = scene.expectation.window;
        condition(self.0, scene.node, window, &scene.context, scene.made)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        other_condition(subject, self.0)
    }
}

/// Checks an expectation of a node condition.
pub(super) fn condition(
    is: &ConditionIs,
    node: &NodeName,
    window: Window,
    context: &JudgeContext<'_>,
    made: &Consequences,
) -> Outcome {
    let entries = |tick: u64, made: &ClusterState| -> Vec<String> {
        let about = is.about.as_ref();
        let checks = checks(&is.of, about, node, tick, context);
        let meant = |entry: &&String| {
            let mut code = is.counter.iter().map(|code| format!("ErrorCode:{code} "));
            about.is_none_or(|about| context.names_entry(about, node, tick, entry))
                && code.all(|code| entry.contains(&code))
        };
        let conditions = made.conditions.get(node.as_str()).into_iter().flatten();
        let wire = context.descriptor.promises.wire.as_ref();
        let named = |check| wire.map_or(check, |wire: &Wire| wire.documents_check(check));
        let conditions = conditions.filter(|(check, _)| checks.contains(&named(check)));
        let entries = conditions.flat_map(|(check, entries)| {
            let entries = entries.iter().filter(meant);
            entries.map(move |entry| stands(check, entry))
        });
        entries.collect()
    };
    let wanted = || {
        let name = match &is.of {
            ConditionOf::State => "the state check's condition",
            ConditionOf::Counters => "the counter check's condition",
            ConditionOf::Named(name) => name,
        };
        let stands = if is.stands.is {
            "stands"
        } else {
            "does not stand"
        };
        let of = is.about.as_ref().map_or_else(String::new, |about| {
            format!(" for {}", context.describe(about, node, window.from))
        });
        let code = is.counter.as_ref().map(|code| format!(" [{code}]"));
        format!("{name} {stands}{of}{}", code.unwrap_or_default())
    };
    standing(is.stands, window, made, wanted, entries)
}

/// The checks whose condition is expected.
pub(super) fn checks<'n>(
    of: &'n ConditionOf,
    about: Option<&About>,
    node: &NodeName,
    tick: u64,
    context: &JudgeContext<'_>,
) -> Vec<&'n str> {
    let by_layer: fn(LinkLayer) -> &'static str = match of {
        ConditionOf::State => state_check,
        ConditionOf::Counters => counter_check,
        ConditionOf::Named(name) => return vec![name],
    };
    let layers = about.map(|about| context.layers(about, node, tick));
    let layers = layers.filter(|layers| !layers.is_empty());
    let layers = layers.unwrap_or([LinkLayer::InfiniBand, LinkLayer::Ethernet].into());
    layers.into_iter().map(by_layer).collect()
}

fn other_condition(subject: &AlteredSubject<'_>, is: &ConditionIs) -> Vec<Alteration> {
    let line = |is: ConditionIs| subject.line(What::Condition(is));
    let mut changes = vec![(
        "the opposite",
        line(with(is, |of| of.stands = opposite(is.stands))),
    )];
    if is.stands.is && is.about.is_some() {
        changes.push((
            "another subject",
            line(with(is, |of| of.about = nobody(subject))),
        ));
    }
    if is.stands.is && is.counter.is_some() {
        changes.push((
            "another counter",
            line(ConditionIs {
                counter: Some("\u{1}".to_owned()),
                ..is.clone()
            }),
        ));
    }
    changes
}

/// A card that no node has.
pub(super) fn nobody(subject: &AlteredSubject<'_>) -> Option<About> {
    let node: &NodeName = subject.context.story.monitors.first()?;
    let nowhere: PciAddress = "ffff:ff:1f.7".parse().ok()?;
    Some(About::Card(node.clone(), nowhere))
}
