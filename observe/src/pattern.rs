//! A regular expression of a descriptor, with groups for the parts of a statement. Start at [`Pattern`].

use std::borrow::Cow;

use regex::{Captures, Regex, RegexBuilder};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::Subject;

/// How many bytes of memory a compiled pattern may take (`regex::RegexBuilder::size_limit`). Chosen: enough for any
/// pattern that a person writes, and a file cannot take more.
const SIZE_MAX: usize = 1 << 20;

/// A regular expression (the syntax of Rust's `regex` crate).
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let compiled = RegexBuilder::new(&text).size_limit(SIZE_MAX).build();
        // The library tells it in several lines; the last one is the reason.
        let told = |error: regex::Error| {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            D::Error::custom(format!("`{text}` is not a regular expression: {reason}"))
        };
        compiled.map(Self).map_err(told)
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "string", "format": "regex" })
    }
}

impl Pattern {
    /// The first match in a line.
    pub(crate) fn captures<'l>(&self, line: &'l str) -> Option<Captures<'l>> {
        self.0.captures(line)
    }

    /// Its text.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The names of its groups.
    pub(crate) fn groups(&self) -> Vec<&str> {
        self.0.capture_names().flatten().collect()
    }

    /// A group that is none of these, with a hint.
    pub(crate) fn problem(&self, known: &[&str]) -> Option<(String, String)> {
        let groups = self.groups();
        let other = groups.iter().find(|group| !known.contains(group))?;
        let known: Vec<String> = known.iter().map(|group| format!("`{group}`")).collect();
        let pattern = self.as_str();
        Some((
            format!("`{pattern}` has the group `{other}`, which means nothing"),
            format!(
                "the groups are {}; write `(?:…)` for one that is not read",
                known.join(", ")
            ),
        ))
    }
}

/// The subject that the groups of a match name: a port of a device, a device, a card, or the node.
pub(crate) fn subject(found: &Captures<'_>) -> Subject {
    let group = |name: &str| found.name(name).map(|group| group.as_str().to_owned());
    Subject::named(group("device"), group("port"), group("card"))
}
