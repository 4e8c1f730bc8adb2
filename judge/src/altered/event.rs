//! Expected events made false: another one, too many, too few, at another time.

use scenarios::{About, EventPattern, Expectation, Times, Tone, What, Window};

use simfs::SimTime;

use super::change::{Change, Subject};

/// The resolution of a scenario's times.
const MOMENT: SimTime = SimTime::from_ms(1);

/// A text that no monitor says.
const UNSAID: &str = "\u{1}";

/// A name that no check and no counter has.
const UNKNOWN: &str = "\u{1}";

pub(super) fn say(subject: &Subject<'_>) -> Vec<(&'static str, Change)> {
    let What::Say {
        event,
        times,
        reported,
        in_order,
    } = &subject.expectation.what
    else {
        return Vec::new();
    };
    let saying = |event: EventPattern, times: Times| {
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
            Some(more) => saying(
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
        saying(
            EventPattern {
                tone: other_tone(event.tone),
                ..event.clone()
            },
            *times,
        ),
    ));
    changes.push(("another time", Change::Line(later(subject))));
    let mut field = |name, pattern: EventPattern| changes.push((name, saying(pattern, *times)));
    if let Some(about) = other_subject(subject, &event.about, *reported) {
        field(
            "another subject",
            EventPattern {
                about,
                ..event.clone()
            },
        );
    }
    if event.check.is_some() {
        field(
            "another check",
            EventPattern {
                check: Some(UNKNOWN.to_owned()),
                ..event.clone()
            },
        );
    }
    if !event.message.is_empty() {
        let texts = event.message.keys();
        field(
            "another text",
            EventPattern {
                message: texts.map(|layer| (*layer, UNSAID.to_owned())).collect(),
                ..event.clone()
            },
        );
    }
    if event.counter.is_some() {
        field(
            "another counter",
            EventPattern {
                counter: Some(UNKNOWN.to_owned()),
                ..event.clone()
            },
        );
    }
    if event.error_codes.is_some() {
        field(
            "other error codes",
            EventPattern {
                error_codes: Some(vec![UNKNOWN.to_owned()]),
                ..event.clone()
            },
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
fn later(subject: &Subject<'_>) -> Box<Expectation> {
    let after = subject.last() + 1;
    Box::new(Expectation {
        window: Window {
            from: after,
            to: after,
        },
        ..subject.expectation.clone()
    })
}

fn other_tone(tone: Tone) -> Tone {
    match tone {
        Tone::Fatal => Tone::NonFatal,
        Tone::NonFatal => Tone::Healthy,
        Tone::Healthy => Tone::Fatal,
    }
}

/// Another subject of the same kind that the story names, or a port that it does not name. What another subject of
/// the story says at the same time would meet a line that forbids nothing, such as one of attempts.
fn other_subject(subject: &Subject<'_>, about: &About, attempts: bool) -> Option<About> {
    let story = subject.context.story;
    let named = || {
        let all = story.expectations.iter();
        all.filter_map(|other| match &other.what {
            What::Say { event, .. } => Some(&event.about),
            _ => None,
        })
    };
    let same_kind = |other: &&About| {
        std::mem::discriminant(*other) == std::mem::discriminant(about) && *other != about
    };
    if let Some(other) = named().find(same_kind).filter(|_| !attempts) {
        return Some(other.clone());
    }
    let About::Port(slot) = about else {
        return None;
    };
    let (_, platform) = story.nodes.iter().find(|(name, _)| *name == slot.node)?;
    let ports = platform.ports();
    let others = ports
        .iter()
        .map(|port| About::Port(of_function(slot, port.pci)));
    others
        .into_iter()
        .find(|other| other != about && !named().any(|named| named == other))
}

/// The same port of another function.
fn of_function(slot: &platforms::SlotRef, pci: platforms::PciAddress) -> platforms::SlotRef {
    platforms::SlotRef {
        pci,
        ..slot.clone()
    }
}

pub(super) fn edges(subject: &Subject<'_>) -> Vec<(&'static str, Change)> {
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
        Some(Box::new(EventPattern {
            tone: other_tone(pattern.tone),
            ..pattern.clone()
        }))
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

pub(super) fn baseline(subject: &Subject<'_>) -> Vec<(&'static str, Change)> {
    let What::Baseline {
        fresh,
        except,
        in_order,
    } = &subject.expectation.what
    else {
        return Vec::new();
    };
    let other = Box::new(Expectation {
        what: What::Baseline {
            fresh: !fresh,
            except: except.clone(),
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
    if !except.is_empty() {
        changes.push((
            "without its exceptions",
            subject.line(What::Baseline {
                fresh: *fresh,
                except: Vec::new(),
                in_order: *in_order,
            }),
        ));
    }
    changes
}
