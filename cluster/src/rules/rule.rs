//! A correlation rule as data: the events it matches, how it decides, and the event it emits.
//!
//! [`crate::rules::read`] parses rules from TOML, [`crate::rules::Analyzer`] evaluates them;
//! `docs/rules.md` explains every key.

use std::time::Duration;

use proto::{HealthEvent, RecommendedAction};

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, which is the check name of its events.
    pub name: String,
    /// Its purpose, for people.
    pub description: String,
    /// The events that it matches: any one of these alternatives, at most 8.
    pub matches: Vec<Match>,
    /// The values that events must have in common to be counted together.
    pub group_by: Vec<GroupBy>,
    /// How it decides.
    pub body: Body,
    /// The recommended action of its events; they are fatal unless it is `NONE`.
    pub action: RecommendedAction,
    /// The message of its events.
    pub message: String,
}

/// How a rule decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A number of events in a window.
    Count(Count),
    /// Events of a number of different nodes, NICs, … in a window.
    Spread(Spread),
    /// A fault followed by silence.
    Silence(Silence),
    /// Holds back the events of other rules for a while.
    Hold(Hold),
}

/// A number of events in a window that ends with the event that triggers the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The length of the window, its end included.
    pub window: Duration,
    /// Whether an event exactly one window old counts.
    pub edge: Edge,
    /// The required number.
    pub count: usize,
    /// Events of different alternatives at most this far apart count as one.
    pub merge: Duration,
    /// Whether timestamps are compared by whole seconds, as in the deployed engine.
    pub whole_seconds: bool,
    /// The unhealthy events that trigger the rule; if empty, those that it counts.
    pub trigger: Vec<Match>,
    /// How often it fires while the count is reached.
    pub repeat: Repeat,
}

/// Whether the old end of a window belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// `timestamp >= T - window`, as in the deployed engine.
    Included,
    /// `timestamp > T - window`, as "NIC Health Monitor: Link State Detection", 6.4, prints it.
    Excluded,
}

/// How often a rule fires while its count is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// With each further event.
    Each,
    /// Once; again after a trigger has found fewer events in the window.
    Once,
}

/// Events with a number of different values in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The length of the window, both ends included.
    pub window: Duration,
    /// The required number of different values.
    pub count: usize,
    /// The value that must differ.
    pub distinct: GroupBy,
    /// How long it waits for more events once there are enough, before it fires with their number.
    pub settle: Duration,
}

/// A fault followed by silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// How long the fault must be present.
    pub silence: Duration,
    /// Events this soon after the fault do not break the silence.
    pub grace: Duration,
    /// The events that break it.
    pub broken_by: Vec<Match>,
    /// How long after the healthy event the rule's own fault is cleared.
    pub sticky: Duration,
}

/// Firings of other rules that wait until a port was healthy for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The rules that are held back. Their first firing never is.
    pub holds: Vec<String>,
    /// The time after the last recovery (the last healthy event of `match`).
    pub hold: Duration,
}

/// A pattern for events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Which events of a fault match.
    pub on: On,
    /// `agent` of the event; `None`: any.
    pub agent: Option<String>,
    /// The component class.
    pub class: Option<String>,
    /// One of these checks; empty: any.
    pub checks: Vec<String>,
    /// `isFatal` of the event; `None`: either.
    pub fatal: Option<bool>,
    /// `isHealthy` of the event; `None`: either.
    pub healthy: Option<bool>,
    /// The first error code is one of these; any or none if empty.
    pub codes: Vec<String>,
    /// A text that the message contains.
    pub message_contains: Option<String>,
}

/// Which events of a fault match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Each event.
    Each,
    /// An unhealthy event about something that was not unhealthy before: the same check, entities and
    /// codes.
    Fall,
    /// An event that has the other properties, if the group's latest earlier event of the same agent,
    /// class and checks did not.
    Enter,
    /// A healthy event about something that was unhealthy for at least this long.
    Return {
        /// The duration.
        after: Duration,
    },
}

impl Match {
    /// Whether an event matches, apart from `on`.
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

    /// Whether an event is of the agent, class and checks of this pattern.
    #[must_use]
    pub(crate) fn is_of_its_check(&self, event: &HealthEvent) -> bool {
        let text = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|w| w == is);
        text(&self.agent, &event.agent)
            && text(&self.class, &event.component_class)
            && (self.checks.is_empty() || self.checks.contains(&event.check_name))
    }
}

/// A value that events have in common or differ in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupBy {
    /// The node.
    Node,
    /// The check.
    Check,
    /// The first error code.
    Code,
    /// The switch of the port, by the world's cabling.
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

    /// Parses such a word.
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
