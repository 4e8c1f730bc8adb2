//! The cluster that receives the monitors' events, as a scenario states it: how conditions clear,
//! which events cordon a node, which correlation rules run; and what can be expected of these.
//!
//! These types are data. The crate `cluster` implements the behaviour; the names of its rules are
//! repeated here so that a misspelt one is rejected before a drill starts.

use std::ops::RangeInclusive;

use platforms::PortRef;

use crate::story::{About, Times};

/// The cluster of a story.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterPlan {
    /// How node conditions clear.
    pub clearing: ClearingProfile,
    /// Which fatal events cordon a node.
    pub rulesets: RulesetsProfile,
    /// Number of nodes from which the circuit breaker computes its limit; `None` disables the
    /// breaker.
    pub breaker_fleet: Option<u32>,
    /// The correlation rules.
    pub rules: RuleProfile,
    /// Cables between ports and switches, from the world's file.
    pub cables: Vec<Cable>,
}

/// A cable between a switch and a port of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// The name of the switch in the fabric.
    pub switch: String,
    /// The port.
    pub port: PortRef,
}

/// Which entities and codes a healthy event must have to clear an entry of a condition.
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

/// Which fatal events cordon a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RulesetsProfile {
    /// Those of the NIC monitor and the kernel-log monitor.
    #[default]
    Shipped,
    /// The shipped set without the NIC monitor.
    WithoutNics,
    /// The shipped set, and an operator's rule for events of the analyzer.
    WithAnalyzer,
}

/// The rule that holds others back.
pub(crate) const HOLDS_OTHERS: &str = "NICStabilizationWindow";

/// The set of correlation rules that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleProfile {
    /// Those of "NIC Health Monitor: Link State Detection", with the values it leaves open decided.
    #[default]
    Lsd,
    /// The one query printed in that document, by device and port.
    LsdText,
    /// The two that NVSentinel deploys.
    Nvsentinel,
    /// gpud's definitions of a drop and a flap.
    Gpud,
}

impl RuleProfile {
    /// All profiles.
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

    /// The names of its rules, in order.
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

    /// The names of those that fire. One that holds others back does not: what it lets through bears their names.
    pub fn firing(self) -> impl Iterator<Item = &'static str> + Clone {
        let rules = self.rules().iter().copied();
        rules.filter(|rule| *rule != HOLDS_OTHERS)
    }
}

/// Whether something is present at the end of one of the polls of the window, or of each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stands {
    /// Whether it must be present.
    pub is: bool,
    /// Whether this must hold at the end of every poll of the window instead of at least one.
    pub throughout: bool,
}

/// An expectation on a node condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionIs {
    /// Which condition.
    pub of: ConditionOf,
    /// Only entries about this entity; all entries if `None`.
    pub about: Option<About>,
    /// Only its entries with this error code.
    pub counter: Option<String>,
    /// Whether such an entry must be present.
    pub stands: Stands,
}

/// Which condition, by check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionOf {
    /// The state check of the subject's link layer; of either layer without a subject.
    State,
    /// The counter check, likewise.
    Counters,
    /// The condition of this check or rule.
    Named(String),
}

/// An expectation on a correlation rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleIs {
    /// The name of the rule.
    pub rule: String,
    /// The entity of the rule's event; any if `None`.
    pub about: Option<About>,
    /// The switch of the rule's event.
    pub switch: Option<String>,
    /// The number that the rule counted.
    pub counted: Option<RangeInclusive<u64>>,
    /// Whether the event reports that the problem is over instead of that it happened.
    pub cleared: bool,
    /// How often; an upper limit of zero means that the rule does not fire.
    pub times: Times,
    /// How many events connectors accept in the poll in which it fires.
    pub events_this_tick: Option<u64>,
}
