//! Parses a health event in JSON, in the protocol's own format or that of MongoDB or PostgreSQL.

use std::collections::BTreeMap;

use proto::{
    BehaviourOverrides, Entity, HealthEvent, ProcessingStrategy, RecommendedAction, Timestamp,
};
use serde_json::{Map, Value};

use super::RecordError;
use crate::stamp::Stamp;

/// The members of an object, with case-insensitive names.
pub(super) struct Fields<'a> {
    what: &'a str,
    members: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(value: &'a Value, what: &'a str) -> Result<Self, RecordError> {
        let members = value
            .as_object()
            .ok_or_else(|| wrong(what, value, "an object"))?;
        Ok(Self { what, members })
    }

    /// The member of this lower-case name; `None` for `null`.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        let mut members = self.members.iter();
        let (_, value) = members.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        (!value.is_null()).then_some(value)
    }

    pub(super) fn list(&self, name: &str) -> Result<Option<&'a [Value]>, RecordError> {
        let read = |value: &'a Value| match value {
            Value::Array(list) => Ok(list.as_slice()),
            other => Err(wrong(name, other, "a list")),
        };
        self.get(name).map(read).transpose()
    }

    fn text(&self, name: &str) -> Result<String, RecordError> {
        match self.get(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(wrong(name, other, "a text")),
        }
    }

    fn needed(&self, name: &str) -> Result<String, RecordError> {
        let text = self.text(name)?;
        if text.is_empty() {
            let cause = format!("{} has no `{name}`", self.what);
            let hint = "a line is a health event, a call with `events`, or a stored `healthevent`";
            return Err(RecordError::new(cause, hint));
        }
        Ok(text)
    }

    fn flag(&self, name: &str) -> Result<bool, RecordError> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong(name, other, "`true` or `false`")),
        }
    }

    /// A whole number, also in the export format `{"$numberLong":"5"}`.
    fn number(&self, name: &str) -> Result<Option<i64>, RecordError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let wrapped = ["$numberLong", "$numberInt"]
            .iter()
            .find_map(|key| value.get(key));
        let read = match wrapped.unwrap_or(value) {
            Value::String(text) => text.parse().ok(),
            other => other.as_i64(),
        };
        match read {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(name, value, "a whole number")),
        }
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, RecordError> {
        let list = self.list(name)?.unwrap_or_default();
        let read = |value: &Value| match value {
            Value::String(text) => Ok(text.clone()),
            other => Err(wrong(name, other, "a list of texts")),
        };
        list.iter().map(read).collect()
    }
}

fn wrong(name: &str, found: &Value, allowed: &str) -> RecordError {
    let mut found = found.to_string();
    if found.len() > 60 {
        found.truncate(found.floor_char_boundary(57));
        found += "...";
    }
    let cause = format!("`{name}` is {found}, where {allowed} is allowed");
    RecordError::new(cause, "see \"Recorded streams\" in `docs/rules.md`")
}

/// Parses one health event.
pub(super) fn health_event(value: &Value) -> Result<HealthEvent, RecordError> {
    let fields = Fields::of(value, "the event")?;
    let action = enumeration(&fields, "recommendedaction", |name| {
        RecommendedAction::from_str_name(name).map(i32::from)
    })?;
    let strategy = enumeration(&fields, "processingstrategy", |name| {
        ProcessingStrategy::from_str_name(name).map(i32::from)
    })?;
    let is_known = RecommendedAction::try_from(action).is_ok();
    if !is_known || ProcessingStrategy::try_from(strategy).is_err() {
        let cause = format!("there is no action {action} or no strategy {strategy}");
        return Err(RecordError::new(
            cause,
            "the numbers are those of NVSentinel's protocol",
        ));
    }
    let entities = fields.list("entitiesimpacted")?.unwrap_or_default();
    let version = fields
        .number("version")?
        .unwrap_or(i64::from(proto::VERSION));
    Ok(HealthEvent {
        version: u32::try_from(version).unwrap_or(proto::VERSION),
        agent: fields.text("agent")?,
        component_class: fields.text("componentclass")?,
        check_name: fields.needed("checkname")?,
        is_fatal: fields.flag("isfatal")?,
        is_healthy: fields.flag("ishealthy")?,
        message: fields.text("message")?,
        recommended_action: action,
        error_code: fields.texts("errorcode")?,
        entities_impacted: entities.iter().map(entity).collect::<Result<_, _>>()?,
        metadata: metadata(&fields)?,
        generated_timestamp: Some(timestamp(&fields)?),
        node_name: fields.needed("nodename")?,
        quarantine_overrides: overrides(&fields, "quarantineoverrides")?,
        drain_overrides: overrides(&fields, "drainoverrides")?,
        processing_strategy: strategy,
        id: String::new(),
        custom_recommended_action: fields.text("customrecommendedaction")?,
    })
}

fn entity(value: &Value) -> Result<Entity, RecordError> {
    let fields = Fields::of(value, "an entity")?;
    Ok(Entity {
        entity_type: fields.needed("entitytype")?,
        entity_value: fields.text("entityvalue")?,
    })
}

fn metadata(fields: &Fields<'_>) -> Result<BTreeMap<String, String>, RecordError> {
    let Some(value) = fields.get("metadata") else {
        return Ok(BTreeMap::new());
    };
    let read = |(key, value): (&String, &Value)| match value {
        Value::String(text) => Ok((key.clone(), text.clone())),
        other => Err(wrong("metadata", other, "an object of texts")),
    };
    let members = Fields::of(value, "metadata")?.members;
    members.iter().map(read).collect()
}

fn overrides(fields: &Fields<'_>, name: &str) -> Result<Option<BehaviourOverrides>, RecordError> {
    let Some(value) = fields.get(name) else {
        return Ok(None);
    };
    let fields = Fields::of(value, name)?;
    Ok(Some(BehaviourOverrides {
        force: fields.flag("force")?,
        skip: fields.flag("skip")?,
    }))
}

/// An enumeration by name or number; 0 if missing.
fn enumeration(
    fields: &Fields<'_>,
    name: &str,
    of_name: impl Fn(&str) -> Option<i32>,
) -> Result<i32, RecordError> {
    if let Some(value @ Value::String(text)) = fields.get(name) {
        return of_name(text)
            .ok_or_else(|| wrong(name, value, "a name or number of NVSentinel's protocol"));
    }
    let number = fields.number(name)?.unwrap_or(0);
    Ok(i32::try_from(number).unwrap_or(-1))
}

/// `2025-03-01T00:00:00Z`, or seconds and nanoseconds.
fn timestamp(fields: &Fields<'_>) -> Result<Timestamp, RecordError> {
    const ALLOWED: &str = "an instant as in `2025-03-01T00:00:00Z`, or `seconds` and `nanos`,";
    const NAME: &str = "generatedtimestamp";
    let Some(value) = fields.get(NAME) else {
        let cause = "the event has no `generatedTimestamp`";
        return Err(RecordError::new(
            cause,
            "windows are on the events' own stamps",
        ));
    };
    let text = value.get("$date").unwrap_or(value);
    if let Value::String(text) = text {
        let stamp: Result<Stamp, _> = text.parse();
        return stamp.map_or_else(|_| Err(wrong(NAME, value, ALLOWED)), |at| Ok(at.to_wire()));
    }
    let Value::Object(_) = value else {
        return Err(wrong(NAME, value, ALLOWED));
    };
    let inner = Fields::of(value, NAME)?;
    let seconds = inner.number("seconds")?;
    let nanos = i32::try_from(inner.number("nanos")?.unwrap_or(0)).ok();
    match (seconds, nanos) {
        (Some(seconds), Some(nanos @ 0..=999_999_999)) => Ok(Timestamp { seconds, nanos }),
        _ => Err(wrong(NAME, value, ALLOWED)),
    }
}
