//! The platform connector's processing of a call before anything is written: rejection, defaults,
//! sorting; and detection of calls whose effect depends on an undefined order.
//!
//! NVSentinel sorts a batch by `generatedTimestamp` with an unstable sort. Here events with equal
//! timestamps keep the order in which they were sent, and [`order_decides`] reports where another
//! order would have left another condition. Source: NVSentinel, platform-connectors, server and
//! Kubernetes connector.

use std::collections::{BTreeMap, BTreeSet};

use proto::{HealthEvent, HealthEvents, ProcessingStrategy, RecommendedAction};

use crate::{condition::Conditions, entry::Clearing, stamp::Stamp};

/// Why the connector rejects a whole call, with `InvalidArgument`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {event} of `{check}` asks for the action CUSTOM and names none\nhint: {hint}", hint = Self::HINT)]
pub struct Refused {
    /// The number of the event in the call, from 1.
    pub event: usize,
    /// `checkName` of the event.
    pub check: String,
}

impl Refused {
    /// The hint.
    pub const HINT: &str = "set `customRecommendedAction`, or the whole call is refused";
}

/// The events of a call as all later stages see them: an unspecified strategy becomes
/// `EXECUTE_REMEDIATION`.
///
/// # Errors
/// [`Refused`], for the first event that is rejected.
pub fn received(batch: &HealthEvents) -> Result<Vec<HealthEvent>, Refused> {
    let mut events = batch.events.clone();
    for (at, event) in events.iter_mut().enumerate() {
        let is_custom = event.recommended_action() == RecommendedAction::Custom;
        if is_custom && event.custom_recommended_action.is_empty() {
            return Err(Refused {
                event: at + 1,
                check: event.check_name.clone(),
            });
        }
        if event.processing_strategy() == ProcessingStrategy::Unspecified {
            event.set_processing_strategy(ProcessingStrategy::ExecuteRemediation);
        }
    }
    Ok(events)
}

/// Whether this event may affect the node; `STORE_ONLY` and `STORE_AND_ANALYSE` events may not.
#[must_use]
pub fn may_act(event: &HealthEvent) -> bool {
    matches!(
        event.processing_strategy(),
        ProcessingStrategy::Unspecified | ProcessingStrategy::ExecuteRemediation
    )
}

/// The events that may affect a node, by node, sorted by timestamp.
#[must_use]
pub fn by_node(events: &[HealthEvent]) -> BTreeMap<&str, Vec<&HealthEvent>> {
    let mut nodes: BTreeMap<&str, Vec<&HealthEvent>> = BTreeMap::new();
    for event in events.iter().filter(|event| may_act(event)) {
        nodes.entry(&event.node_name).or_default().push(event);
    }
    for events in nodes.values_mut() {
        events.sort_by_key(|event| stamp(event));
    }
    nodes
}

fn stamp(event: &HealthEvent) -> Stamp {
    Stamp::of(event.generated_timestamp.as_ref())
}

/// The checks whose entries could differ if events with equal timestamps (of these events, sorted by
/// timestamp) were applied in another order.
///
/// Faults add entries and healthy events remove some, so of all orders "healthy first" leaves the
/// most entries and "healthy last" the fewest: if these two agree, all orders do.
#[must_use]
pub fn order_decides(
    before: &Conditions,
    clearing: Clearing,
    sorted: &[&HealthEvent],
) -> Vec<String> {
    let is_open = |pair: &[&HealthEvent]| stamp(pair[0]) == stamp(pair[1]);
    if !sorted.windows(2).any(is_open) {
        return Vec::new();
    }
    let left = |healthy_first: bool| {
        let mut events = sorted.to_vec();
        events.sort_by_key(|event| (stamp(event), event.is_healthy != healthy_first));
        let mut after = before.clone();
        after.apply(clearing, events);
        let conditions = after.iter().map(|(check, condition)| {
            let entries: BTreeSet<String> = condition.entries().map(str::to_owned).collect();
            (check.to_owned(), entries)
        });
        conditions.collect::<BTreeMap<_, _>>()
    };
    let (most, fewest) = (left(true), left(false));
    let differing = most
        .iter()
        .filter(|(check, entries)| fewest.get(*check) != Some(entries));
    differing.map(|(check, _)| check.clone()).collect()
}
