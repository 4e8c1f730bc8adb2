//! `[counterDetection]`: every key and value is validated, as the counter checks will want them.
//!
//! Source of names and rules: NVSentinel, nic-health-monitor `pkg/config/config.go`. The checks that
//! read counters are not built yet, so nothing is kept.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::warn_of_unknown_keys;
use crate::note::{Level, Note};

/// Counters that may be named, in order.
const ALLOWED: [&str; 25] = [
    "carrier_changes",
    "excessive_buffer_overrun_errors",
    "implied_nak_seq_err",
    "link_downed",
    "link_error_recovery",
    "local_ack_timeout_err",
    "local_link_integrity_errors",
    "out_of_sequence",
    "packet_seq_err",
    "port_rcv_discards",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_discards",
    "port_xmit_wait",
    "req_transport_retries_exceeded",
    "rnr_nak_retry_err",
    "roce_slow_restart",
    "rx_crc_errors",
    "rx_errors",
    "rx_missed_errors",
    "symbol_error",
    "symbol_error_fatal",
    "tx_carrier_errors",
    "tx_errors",
];

const KEYS: [&str; 2] = ["enabled", "counters"];
const COUNTER_KEYS: [&str; 5] = [
    "name",
    "enabled",
    "thresholdType",
    "threshold",
    "velocityUnit",
];
/// Once the operator's, now owned by the code.
const RETIRED_KEYS: [&str; 4] = ["path", "isFatal", "description", "recommendedAction"];

/// Validates the section; absent is fine.
pub(super) fn validate(
    section: Option<&Value>,
    path: &str,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    let Some(section) = section else {
        return Ok(());
    };
    let Value::Table(section) = section else {
        return Err(format!(
            "`counterDetection` is `{section}`: must be a table"
        ));
    };
    warn_of_unknown_keys(section, &KEYS, "counterDetection.", path, notes);
    let enabled = flag(section, "counterDetection.enabled", "enabled")?;
    if enabled {
        notes.push(Note::new(
            Level::Warn,
            "counter checks are not built yet: counterDetection is validated and skipped",
        ));
    }
    let counters = match section.get("counters") {
        None => return Ok(()),
        Some(Value::Array(counters)) => counters,
        Some(other) => {
            return Err(format!(
                "`counterDetection.counters` is `{other}`: must be an array of tables"
            ));
        }
    };
    if counters.is_empty() && enabled {
        let note = Note::new(
            Level::Warn,
            "counterDetection.counters is empty: no counter",
        );
        notes.push(note.with("path", path));
    }
    let mut names = BTreeSet::new();
    for (index, counter) in counters.iter().enumerate() {
        let name = one(counter, index, path, notes)
            .map_err(|cause| format!("invalid counterDetection: counters[{index}]: {cause}"))?;
        if !names.insert(name) {
            return Err(format!(
                "invalid counterDetection: counters[{index}]: duplicate counter name `{name}`"
            ));
        }
    }
    Ok(())
}

fn one<'a>(
    counter: &'a Value,
    index: usize,
    path: &str,
    notes: &mut Vec<Note>,
) -> Result<&'a str, String> {
    let Value::Table(counter) = counter else {
        return Err(format!("`{counter}` must be a table"));
    };
    let known = [COUNTER_KEYS.as_slice(), &RETIRED_KEYS].concat();
    let prefix = format!("counterDetection.counters[{index}].");
    warn_of_unknown_keys(counter, &known, &prefix, path, notes);
    for key in RETIRED_KEYS
        .iter()
        .filter(|key| counter.contains_key(**key))
    {
        let note = Note::new(Level::Warn, "retired configuration key: ignored");
        notes.push(
            note.with("path", path)
                .with("key", format_args!("{prefix}{key}")),
        );
    }
    let name = text(counter, "name")?;
    if name.is_empty() {
        return Err("name must not be empty".to_owned());
    }
    if !ALLOWED.contains(&name) {
        return Err(format!(
            "counter name `{name}` is not allowed; allowed counters: {}",
            ALLOWED.join(", ")
        ));
    }
    flag(counter, "enabled", "enabled")?;
    let kind = text(counter, "thresholdType")?;
    if !["delta", "velocity"].contains(&kind) {
        return Err(format!(
            "(`{name}`) thresholdType `{kind}` is invalid; must be one of: delta, velocity"
        ));
    }
    threshold(counter).map_err(|cause| format!("(`{name}`) {cause}"))?;
    let unit = text(counter, "velocityUnit")?;
    if kind == "velocity" && !["second", "minute", "hour"].contains(&unit) {
        return Err(format!(
            "(`{name}`) velocityUnit `{unit}` is invalid; must be one of: second, minute, hour"
        ));
    }
    Ok(name)
}

fn text<'a>(counter: &'a Table, key: &str) -> Result<&'a str, String> {
    match counter.get(key) {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("`{key}` is `{other}`: must be a string")),
    }
}

fn flag(table: &Table, told: &str, key: &str) -> Result<bool, String> {
    match table.get(key) {
        None => Ok(false),
        Some(Value::Boolean(flag)) => Ok(*flag),
        Some(other) => Err(format!("`{told}` is `{other}`: must be true or false")),
    }
}

fn threshold(counter: &Table) -> Result<(), String> {
    let is_valid = match counter.get("threshold") {
        None => true,
        Some(Value::Float(value)) => value.is_finite() && *value >= 0.0,
        Some(Value::Integer(value)) => *value >= 0,
        Some(_) => false,
    };
    if is_valid {
        return Ok(());
    }
    let value = counter
        .get("threshold")
        .map_or_else(String::new, ToString::to_string);
    Err(format!(
        "threshold `{value}` is invalid; must be a finite value >= 0"
    ))
}
