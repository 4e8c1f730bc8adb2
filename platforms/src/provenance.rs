//! The provenance of the values of a profile or driver, and their certainty.
//!
//! A file ends with a list of entries; each names paths and one of four marks with its source. A
//! path consists of keys joined by `.`; a list's element is named by its `name`, otherwise by its
//! number; `*` stands for one key, or at the end for all keys below. The entry with the most
//! literal keys applies, so that a general mark and its exceptions can be combined.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use files::yaml;

/// One entry of a file's `provenance`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The paths it is about.
    pub of: Vec<String>,
    /// The source in which the values were read.
    pub sourced: Option<String>,
    /// Read on a node, by `nicdrill platform capture`.
    pub captured: Option<String>,
    /// How the values follow from sourced facts.
    pub inferred: Option<String>,
    /// Why the values were chosen, if no source has them.
    pub plausible: Option<String>,
}

/// The certainty of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Read in a source.
    Sourced,
    /// Read on a node.
    Captured,
    /// Concluded from sourced facts.
    Inferred,
    /// Likely, without a source.
    Plausible,
}

impl Mark {
    /// The spelling in files.
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

/// The entry for the value at `path`; `None` if there is none.
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

/// The number of literal keys of a matching pattern, then the number of keys that wildcards match;
/// `None` if it does not match.
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

/// The paths of a file's text; none if it is no YAML.
#[must_use]
pub(crate) fn paths_of_text(text: &str) -> Vec<String> {
    let read = yaml::read::<BTreeMap<String, serde_json::Value>>("", text);
    let mut document = read.unwrap_or_default();
    document.remove("provenance");
    paths(&serde_json::Value::Object(document.into_iter().collect()))
}

/// Whether a path with wildcards names one of these.
#[must_use]
pub(crate) fn names_one(of: &str, paths: &[String]) -> bool {
    paths.iter().any(|path| weight(of, path).is_some())
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
        serde_json::Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                walk(value, below(key), found);
            }
        }
        serde_json::Value::Array(list)
            if !list.is_empty() && list.iter().all(serde_json::Value::is_object) =>
        {
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
