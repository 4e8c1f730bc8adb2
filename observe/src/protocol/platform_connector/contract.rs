//! The wire contract for every call, accepted or not, as far as a monitor promises it (`lsd 13.1`; NVSentinel,
//! `health_event.proto`). What nobody promised and the connector accepts is no violation.

use proto::{HealthEvent, ProcessingStrategy, RecommendedAction};
use terms::{Check, CheckKind, EventField as Field, Severity};

use super::{event, version};
use crate::{
    Breach, Call, Contract, Observation,
    promises::{Calls, ErrorCodes, PortNaming, Stamps, Wire},
};

/// All violations of the contract in a call, in order: what the connector refuses, and what was promised otherwise.
pub(in crate::protocol) fn breaches<'c>(
    call: &'c Call,
    contract: &Contract<'_>,
) -> Vec<Breach<'c>> {
    let mut breaches = match contract.wire {
        Some(wire) => batch(call, wire),
        None => Vec::new(),
    };
    for observation in &call.observations {
        let event = event(observation);
        let mut wrong = refused(&event);
        if let Some(wire) = contract.wire {
            wrong.extend(contract.event(observation, &event, wire));
        }
        breaches.extend(wrong.into_iter().map(|(field, what)| Breach {
            field,
            what,
            observation: Some(observation),
        }));
    }
    breaches
}

/// What the connector answers with INVALID_ARGUMENT (NVSentinel, `platform-connectors/pkg/server`).
fn refused(event: &HealthEvent) -> Vec<(Field, String)> {
    let is_custom = event.recommended_action == RecommendedAction::Custom as i32;
    if is_custom && event.custom_recommended_action.is_empty() {
        let what = "recommendedAction is CUSTOM without a customRecommendedAction".to_owned();
        return vec![(Field::Action, what)];
    }
    Vec::new()
}

impl Contract<'_> {
    fn event(
        &self,
        observation: &Observation,
        event: &HealthEvent,
        wire: &Wire,
    ) -> Vec<(Field, String)> {
        let mut wrong = Vec::new();
        let mut must = |holds: bool, field: Field, what: &dyn Fn() -> String| {
            if !holds {
                wrong.push((field, what()));
            }
        };
        must(event.version == proto::VERSION, Field::Version, &|| {
            format!("version is {}", event.version)
        });
        let is_promised = |promised: &Option<String>, is: &str| {
            promised.as_ref().is_none_or(|promised| promised == is)
        };
        let own = |promised: &Option<String>| promised.clone().unwrap_or_default();
        must(
            is_promised(&wire.agent, &event.agent),
            Field::Agent,
            &|| format!("agent is `{}`, not `{}`", event.agent, own(&wire.agent)),
        );
        must(
            is_promised(&wire.component_class, &event.component_class),
            Field::ComponentClass,
            &|| {
                format!(
                    "componentClass is `{}`, not `{}`",
                    event.component_class,
                    own(&wire.component_class)
                )
            },
        );
        must(event.node_name == self.node, Field::NodeName, &|| {
            format!("nodeName is `{}`, not `{}`", event.node_name, self.node)
        });
        let check = event.check_name.as_str();
        must(self.checks.contains(&check), Field::CheckName, &|| {
            format!("checkName `{check}` is none of the checks that run")
        });
        must(
            self.allows(event.processing_strategy),
            Field::Strategy,
            &|| format!("processingStrategy is {}", event.processing_strategy),
        );
        let severity = observation.severity;
        must(severity != Severity::Unknown, Field::Severity, &|| {
            "it is fatal and healthy at once".to_owned()
        });
        let action = match severity {
            Severity::Fatal => RecommendedAction::ReplaceVm,
            _ => RecommendedAction::None,
        };
        must(
            wire.documented_actions != Some(true) || event.recommended_action == action as i32,
            Field::Action,
            &|| {
                format!(
                    "recommendedAction is {}, not {}",
                    event.recommended_action,
                    action.as_str_name()
                )
            },
        );
        let codes = &event.error_code;
        let documented = wire.error_codes == Some(ErrorCodes::Documented);
        let kind = Check::parse(wire.documents_check(check)).map(Check::kind);
        must(
            !documented || codes.is_empty() || kind != Some(CheckKind::State),
            Field::ErrorCode,
            &|| format!("a state check carries errorCode {codes:?}"),
        );
        let counts = documented && kind == Some(CheckKind::Degradation);
        must(
            !counts || codes.len() == 1 || event.entities_impacted.is_empty(),
            Field::ErrorCode,
            &|| format!("a counter check carries errorCode {codes:?}, not its counter's name"),
        );
        let entities = event.entities_impacted.iter();
        let types: Vec<&str> = entities.map(|entity| entity.entity_type.as_str()).collect();
        must(
            wire.port.is_none_or(|naming| is_named(&types, naming)),
            Field::Entities,
            &|| format!("its entities are {types:?}, not NIC and then NICPort"),
        );
        must(
            wire.port.is_none() || !types.is_empty() || severity == Severity::Healthy,
            Field::Entities,
            &|| "an unhealthy event names nobody".to_owned(),
        );
        must(!event.message.trim().is_empty(), Field::Message, &|| {
            "it has no message".to_owned()
        });
        let extras = !event.metadata.is_empty()
            || !event.id.is_empty()
            || !event.custom_recommended_action.is_empty()
            || event.quarantine_overrides.is_some()
            || event.drain_overrides.is_some();
        must(
            !extras || wire.extra_fields != Some(false),
            Field::Extra,
            &|| "it sets a field that a monitor leaves empty".to_owned(),
        );
        must(observation.stamped_ns.is_some(), Field::Timestamp, &|| {
            "it has no generatedTimestamp".to_owned()
        });
        wrong
    }

    fn allows(&self, strategy: i32) -> bool {
        let named = self.strategies.iter();
        let mut allowed = named.filter_map(|name| ProcessingStrategy::from_str_name(name));
        allowed.any(|allowed| allowed as i32 == strategy)
    }
}

/// Whether the types of an event's entities are those of a way to name ports.
fn is_named(types: &[&str], naming: PortNaming) -> bool {
    match (types, naming) {
        ([] | ["NIC"], _) => true,
        (["NIC", "NICPort"], naming) => naming == PortNaming::NicThenPort,
        _ => false,
    }
}

/// Violations of a call as a whole, or between its events.
fn batch<'c>(call: &'c Call, wire: &Wire) -> Vec<Breach<'c>> {
    let mut breaches = Vec::new();
    let mut found = |field, what: String, observation| {
        breaches.push(Breach {
            field,
            what,
            observation,
        });
    };
    let version = version(call);
    if version != proto::VERSION {
        let right = proto::VERSION;
        found(
            Field::Version,
            format!("the batch has version {version}, not {right}"),
            None,
        );
    }
    let Some(first) = call.observations.first() else {
        found(Field::Batch, "a call without events".to_owned(), None);
        return breaches;
    };
    let rising = wire.stamps == Some(Stamps::Rising);
    for pair in call.observations.windows(2).filter(|_| rising) {
        if let (Some(before), Some(after)) = (pair[0].stamped_ns, pair[1].stamped_ns)
            && before >= after
        {
            let what = "its timestamp is not later than that of the event before it";
            found(Field::Timestamp, what.to_owned(), Some(&pair[1]));
        }
    }
    let name = |observation: &Observation| observation.check.clone().unwrap_or_default();
    let apart = wire.calls == Some(Calls::PerCheck);
    let observations = call.observations.iter().filter(|_| apart);
    for other in observations.filter(|other| other.check != first.check) {
        let what = format!("one call carries `{}` and `{}`", name(first), name(other));
        found(Field::Batch, what, Some(other));
    }
    breaches
}
