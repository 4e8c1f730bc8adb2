//! What a story says of the cluster that hears its monitors: how conditions clear, for what a node is
//! cordoned, which rules listen; and what can be expected of all that.
//!
//! These are words only. What a cluster does with events is decided elsewhere, and the names of rules
//! stand here a second time, so that a misspelt one is refused before anything is played.

use std::ops::RangeInclusive;

use platforms::PortRef;

use crate::story::{About, Times};

/// The cluster of a story.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterPlan {
    /// How node conditions clear.
    pub clearing: ClearingProfile,
    /// For whose events a node is cordoned.
    pub rulesets: RulesetsProfile,
    /// How many nodes the circuit breaker counts by; `None`: there is none.
    pub breaker_fleet: Option<u32>,
    /// The correlation rules.
    pub rules: RuleProfile,
    /// Which ports hang on which switch, as the world's file says it.
    pub cables: Vec<Cable>,
}

/// A cable between a switch and a port of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// The switch.
    pub switch: String,
    /// The port.
    pub port: PortRef,
}

/// Which entities and codes of a healthy event a condition's entry must hold to be cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClearingProfile {
    /// All its entities, and one of its codes.
    #[default]
    All,
    /// Any of its entities, and one of its codes.
    AnyWithCode,
    /// Any of its entities, whatever the codes.
    Any,
}

/// For whose fatal events a node is cordoned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RulesetsProfile {
    /// The NIC monitor's and the kernel-log monitor's.
    #[default]
    Shipped,
    /// No NIC monitor's.
    WithoutNics,
    /// Those that ship, and one of the operator's own for the analyzer's.
    WithAnalyzer,
}

/// The correlation rules that listen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleProfile {
    /// Those of "NIC Health Monitor: Link State Detection", with what it leaves open decided.
    #[default]
    Lsd,
    /// The one query that it prints, as it prints it.
    LsdText,
    /// The two that NVSentinel deploys.
    Nvsentinel,
    /// What gpud calls a drop and a flap.
    Gpud,
}

impl RuleProfile {
    /// All.
    pub const ALL: [Self; 4] = [Self::Lsd, Self::LsdText, Self::Nvsentinel, Self::Gpud];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lsd => "lsd",
            Self::LsdText => "lsd-text",
            Self::Nvsentinel => "nvsentinel",
            Self::Gpud => "gpud",
        }
    }

    /// Its rules, in their order.
    #[must_use]
    pub const fn rules(self) -> &'static [&'static str] {
        match self {
            Self::Lsd => &[
                "RepeatedNICLinkFlap",
                "NICPortDrop",
                "NICStabilizationWindow",
                "FabricWideFault",
            ],
            Self::LsdText => &["RepeatedNICLinkFlap"],
            Self::Nvsentinel => &["RepeatedNICDegradation", "RepeatedNICDriverError"],
            Self::Gpud => &["ib_port_flap", "ib_port_drop"],
        }
    }
}

/// Whether something that can stand does: in one of the polls meant, or in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stands {
    /// Whether it does.
    pub is: bool,
    /// At the end of every poll meant, not of one of them.
    pub throughout: bool,
}

/// What can be expected of a node condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionIs {
    /// Which.
    pub of: ConditionOf,
    /// Only its entries about this one; all of it if `None`.
    pub about: Option<About>,
    /// Only its entries with this error code.
    pub counter: Option<String>,
    /// Whether there is such an entry.
    pub stands: Stands,
}

/// Which condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionOf {
    /// A state check's: of the link layer of whom it is about, else of either.
    State,
    /// A counter check's, likewise.
    Counters,
    /// The one of this check or rule.
    Named(String),
}

/// What can be expected of a correlation rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleIs {
    /// The rule.
    pub rule: String,
    /// About whom it speaks; about anybody if `None`.
    pub about: Option<About>,
    /// About which switch.
    pub switch: Option<String>,
    /// What it counted.
    pub counted: Option<RangeInclusive<u64>>,
    /// Whether it says that something is over, not that it happened.
    pub cleared: bool,
    /// How often; none at all: it is silent.
    pub times: Times,
    /// How many events connectors accept in the poll in which it speaks.
    pub events_this_tick: Option<u64>,
}
