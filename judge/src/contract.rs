//! Checks every call of a drill against the wire contract, as far as it depends on the story and its
//! clocks. The part that only depends on the protocol is in its adapter, in [`observe`].

use std::collections::BTreeMap;

use observe::{ClockKind, Contract, Observation, Recording};
use platforms::NodeName;
use scenarios::{MonitorAction, Story};
use terms::EventField;

use crate::fits::{BATCH_SPREAD, JudgeContext};

/// The flag of the reference monitor that names its processing strategy.
const STRATEGY_FLAG: &str = "--processing-strategy=";

/// The strategy of a monitor without that flag (`lsd 12.1`).
const DEFAULT_STRATEGY: &str = "EXECUTE_REMEDIATION";

/// A violation of the contract: its tick, a description, and the observation.
pub(crate) struct Breach<'r> {
    pub(crate) node: NodeName,
    pub(crate) tick: u64,
    pub(crate) field: EventField,
    pub(crate) what: String,
    pub(crate) observation: Option<&'r Observation>,
}

/// All violations of the contract, in order.
pub(crate) fn breaches<'r>(
    story: &Story,
    context: &JudgeContext<'_>,
    recording: &'r Recording,
) -> Vec<Breach<'r>> {
    let wire = context.descriptor.promises.wire.as_ref();
    let own = |check| wire.map_or(check, |wire| wire.own_check(check));
    let checks: Vec<&str> = story.checks.names().into_iter().map(own).collect();
    let strategies = strategies(context);
    let nodes = story.monitors_by_name();
    let mut breaches = Vec::new();
    let mut polled: BTreeMap<&NodeName, u64> = BTreeMap::new();
    for (tick, monitors) in (0..).zip(&recording.ticks) {
        for (name, monitor) in monitors.monitors.iter() {
            let Some(&node) = nodes.get(&**name) else {
                continue;
            };
            let contract = Contract {
                node: node.as_str(),
                checks: &checks,
                strategies: &strategies,
                wire,
            };
            let since = polled.get(node).map_or(0, |last| last + 1);
            for call in &monitor.calls {
                let broken = recording.protocol.breaches(call, &contract).into_iter();
                let broken = broken.map(|breach| (breach.field, breach.what, breach.observation));
                let stamps = call.observations.iter().filter_map(|observation| {
                    let what = wrong_stamp(context, node, since..=tick, observation)?;
                    Some((EventField::Timestamp, what, Some(observation)))
                });
                breaches.extend(
                    broken
                        .chain(stamps)
                        .map(|(field, what, observation)| Breach {
                            node: node.clone(),
                            tick,
                            field,
                            what,
                            observation,
                        }),
                );
            }
            if monitor.polls > 0 {
                polled.insert(node, tick);
            }
        }
    }
    breaches
}

/// The strategies set by the flags of the drill's monitors, at its start or later.
fn strategies<'c>(context: &JudgeContext<'c>) -> Vec<&'c str> {
    fn named(flags: &[String]) -> Option<&str> {
        let mut flags = flags.iter().rev();
        flags.find_map(|flag| flag.strip_prefix(STRATEGY_FLAG))
    }
    let started = context.truth.log.monitors();
    let later = started.filter_map(|(_, _, action)| match action {
        MonitorAction::Restart { flags, .. } | MonitorAction::Start { flags } => named(flags),
        MonitorAction::Stop { .. } | MonitorAction::Pause { .. } => None,
    });
    let first = named(&context.story.flags).unwrap_or(DEFAULT_STRATEGY);
    std::iter::once(first).chain(later).collect()
}

/// Checks a timestamp: it must be the time of the poll that found the change, which is the present
/// tick, or an earlier one if no poll has ended since. That of a monitor with its own clock must be
/// the time of its receipt, within the tolerance of its descriptor; without one it is not judged.
fn wrong_stamp(
    context: &JudgeContext<'_>,
    node: &NodeName,
    ticks: std::ops::RangeInclusive<u64>,
    observation: &Observation,
) -> Option<String> {
    let ns = observation.stamped_ns?;
    if context.descriptor.clock == ClockKind::Own {
        let tolerance = context.descriptor.clock_tolerance.unwrap_or_default();
        return observation.off_clock.then(|| {
            format!("generatedTimestamp is more than {tolerance} off the time of its receipt")
        });
    }
    let mut clocks = ticks.filter_map(|tick| {
        let truth = context.truth.ticks.get(usize::try_from(tick).ok()?)?;
        truth.wall_ns(node)
    });
    let right = |wall_ns: u64| (wall_ns..=wall_ns + BATCH_SPREAD.as_ns()).contains(&ns);
    (!clocks.any(right)).then(|| format!("generatedTimestamp {ns} ns is not the poll's time"))
}

#[cfg(test)]
mod tests;
