//! Fault quarantine: which events cordon a node, which faults are outstanding, and when the node is
//! released.
//!
//! Its matching differs from that of node conditions: a healthy event removes every key with *any* of
//! its entities, and a fault is outstanding while one of its keys is left. So the condition and the
//! cordon can disagree for the same stream. Start at [`Quarantine::take`].
//! Source: NVSentinel, fault-quarantine.

mod annotation;
mod breaker;
mod ruleset;

use std::collections::{BTreeMap, BTreeSet};

use proto::HealthEvent;

use crate::{batch::may_act, stamp::Stamp};

pub use annotation::{Annotation, FaultKey, keys_of};
pub use breaker::Breaker;
pub use ruleset::{Ruleset, Rulesets};

/// The quarantine's reaction to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No rule set matches it, or it may not act, or it is a healthy event for a node that is not
    /// cordoned.
    Ignored,
    /// The node is newly cordoned, by this rule set.
    Cordoned {
        /// The rule set's name.
        by: String,
    },
    /// The node stays cordoned, with this many outstanding faults.
    AlreadyQuarantined {
        /// Number of outstanding faults.
        faults: usize,
    },
    /// No fault is outstanding any more: the node is released.
    Uncordoned,
    /// No fault of an agent with a known rule set is outstanding any more, but faults of agents whose
    /// rule sets are left out are: the node stays cordoned.
    HeldByOthers {
        /// These agents.
        agents: BTreeSet<String>,
    },
    /// The circuit breaker is open: events are ignored until a person resets it, which is not modelled.
    Halted,
}

/// The quarantine of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Quarantine {
    rulesets: Rulesets,
    breaker: Option<Breaker>,
    cordoned: BTreeMap<String, Annotation>,
    /// By node: outstanding fatal events of agents whose rule sets are left out. They may hold the node
    /// in the real cluster, so they hold it here if it is cordoned.
    left_out: BTreeMap<String, Annotation>,
}

impl Quarantine {
    /// A quarantine without cordoned nodes.
    #[must_use]
    pub fn new(rulesets: Rulesets) -> Self {
        Self {
            rulesets,
            ..Self::default()
        }
    }

    /// The same quarantine with a circuit breaker.
    #[must_use]
    pub fn with_breaker(mut self, breaker: Breaker) -> Self {
        self.breaker = Some(breaker);
        self
    }

    /// Whether the node is cordoned.
    #[must_use]
    pub fn is_cordoned(&self, node: &str) -> bool {
        self.cordoned.contains_key(node)
    }

    /// The cordoned nodes, each with its outstanding faults.
    pub fn cordoned(&self) -> impl Iterator<Item = (&str, &Annotation)> {
        let all = self.cordoned.iter();
        all.map(|(node, annotation)| (node.as_str(), annotation))
    }

    /// The agents with outstanding faults on the node whose rule sets are left out.
    #[must_use]
    pub fn left_out(&self, node: &str) -> BTreeSet<String> {
        let keys = self
            .left_out
            .get(node)
            .into_iter()
            .flat_map(Annotation::iter);
        keys.flatten().map(|key| key.agent.clone()).collect()
    }

    /// Whether the circuit breaker is open.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.breaker.as_ref().is_some_and(Breaker::is_open)
    }

    /// Processes one stored event.
    pub fn take(&mut self, event: &HealthEvent) -> Verdict {
        if !may_act(event) {
            return Verdict::Ignored;
        }
        if self.is_halted() {
            return Verdict::Halted;
        }
        if event.is_healthy {
            return self.release(event);
        }
        let Some(by) = self.speaks_against(event) else {
            self.keep_left_out(event);
            return Verdict::Ignored;
        };
        if let Some(annotation) = self.cordoned.get_mut(&event.node_name) {
            annotation.add(event);
            return Verdict::AlreadyQuarantined {
                faults: annotation.faults(),
            };
        }
        let annotation = self.cordoned.entry(event.node_name.clone()).or_default();
        annotation.add(event);
        if let Some(breaker) = &mut self.breaker {
            let stamp = Stamp::of(event.generated_timestamp.as_ref());
            breaker.cordoned(&event.node_name, stamp);
        }
        Verdict::Cordoned { by }
    }

    /// The rule set that cordons the node for this event, or the event's own override.
    fn speaks_against(&self, event: &HealthEvent) -> Option<String> {
        let overrides = event.quarantine_overrides.unwrap_or_default();
        if overrides.skip {
            return None;
        }
        if overrides.force {
            return Some("quarantineOverrides".to_owned());
        }
        self.rulesets.matching(event).map(|set| set.name.clone())
    }

    fn keep_left_out(&mut self, event: &HealthEvent) {
        let skips = event.quarantine_overrides.unwrap_or_default().skip;
        if event.is_fatal && !skips && self.rulesets.leave_out(&event.agent) {
            let faults = self.left_out.entry(event.node_name.clone());
            faults.or_default().add(event);
        }
    }

    fn release(&mut self, event: &HealthEvent) -> Verdict {
        if let Some(faults) = self.left_out.get_mut(&event.node_name) {
            faults.settle(event);
        }
        let agents = self.left_out(&event.node_name);
        let Some(annotation) = self.cordoned.get_mut(&event.node_name) else {
            return Verdict::Ignored;
        };
        let had_faults = annotation.faults() > 0;
        annotation.settle(event);
        match annotation.faults() {
            0 if !agents.is_empty() && had_faults => Verdict::HeldByOthers { agents },
            0 if !agents.is_empty() => Verdict::AlreadyQuarantined { faults: 0 },
            0 => {
                self.cordoned.remove(&event.node_name);
                Verdict::Uncordoned
            }
            faults => Verdict::AlreadyQuarantined { faults },
        }
    }
}
