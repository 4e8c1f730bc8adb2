//! Parses `cases.yaml`: one entry has as many rows as it has values and profiles.
//!
//! Unknown keys are errors. Start at [`read`].

use std::collections::BTreeMap;

use files::yaml;
use serde::Deserialize;
use serde_json::Value;

/// A case of one profile and one row of values.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: String,
    /// The profile of hosts.
    pub(crate) profile: ProfileName,
    /// The initial state.
    pub(crate) world: World,
    /// How long a port that went down stays Offline, in milliseconds.
    pub(crate) quiet_ms: u64,
    /// The actions and expectations.
    pub(crate) steps: Vec<Verb>,
}

/// The profile of hosts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProfileName {
    Spec,
    Hfi1,
}

/// The initial state.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum World {
    /// A link that is up.
    #[default]
    AtRest,
    /// A card that has just appeared, with a cable.
    NewCard,
    /// A new card without a cable.
    Uncabled,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    case: String,
    about: String,
    profiles: Vec<ProfileName>,
    #[serde(default)]
    world: World,
    #[serde(default)]
    quiet_ms: u64,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    rows: Vec<Value>,
    steps: Vec<Value>,
}

/// One step of a case.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Verb {
    ToMs(u64),
    See(BTreeMap<String, String>),
    Repeat {
        times: u32,
        every_ms: u64,
        action: Box<Verb>,
    },
    Pull(String),
    Plug(String),
    ModuleOut(String),
    ModuleIn(String),
    Initiate {
        end: String,
        reason: u8,
        #[serde(default = "yes")]
        says: bool,
    },
    InitiateBoth {
        end: String,
        reason: u8,
        #[serde(default = "yes")]
        says: bool,
        other: u8,
        #[serde(default = "yes")]
        other_says: bool,
    },
    Release {
        end: String,
        reason: u8,
    },
    Hear {
        end: String,
        message: u8,
    },
    PacketError {
        end: String,
        reason: u8,
    },
    Errors {
        end: String,
        fm_config: Option<u8>,
        receive: Option<u8>,
    },
    BufferOverrun(String),
    ErrorAction {
        end: String,
        bits: u32,
    },
    Bounce(String),
    Disable(String),
    Enable(String),
    Unload(String),
    Load(String),
    PowerOff(String),
    DeviceFatal {
        end: String,
        takes_ms: u64,
    },
    PowerOn(String),
    Quarantine {
        end: String,
        reason: u8,
    },
    StopManager,
    StartManager {
        #[serde(default = "yes")]
        keeps_logs: bool,
    },
    Set {
        end: String,
        logical: Option<LogicalName>,
        physical: Option<PhysicalName>,
        clear: Option<Clear>,
    },
}

/// A logical state, in the tools' spelling.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) enum LogicalName {
    Armed,
    Active,
}

/// A physical state, in the tools' spelling.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) enum PhysicalName {
    Polling,
    Disabled,
    Offline,
}

/// Which reasons are set to 0.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Clear {
    Local,
    Neighbour,
    Both,
}

fn yes() -> bool {
    true
}

/// Every row of every case.
pub(crate) fn read(text: &str) -> Result<Vec<Row>, String> {
    let entries: Vec<Value> = yaml::read("cases.yaml", text).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for entry in entries {
        rows.extend(rows_of(entry)?);
    }
    Ok(rows)
}

fn rows_of(entry: Value) -> Result<Vec<Row>, String> {
    let named = entry["case"].as_str().unwrap_or("a case").to_owned();
    let entry: Entry =
        serde_json::from_value(entry).map_err(|error| format!("{named}: {error}"))?;
    if entry.about.is_empty() || entry.profiles.is_empty() {
        return Err(format!(
            "{named} says neither what it is about nor for whom"
        ));
    }
    let values = if entry.with.is_empty() {
        vec![Value::Array(Vec::new())]
    } else {
        entry.rows.clone()
    };
    let mut rows = Vec::new();
    for value in values {
        let columns =
            columns(&entry.with, value).ok_or(format!("{named}: a row of another length"))?;
        let mut steps = Vec::new();
        for step in &entry.steps {
            let step = filled(step, &columns);
            steps.push(serde_json::from_value(step).map_err(|error| format!("{named}: {error}"))?);
        }
        let rendered: Vec<String> = columns
            .iter()
            .map(|(name, value)| format!(" {name}={}", plain(value)))
            .collect();
        for profile in &entry.profiles {
            rows.push(Row {
                name: format!("{}{} by {profile:?}", entry.case, rendered.concat()),
                profile: *profile,
                world: entry.world,
                quiet_ms: entry.quiet_ms,
                steps: steps.clone(),
            });
        }
    }
    Ok(rows)
}

/// A row's values by the names of their columns, in order; `None` if the numbers differ.
fn columns(names: &[String], row: Value) -> Option<Vec<(String, Value)>> {
    let values = match row {
        Value::Array(values) => values,
        value => vec![value],
    };
    (values.len() == names.len()).then(|| names.iter().cloned().zip(values).collect())
}

/// A step with the column names replaced by values: a text that is just a name becomes the value,
/// in other texts the value is inserted.
fn filled(step: &Value, columns: &[(String, Value)]) -> Value {
    let write = |text: &str| {
        columns.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), &plain(value))
        })
    };
    match step {
        Value::String(text) => {
            let whole = columns
                .iter()
                .find(|(name, _)| *text == format!("{{{name}}}"));
            whole.map_or_else(|| Value::String(write(text)), |(_, value)| value.clone())
        }
        Value::Array(items) => items.iter().map(|item| filled(item, columns)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (write(key), filled(value, columns)))
            .collect(),
        other => other.clone(),
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
