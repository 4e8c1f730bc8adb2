//! A rule of the analyzer fires, or none does.

use cluster::rules::{Firing, FiringKind};
use observe::{ClockKind, Messages, platform_connector};
use platforms::NodeName;
use reports::CauseKind;
use scenarios::{About, RuleIs, Times, What, Window};

use super::condition::nobody;
use super::fact::{Fact, FactKind, FactLane, Outcome, Scene, check};
use super::stands::{at, within};
use crate::{
    altered::change::{Alteration, AlteredSubject, with},
    consequences::Consequences,
    fits::JudgeContext,
    reasons,
};

/// How many firings a failure shows. Chosen.
const FIRINGS_MAX: usize = 6;

/// It fires, or is cleared, so often.
pub(super) struct Rule<'w>(pub(super) &'w RuleIs);

/// None fires.
pub(super) struct RulesSilent;

impl Fact for Rule<'_> {
    fn kind(&self) -> FactKind {
        FactKind {
            needs_connector: true,
            needs_events: true,
            ..FactKind::of("rule", CauseKind::Rule)
        }
    }

    fn about(&self) -> Option<About> {
        self.0.about.clone()
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Cluster
    }

    fn not_judged(&self, scene: &Scene<'_>) -> Option<&'static str> {
        not_comparable(scene)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let (named, window) = (scene.expectation.node.as_ref(), scene.expectation.window);
        rule(self.0, named, window, &scene.context, scene.made)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        other_rule(subject, self.0)
    }
}

impl Fact for RulesSilent {
    fn kind(&self) -> FactKind {
        FactKind {
            needs_connector: true,
            needs_events: true,
            ..FactKind::of("no rule", CauseKind::Rule)
        }
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Cluster
    }

    fn not_judged(&self, scene: &Scene<'_>) -> Option<&'static str> {
        not_comparable(scene)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        rules_silent(scene.expectation.window, scene.made)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        any_rule(subject)
    }
}

/// Rules depend on texts and on differences of timestamps.
fn not_comparable(scene: &Scene<'_>) -> Option<&'static str> {
    let descriptor = scene.context.descriptor;
    if descriptor.texts.events == Messages::Own {
        return Some(reasons::MESSAGES);
    }
    (descriptor.clock == ClockKind::Own).then_some(reasons::TIMESTAMPS)
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

pub(super) fn describe(is: &RuleIs, window: Window, context: &JudgeContext<'_>) -> String {
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

fn other_rule(subject: &AlteredSubject<'_>, is: &RuleIs) -> Vec<Alteration> {
    let line = |is: RuleIs| subject.line(What::Rule(is));
    let times = match is.times.at_most.checked_add(1) {
        Some(more) => Times {
            at_least: more,
            at_most: u32::MAX,
        },
        None => Times {
            at_least: 0,
            at_most: 0,
        },
    };
    let mut changes = vec![("another count", line(with(is, |of| of.times = times)))];
    if is.times.at_least == 0 {
        return changes;
    }
    if is.about.is_some() {
        let about = nobody(subject);
        changes.push(("another subject", line(with(is, |of| of.about = about))));
    }
    if is.switch.is_some() {
        let switch = Some("\u{1}".to_owned());
        changes.push(("another switch", line(with(is, |of| of.switch = switch))));
    }
    if let Some(counted) = &is.counted {
        let more = counted.end().saturating_add(1);
        let counted = Some(more..=u64::MAX);
        changes.push(("another number", line(with(is, |of| of.counted = counted))));
    }
    if let Some(events) = is.events_this_tick {
        let events_this_tick = Some(events + 1);
        let other = with(is, |of| of.events_this_tick = events_this_tick);
        changes.push(("another number of events", line(other)));
    }
    changes.push((
        "the opposite",
        line(with(is, |of| of.cleared = !is.cleared)),
    ));
    changes
}

/// Each rule that runs is expected to fire instead.
fn any_rule(subject: &AlteredSubject<'_>) -> Vec<Alteration> {
    let rules = subject.context.story.cluster.rules.firing();
    let fires = |rule: &str| {
        subject.line(What::Rule(RuleIs {
            rule: rule.to_owned(),
            about: None,
            switch: None,
            counted: None,
            cleared: false,
            times: Times {
                at_least: 1,
                at_most: u32::MAX,
            },
            events_this_tick: None,
        }))
    };
    rules.map(|rule| ("a rule fires", fires(rule))).collect()
}
