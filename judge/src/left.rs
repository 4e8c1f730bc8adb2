//! Checks the cluster's state against rules that hold for every drill.
//!
//! After healing and its deadline, no condition of the monitor's own checks may be present and no fault of
//! theirs may hold a node. Exceptions: the analyzer's events, which are never cleared; a cordon kept by an
//! open circuit breaker; and an entry that the connector truncated because its message grew too long,
//! whose entities are no longer known. Start at [`left`].

use cluster::{ConsequenceKind, message::is_torn};
use observe::{Recording, promises::Wire};
use platforms::NodeName;
use reports::CauseKind;
use scenarios::Story;
use terms::Check;

use crate::{consequences::Consequences, facts::stands};

/// A violation of the rules that hold for every drill.
pub(crate) struct Left {
    pub(crate) cause: CauseKind,
    pub(crate) node: NodeName,
    pub(crate) tick: u64,
    pub(crate) expected: String,
    pub(crate) came: Vec<String>,
}

/// Conditions and faults that remain after healing and its deadline although they must not. Empty for a
/// drill whose world was not healed and settled.
///
/// `stays` says of which checks on which nodes faults may stand, by promise.
pub(crate) fn left(
    story: &Story,
    recording: &Recording,
    made: &Consequences,
    wire: Option<&Wire>,
    stays: &dyn Fn(&NodeName, &str) -> bool,
) -> Vec<Left> {
    let (Some(settled), Some(last)) = (recording.settled_at, made.last()) else {
        return Vec::new();
    };
    let tick = (made.ticks.len() as u64).saturating_sub(1);
    let mut left = Vec::new();
    for node in &story.monitors {
        let own = |check: &String| {
            let check = wire.map_or(check.as_str(), |wire| wire.documents_check(check));
            Check::parse(check).is_some() && !stays(node, check)
        };
        let conditions = last.conditions.get(node.as_str()).into_iter().flatten();
        for (check, entries) in conditions.filter(|(check, _)| own(check)) {
            let whole = entries.iter().filter(|entry| !is_torn(entry));
            let came: Vec<String> = whole.map(|entry| stands(check, entry)).collect();
            if !came.is_empty() {
                left.push(Left {
                    cause: CauseKind::ConditionLeft,
                    node: node.clone(),
                    tick,
                    expected: format!(
                        "the condition {check} cleared by poll {tick}, for all is well since poll {settled}"
                    ),
                    came,
                });
            }
        }
        let faults = last.cordoned.get(node.as_str()).into_iter().flatten();
        let faults = faults.filter(|fault| own(&fault.check) && !last.is_halted);
        let faults: Vec<String> = faults.map(|fault| format!("{fault} holds it")).collect();
        if !faults.is_empty() {
            left.push(Left {
                cause: CauseKind::CordonLeft,
                node: node.clone(),
                tick,
                expected: format!(
                    "a node that is schedulable by poll {tick}, for all is well since poll {settled}"
                ),
                came: faults,
            });
        }
    }
    left
}

/// Calls whose effect depends on an order of events that the contract does not define.
pub(crate) fn undecided(made: &Consequences) -> Vec<Left> {
    let consequence = (0..).zip(&made.ticks).flat_map(|(tick, made)| {
        let consequence = made.consequences.iter();
        consequence.filter_map(move |consequence| match &consequence.what {
            ConsequenceKind::OrderDecides { node, check } => Some((tick, node, check)),
            _ => None,
        })
    });
    consequence.map(|(tick, node, check)| Left {
        cause: CauseKind::Undecided,
        node: NodeName::from(node.as_str()),
        tick,
        expected: "events whose stamps say which comes first".to_owned(),
        came: vec![format!(
            "two events of one call bear one stamp, and which comes first decides what stands of {check}"
        )],
    })
    .collect()
}
