//! What a site needs of a monitor, whatever the monitor promises: how soon it hears of each kind of fault, how soon
//! it is told that the fault is over, and what must never alarm.
//!
//! The words are those of promises ([`Kind`]). `harness` reads a file of needs, `judge` judges by it.
//! Start at [`Needs`].

mod within;

use std::collections::BTreeMap;

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

pub use within::{Quiet, Within};

use crate::promises::{ANY_COUNTER, Granularity, Kind, KindOf, Named};

/// What a site needs of its monitor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "What a site needs of a monitor, for nicdrill")]
pub struct Needs {
    /// The version of this format: 1.
    pub needs_version: u32,
    /// A one-line description.
    pub title: Option<String>,
    /// What reports have to be about where a kind says nothing else.
    #[serde(default)]
    pub granularity: Granularity,
    /// What it needs to know of each kind of fault. A kind that is not listed is not judged.
    #[serde(default)]
    pub kinds: BTreeMap<Kind, Need>,
    /// The kinds of faults and episodes that must not alarm.
    #[serde(default)]
    pub never_alarms: BTreeMap<Kind, Quiet>,
}

/// What a site needs to know of a kind of fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Need {
    /// By when any unhealthy report about the subject stands, after the fault can be read.
    pub noticed: Option<Within>,
    /// By when none stands any more, after the fault is over.
    pub taken_back: Option<Within>,
    /// What these reports have to be about, at least.
    pub granularity: Option<Granularity>,
}

impl Needs {
    /// The need for a kind of fault; `None` if there is none.
    #[must_use]
    pub fn need(&self, kind: &Kind) -> Option<&Need> {
        of(&self.kinds, kind)
    }

    /// How long a kind must not alarm; `None` if it may.
    #[must_use]
    pub fn quiet(&self, kind: &Kind) -> Option<Quiet> {
        of(&self.never_alarms, kind).copied()
    }

    /// What the reports about a kind have to be about, at least.
    #[must_use]
    pub fn granularity(&self, kind: &Kind) -> Granularity {
        let own = self.need(kind).and_then(|need| need.granularity);
        own.unwrap_or(self.granularity)
    }

    /// The invalid values: of each kind the first one.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let of_all =
            |what: &'static str, hint: &'static str| Problem::at(["needs_version"], what, hint);
        let mut problems = Vec::new();
        if self.needs_version != 1 {
            let what = "these needs have another version";
            problems.push(of_all(what, "write `needs_version: 1`"));
        }
        if self.kinds.is_empty() && self.never_alarms.is_empty() {
            let hint = "list kinds of faults under `kinds` or `never_alarms`";
            let nothing = of_all("nothing is needed", hint);
            problems.push(nothing.beside(&["kinds", "never_alarms"]));
        }
        let kinds = self.kinds.iter().filter_map(|(kind, need)| {
            let word = kind.to_string();
            let (what, hint) = self.problem_of(kind, need, &word)?;
            Some(Problem::at(["kinds", &word], what, hint))
        });
        problems.extend(kinds);
        problems
    }

    /// Why this cannot be needed of a kind: problem and hint.
    fn problem_of(&self, kind: &Kind, need: &Need, word: &str) -> Option<(String, &'static str)> {
        if kind.of() == KindOf::Episode {
            let what = format!("`{word}` is an episode, and only faults can be noticed");
            let hint =
                "list the faults in it, such as `gone_device`, or write it under `never_alarms`";
            return Some((what, hint));
        }
        if *kind == Kind::Named(Named::Persists) {
            let what = "`persists` is about how a fault is reported, and is none itself";
            let hint = "list the states that may last, such as `init` or `training`";
            return Some((what.to_owned(), hint));
        }
        if need.noticed.is_none() && need.taken_back.is_none() {
            let what = format!("nothing about `{word}` is needed");
            let hint = "write `noticed: within 60s`, `taken_back: within 60s`, or both";
            return Some((what, hint));
        }
        if need.noticed.is_some() && self.never_alarms.get(kind) == Some(&Quiet::Always) {
            let what = format!("`{word}` never alarms, and is to be noticed");
            let hint = "leave one out, or write `for` and a time under `never_alarms`";
            return Some((what, hint));
        }
        None
    }
}

/// The entry of a kind, or that of all counters.
pub(crate) fn of<'n, T>(entries: &'n BTreeMap<Kind, T>, kind: &Kind) -> Option<&'n T> {
    let any = || match kind {
        Kind::Counter(_) => entries.get(&Kind::Counter(ANY_COUNTER.to_owned())),
        Kind::Named(_) => None,
    };
    entries.get(kind).or_else(any)
}

#[cfg(test)]
mod tests;
