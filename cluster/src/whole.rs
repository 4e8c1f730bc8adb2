//! The whole cluster: processes a stream of calls and returns all consequences.
//!
//! A call goes to the node conditions as a batch, and event by event to the quarantine and the rules;
//! the event of a rule is processed in the same way, but not by rules. Start at [`Cluster::receive`].

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use proto::{HealthEvent, HealthEvents};

use crate::{
    batch::{Refused, by_node, order_decides, received},
    condition::{Change, Conditions},
    entry::Clearing,
    kube_event::KubeEvents,
    quarantine::{Quarantine, Verdict},
    rules::{Analyzer, Firing, FiringKind},
    stamp::Stamp,
};

/// An action of the cluster, with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Consequence {
    /// The timestamp of the event that caused it, or of the tick.
    pub at: Stamp,
    /// The action.
    pub what: ConsequenceKind,
}

/// The actions of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsequenceKind {
    /// A condition became unhealthy.
    ConditionStands {
        /// The name of the node, as events have it.
        node: String,
        /// The name of the check, which is the type of the condition.
        check: String,
    },
    /// A condition became healthy.
    ConditionCleared {
        /// The name of the node, as events have it.
        node: String,
        /// The name of the check, which is the type of the condition.
        check: String,
    },
    /// A problem: entries did not fit into a condition's message and are lost.
    EntriesLost {
        /// The name of the node, as events have it.
        node: String,
        /// The name of the check, which is the type of the condition.
        check: String,
        /// The number of lost entries.
        forgotten: usize,
        /// Whether another entry was truncated.
        is_torn: bool,
    },
    /// A problem: two events of one call have the same timestamp, and the condition depends on their
    /// order.
    OrderDecides {
        /// The name of the node, as events have it.
        node: String,
        /// The name of the check, which is the type of the condition.
        check: String,
    },
    /// A Kubernetes event was created, or its count raised.
    KubeEvent {
        /// The name of the node, as events have it.
        node: String,
        /// The name of the check, which is the type of the condition.
        check: String,
        /// The number of sightings.
        count: u32,
    },
    /// The node was cordoned.
    Cordoned {
        /// The name of the node, as events have it.
        node: String,
        /// The rule set.
        by: String,
    },
    /// The node was released.
    Uncordoned {
        /// The name of the node, as events have it.
        node: String,
    },
    /// The node would be released, but faults of these agents, whose rule sets are left out, hold it.
    HeldByOthers {
        /// The name of the node, as events have it.
        node: String,
        /// The agents.
        agents: BTreeSet<String>,
    },
    /// The circuit breaker opened at this node: no node is cordoned or released any more.
    BreakerOpened {
        /// The name of the node, as events have it.
        node: String,
    },
    /// A rule fired or cleared.
    Rule(Box<Firing>),
}

impl fmt::Display for Consequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.at, self.what)
    }
}

/// The action as one line of text, without its time.
impl fmt::Display for ConsequenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConditionStands { node, check } => write!(f, "condition  {node} {check} stands"),
            Self::ConditionCleared { node, check } => {
                write!(f, "condition  {node} {check} is cleared")
            }
            Self::EntriesLost {
                node,
                check,
                forgotten,
                is_torn,
            } => {
                let torn = if *is_torn { ", one is torn" } else { "" };
                write!(
                    f,
                    "finding    {node} {check}: {forgotten} entries do not fit and are forgotten{torn}"
                )
            }
            Self::OrderDecides { node, check } => write!(
                f,
                "finding    {node} {check}: two events bear one stamp, and their order decides"
            ),
            Self::KubeEvent { node, check, count } => {
                write!(f, "event      {node} {check}IsNotHealthy x{count}")
            }
            Self::Cordoned { node, by } => write!(f, "cordon     {node} by {by}"),
            Self::Uncordoned { node } => write!(f, "uncordon   {node}"),
            Self::HeldByOthers { node, agents } => {
                let agents: Vec<String> = agents.iter().map(|agent| format!("`{agent}`")).collect();
                let agents = agents.join(", ");
                write!(
                    f,
                    "held       {node} by {agents}, whose rule sets are left out"
                )
            }
            Self::BreakerOpened { node } => {
                write!(f, "breaker    opened with {node}: quarantine halts")
            }
            Self::Rule(firing) => {
                let Firing { rule, group, .. } = firing.as_ref();
                match firing.kind {
                    FiringKind::Fired => write!(
                        f,
                        "rule       {rule} {group} x{}: {}",
                        firing.count, firing.event.message
                    ),
                    FiringKind::Cleared => write!(f, "rule       {rule} {group} is cleared"),
                }
            }
        }
    }
}

/// A cluster: node conditions, Kubernetes events, quarantine and rules.
#[derive(Clone, Debug)]
pub struct Cluster {
    clearing: Clearing,
    conditions: BTreeMap<String, Conditions>,
    kube_events: BTreeMap<String, KubeEvents>,
    quarantine: Quarantine,
    analyzer: Analyzer,
}

impl Cluster {
    /// A cluster in its initial state.
    #[must_use]
    pub fn new(clearing: Clearing, quarantine: Quarantine, analyzer: Analyzer) -> Self {
        Self {
            clearing,
            conditions: BTreeMap::new(),
            kube_events: BTreeMap::new(),
            quarantine,
            analyzer,
        }
    }

    /// The conditions by node; a node without events has none.
    #[must_use]
    pub const fn conditions(&self) -> &BTreeMap<String, Conditions> {
        &self.conditions
    }

    /// The quarantine.
    #[must_use]
    pub const fn quarantine(&self) -> &Quarantine {
        &self.quarantine
    }

    /// The rules.
    #[must_use]
    pub const fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// Processes one call of a monitor.
    ///
    /// # Errors
    /// [`Refused`] if the connector rejects the whole call; then nothing has changed.
    pub fn receive(&mut self, call: &HealthEvents) -> Result<Vec<Consequence>, Refused> {
        let events = received(call)?;
        let mut consequences = self.write(&events);
        for event in &events {
            self.judge(event, &mut consequences);
            let firings = self.analyzer.take(event);
            self.publish(firings, &mut consequences);
        }
        Ok(consequences)
    }

    /// Advances the clock to `now`; see [`Analyzer::tick`].
    pub fn tick(&mut self, now: Stamp) -> Vec<Consequence> {
        let mut consequences = Vec::new();
        let firings = self.analyzer.tick(now);
        self.publish(firings, &mut consequences);
        consequences
    }

    /// Ticks at every time before `until` at which a rule is due.
    pub fn run_until(&mut self, until: Stamp) -> Vec<Consequence> {
        let mut consequences = Vec::new();
        while let Some(due) = self.analyzer.next_due().filter(|due| *due < until) {
            consequences.extend(self.tick(due));
        }
        consequences
    }

    fn publish(&mut self, firings: Vec<Firing>, consequences: &mut Vec<Consequence>) {
        for firing in firings {
            let event = firing.event.clone();
            consequences.push(Consequence {
                at: firing.at,
                what: ConsequenceKind::Rule(Box::new(firing)),
            });
            consequences.extend(self.write(std::slice::from_ref(&event)));
            self.judge(&event, consequences);
        }
    }

    /// Writes one batch to the conditions and Kubernetes events of its nodes.
    fn write(&mut self, events: &[HealthEvent]) -> Vec<Consequence> {
        let mut consequences = Vec::new();
        for (node, sorted) in by_node(events) {
            let conditions = self.conditions.entry(node.to_owned()).or_default();
            let latest = sorted.last().map_or(Stamp::default(), |event| stamp(event));
            for check in order_decides(conditions, self.clearing, &sorted) {
                let node = node.to_owned();
                let what = ConsequenceKind::OrderDecides { node, check };
                consequences.push(Consequence { at: latest, what });
            }
            for change in conditions.apply(self.clearing, sorted.iter().copied()) {
                consequences.extend(consequences_of(node, latest, change));
            }
            for event in &sorted {
                let seen = self
                    .kube_events
                    .entry(node.to_owned())
                    .or_default()
                    .take(event);
                consequences.extend(seen.map(|(key, count)| Consequence {
                    at: stamp(event),
                    what: ConsequenceKind::KubeEvent {
                        node: node.to_owned(),
                        check: key.check,
                        count,
                    },
                }));
            }
        }
        consequences
    }

    fn judge(&mut self, event: &HealthEvent, consequences: &mut Vec<Consequence>) {
        let (at, node) = (stamp(event), event.node_name.clone());
        let was_halted = self.quarantine.is_halted();
        match self.quarantine.take(event) {
            Verdict::Cordoned { by } => {
                let what = ConsequenceKind::Cordoned {
                    node: node.clone(),
                    by,
                };
                consequences.push(Consequence { at, what });
            }
            Verdict::Uncordoned => {
                let what = ConsequenceKind::Uncordoned { node: node.clone() };
                consequences.push(Consequence { at, what });
            }
            Verdict::HeldByOthers { agents } => {
                let what = ConsequenceKind::HeldByOthers {
                    node: node.clone(),
                    agents,
                };
                consequences.push(Consequence { at, what });
            }
            Verdict::Ignored | Verdict::AlreadyQuarantined { .. } | Verdict::Halted => {}
        }
        if !was_halted && self.quarantine.is_halted() {
            let what = ConsequenceKind::BreakerOpened { node };
            consequences.push(Consequence { at, what });
        }
    }
}

fn stamp(event: &HealthEvent) -> Stamp {
    Stamp::of(event.generated_timestamp.as_ref())
}

/// The consequences of a written condition.
fn consequences_of(node: &str, at: Stamp, change: Change) -> Vec<Consequence> {
    let node = || node.to_owned();
    let check = change.check;
    let mut kinds = Vec::new();
    match (change.was_faulty.unwrap_or(false), change.now.is_faulty) {
        (false, true) => kinds.push(ConsequenceKind::ConditionStands {
            node: node(),
            check: check.clone(),
        }),
        (true, false) => kinds.push(ConsequenceKind::ConditionCleared {
            node: node(),
            check: check.clone(),
        }),
        _ => {}
    }
    if !change.loss.is_none() {
        kinds.push(ConsequenceKind::EntriesLost {
            node: node(),
            check,
            forgotten: change.loss.forgotten.len(),
            is_torn: change.loss.torn.is_some(),
        });
    }
    let kinds = kinds.into_iter();
    kinds.map(|what| Consequence { at, what }).collect()
}
