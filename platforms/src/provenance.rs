//! Where a value of a profile or driver comes from, and how sure that is.
//!
//! A file ends with a list of entries; each names paths and one of four marks with its source. A
//! path is made of keys joined by `.`; a list's element is named by its `name`, else by its number;
//! `*` stands for one key, at the end for all below. The entry with the most keys spelt out wins,
//! so a general mark and its exceptions stand side by side.

use schemars::JsonSchema;
use serde::Deserialize;

/// One entry of a file's `provenance`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The paths it is about.
    pub of: Vec<String>,
    /// Read in this source.
    pub sourced: Option<String>,
    /// Read on a node, by `nicdrill platform capture`.
    pub captured: Option<String>,
    /// Concluded from sourced facts, as said here.
    pub inferred: Option<String>,
    /// Likely, not found anywhere; why it was chosen.
    pub plausible: Option<String>,
}

/// How sure a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Read in a source.
    Sourced,
    /// Read on a node.
    Captured,
    /// Concluded from sourced facts.
    Inferred,
    /// Likely, not found anywhere.
    Plausible,
}

impl Mark {
    /// As files spell it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sourced => "sourced",
            Self::Captured => "captured",
            Self::Inferred => "inferred",
            Self::Plausible => "plausible",
        }
    }
}

impl Entry {
    /// Its mark and its text; `None` unless it has exactly one.
    #[must_use]
    pub fn mark(&self) -> Option<(Mark, &str)> {
        let all = [
            (Mark::Sourced, &self.sourced),
            (Mark::Captured, &self.captured),
            (Mark::Inferred, &self.inferred),
            (Mark::Plausible, &self.plausible),
        ];
        let mut given = all
            .into_iter()
            .filter_map(|(mark, text)| Some((mark, text.as_deref()?)));
        let first = given.next()?;
        given.next().is_none().then_some(first)
    }
}

/// The entry that tells where the value at `path` comes from; `None` if no entry does.
#[must_use]
pub fn of_path<'a>(entries: &'a [Entry], path: &str) -> Option<&'a Entry> {
    let pairs = entries
        .iter()
        .flat_map(|entry| entry.of.iter().map(move |of| (entry, of)));
    let fitting = pairs.filter_map(|(entry, of)| Some((weight(of, path)?, entry)));
    fitting
        .max_by_key(|(weight, _)| *weight)
        .map(|(_, entry)| entry)
}

/// How many keys the pattern spells out, if it fits; then how many it stands for.
fn weight(pattern: &str, path: &str) -> Option<(usize, usize)> {
    let (mut literal, mut wild) = (0, 0);
    let mut keys = path.split('.');
    for want in pattern.split('.') {
        match (want, keys.next()) {
            (_, None) => return None,
            ("*", Some(_)) => wild += 1,
            (want, Some(key)) if want == key => literal += 1,
            _ => return None,
        }
    }
    let reaches_below = pattern.ends_with('*') || pattern == path;
    (reaches_below || keys.next().is_none()).then_some((literal, wild))
}

/// The path of every value of a document, in the document's own order of keys.
#[must_use]
pub fn paths(document: &serde_json::Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(document, String::new(), &mut found);
    found
}

fn walk(value: &serde_json::Value, path: String, found: &mut Vec<String>) {
    let below = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                walk(value, below(key), found);
            }
        }
        serde_json::Value::Array(list) if list.iter().all(serde_json::Value::is_object) => {
            for (number, value) in list.iter().enumerate() {
                let name = value.get("name").and_then(serde_json::Value::as_str);
                walk(value, below(name.unwrap_or(&number.to_string())), found);
            }
        }
        _ => found.push(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(of: &str) -> Entry {
        Entry {
            of: vec![of.to_owned()],
            sourced: Some(of.to_owned()),
            ..Entry::default()
        }
    }

    #[test]
    fn the_entry_that_spells_out_most_wins() {
        let entries = [
            entry("devices.*"),
            entry("devices.*.pci"),
            entry("devices.mlx5_2.pci"),
        ];
        let of = |path| of_path(&entries, path).map(|entry| entry.of[0].as_str());
        assert_eq!(of("devices.mlx5_1.numa"), Some("devices.*"));
        assert_eq!(of("devices.mlx5_1.pci"), Some("devices.*.pci"));
        assert_eq!(of("devices.mlx5_2.pci"), Some("devices.mlx5_2.pci"));
        assert_eq!(of("gpus.pci"), None);
    }

    #[test]
    fn an_entry_with_two_marks_has_none() {
        let both = Entry {
            plausible: Some("x".to_owned()),
            ..entry("a")
        };
        assert_eq!(both.mark(), None);
    }
}
