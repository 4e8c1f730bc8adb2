//! Writes a call as one line of JSON, in the protocol's own format.

use std::collections::BTreeMap;

use proto::{Entity, HealthEvent};
use serde::Serialize;

use crate::stamp::Stamp;

/// A call that reached a connector.
#[derive(Clone, Copy, Debug)]
pub struct RecordedCall<'a> {
    /// Its events.
    pub events: &'a [HealthEvent],
    /// Whether the connector accepted it.
    pub accepted: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    accepted: bool,
    events: Vec<Event<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    version: u32,
    agent: &'a str,
    component_class: &'a str,
    check_name: &'a str,
    is_fatal: bool,
    is_healthy: bool,
    message: &'a str,
    recommended_action: &'a str,
    error_code: &'a [String],
    entities_impacted: Vec<Impacted<'a>>,
    generated_timestamp: String,
    node_name: &'a str,
    processing_strategy: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    custom_recommended_action: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Impacted<'a> {
    entity_type: &'a str,
    entity_value: &'a str,
}

/// The call as a line without newline. Overrides, which monitors do not set, are left out.
///
/// # Panics
/// Never: JSON can represent all these values.
#[must_use]
pub fn write_call(call: RecordedCall<'_>) -> String {
    let line = Line {
        accepted: call.accepted,
        events: call.events.iter().map(event).collect(),
    };
    serde_json::to_string(&line).expect("texts, numbers and flags are JSON")
}

fn event(event: &HealthEvent) -> Event<'_> {
    Event {
        version: event.version,
        agent: &event.agent,
        component_class: &event.component_class,
        check_name: &event.check_name,
        is_fatal: event.is_fatal,
        is_healthy: event.is_healthy,
        message: &event.message,
        recommended_action: event.recommended_action().as_str_name(),
        error_code: &event.error_code,
        entities_impacted: event.entities_impacted.iter().map(Impacted::of).collect(),
        generated_timestamp: Stamp::of(event.generated_timestamp.as_ref()).to_string(),
        node_name: &event.node_name,
        processing_strategy: event.processing_strategy().as_str_name(),
        custom_recommended_action: &event.custom_recommended_action,
        metadata: &event.metadata,
    }
}

impl<'a> Impacted<'a> {
    fn of(entity: &'a Entity) -> Self {
        Self {
            entity_type: &entity.entity_type,
            entity_value: &entity.entity_value,
        }
    }
}
