//! Expectations about the cluster made false: the opposite, and each part of what a rule says.

use platforms::{NodeName, PciAddress};
use scenarios::{About, ConditionIs, RuleIs, Stands, Times, What};

use super::change::{AlteredSubject, Change, with};

/// What holds exactly if the other does not.
fn opposite(stands: Stands) -> Stands {
    Stands {
        is: !stands.is,
        throughout: !stands.throughout,
    }
}

pub(super) fn condition(
    subject: &AlteredSubject<'_>,
    is: &ConditionIs,
) -> Vec<(&'static str, Change)> {
    let line = |is: ConditionIs| subject.line(What::Condition(is));
    let mut changes = vec![(
        "the opposite",
        line(with(is, |of| of.stands = opposite(is.stands))),
    )];
    if is.stands.is && is.about.is_some() {
        changes.push((
            "another subject",
            line(with(is, |of| of.about = nobody(subject))),
        ));
    }
    if is.stands.is && is.counter.is_some() {
        changes.push((
            "another counter",
            line(ConditionIs {
                counter: Some("\u{1}".to_owned()),
                ..is.clone()
            }),
        ));
    }
    changes
}

/// A card that no node has.
fn nobody(subject: &AlteredSubject<'_>) -> Option<About> {
    let node: &NodeName = subject.context.story.monitors.first()?;
    let nowhere: PciAddress = "ffff:ff:1f.7".parse().ok()?;
    Some(About::Card(node.clone(), nowhere))
}

pub(super) fn cordoned(
    subject: &AlteredSubject<'_>,
    stands: Stands,
) -> Vec<(&'static str, Change)> {
    vec![(
        "the opposite",
        subject.line(What::Cordoned(opposite(stands))),
    )]
}

pub(super) fn uncordoned(subject: &AlteredSubject<'_>, is: bool) -> Vec<(&'static str, Change)> {
    vec![("the opposite", subject.line(What::Uncordoned(!is)))]
}

pub(super) fn rule(subject: &AlteredSubject<'_>, is: &RuleIs) -> Vec<(&'static str, Change)> {
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
pub(super) fn rules_silent(subject: &AlteredSubject<'_>) -> Vec<(&'static str, Change)> {
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
