//! The format of a rule file: TOML, with the places of values for errors.
//!
//! [`super::reader`] checks the values.

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleText {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) description: String,
    #[serde(rename = "match")]
    pub(super) matches: Spanned<Vec<Spanned<MatchText>>>,
    pub(super) group_by: Spanned<Vec<Spanned<String>>>,
    pub(super) action: Option<Spanned<String>>,
    pub(super) message: Spanned<String>,
    pub(super) window: Option<Spanned<String>>,
    pub(super) edge: Option<Spanned<String>>,
    pub(super) count: Option<Spanned<usize>>,
    pub(super) merge: Option<Spanned<String>>,
    pub(super) whole_seconds: Option<Spanned<bool>>,
    pub(super) trigger: Option<Spanned<Vec<Spanned<MatchText>>>>,
    pub(super) repeat: Option<Spanned<String>>,
    pub(super) distinct: Option<Spanned<String>>,
    pub(super) settle: Option<Spanned<String>>,
    pub(super) silence: Option<Spanned<String>>,
    pub(super) grace: Option<Spanned<String>>,
    pub(super) broken_by: Option<Spanned<Vec<Spanned<MatchText>>>>,
    pub(super) sticky: Option<Spanned<String>>,
    pub(super) holds: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) hold: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchText {
    pub(super) on: Option<Spanned<String>>,
    pub(super) after: Option<Spanned<String>>,
    pub(super) agent: Option<String>,
    pub(super) class: Option<String>,
    #[serde(default)]
    pub(super) checks: Vec<String>,
    pub(super) fatal: Option<bool>,
    pub(super) healthy: Option<Spanned<bool>>,
    #[serde(default)]
    pub(super) codes: Vec<String>,
    pub(super) message_contains: Option<String>,
}
