//! The `document` column of a stored event, as the platform connector writes it.
//!
//! Keys are those of the protocol in camelCase; empty, false and zero values are omitted; enumerations are
//! numbers. The connector stores an event without a strategy as `EXECUTE_REMEDIATION`. The event's processing
//! state (`healtheventstatus`) is empty, because nothing has processed it yet.

use std::collections::BTreeMap;

use proto::{BehaviourOverrides, Entity, HealthEvent, ProcessingStrategy, Timestamp};
use serde::Serialize;
use serde_json::value::RawValue;

/// The document of an event that was stored at this instant.
///
/// # Panics
/// Never: JSON can represent all these values.
pub(super) fn document(event: &HealthEvent, created_at: &str) -> Box<RawValue> {
    let document = Document {
        created_at,
        healthevent: Event::of(event),
        healtheventstatus: Untouched {},
    };
    serde_json::value::to_raw_value(&document).expect("texts, numbers and flags are JSON")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    created_at: &'a str,
    healthevent: Event<'a>,
    healtheventstatus: Untouched,
}

/// The empty processing state.
#[derive(Serialize)]
struct Untouched {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    #[serde(skip_serializing_if = "is_zero")]
    version: u32,
    #[serde(skip_serializing_if = "str::is_empty")]
    agent: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    component_class: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    check_name: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    is_fatal: bool,
    #[serde(skip_serializing_if = "is_zero")]
    is_healthy: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    recommended_action: i32,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    error_code: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entities_impacted: Vec<Impacted<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_timestamp: Option<Instant>,
    #[serde(skip_serializing_if = "str::is_empty")]
    node_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantine_overrides: Option<Overrides>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drain_overrides: Option<Overrides>,
    #[serde(skip_serializing_if = "is_zero")]
    processing_strategy: i32,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    custom_recommended_action: &'a str,
}

impl<'a> Event<'a> {
    fn of(event: &'a HealthEvent) -> Self {
        let strategy = match event.processing_strategy {
            unspecified if unspecified == i32::from(ProcessingStrategy::Unspecified) => {
                ProcessingStrategy::ExecuteRemediation.into()
            }
            rendered => rendered,
        };
        Self {
            version: event.version,
            agent: &event.agent,
            component_class: &event.component_class,
            check_name: &event.check_name,
            is_fatal: event.is_fatal,
            is_healthy: event.is_healthy,
            message: &event.message,
            recommended_action: event.recommended_action,
            error_code: &event.error_code,
            entities_impacted: event.entities_impacted.iter().map(Impacted::of).collect(),
            metadata: &event.metadata,
            generated_timestamp: event.generated_timestamp.as_ref().map(Instant::of),
            node_name: &event.node_name,
            quarantine_overrides: event.quarantine_overrides.map(Overrides::of),
            drain_overrides: event.drain_overrides.map(Overrides::of),
            processing_strategy: strategy,
            id: &event.id,
            custom_recommended_action: &event.custom_recommended_action,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Impacted<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    entity_type: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    entity_value: &'a str,
}

impl<'a> Impacted<'a> {
    fn of(entity: &'a Entity) -> Self {
        Self {
            entity_type: &entity.entity_type,
            entity_value: &entity.entity_value,
        }
    }
}

#[derive(Serialize)]
struct Instant {
    #[serde(skip_serializing_if = "is_zero")]
    seconds: i64,
    #[serde(skip_serializing_if = "is_zero")]
    nanos: i32,
}

impl Instant {
    fn of(timestamp: &Timestamp) -> Self {
        Self {
            seconds: timestamp.seconds,
            nanos: timestamp.nanos,
        }
    }
}

#[derive(Serialize)]
struct Overrides {
    #[serde(skip_serializing_if = "is_zero")]
    force: bool,
    #[serde(skip_serializing_if = "is_zero")]
    skip: bool,
}

impl Overrides {
    fn of(overrides: BehaviourOverrides) -> Self {
        Self {
            force: overrides.force,
            skip: overrides.skip,
        }
    }
}

/// Whether a value is false or 0, and omitted.
fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use proto::RecommendedAction;

    use super::*;

    fn check(event: &HealthEvent, rendered: &str) {
        let document = document(event, "2025-03-01T00:00:10Z");
        assert_eq!(document.get(), rendered);
    }

    #[test]
    fn a_fatal_event_has_the_protocols_names_and_numbers() {
        let event = HealthEvent {
            version: 1,
            agent: "nic-health-monitor".to_owned(),
            component_class: "NIC".to_owned(),
            check_name: "InfiniBandStateCheck".to_owned(),
            is_fatal: true,
            message: "down".to_owned(),
            recommended_action: RecommendedAction::ReplaceVm.into(),
            error_code: vec!["link_downed".to_owned()],
            entities_impacted: vec![Entity {
                entity_type: "NIC".to_owned(),
                entity_value: "mlx5_0".to_owned(),
            }],
            generated_timestamp: Some(Timestamp {
                seconds: 1_740_787_210,
                nanos: 0,
            }),
            node_name: "node-1".to_owned(),
            processing_strategy: ProcessingStrategy::StoreOnly.into(),
            ..HealthEvent::default()
        };
        check(
            &event,
            r#"{"createdAt":"2025-03-01T00:00:10Z","healthevent":{"version":1,"agent":"nic-health-monitor","componentClass":"NIC","checkName":"InfiniBandStateCheck","isFatal":true,"message":"down","recommendedAction":25,"errorCode":["link_downed"],"entitiesImpacted":[{"entityType":"NIC","entityValue":"mlx5_0"}],"generatedTimestamp":{"seconds":1740787210},"nodeName":"node-1","processingStrategy":2},"healtheventstatus":{}}"#,
        );
    }

    #[test]
    fn what_is_false_zero_or_empty_is_absent_and_no_strategy_is_to_be_acted_on() {
        check(
            &HealthEvent::default(),
            r#"{"createdAt":"2025-03-01T00:00:10Z","healthevent":{"processingStrategy":1},"healtheventstatus":{}}"#,
        );
    }
}
