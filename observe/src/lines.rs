//! The adapter of monitors that write lines: what a program says in its output is what it reports.
//!
//! A [`LineRule`] has a regular expression with named groups for the parts of an observation. The first rule that
//! matches a line decides; a line that none matches is only a line. Start at [`Lines::observed`].

use std::{borrow::Cow, collections::BTreeMap};

use proto::HealthEvents;
use regex::{Captures, Regex, RegexBuilder};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{
    Adapter, Breach, Call, Contract, Delivery, Observation, Problem, Protocol, Severity, Subject,
};

/// The groups that a pattern may have.
const GROUPS: [&str; 6] = ["device", "port", "card", "verdict", "code", "text"];

/// How many bytes of memory a compiled pattern may take (`regex::RegexBuilder::size_limit`). Chosen: enough for any
/// pattern that a person writes, and a file cannot take more.
const SIZE_MAX: usize = 1 << 20;

/// The field of an observation with the word of its line that `verdicts` does not name.
pub const UNNAMED: &str = "word";

/// The adapter of lines: they have no contract, and no health events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinesAdapter;

impl Adapter for LinesAdapter {
    fn breaches<'c>(&self, _: &'c Call, _: &Contract<'_>) -> Vec<Breach<'c>> {
        Vec::new()
    }

    fn health_events(&self, _: &Call) -> Option<HealthEvents> {
        None
    }
}

/// How the lines of a monitor are read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Lines(Vec<LineRule>);

/// What lines of one form say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineRule {
    /// A regular expression that is looked for in a line, with the groups `device`, `port`, `card`, `verdict`, `code`
    /// and `text`.
    pattern: Pattern,
    /// What such a line says, if the pattern has no group `verdict`.
    says: Option<LineVerdict>,
    /// What the words of the group `verdict` say; any other word says that nothing is known.
    #[serde(default)]
    verdicts: BTreeMap<String, LineVerdict>,
}

/// What a line can say about its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineVerdict {
    /// It is healthy, or healthy again.
    Healthy,
    /// It has a fault, and work goes on.
    NonFatal,
    /// It has a fault, and work that uses it fails.
    Fatal,
    /// Nothing is known about it: neither an alarm nor an all-clear.
    Unknown,
}

/// A regular expression (the syntax of Rust's `regex` crate).
#[derive(Clone, Debug)]
struct Pattern(Regex);

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

impl Lines {
    /// What a line says; `None` if no rule matches it.
    #[must_use]
    pub fn observed(&self, line: &str) -> Option<Delivery> {
        let (rule, found) = self
            .0
            .iter()
            .find_map(|rule| Some((rule, rule.pattern.0.captures(line)?)))?;
        let group = |name: &str| found.name(name).map(|group| group.as_str().to_owned());
        let word = group("verdict");
        let severity = match &word {
            Some(word) => rule.verdicts.get(word).copied(),
            None => rule.says,
        };
        let unnamed = word.filter(|_| severity.is_none());
        let observation = Observation {
            subject: subject(&found),
            severity: severity.map_or(Severity::Unknown, Severity::from),
            codes: group("code").into_iter().collect(),
            text: group("text").unwrap_or_else(|| line.to_owned()),
            fields: unnamed
                .map(|word| (UNNAMED.to_owned(), word))
                .into_iter()
                .collect(),
            ..Observation::default()
        };
        Some(Delivery {
            observations: vec![observation],
            fields: Vec::new(),
        })
    }

    fn problem(&self) -> Option<Problem> {
        if self.0.is_empty() {
            return Some(Problem::at(
                ["lines"],
                "`lines` has no rule",
                "write `- { pattern: …, says: fatal }`",
            ));
        }
        let mut rules = self.0.iter().enumerate();
        rules.find_map(|(at, rule)| {
            let problem = rule.problem()?;
            Some(problem.below(["lines".to_owned(), at.to_string()]))
        })
    }
}

impl LineRule {
    /// What is wrong with this rule; the keys are those of the rule.
    fn problem(&self) -> Option<Problem> {
        let pattern = self.pattern.0.as_str();
        let groups: Vec<&str> = self.pattern.0.capture_names().flatten().collect();
        if let Some(other) = groups.iter().find(|group| !GROUPS.contains(group)) {
            let known = GROUPS.map(|group| format!("`{group}`")).join(", ");
            return Some(Problem::at(
                ["pattern"],
                format!("`{pattern}` has the group `{other}`, which means nothing"),
                format!("the groups are {known}; write `(?:…)` for one that is not read"),
            ));
        }
        let has_verdict = groups.contains(&"verdict");
        match (has_verdict, self.says, self.verdicts.is_empty()) {
            (true, None, false) | (false, Some(_), true) => None,
            (true, Some(_), false) => Some(Problem::at(
                ["says"],
                format!("`{pattern}` has the group `verdict`, and `says` beside `verdicts`"),
                "leave `says` out: the word of the line decides",
            )),
            (true, ..) => Some(Problem::at(
                ["pattern"],
                format!("`{pattern}` has the group `verdict`, whose words have no meaning"),
                "write `verdicts: { DOWN: fatal, UP: healthy }`, and no `says`",
            )),
            (false, ..) => Some(Problem::at(
                ["pattern"],
                format!("`{pattern}` has no group `verdict`, so it is open what such a line says"),
                "write `says: healthy`, `nonfatal`, `fatal` or `unknown`, and no `verdicts`",
            )),
        }
    }
}

/// What is wrong with the rules of a monitor that speaks a protocol.
pub(crate) fn problem(speaks: Protocol, lines: Option<&Lines>) -> Option<Problem> {
    match (speaks, lines) {
        (Protocol::Lines, Some(lines)) => lines.problem(),
        (Protocol::Lines, None) => Some(Problem::at(
            ["speaks"],
            "`speaks: lines` needs `lines`, which says what they mean",
            "write `lines: [ { pattern: …, says: fatal } ]`",
        )),
        (_, Some(_)) => Some(Problem::at(
            ["lines"],
            "`lines` is for a monitor that speaks by its lines",
            "write `speaks: lines`, or leave `lines` out",
        )),
        (_, None) => None,
    }
}

/// The subject of a line: a port of a device, a device, a card, or the node.
fn subject(found: &Captures<'_>) -> Subject {
    let group = |name: &str| found.name(name).map(|group| group.as_str().to_owned());
    match (group("device"), group("port"), group("card")) {
        (Some(device), Some(port), _) => Subject::Port { device, port },
        (Some(device), None, _) => Subject::Device(device),
        (None, _, Some(card)) => Subject::Card(card),
        (None, _, None) => Subject::Node,
    }
}

impl From<LineVerdict> for Severity {
    fn from(verdict: LineVerdict) -> Self {
        match verdict {
            LineVerdict::Healthy => Self::Healthy,
            LineVerdict::NonFatal => Self::NonFatal,
            LineVerdict::Fatal => Self::Fatal,
            LineVerdict::Unknown => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
