//! Expected events made false: another one, too many, too few, at another time.

use platforms::PortFacts;
use scenarios::{About, EventPattern, Expectation, Times, What, Window};
use terms::{Check, Severity};

use simfs::SimTime;

use super::change::{Alteration, AlteredSubject, Change, with};
use crate::reported_event::all_reported;

/// The resolution of a scenario's times.
const MOMENT: SimTime = SimTime::from_ms(1);

/// A text that no monitor says.
const UNSAID: &str = "\u{1}";

/// A name that no check and no counter has.
const UNKNOWN: &str = "\u{1}";

/// Every way in which an expectation of events can be made false.
pub(super) fn falsified(subject: &AlteredSubject<'_>) -> Vec<Alteration> {
    match &subject.expectation.what {
        What::FollowEdges { .. } => edges(subject),
        What::Baseline { .. } => baseline(subject),
        _ => say(subject),
    }
}

fn say(subject: &AlteredSubject<'_>) -> Vec<Alteration> {
    let What::Say {
        event,
        times,
        reported,
        in_order,
    } = &subject.expectation.what
    else {
        return Vec::new();
    };
    let check = event.check.as_ref();
    if times.at_least == 0 && check.is_some_and(|check| Check::parse(check).is_none()) {
        return vec![("made false", Change::Equivalent("no check has this name"))];
    }
    let with_event = |event: EventPattern, times: Times| {
        subject.line(What::Say {
            event,
            times,
            reported: *reported,
            in_order: *in_order,
        })
    };
    let mut changes = vec![(
        "dropped",
        if *reported {
            Change::Equivalent("an attempt is demanded, and forbidden only by silence with `spec`")
        } else {
            Change::Less(None)
        },
    )];
    let Times { at_least, at_most } = *times;
    changes.push((
        "too many",
        match at_most.checked_add(1) {
            Some(more) => with_event(
                event.clone(),
                Times {
                    at_least: more,
                    at_most: more,
                },
            ),
            None => Change::Equivalent("there is no upper bound"),
        },
    ));
    if at_least == 0 {
        // That it may be missing is the line's purpose: what it allows is tested by dropping it.
        return changes;
    }
    changes.push(("doubled", doubled(*times)));
    changes.push((
        "another severity",
        with_event(with(event, |of| of.tone = other_tone(event.tone)), *times),
    ));
    changes.push(("another time", Change::Line(later(subject))));
    let mut field = |name, pattern: EventPattern| changes.push((name, with_event(pattern, *times)));
    if let Some(about) = other_subject(subject, &event.about) {
        field("another subject", with(event, |of| of.about = about));
    }
    if event.check.is_some() {
        field(
            "another check",
            with(event, |of| of.check = Some(UNKNOWN.to_owned())),
        );
    }
    if !event.message.is_empty() {
        let texts = event.message.keys();
        field(
            "another text",
            with(event, |of| {
                of.message = texts.map(|layer| (*layer, UNSAID.to_owned())).collect()
            }),
        );
    }
    if event.counter.is_some() {
        field(
            "another counter",
            with(event, |of| of.counter = Some(UNKNOWN.to_owned())),
        );
    }
    if event.error_codes.is_some() {
        field(
            "other error codes",
            with(event, |of| of.error_codes = Some(vec![UNKNOWN.to_owned()])),
        );
    }
    if let Some(from) = event.stamped_from.filter(|from| *from >= MOMENT) {
        field(
            "an earlier stamp",
            EventPattern {
                stamped_from: None,
                stamped_to: Some(SimTime::from_ns(from.as_ns() - MOMENT.as_ns())),
                ..event.clone()
            },
        );
    }
    if let Some(to) = event.stamped_to {
        field(
            "a later stamp",
            EventPattern {
                stamped_from: Some(to + MOMENT),
                stamped_to: None,
                ..event.clone()
            },
        );
    }
    changes
}

/// The line twice. Where it allows more than one event, two of it may be met by them.
fn doubled(times: Times) -> Change {
    if times.at_least == times.at_most {
        Change::Twice
    } else {
        Change::Equivalent("it allows several events, which two lines share")
    }
}

/// The line after the drill's end, where nothing happens.
fn later(subject: &AlteredSubject<'_>) -> Box<Expectation> {
    let after = subject.last() + 1;
    Box::new(Expectation {
        window: Window {
            from: after,
            to: after,
        },
        ..subject.expectation.clone()
    })
}

fn other_tone(tone: Severity) -> Severity {
    match tone {
        Severity::Fatal => Severity::NonFatal,
        Severity::NonFatal => Severity::Healthy,
        Severity::Healthy | Severity::Unknown => Severity::Fatal,
    }
}

/// Another subject of the same kind, about which nothing is said in the line's window: one that the story names, or
/// another of the platform's.
fn other_subject(subject: &AlteredSubject<'_>, about: &About) -> Option<About> {
    let story = subject.context.story;
    let named = story.expectations.iter();
    let named = named.filter_map(|other| match &other.what {
        What::Say { event, .. } => Some(event.about.clone()),
        _ => None,
    });
    let kind = std::mem::discriminant(about);
    let others = named.chain(beside(subject, about)).filter(|other| {
        std::mem::discriminant(other) == kind && other != about && !is_spoken_of(subject, other)
    });
    others.into_iter().next()
}

/// The other subjects of this kind on the same node.
fn beside(subject: &AlteredSubject<'_>, about: &About) -> Vec<About> {
    let node = match about {
        About::Port(slot) => &slot.node,
        About::Device(node, _) | About::Card(node, _) => node,
        About::NamedPort(..) | About::NamedDevice(_) | About::Check => return Vec::new(),
    };
    let platform = subject.context.story.platform_of(node).into_iter();
    let ports = platform.flat_map(|platform| platform.ports());
    let other = |port: PortFacts| match about {
        About::Port(slot) => About::Port(platforms::SlotRef {
            pci: port.pci,
            ..slot.clone()
        }),
        About::Device(..) => About::Device(node.clone(), port.pci),
        _ => About::Card(node.clone(), port.pci),
    };
    ports.map(other).collect()
}

/// Whether an event about this subject was sent in the line's window, accepted or not.
fn is_spoken_of(subject: &AlteredSubject<'_>, about: &About) -> bool {
    let window = subject.expectation.window;
    let said = all_reported(subject.context.story, subject.recording);
    said.iter().any(|of| {
        (window.from..=window.to).contains(&of.tick)
            && subject
                .context
                .names_subject(about, of.node, of.tick, of.event)
    })
}

fn edges(subject: &AlteredSubject<'_>) -> Vec<Alteration> {
    let What::FollowEdges {
        slot,
        times,
        within_polls,
        down,
        up,
    } = &subject.expectation.what
    else {
        return Vec::new();
    };
    let following =
        |times: u32, down: &Option<Box<EventPattern>>, up: &Option<Box<EventPattern>>| {
            subject.line(What::FollowEdges {
                slot: slot.clone(),
                times,
                within_polls: *within_polls,
                down: down.clone(),
                up: up.clone(),
            })
        };
    let toned = |pattern: &EventPattern| {
        Some(Box::new(with(pattern, |of| {
            of.tone = other_tone(pattern.tone)
        })))
    };
    let mut changes = vec![
        ("dropped", Change::Less(None)),
        ("doubled", Change::Twice),
        ("another count", following(times + 1, down, up)),
    ];
    if let Some(pattern) = down {
        let other = following(*times, &toned(pattern), up);
        changes.push(("another severity", other));
    }
    if let Some(pattern) = up {
        let other = following(*times, down, &toned(pattern));
        changes.push(("another severity at the end", other));
    }
    changes
}

fn baseline(subject: &AlteredSubject<'_>) -> Vec<Alteration> {
    let What::Baseline {
        fresh,
        except,
        counter,
        in_order,
    } = &subject.expectation.what
    else {
        return Vec::new();
    };
    let other = Box::new(Expectation {
        what: What::Baseline {
            fresh: !fresh,
            except: except.clone(),
            counter: counter.clone(),
            in_order: *in_order,
        },
        ..subject.expectation.clone()
    });
    let mut changes = vec![
        ("dropped", Change::Less(None)),
        ("doubled", Change::Twice),
        // Without it, what the first poll says is unexpected.
        ("another time", Change::Less(Some(later(subject)))),
        // Without devices and cards, those events are unexpected; with them, they are missing.
        (
            "other subjects",
            if *fresh {
                Change::Less(Some(other))
            } else {
                Change::Line(other)
            },
        ),
    ];
    if !except.is_empty() || counter.is_some() {
        changes.push((
            "without its exceptions",
            subject.line(What::Baseline {
                fresh: *fresh,
                except: Vec::new(),
                counter: None,
                in_order: *in_order,
            }),
        ));
    }
    changes
}
