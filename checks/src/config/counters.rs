//! `[counterDetection]`: which counters are watched, and their thresholds.
//!
//! Every key and value is validated, also those of disabled counters. Source of names and rules:
//! NVSentinel, nic-health-monitor `pkg/config/config.go`. Without a list the twelve counters of its
//! Helm chart are watched; an empty list means none. A section or counter without the key `enabled`
//! is enabled, as NVSentinel documents it.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::warn_of_unknown_keys;
use crate::counters::table::{TABLE, defaults};
use crate::counters::{CounterId, Threshold, Unit, Watched};
use crate::log_record::{Level, LogRecord};

/// The validated section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CounterDetection {
    /// Whether the counter checks run.
    pub(crate) enabled: bool,
    /// The enabled counters in the order of the list.
    pub(crate) watched: Vec<Watched>,
}

const KEYS: [&str; 2] = ["enabled", "counters"];
const COUNTER_KEYS: [&str; 5] = [
    "name",
    "enabled",
    "thresholdType",
    "threshold",
    "velocityUnit",
];
/// Retired keys: settings of the operator that are now part of the fixed table.
const RETIRED_KEYS: [&str; 4] = ["path", "isFatal", "description", "recommendedAction"];

/// Reads the section; without it the defaults are used.
pub(super) fn read(
    section: Option<&Value>,
    path: &str,
    records: &mut Vec<LogRecord>,
) -> Result<CounterDetection, String> {
    let mut detection = CounterDetection {
        enabled: true,
        watched: defaults(),
    };
    let Some(section) = section else {
        return Ok(detection);
    };
    let Value::Table(section) = section else {
        return Err(format!(
            "`counterDetection` is `{section}`: must be a table"
        ));
    };
    warn_of_unknown_keys(section, &KEYS, "counterDetection.", path, records);
    detection.enabled = flag(section, "counterDetection.enabled", "enabled")?;
    let counters = match section.get("counters") {
        None => return Ok(detection),
        Some(Value::Array(counters)) => counters,
        Some(other) => {
            return Err(format!(
                "`counterDetection.counters` is `{other}`: must be an array of tables"
            ));
        }
    };
    detection.watched.clear();
    let mut names = BTreeSet::new();
    for (index, counter) in counters.iter().enumerate() {
        let (is_on, watched) = one(counter, index, path, records)
            .map_err(|cause| format!("invalid counterDetection: counters[{index}]: {cause}"))?;
        if !names.insert(watched.id) {
            return Err(format!(
                "invalid counterDetection: counters[{index}]: duplicate counter name `{}`",
                watched.id
            ));
        }
        detection.watched.extend(is_on.then_some(watched));
    }
    if detection.watched.is_empty() && detection.enabled {
        let record = LogRecord::new(
            Level::Warn,
            "counterDetection.counters lists none that is enabled: no counter is watched",
        );
        records.push(record.with("path", path));
    }
    Ok(detection)
}

/// One counter of the list, and whether it is enabled.
fn one(
    counter: &Value,
    index: usize,
    path: &str,
    records: &mut Vec<LogRecord>,
) -> Result<(bool, Watched), String> {
    let Value::Table(counter) = counter else {
        return Err(format!("`{counter}` must be a table"));
    };
    let known = [COUNTER_KEYS.as_slice(), &RETIRED_KEYS].concat();
    let prefix = format!("counterDetection.counters[{index}].");
    warn_of_unknown_keys(counter, &known, &prefix, path, records);
    for key in RETIRED_KEYS
        .iter()
        .filter(|key| counter.contains_key(**key))
    {
        let record = LogRecord::new(Level::Warn, "retired configuration key: ignored");
        records.push(
            record
                .with("path", path)
                .with("key", format_args!("{prefix}{key}")),
        );
    }
    let name = text(counter, "name")?;
    if name.is_empty() {
        return Err("name must not be empty".to_owned());
    }
    let id = CounterId::parse(name).ok_or_else(|| {
        let allowed: Vec<&str> = TABLE.iter().map(|counter| counter.name).collect();
        format!(
            "counter name `{name}` is not allowed; allowed counters: {}",
            allowed.join(", ")
        )
    })?;
    let is_on = flag(counter, "enabled", "enabled")?;
    let threshold = threshold(counter).map_err(|cause| format!("(`{name}`) {cause}"))?;
    Ok((is_on, Watched { id, threshold }))
}

fn threshold(counter: &Table) -> Result<Threshold, String> {
    let kind = text(counter, "thresholdType")?;
    if !["delta", "velocity"].contains(&kind) {
        return Err(format!(
            "thresholdType `{kind}` is invalid; must be one of: delta, velocity"
        ));
    }
    let limit = limit(counter)?;
    if kind == "delta" {
        return Ok(Threshold::Delta(limit));
    }
    let unit = text(counter, "velocityUnit")?;
    match Unit::ALL.into_iter().find(|known| known.name() == unit) {
        Some(unit) => Ok(Threshold::Velocity(limit, unit)),
        None => Err(format!(
            "velocityUnit `{unit}` is invalid; must be one of: second, minute, hour"
        )),
    }
}

fn text<'a>(counter: &'a Table, key: &str) -> Result<&'a str, String> {
    match counter.get(key) {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("`{key}` is `{other}`: must be a string")),
    }
}

/// A boolean whose default is `true`.
fn flag(table: &Table, rendered: &str, key: &str) -> Result<bool, String> {
    match table.get(key) {
        None => Ok(true),
        Some(Value::Boolean(flag)) => Ok(*flag),
        Some(other) => Err(format!("`{rendered}` is `{other}`: must be true or false")),
    }
}

/// The growth that must be exceeded; 0 by default.
fn limit(counter: &Table) -> Result<f64, String> {
    let refuse = |value: &Value| {
        Err(format!(
            "threshold `{value}` is invalid; must be a finite value >= 0"
        ))
    };
    match counter.get("threshold") {
        None => Ok(0.0),
        Some(Value::Float(value)) if value.is_finite() && *value >= 0.0 => Ok(*value),
        #[expect(
            clippy::cast_precision_loss,
            reason = "thresholds are floating point, as in the file's other spelling"
        )]
        Some(Value::Integer(value)) if *value >= 0 => Ok(*value as f64),
        Some(value) => refuse(value),
    }
}
