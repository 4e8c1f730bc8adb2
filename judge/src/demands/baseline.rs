//! The healthy events of a first poll, port by port.

use std::borrow::Cow;
use std::collections::BTreeSet;

use director::{FunctionView, NodeView};
use observe::Recording;
use platforms::{NodeName, SlotRef};
use regex::Regex;
use scenarios::{About, ChecksRun, EventPattern, Expectation, MonitorAction, Story, Window};

use super::{Demand, is_healthy, patience_ticks, polled, views};
use crate::{
    assign::Bounds,
    counters,
    fits::{JudgeContext, state_check},
    scope::{self, EXCLUSIONS},
};

/// One demand for each healthy event of a first poll.
#[expect(clippy::too_many_arguments, reason = "the parts of one expectation")]
pub(super) fn baseline<'a>(
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
pub(super) fn config_at<'c>(context: &JudgeContext<'c>, node: &NodeName, tick: u64) -> &'c str {
    let all = context.truth.log.monitors();
    let until = all.filter(|(act, of, _)| !act.is_given && act.tick <= tick && *of == node);
    let restarted = until.filter_map(|(_, _, action)| match action {
        MonitorAction::Restart { config, .. } => config.as_deref(),
        _ => None,
    });
    restarted.last().unwrap_or(&context.story.config)
}

/// The views of a node whose functions with these names are left out by configuration.
pub(super) fn without<'v>(views: &'v NodeView, excluded: &[Regex]) -> Cow<'v, NodeView> {
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
