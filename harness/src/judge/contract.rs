//! The fields that the wire's contract fixes, checked on every event of every call, accepted or not
//! (`lsd 13.1`; NVSentinel, `health_event.proto`).

use platforms::NodeName;
use proto::{Check, CheckKind, HealthEvent, ProcessingStrategy, RecommendedAction};
use scenarios::{Deed, MonitorDeed, Story, Tone};

use crate::{
    descriptor::ClockKind,
    descriptor::check_names,
    judge::fits::{BATCH_SPREAD, Bench, stamp_ns, tone_of},
    recording::{Call, Recording},
};

const AGENT: &str = "nic-health-monitor";
const COMPONENT_CLASS: &str = "NIC";

/// What one call breaks: the place of the event in it, and what is wrong.
pub(crate) struct Breach {
    pub(crate) node: NodeName,
    pub(crate) tick: u64,
    pub(crate) what: String,
    pub(crate) event: Option<HealthEvent>,
}

/// Everything that breaks the contract, in order.
pub(crate) fn breaches(story: &Story, bench: &Bench<'_>, recording: &Recording) -> Vec<Breach> {
    let strategies = strategies(story);
    let mut breaches = Vec::new();
    let mut polled: std::collections::BTreeMap<&NodeName, u64> = std::collections::BTreeMap::new();
    for (tick, chairs) in (0..).zip(&recording.ticks) {
        for (node, chair) in chairs.chairs.iter() {
            let since = polled.get(node).map_or(0, |last| last + 1);
            for call in &chair.calls {
                let mut found = |what: String, event: Option<&HealthEvent>| {
                    breaches.push(Breach {
                        node: node.clone(),
                        tick,
                        what,
                        event: event.cloned(),
                    });
                };
                batch(call, &mut found);
                for event in &call.events {
                    fields(story, node, &strategies, event, &mut found);
                    stamp(bench, node, since..=tick, event, &mut found);
                }
            }
            if chair.polls > 0 {
                polled.insert(node, tick);
            }
        }
    }
    breaches
}

/// The strategies that a story's flags set, at its start or later.
fn strategies(story: &Story) -> Vec<ProcessingStrategy> {
    let steps = story.given.iter().chain(&story.steps);
    let later = steps
        .flat_map(|step| &step.deeds)
        .filter_map(|deed| match deed {
            Deed::Monitor(_, MonitorDeed::Restart { flags, .. } | MonitorDeed::Start { flags }) => {
                Some(flags)
            }
            _ => None,
        });
    let named = |flags: &Vec<String>| {
        let text = flags
            .iter()
            .rev()
            .find_map(|flag| flag.strip_prefix("--processing-strategy="))?;
        ProcessingStrategy::from_str_name(text)
    };
    let first = named(&story.flags).unwrap_or(ProcessingStrategy::ExecuteRemediation);
    std::iter::once(first)
        .chain(later.filter_map(named))
        .collect()
}

fn batch(call: &Call, found: &mut impl FnMut(String, Option<&HealthEvent>)) {
    if call.version != proto::VERSION {
        found(
            format!(
                "the batch has version {}, not {}",
                call.version,
                proto::VERSION
            ),
            None,
        );
    }
    if call.events.is_empty() {
        found("a call without events".to_owned(), None);
    }
    for pair in call.events.windows(2) {
        if let (Some(before), Some(after)) = (stamp_ns(&pair[0]), stamp_ns(&pair[1]))
            && before >= after
        {
            found(
                "its timestamp is not later than that of the event before it".to_owned(),
                Some(&pair[1]),
            );
        }
    }
    if let Some(first) = call.events.first() {
        for event in call
            .events
            .iter()
            .filter(|event| event.check_name != first.check_name)
        {
            found(
                format!(
                    "one call carries `{}` and `{}`",
                    first.check_name, event.check_name
                ),
                Some(event),
            );
        }
    }
}

fn fields(
    story: &Story,
    node: &NodeName,
    strategies: &[ProcessingStrategy],
    event: &HealthEvent,
    found: &mut impl FnMut(String, Option<&HealthEvent>),
) {
    let mut must = |holds: bool, what: &dyn Fn() -> String| {
        if !holds {
            found(what(), Some(event));
        }
    };
    must(event.version == proto::VERSION, &|| {
        format!("version is {}", event.version)
    });
    must(event.agent == AGENT, &|| {
        format!("agent is `{}`, not `{AGENT}`", event.agent)
    });
    must(event.component_class == COMPONENT_CLASS, &|| {
        format!(
            "componentClass is `{}`, not `{COMPONENT_CLASS}`",
            event.component_class
        )
    });
    must(event.node_name == node.as_str(), &|| {
        format!("nodeName is `{}`, not `{node}`", event.node_name)
    });
    must(
        check_names(story.checks).contains(&event.check_name.as_str()),
        &|| {
            format!(
                "checkName `{}` is none of the checks that run",
                event.check_name
            )
        },
    );
    must(
        strategies
            .iter()
            .any(|strategy| *strategy as i32 == event.processing_strategy),
        &|| format!("processingStrategy is {}", event.processing_strategy),
    );
    let tone = tone_of(event);
    must(tone.is_some(), &|| {
        "it is fatal and healthy at once".to_owned()
    });
    let action = match tone {
        Some(Tone::Fatal) => RecommendedAction::ReplaceVm,
        _ => RecommendedAction::None,
    };
    must(event.recommended_action == action as i32, &|| {
        format!(
            "recommendedAction is {}, not {}",
            event.recommended_action,
            action.as_str_name()
        )
    });
    let kind = Check::parse(&event.check_name).map(Check::kind);
    must(
        event.error_code.is_empty() || kind != Some(CheckKind::State),
        &|| format!("a state check carries errorCode {:?}", event.error_code),
    );
    let counts = kind == Some(CheckKind::Degradation);
    must(
        !counts || event.error_code.len() == 1 || event.entities_impacted.is_empty(),
        &|| {
            format!(
                "a counter check carries errorCode {:?}, not its counter's name",
                event.error_code
            )
        },
    );
    let types: Vec<&str> = event
        .entities_impacted
        .iter()
        .map(|entity| entity.entity_type.as_str())
        .collect();
    must(
        matches!(types.as_slice(), [] | ["NIC"] | ["NIC", "NICPort"]),
        &|| format!("its entities are {types:?}, not NIC and then NICPort"),
    );
    must(!types.is_empty() || tone == Some(Tone::Healthy), &|| {
        "an unhealthy event names nobody".to_owned()
    });
    must(!event.message.trim().is_empty(), &|| {
        "it has no message".to_owned()
    });
    let extras = !event.metadata.is_empty()
        || !event.id.is_empty()
        || !event.custom_recommended_action.is_empty()
        || event.quarantine_overrides.is_some()
        || event.drain_overrides.is_some();
    must(!extras, &|| {
        "it sets a field that a monitor leaves empty".to_owned()
    });
}

/// A stamp is the time of the poll that found it: of this tick, or of an earlier one while no poll
/// has ended since. A monitor with its own clock is only asked for a stamp.
fn stamp(
    bench: &Bench<'_>,
    node: &NodeName,
    ticks: std::ops::RangeInclusive<u64>,
    event: &HealthEvent,
    found: &mut impl FnMut(String, Option<&HealthEvent>),
) {
    let Some(ns) = stamp_ns(event) else {
        found("it has no generatedTimestamp".to_owned(), Some(event));
        return;
    };
    if bench.descriptor.clock == ClockKind::Own {
        return;
    }
    let clocks = ticks.filter_map(|tick| {
        let truth = bench.truth.ticks.get(usize::try_from(tick).ok()?)?;
        truth.wall_ns(node)
    });
    let right = |wall_ns: u64| (wall_ns..=wall_ns + BATCH_SPREAD.as_ns()).contains(&ns);
    if !clocks.into_iter().any(right) {
        found(
            format!("generatedTimestamp {ns} ns is not the poll's time"),
            Some(event),
        );
    }
}
