//! Expands a story's expectations to single demands for events: baselines port by port, edges one
//! by one, windows widened to what the loops of the monitor under test need. They state what the documents ask;
//! `owed.rs` translates them.

mod baseline;

use baseline::baseline;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use platforms::{NodeName, SlotRef};
use scenarios::{About, EventPattern, Expectation, Story, Times, What, Window, parse_time};
use simfs::SimTime;
use terms::{Check, CheckKind, Severity};

use director::NodeView;
use observe::{Pace, Recording};

use crate::{assign::Bounds, fits::JudgeContext};

/// A demand for an event.
#[derive(Clone, Debug)]
pub(crate) struct Demand<'a> {
    /// The expectation that it belongs to; `None` for what follows from the monitor's promises alone.
    pub(crate) expectation: Option<&'a Expectation>,
    pub(crate) node: NodeName,
    /// In which ticks.
    pub(crate) window: Window,
    /// The expected event.
    pub(crate) pattern: Cow<'a, EventPattern>,
    /// How many accepted events it takes.
    pub(crate) bounds: Bounds,
    /// How many attempts it needs, accepted or not.
    pub(crate) attempts: usize,
    /// Its ordered group and its position in it.
    pub(crate) in_order: Option<(u32, u32)>,
    /// Whether the monitor promises not to take it back by itself.
    pub(crate) stays: bool,
}

impl Demand<'_> {
    /// Whether it is about something that was not healthy in its first poll, and need not come in a later tick: silence
    /// that is asked for then is silence about this too.
    pub(crate) fn may_come_later(&self, tick: u64) -> bool {
        self.bounds.at_least == 0
            && self.expectation.is_some_and(|expectation| {
                matches!(expectation.what, What::Baseline { .. }) && expectation.window.to < tick
            })
    }

    /// A demand that follows from the monitor's promises alone, in no order with others.
    pub(crate) fn by_promise(
        node: &NodeName,
        window: Window,
        pattern: EventPattern,
        bounds: Bounds,
    ) -> Self {
        Self {
            expectation: None,
            node: node.clone(),
            window,
            pattern: Cow::Owned(pattern),
            bounds,
            attempts: 0,
            in_order: None,
            stays: false,
        }
    }
}

/// Numbers of ordered groups for edges start here; a story's own are far below.
const EDGE_GROUPS: u32 = 1 << 24;

/// The default patience (`--escalate-after`).
const PATIENCE: SimTime = SimTime::from_secs(30);

/// An expectation that cannot be expanded, because the world did not do what it assumes.
pub(crate) struct Mismatch<'a> {
    pub(crate) expectation: &'a Expectation,
    pub(crate) what: String,
}

/// The demands of a story, in its order.
pub(crate) fn demands<'a>(
    story: &'a Story,
    context: &JudgeContext<'_>,
    recording: &Recording,
) -> (Vec<Demand<'a>>, Vec<Mismatch<'a>>) {
    let (mut demands, mut mismatches) = (Vec::new(), Vec::new());
    for expectation in &story.expectations {
        let nodes = story
            .monitors
            .iter()
            .filter(|node| is_meant(expectation, node));
        for node in nodes {
            match &expectation.what {
                What::Say {
                    event,
                    times,
                    reported,
                    in_order,
                } => {
                    demands.push(say(
                        expectation,
                        node,
                        event,
                        *times,
                        *reported,
                        *in_order,
                        context,
                    ));
                }
                What::FollowEdges {
                    slot,
                    times,
                    within_polls,
                    down,
                    up,
                } => {
                    let falls = follow(
                        expectation,
                        slot,
                        *times,
                        *within_polls,
                        [down.as_deref(), up.as_deref()],
                        context,
                        recording,
                        &mut demands,
                    );
                    if falls != *times {
                        let what = format!(
                            "polls could see {slot} go down {}, not {}",
                            reports::counted(falls.into(), "time"),
                            reports::counted((*times).into(), "time")
                        );
                        mismatches.push(Mismatch { expectation, what });
                    }
                }
                What::Baseline {
                    fresh,
                    except,
                    counter,
                    in_order,
                } => {
                    let first = demands.len();
                    baseline(
                        story,
                        expectation,
                        node,
                        *fresh,
                        (except, counter.as_deref()),
                        context,
                        recording,
                        &mut demands,
                    );
                    for demand in &mut demands[first..] {
                        demand.in_order = *in_order;
                    }
                }
                _ => {}
            }
        }
    }
    (demands, mismatches)
}

/// Whether an expectation is about a node: the one it names, otherwise the node of its subject,
/// otherwise every node.
pub(crate) fn is_meant(expectation: &Expectation, node: &NodeName) -> bool {
    if let Some(named) = &expectation.node {
        return named == node;
    }
    let subject = match &expectation.what {
        What::Say { event, .. } => match &event.about {
            About::Port(slot) => Some(&slot.node),
            About::Device(node, _) | About::Card(node, _) => Some(node),
            About::NamedPort(..) | About::NamedDevice(_) | About::Check => None,
        },
        What::FollowEdges { slot, .. } => Some(&slot.node),
        _ => None,
    };
    subject.is_none_or(|subject| subject == node)
}

fn say<'a>(
    expectation: &'a Expectation,
    node: &NodeName,
    event: &'a EventPattern,
    times: Times,
    reported: bool,
    in_order: Option<(u32, u32)>,
    context: &JudgeContext<'_>,
) -> Demand<'a> {
    let least = usize::try_from(times.at_least).unwrap_or(usize::MAX);
    let most = usize::try_from(times.at_most).unwrap_or(usize::MAX);
    let check = event.check.as_deref().and_then(Check::parse);
    let kind = match (check, &event.counter) {
        (Some(check), _) => check.kind(),
        (None, Some(_)) => CheckKind::Degradation,
        (None, None) => CheckKind::State,
    };
    let later = behind(context, kind);
    let window = Window {
        from: expectation.window.from,
        to: expectation.window.to.saturating_add(later),
    };
    let bounds = Bounds {
        at_least: if reported { 0 } else { least },
        at_most: most,
    };
    let attempts = if reported { least } else { 0 };
    Demand {
        expectation: Some(expectation),
        node: node.clone(),
        window,
        pattern: Cow::Borrowed(event),
        bounds,
        attempts,
        in_order,
        stays: false,
    }
}

/// How many ticks the checks of a kind run behind, because their loop does not poll in every tick, or the program is
/// not run or asked in every one.
pub(crate) fn behind(context: &JudgeContext<'_>, kind: CheckKind) -> u64 {
    let tick_ns = context.story.ticks.interval().as_ns();
    if context.descriptor.pace() != Pace::Gate {
        return context
            .descriptor
            .schedule
            .interval_ns(tick_ns)
            .div_ceil(tick_ns)
            - 1;
    }
    let tick = Duration::from_nanos(tick_ns);
    context.descriptor.ticks_behind(kind, tick)
}

/// One demand for each edge that a poll can see; returns how many of them were falling.
#[expect(clippy::too_many_arguments, reason = "the parts of one expectation")]
fn follow<'a>(
    expectation: &'a Expectation,
    slot: &SlotRef,
    times: u32,
    within_polls: u32,
    [down, up]: [Option<&'a EventPattern>; 2],
    context: &JudgeContext<'_>,
    recording: &Recording,
    demands: &mut Vec<Demand<'a>>,
) -> u32 {
    let group = EDGE_GROUPS + u32::try_from(demands.len()).unwrap_or(0);
    let (mut falls, mut edges, mut healthy) = (0, 0, true);
    for tick in polled(recording, &slot.node) {
        let now = views(context, &slot.node, tick)
            .is_some_and(|views| views.healthy(slot.pci, slot.port));
        let was = std::mem::replace(&mut healthy, now);
        if was == now || tick < expectation.window.from {
            continue;
        }
        if !now && falls == times {
            break;
        }
        falls += u32::from(!now);
        let Some(pattern) = (if now { up } else { down }) else {
            continue;
        };
        demands.push(Demand {
            expectation: Some(expectation),
            node: slot.node.clone(),
            window: Window {
                from: tick,
                to: tick + u64::from(within_polls) + behind(context, CheckKind::State),
            },
            pattern: Cow::Borrowed(pattern),
            bounds: Bounds {
                at_least: 1,
                at_most: 1,
            },
            attempts: 0,
            in_order: Some((group, edges)),
            stays: false,
        });
        edges += 1;
    }
    falls
}

/// The pattern of a healthy event.
pub(crate) fn is_healthy(about: About, check: Option<&str>) -> EventPattern {
    EventPattern {
        tone: Severity::Healthy,
        about,
        check: check.map(str::to_owned),
        message: BTreeMap::new(),
        stamped_from: None,
        stamped_to: None,
        error_codes: None,
        counter: None,
    }
}

/// The patience with ports that may still be on their way up (`--escalate-after`), in ticks.
fn patience_ticks(story: &Story) -> u64 {
    let given = story
        .flags
        .iter()
        .rev()
        .find_map(|flag| flag.strip_prefix("--escalate-after="));
    let patience = given.and_then(parse_time).unwrap_or(PATIENCE);
    story.ticks.covering(patience)
}

/// The ticks in which a poll of this node ended.
pub(crate) fn polled(recording: &Recording, node: &NodeName) -> impl Iterator<Item = u64> {
    let ended = move |tick: &observe::Tick| {
        tick.monitors
            .get(node.as_str())
            .is_some_and(|instance| instance.polls > 0)
    };
    (0..)
        .zip(&recording.ticks)
        .filter(move |(_, tick)| ended(tick))
        .map(|(tick, _)| tick)
}

fn views<'a>(context: &JudgeContext<'a>, node: &NodeName, tick: u64) -> Option<&'a NodeView> {
    let truth = context.truth.ticks.get(usize::try_from(tick).ok()?)?;
    Some(&truth.nodes.get(node)?.views)
}

impl Demand<'_> {
    /// The demand as one line of text.
    pub(crate) fn line(&self, context: &JudgeContext<'_>) -> String {
        let pattern = &self.pattern;
        let mut line = format!("{} ", pattern.tone);
        line.push_str(&context.describe(&pattern.about, &self.node, self.window.from));
        if let Some(check) = &pattern.check {
            line.push_str(&format!(" {check}"));
        }
        if let Some(counter) = &pattern.counter {
            line.push_str(&format!(" [{counter}]"));
        }
        let messages = context.messages(pattern, &self.node, self.window.from);
        for (layer, message) in &messages {
            let of_layer = match messages.len() {
                1 => String::new(),
                _ => format!("{layer}: "),
            };
            line.push_str(&format!(" {of_layer}\"{message}\""));
        }
        if let Some(from) = pattern.stamped_from {
            line.push_str(&format!(", stamped at {from} or later"));
        }
        if let Some(to) = pattern.stamped_to {
            line.push_str(&format!(", stamped at {to} or earlier"));
        }
        let least = self.bounds.at_least.max(self.attempts);
        let times = match (least, self.bounds.at_most) {
            (1, 1) => String::new(),
            (least, most) if least == most => format!(", {least} times"),
            (least, most) if most >= u32::MAX as usize => {
                format!(", at least {}", reports::counted(least as u64, "time"))
            }
            (least, most) => format!(", {least} to {most} times"),
        };
        let attempted = if self.attempts > 0 { ", attempted" } else { "" };
        let Window { from, to } = self.window;
        let when = if from == to {
            format!("in poll {from}")
        } else {
            format!("in polls {from} to {to}")
        };
        format!("{line}{times}{attempted}, {when}")
    }
}

#[cfg(test)]
mod tests;
