//! Expands a story's expectations to single demands for events: baselines port by port, edges one
//! by one, windows widened to what the loops of the monitor under test need. They state what the documents ask;
//! `owed.rs` translates them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use platforms::{NodeName, SlotRef};
use regex::Regex;
use scenarios::{
    About, ChecksRun, EventPattern, Expectation, MonitorAction, Story, Times, What, Window,
    parse_time,
};
use simfs::SimTime;
use terms::{Check, CheckKind, Severity};

use director::{FunctionView, NodeView};
use observe::{Pace, Recording};

use crate::{
    assign::Bounds,
    counters,
    fits::{JudgeContext, state_check},
    scope::{self, EXCLUSIONS},
};

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

/// One demand for each healthy event of a first poll.
#[expect(clippy::too_many_arguments, reason = "the parts of one expectation")]
fn baseline<'a>(
    story: &Story,
    expectation: &'a Expectation,
    node: &NodeName,
    fresh: bool,
    (except, except_counter): (&[About], Option<&str>),
    context: &JudgeContext<'_>,
    recording: &Recording,
    demands: &mut Vec<Demand<'a>>,
) {
    let first = polled(recording, node).find(|tick| *tick >= expectation.window.from);
    let tick = first
        .unwrap_or(expectation.window.from)
        .min(expectation.window.to);
    let excluded = scope::names(config_at(context, node, tick), EXCLUSIONS).unwrap_or_default();
    let views = |tick: u64| Some(without(views(context, node, tick)?, &excluded));
    let Some(views_now) = views(tick) else {
        return;
    };
    let window = expectation.window;
    // What is not healthy yet is reported once it is, because an earlier process may have reported
    // it as faulty.
    let first_time = |holds: &dyn Fn(&NodeView) -> bool| {
        let mut later = polled(recording, node).filter(|later| *later >= tick);
        later.find(|later| views(*later).is_some_and(|views| holds(&views)))
    };
    let mut healthy = |pattern: EventPattern, at_least: usize, window: Window| {
        demands.push(Demand {
            expectation: Some(expectation),
            node: node.clone(),
            window,
            pattern: Cow::Owned(pattern),
            bounds: Bounds {
                at_least,
                at_most: 1,
            },
            attempts: 0,
            in_order: None,
            stays: false,
        });
    };
    let views = &*views_now;
    for (pci, function) in views.watched() {
        for (slot, counter) in counters::baseline(context, node, pci, function) {
            let of_it = except.is_empty() || except.contains(&About::Port(slot.clone()));
            if of_it && except_counter == Some(counter) {
                continue;
            }
            let mut pattern = is_healthy(About::Port(slot), None);
            pattern.counter = Some(counter.to_owned());
            healthy(pattern, usize::from(!counters::are_chosen(context)), window);
        }
    }
    let mut demand = |about: About, check: Option<&str>, at_least: usize, window: Window| {
        healthy(is_healthy(about, check), at_least, window);
    };
    if !matches!(story.checks, ChecksRun::State | ChecksRun::All) {
        return;
    }
    let except = if except_counter.is_some() {
        &[]
    } else {
        except
    };
    let excepted = |slot: &SlotRef| except.contains(&About::Port(slot.clone()));
    let mut excepted_cards = Vec::new();
    for (pci, function) in views.watched() {
        let slots = function.ports.keys().map(|port| SlotRef {
            node: node.clone(),
            pci,
            port: *port,
        });
        let mut whole = !function.ports.is_empty();
        for slot in slots {
            let healthy = views.healthy(pci, slot.port);
            whole &= healthy && !excepted(&slot);
            if excepted(&slot) {
                excepted_cards.push(pci.card());
            } else if healthy {
                demand(About::Port(slot), None, 1, window);
            }
        }
        if fresh {
            let about = About::Device(node.clone(), pci);
            if except.contains(&about) {
                continue;
            }
            if whole {
                demand(about, None, 1, window);
            } else if let Some(from) = first_time(&|views: &NodeView| views.is_whole(pci)) {
                demand(about, None, 0, Window { from, to: u64::MAX });
            }
        }
    }
    if !fresh {
        return;
    }
    // A card is one subject, also if its functions have two roles.
    let mut told = BTreeSet::new();
    for card in views.cards() {
        if !told.insert((card.pci.card(), card.layer)) {
            continue;
        }
        let check = Some(state_check(card.layer));
        let about = About::Card(node.clone(), card.pci);
        let is_card = |of: &About| matches!(of, About::Card(on, pci) if on == node && pci.card() == card.pci.card());
        if except.iter().any(is_card) {
            continue;
        }
        let excepted = excepted_cards.contains(&card.pci.card());
        let at_once = !excepted && !views.is_card_waiting(card.pci.card());
        if at_once && views.is_card_healthy(&card) {
            demand(about, check, 1, window);
        } else if let Some(from) = first_time(&|views: &NodeView| views.is_card_healthy(&card)) {
            // Its ports are given the patience, and the card with them; without changes, no longer.
            let late = tick + patience_ticks(story) + 1;
            let disturbed = excepted
                || story
                    .steps
                    .iter()
                    .any(|step| step.at <= story.ticks.at(late));
            let due = from <= tick && !disturbed && late < recording.ticks.len() as u64;
            let to = if due { late } else { u64::MAX };
            demand(about, check, usize::from(due), Window { from, to });
        }
    }
}

/// The monitor's configuration in a tick.
fn config_at<'c>(context: &JudgeContext<'c>, node: &NodeName, tick: u64) -> &'c str {
    let all = context.truth.log.monitors();
    let until = all.filter(|(act, of, _)| !act.is_given && act.tick <= tick && *of == node);
    let restarted = until.filter_map(|(_, _, action)| match action {
        MonitorAction::Restart { config, .. } => config.as_deref(),
        _ => None,
    });
    restarted.last().unwrap_or(&context.story.config)
}

/// The views of a node whose functions with these names are left out by configuration.
fn without<'v>(views: &'v NodeView, excluded: &[Regex]) -> Cow<'v, NodeView> {
    let is_left_out = |view: &FunctionView| {
        excluded
            .iter()
            .any(|name| name.is_match(view.name.as_str()))
    };
    if !views.0.values().any(is_left_out) {
        return Cow::Borrowed(views);
    }
    let mut views = views.clone();
    for view in views.0.values_mut() {
        view.monitored &= !is_left_out(view);
    }
    Cow::Owned(views)
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
