//! Checks the cluster's state against a story's expectations, and against rules that hold for every drill.
//!
//! After healing and its deadline, no condition of the monitor's own checks may be present and no fault of
//! theirs may hold a node. Exceptions: the analyzer's events, which are never cleared; a cordon kept by an
//! open circuit breaker; and an entry that the connector truncated because its message grew too long,
//! whose entities are no longer known. Start at [`left`].

use cluster::{
    ConsequenceKind,
    message::is_torn,
    rules::{Firing, FiringKind},
};
use platforms::{LinkLayer, NodeName};
use reports::CauseKind;
use scenarios::{About, ConditionIs, ConditionOf, RuleIs, Stands, Story, Times, Window};
use terms::Check;

use observe::{Recording, platform_connector, promises::Wire};

use crate::{
    consequences::{ClusterState, Consequences, TickMade},
    facts::{Outcome, check},
    fits::{JudgeContext, counter_check, state_check},
};

/// How many firings a failure shows. Chosen.
const FIRINGS_MAX: usize = 6;

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

/// Checks an expectation of a node condition.
pub(super) fn condition(
    is: &ConditionIs,
    node: &NodeName,
    window: Window,
    context: &JudgeContext<'_>,
    made: &Consequences,
) -> Outcome {
    let entries = |tick: u64, made: &ClusterState| -> Vec<String> {
        let about = is.about.as_ref();
        let checks = checks(&is.of, about, node, tick, context);
        let meant = |entry: &&String| {
            let mut code = is.counter.iter().map(|code| format!("ErrorCode:{code} "));
            about.is_none_or(|about| context.names_entry(about, node, tick, entry))
                && code.all(|code| entry.contains(&code))
        };
        let conditions = made.conditions.get(node.as_str()).into_iter().flatten();
        let wire = context.descriptor.promises.wire.as_ref();
        let named = |check| wire.map_or(check, |wire: &Wire| wire.documents_check(check));
        let conditions = conditions.filter(|(check, _)| checks.contains(&named(check)));
        let entries = conditions.flat_map(|(check, entries)| {
            let entries = entries.iter().filter(meant);
            entries.map(move |entry| stands(check, entry))
        });
        entries.collect()
    };
    let wanted = || {
        let name = match &is.of {
            ConditionOf::State => "the state check's condition",
            ConditionOf::Counters => "the counter check's condition",
            ConditionOf::Named(name) => name,
        };
        let stands = if is.stands.is {
            "stands"
        } else {
            "does not stand"
        };
        let of = is.about.as_ref().map_or_else(String::new, |about| {
            format!(" for {}", context.describe(about, node, window.from))
        });
        let code = is.counter.as_ref().map(|code| format!(" [{code}]"));
        format!("{name} {stands}{of}{}", code.unwrap_or_default())
    };
    standing(is.stands, window, made, wanted, entries)
}

/// Checks an expectation of a cordon.
pub(super) fn cordoned(
    is: Stands,
    node: &NodeName,
    window: Window,
    made: &Consequences,
) -> Outcome {
    let faults = |_: u64, made: &ClusterState| -> Vec<String> {
        let faults = made.cordoned.get(node.as_str()).into_iter().flatten();
        faults.map(|fault| format!("cordoned: {fault}")).collect()
    };
    let wanted = || {
        let word = if is.is { "cordoned" } else { "schedulable" };
        format!("`{node}` is {word}")
    };
    standing(is, window, made, wanted, faults)
}

/// Checks an expectation of a release.
pub(super) fn uncordoned(
    is: bool,
    node: &NodeName,
    window: Window,
    made: &Consequences,
) -> Outcome {
    let of_cordons = |tick: u64, tick_made: &TickMade| -> Vec<(bool, String)> {
        let consequence =
            tick_made
                .consequences
                .iter()
                .filter_map(|consequence| match &consequence.what {
                    ConsequenceKind::Uncordoned { node: of } if of == node.as_str() => {
                        Some((true, &consequence.what))
                    }
                    ConsequenceKind::Cordoned { node: of, .. } if of == node.as_str() => {
                        Some((false, &consequence.what))
                    }
                    _ => None,
                });
        let at = at(tick, tick_made);
        consequence
            .map(|(released, what)| (released, format!("{at}: {what}")))
            .collect()
    };
    let in_window = made.between(window.from, window.to);
    let mut actions = in_window.flat_map(|(tick, made)| of_cordons(tick, made));
    check(
        actions.any(|(released, _)| released) == is,
        || {
            let word = if is { "released" } else { "not released" };
            format!("`{node}` is {word} {}", within(window))
        },
        || {
            let all = made.between(0, u64::MAX);
            let actions = all.flat_map(|(tick, made)| of_cordons(tick, made));
            actions.map(|(_, line)| line).collect()
        },
    )
}

/// Checks an expectation of a rule.
pub(super) fn rule(
    is: &RuleIs,
    named: Option<&NodeName>,
    window: Window,
    context: &JudgeContext<'_>,
    made: &Consequences,
) -> Outcome {
    let meant = |tick: u64, firing: &Firing| {
        let node = NodeName::from(firing.event.node_name.as_str());
        let event = platform_connector::observation(&firing.event);
        firing.rule == is.rule
            && (firing.kind == FiringKind::Cleared) == is.cleared
            && named.is_none_or(|named| *named == node)
            && is
                .about
                .as_ref()
                .is_none_or(|about| context.names_subject(about, &node, tick, &event))
            && is
                .switch
                .as_ref()
                .is_none_or(|switch| firing.group.values().any(|value| value == switch))
            && is
                .counted
                .as_ref()
                .is_none_or(|counted| counted.contains(&(firing.count as u64)))
    };
    let events = |tick: u64| {
        let tick = usize::try_from(tick).ok();
        tick.and_then(|tick| made.ticks.get(tick))
            .map_or(0, |made| made.events)
    };
    let found: Vec<u64> = made
        .firings(window.from, window.to)
        .filter(|(tick, firing)| meant(*tick, firing))
        .map(|(tick, _)| tick)
        .collect();
    let Times { at_least, at_most } = is.times;
    let in_number = (at_least as usize..=at_most as usize).contains(&found.len());
    let wanted_events = |tick: &u64| {
        is.events_this_tick
            .is_none_or(|wanted| events(*tick) == wanted)
    };
    check(
        in_number && found.iter().all(wanted_events),
        || describe(is, window, context),
        || {
            let all = made.firings(0, u64::MAX);
            let mut of_rule: Vec<(u64, &Firing)> =
                all.filter(|(_, firing)| firing.rule == is.rule).collect();
            of_rule.sort_by_key(|(tick, _)| {
                window.from.saturating_sub(*tick) + tick.saturating_sub(window.to)
            });
            let lines = of_rule.into_iter().take(FIRINGS_MAX);
            lines
                .map(|(tick, firing)| {
                    let events = reports::counted(events(tick), "event");
                    format!("{}, with {events}", line(tick, firing, made))
                })
                .collect()
        },
    )
    .wrong_in(found.get(at_most as usize).copied())
}

/// Checks an expectation that no rule fires.
pub(super) fn rules_silent(window: Window, made: &Consequences) -> Outcome {
    let first = made.firings(window.from, window.to).next();
    let firings = made.firings(window.from, window.to);
    let lines: Vec<String> = firings
        .take(FIRINGS_MAX)
        .map(|(tick, firing)| line(tick, firing, made))
        .collect();
    check(
        lines.is_empty(),
        || format!("no rule speaks {}", within(window)),
        || lines,
    )
    .wrong_in(first.map(|(tick, _)| tick))
}

/// Checks that something is present in one of the window's ticks, or in each; `what` names it.
fn standing(
    is: Stands,
    window: Window,
    made: &Consequences,
    wanted: impl FnOnce() -> String,
    what: impl Fn(u64, &ClusterState) -> Vec<String>,
) -> Outcome {
    let ticks: Vec<(u64, &TickMade)> = made.between(window.from, window.to).collect();
    let right = |(tick, made): &(u64, &TickMade)| what(*tick, &made.standing).is_empty() != is.is;
    let wrong = ticks
        .iter()
        .find(|tick| !right(tick))
        .map(|(tick, _)| *tick);
    let holds = if is.throughout {
        !ticks.is_empty() && wrong.is_none()
    } else {
        ticks.iter().any(right)
    };
    check(
        holds,
        || {
            let each = if is.throughout { "each of " } else { "" };
            format!("{} at the end of {each}{}", wanted(), polls(window))
        },
        || {
            let mut lines = Vec::new();
            let mut before = None;
            for (tick, made) in ticks {
                let now = what(tick, &made.standing);
                if before.as_ref() == Some(&now) {
                    continue;
                }
                let at = at(tick, made);
                if now.is_empty() {
                    lines.push(format!("{at}: nothing stands"));
                }
                lines.extend(now.iter().map(|line| format!("{at}: {line}")));
                before = Some(now);
            }
            lines
        },
    )
    .wrong_in(wrong.filter(|_| is.throughout))
}

/// The checks whose condition is expected.
fn checks<'n>(
    of: &'n ConditionOf,
    about: Option<&About>,
    node: &NodeName,
    tick: u64,
    context: &JudgeContext<'_>,
) -> Vec<&'n str> {
    let by_layer: fn(LinkLayer) -> &'static str = match of {
        ConditionOf::State => state_check,
        ConditionOf::Counters => counter_check,
        ConditionOf::Named(name) => return vec![name],
    };
    let layers = about.map(|about| context.layers(about, node, tick));
    let layers = layers.filter(|layers| !layers.is_empty());
    let layers = layers.unwrap_or([LinkLayer::InfiniBand, LinkLayer::Ethernet].into());
    layers.into_iter().map(by_layer).collect()
}

fn describe(is: &RuleIs, window: Window, context: &JudgeContext<'_>) -> String {
    let times = match is.times {
        Times { at_most: 0, .. } => return format!("{} is silent {}", is.rule, within(window)),
        Times::ONCE => "once".to_owned(),
        Times {
            at_least,
            at_most: u32::MAX,
        } => format!("at least {}", reports::counted(at_least.into(), "time")),
        Times { at_least, at_most } if at_least == at_most => format!("{at_least} times"),
        Times { at_least, at_most } => format!("{at_least} to {at_most} times"),
    };
    let word = if is.cleared { "is cleared" } else { "fires" };
    let about = is.about.as_ref().map(|about| {
        let node = match about {
            About::Port(slot) => Some(&slot.node),
            About::Device(node, _) | About::Card(node, _) => Some(node),
            _ => context.story.monitors.first(),
        };
        let rendered = node.map(|node| context.describe(about, node, window.from));
        format!(" for {}", rendered.unwrap_or_default())
    });
    let switch = is.switch.as_ref().map(|switch| format!(" for `{switch}`"));
    let counted = is.counted.as_ref().map(|counted| {
        let (least, most) = (*counted.start(), *counted.end());
        match most {
            _ if least == most => format!(", having counted {least}"),
            u64::MAX => format!(", having counted {least} or more"),
            _ => format!(", having counted {least} to {most}"),
        }
    });
    let events = is
        .events_this_tick
        .map(|events| format!(", in a poll with {}", reports::counted(events, "event")));
    let parts = [about, switch, counted, events].into_iter().flatten();
    format!(
        "{} {word} {times}{} {}",
        is.rule,
        parts.collect::<String>(),
        within(window)
    )
}

fn line(tick: u64, firing: &Firing, made: &Consequences) -> String {
    let tick_made = usize::try_from(tick)
        .ok()
        .and_then(|tick| made.ticks.get(tick));
    let at = tick_made.map_or_else(|| format!("poll {tick}"), |made| at(tick, made));
    let word = match firing.kind {
        FiringKind::Fired => "fires",
        FiringKind::Cleared => "is cleared",
    };
    format!(
        "{at}: {} {word} for {}, having counted {}",
        firing.rule, firing.group, firing.count
    )
}

/// `poll 12, at 12s`.
fn at(tick: u64, made: &TickMade) -> String {
    format!("poll {tick}, at {}", made.at)
}

fn stands(check: &str, entry: &str) -> String {
    format!("{check} stands: {entry}")
}

fn within(window: Window) -> String {
    format!("in {}", polls(window))
}

fn polls(window: Window) -> String {
    if window.from == window.to {
        format!("poll {}", window.from)
    } else {
        format!("polls {} to {}", window.from, window.to)
    }
}

#[cfg(test)]
mod tests;
