//! Fault quarantine: which events cordon a node, what is remembered of them, and what releases it.
//!
//! It does not match as the node conditions do: a healthy event takes away every key that holds *any*
//! of its entities, and a fault stands while one of its keys is left. So a condition and a cordon can
//! give opposite answers about one stream. Start at [`Quarantine::take`].
//! Source: NVSentinel, fault-quarantine.

mod annotation;
mod breaker;
mod ruleset;

use std::collections::{BTreeMap, BTreeSet};

use proto::HealthEvent;

use crate::{batch::may_act, stamp::Stamp};

pub use annotation::{Annotation, FaultKey, keys_of};
pub use breaker::{BREAKER_SPAN, Breaker};
pub use ruleset::{MANAGED_LABELS, Ruleset, Rulesets};

/// What the quarantine made of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No rule speaks of it, or it may not act, or it is good news about a node that stands free.
    Ignored,
    /// The node was free and is cordoned now, by this rule set.
    Cordoned {
        /// The rule set's name.
        by: String,
    },
    /// The node stays cordoned; so many faults are outstanding now.
    AlreadyQuarantined {
        /// Outstanding faults.
        faults: usize,
    },
    /// Nothing is outstanding any more: the node is free again.
    Uncordoned,
    /// The circuit breaker is open: nothing is looked at before a person resets it.
    Halted,
}

/// The quarantine of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Quarantine {
    rulesets: Rulesets,
    breaker: Option<Breaker>,
    unmanaged: BTreeSet<String>,
    cordoned: BTreeMap<String, Annotation>,
}

impl Quarantine {
    /// A cluster in which no node is cordoned.
    #[must_use]
    pub fn new(rulesets: Rulesets) -> Self {
        Self {
            rulesets,
            ..Self::default()
        }
    }

    /// The same with a circuit breaker.
    #[must_use]
    pub fn with_breaker(mut self, breaker: Breaker) -> Self {
        self.breaker = Some(breaker);
        self
    }

    /// Labels a node as managed or not ([`MANAGED_LABELS`]); every node is managed until it is told not
    /// to be.
    pub fn set_managed(&mut self, node: &str, is_managed: bool) {
        if is_managed {
            self.unmanaged.remove(node);
        } else {
            self.unmanaged.insert(node.to_owned());
        }
    }

    /// Is the node cordoned?
    #[must_use]
    pub fn is_cordoned(&self, node: &str) -> bool {
        self.cordoned.contains_key(node)
    }

    /// The cordoned nodes with what is outstanding on each.
    pub fn cordoned(&self) -> impl Iterator<Item = (&str, &Annotation)> {
        let all = self.cordoned.iter();
        all.map(|(node, annotation)| (node.as_str(), annotation))
    }

    /// Has the circuit breaker opened?
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.breaker.as_ref().is_some_and(Breaker::is_open)
    }

    /// A person closes the circuit breaker again. What came while it was open is lost to the quarantine.
    pub fn reset_breaker(&mut self) {
        if let Some(breaker) = &mut self.breaker {
            breaker.reset();
        }
    }

    /// Takes in one stored event.
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

    /// The rule set that cordons for this event, or the event's own override.
    fn speaks_against(&self, event: &HealthEvent) -> Option<String> {
        let overrides = event.quarantine_overrides.unwrap_or_default();
        if overrides.skip {
            return None;
        }
        if overrides.force {
            return Some("quarantineOverrides".to_owned());
        }
        if self.unmanaged.contains(&event.node_name) {
            return None;
        }
        self.rulesets.matching(event).map(|set| set.name.clone())
    }

    fn release(&mut self, event: &HealthEvent) -> Verdict {
        let Some(annotation) = self.cordoned.get_mut(&event.node_name) else {
            return Verdict::Ignored;
        };
        annotation.settle(event);
        match annotation.faults() {
            0 => {
                self.cordoned.remove(&event.node_name);
                Verdict::Uncordoned
            }
            faults => Verdict::AlreadyQuarantined { faults },
        }
    }
}
