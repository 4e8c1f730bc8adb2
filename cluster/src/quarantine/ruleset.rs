//! Rule sets: the events for which a node is cordoned.
//!
//! The recommended action is not considered. The rule sets about GPUs, cloud maintenance, Kubernetes
//! objects and preflight jobs are left out, because their agents do not report about NICs.
//! Source: NVSentinel, fault-quarantine, chart values.

use proto::HealthEvent;

use crate::rules::ANALYZER;

/// Agents of which the deployed rule sets are known: those with one in [`Rulesets::shipped`], and the
/// analyzer, which none names.
const KNOWN_AGENTS: [&str; 3] = ["nic-health-monitor", "syslog-health-monitor", ANALYZER];

/// A rule set; fields left open match everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruleset {
    /// Its name.
    pub name: String,
    /// The agent of the event.
    pub agent: String,
    /// The allowed component classes; any if empty.
    pub component_classes: Vec<String>,
}

impl Ruleset {
    /// A rule set for the fatal events of this agent about these classes.
    #[must_use]
    pub fn new(name: &str, agent: &str, component_classes: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            agent: agent.to_owned(),
            component_classes: component_classes.iter().map(ToString::to_string).collect(),
        }
    }

    fn matches(&self, event: &HealthEvent) -> bool {
        let classes = &self.component_classes;
        event.is_fatal
            && event.agent == self.agent
            && (classes.is_empty() || classes.contains(&event.component_class))
    }
}

/// The rule sets of a cluster, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rulesets(Vec<Ruleset>);

impl Rulesets {
    /// A cluster with these rule sets.
    #[must_use]
    pub const fn new(rulesets: Vec<Ruleset>) -> Self {
        Self(rulesets)
    }

    /// The defaults since 2026-05-18: the NIC monitor, and the kernel-log monitor about GPUs and NICs.
    #[must_use]
    pub fn shipped() -> Self {
        Self(vec![
            Ruleset::new("NIC health monitor", "nic-health-monitor", &[]),
            Ruleset::new(
                "syslog health monitor",
                "syslog-health-monitor",
                &["GPU", "NIC"],
            ),
        ])
    }

    /// The defaults when "NIC Health Monitor: Link State Detection" was written: they did not include
    /// the NIC monitor, so no NIC fault cordoned a node.
    #[must_use]
    pub const fn without_nics() -> Self {
        Self(Vec::new())
    }

    /// These rule sets and another one.
    #[must_use]
    pub fn with(mut self, ruleset: Ruleset) -> Self {
        self.0.push(ruleset);
        self
    }

    /// Whether rule sets of this agent may be deployed that are left out here: of every agent that is
    /// named and neither has a rule set here nor is known to have none.
    #[must_use]
    pub fn leave_out(&self, agent: &str) -> bool {
        let has_one = self.0.iter().any(|ruleset| ruleset.agent == agent);
        !agent.is_empty() && !has_one && !KNOWN_AGENTS.contains(&agent)
    }

    /// The agents of the rule sets, in their order.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|ruleset| ruleset.agent.as_str())
    }

    /// The first rule set that matches this event.
    #[must_use]
    pub fn matching(&self, event: &HealthEvent) -> Option<&Ruleset> {
        self.0.iter().find(|ruleset| ruleset.matches(event))
    }
}
