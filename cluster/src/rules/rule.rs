//! A correlation rule as data: what it looks at, how it counts, what it says.
//!
//! Rules are read from TOML by [`crate::rules::read`]; `docs/rules.md` explains every key. What a rule
//! does with a stream is the business of [`crate::rules::Analyzer`].

use std::time::Duration;

use proto::{HealthEvent, RecommendedAction};

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name; the check name of what it publishes.
    pub name: String,
    /// What it is for, for people.
    pub description: String,
    /// The events that it looks at; any one of these suffices. At most 8.
    pub matches: Vec<Match>,
    /// What events must share to be counted together.
    pub group_by: Vec<GroupBy>,
    /// How it decides.
    pub body: Body,
    /// What it asks for; everything but `NONE` makes what it publishes fatal.
    pub action: RecommendedAction,
    /// What it says.
    pub message: String,
}

/// How a rule decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// So many events in a window.
    Count(Count),
    /// Events of so many different nodes, NICs, … in a window.
    Spread(Spread),
    /// A fault, and then nothing for so long.
    Silence(Silence),
    /// What other rules say is held back for a while.
    Hold(Hold),
}

/// So many events in a window that ends with the event that triggers the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// How far back events count, both ends included.
    pub window: Duration,
    /// How many it takes.
    pub count: usize,
    /// Events of different matches at most this far apart are one.
    pub merge: Duration,
    /// Stamps are compared by whole seconds, as the deployed engine does.
    pub whole_seconds: bool,
    /// The unhealthy events that make the rule look; empty: those that it counts.
    pub trigger: Vec<Match>,
    /// How often it fires while the count stays reached.
    pub repeat: Repeat,
}

/// How often a rule fires while its count stays reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// With each further event.
    Each,
    /// Once; again when a trigger has found fewer in the window.
    Once,
}

/// Events that differ in one thing, in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// How far back events count, both ends included.
    pub window: Duration,
    /// How many different ones it takes.
    pub count: usize,
    /// In what they must differ.
    pub distinct: GroupBy,
    /// How long it waits for more, once there are enough, before it says how many there are.
    pub settle: Duration,
}

/// A fault, and then silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// How long the fault must stand.
    pub silence: Duration,
    /// What breaks the silence does not count this soon after the fault.
    pub grace: Duration,
    /// What breaks it.
    pub broken_by: Vec<Match>,
    /// How long after the healthy event the rule's own fault is cleared.
    pub sticky: Duration,
}

/// Firings of other rules that wait until a port was well for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The rules that are held back. Their first firing never is.
    pub holds: Vec<String>,
    /// How long after the last recovery (the last healthy event of `match`).
    pub hold: Duration,
}

/// What an event must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Which events of a fault's life are meant.
    pub on: On,
    /// The agent.
    pub agent: Option<String>,
    /// The component class.
    pub class: Option<String>,
    /// One of these checks; empty: any.
    pub checks: Vec<String>,
    /// Fatal or not.
    pub fatal: Option<bool>,
    /// Healthy or not.
    pub healthy: Option<bool>,
    /// The first error code is one of these; empty: any or none.
    pub codes: Vec<String>,
    /// What the message holds.
    pub message_contains: Option<String>,
}

/// Which events of a fault's life are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Each event.
    Each,
    /// An unhealthy event of what was not unhealthy before: the same check, entities and codes.
    Fall,
    /// A healthy event of what was unhealthy for at least so long.
    Return {
        /// How long.
        after: Duration,
    },
}

impl Match {
    /// Is this such an event, whatever came before it?
    #[must_use]
    pub fn meets(&self, event: &HealthEvent) -> bool {
        let text = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|w| w == is);
        let flag = |wanted: Option<bool>, is: bool| wanted.is_none_or(|wanted| wanted == is);
        let first = event.error_code.first();
        let contains = |part: &String| event.message.contains(part.as_str());
        text(&self.agent, &event.agent)
            && (self.checks.is_empty() || self.checks.contains(&event.check_name))
            && flag(self.fatal, event.is_fatal)
            && flag(self.healthy, event.is_healthy)
            && text(&self.class, &event.component_class)
            && (self.codes.is_empty() || first.is_some_and(|code| self.codes.contains(code)))
            && self.message_contains.as_ref().is_none_or(contains)
    }
}

/// Something that events share or differ in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupBy {
    /// The node.
    Node,
    /// The check.
    Check,
    /// The first error code.
    Code,
    /// The switch behind the port, by the world's cabling.
    Switch,
    /// The first entity of this type, such as `NIC` or `NICPort`.
    Entity(String),
}

impl GroupBy {
    /// The word in a rule file: `node`, `check`, `code`, `switch`, or an entity type, which begins with a
    /// capital letter.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Node => "node",
            Self::Check => "check",
            Self::Code => "code",
            Self::Switch => "switch",
            Self::Entity(kind) => kind,
        }
    }

    /// What such a word means.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "node" => Some(Self::Node),
            "check" => Some(Self::Check),
            "code" => Some(Self::Code),
            "switch" => Some(Self::Switch),
            _ if word.starts_with(|c: char| c.is_ascii_uppercase()) => {
                Some(Self::Entity(word.to_owned()))
            }
            _ => None,
        }
    }
}
