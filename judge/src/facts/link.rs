//! What both ends of a link remember. It is about the world only, independently of the monitor.

use director::Truth;
use fabric::{
    EndTruth,
    opa::{OfflineDisabledReason, Pair},
};
use platforms::SlotRef;
use reports::CauseKind;
use scenarios::{About, EndIs, PairIs, What, Window};

use super::fact::{Fact, FactKind, FactLane, Outcome, Scene, check};
use crate::altered::change::{Alteration, AlteredSubject, with};

/// The ends of this port's link.
pub(super) struct Link<'w> {
    pub(super) slot: &'w SlotRef,
    pub(super) here: &'w EndIs,
    pub(super) there: &'w EndIs,
}

impl Fact for Link<'_> {
    fn kind(&self) -> FactKind {
        FactKind::of("link", CauseKind::Link)
    }

    fn about(&self) -> Option<About> {
        Some(About::Port(self.slot.clone()))
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Port(self.slot)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let (window, truth) = (scene.expectation.window, scene.context.truth);
        link(self.slot, self.here, self.there, window, truth)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        other_ends(subject, self.slot, self.here, self.there)
    }
}

/// Checks an expectation of a link: it holds if both ends are as expected in one tick of the
/// window.
pub(super) fn link(
    slot: &SlotRef,
    here: &EndIs,
    there: &EndIs,
    window: Window,
    truth: &Truth,
) -> Outcome {
    let ticks = (0..).zip(&truth.ticks);
    let meant = ticks.filter(|(tick, _)| (window.from..=window.to).contains(tick));
    let seen = meant.filter_map(|(tick, all): (u64, _)| Some((tick, *all.links.get(slot)?)));
    let seen: Vec<_> = seen.collect();
    let holds = seen
        .iter()
        .any(|(_, link)| is(here, &link.here) && is(there, &link.there));
    let came = || {
        let mut lines: Vec<String> = Vec::new();
        let mut before = None;
        for (tick, link) in &seen {
            if before.replace(*link) == Some(*link) {
                continue;
            }
            lines.push(format!(
                "poll {tick}: here {}; there {}",
                shown(&link.here),
                shown(&link.there)
            ));
        }
        if lines.is_empty() {
            lines.push("the port has no link of its own".to_owned());
        }
        lines
    };
    let expected = || format!("a link with here {}; there {}", wanted(here), wanted(there));
    check(holds, expected, came)
}

fn is(expected: &EndIs, end: &EndTruth) -> bool {
    let pair = expected.pair.is_none_or(|pair| match pair {
        PairIs::Unavailable => end.record.is_none(),
        PairIs::Shown(pair) => end.record.is_some_and(|record| record.shown() == pair),
    });
    let offline = expected
        .offline
        .is_none_or(|offline| end.record.is_some_and(|record| record.offline() == offline));
    let log = expected.log.as_ref().is_none_or(|log| *log == logged(end));
    pair && offline && log
}

/// The reasons in an end's log, oldest first.
fn logged(end: &EndTruth) -> Vec<Pair> {
    let mut entries: Vec<_> = end.log.printed().collect();
    entries.sort_by_key(|entry| entry.at_s);
    entries.into_iter().map(|entry| entry.pair).collect()
}

fn wanted(end: &EndIs) -> String {
    let pair = end.pair.map(|pair| match pair {
        PairIs::Unavailable => "unavailable".to_owned(),
        PairIs::Shown(pair) => rendered(pair),
    });
    let offline = end.offline.map(|offline| format!("offline: {offline}"));
    let log = end.log.as_ref().map(|log| logs(log));
    let parts: Vec<String> = [pair, offline, log].into_iter().flatten().collect();
    if parts.is_empty() {
        "anything".to_owned()
    } else {
        parts.join(", ")
    }
}

pub(crate) fn shown(end: &EndTruth) -> String {
    let record = end.record.map_or_else(
        || "unavailable".to_owned(),
        |record| {
            format!(
                "{}, offline: {}",
                rendered(record.shown()),
                record.offline()
            )
        },
    );
    format!("{record}, {}", logs(&logged(end)))
}

fn rendered(pair: Pair) -> String {
    let (local, neighbour) = pair.codes();
    format!("({local} {}, {neighbour} {})", pair.local, pair.neighbour)
}

fn logs(log: &[Pair]) -> String {
    let entries: Vec<String> = log.iter().map(|pair| rendered(*pair)).collect();
    format!("log: [{}]", entries.join(", "))
}

fn other_ends(
    subject: &AlteredSubject<'_>,
    slot: &SlotRef,
    here: &EndIs,
    there: &EndIs,
) -> Vec<Alteration> {
    let line = |here: EndIs, there: EndIs| {
        subject.line(What::Link {
            slot: slot.clone(),
            here,
            there,
        })
    };
    let here_changed = ends(here).into_iter().map(|(name, end)| {
        let name = match name {
            End::Pair => "another pair here",
            End::Offline => "another offline reason here",
            End::Log => "another log here",
        };
        (name, line(end, there.clone()))
    });
    let there_changed = ends(there).into_iter().map(|(name, end)| {
        let name = match name {
            End::Pair => "another pair there",
            End::Offline => "another offline reason there",
            End::Log => "another log there",
        };
        (name, line(here.clone(), end))
    });
    here_changed.chain(there_changed).collect()
}

/// A part of an end.
enum End {
    Pair,
    Offline,
    Log,
}

/// An end with each of its stated parts made false.
fn ends(end: &EndIs) -> Vec<(End, EndIs)> {
    let pair = end.pair.map(|pair| match pair {
        PairIs::Unavailable => PairIs::Shown(Pair::CLEAR),
        PairIs::Shown(_) => PairIs::Unavailable,
    });
    let offline = end.offline.map(|offline| {
        let none = OfflineDisabledReason::NONE;
        if offline == none {
            OfflineDisabledReason::by_code(1).unwrap_or(none)
        } else {
            none
        }
    });
    let log = end.log.as_ref().map(|log| {
        let mut longer = log.clone();
        longer.push(Pair::CLEAR);
        longer
    });
    [
        pair.map(|pair| (End::Pair, with(end, |of| of.pair = Some(pair)))),
        offline.map(|reason| (End::Offline, with(end, |of| of.offline = Some(reason)))),
        log.map(|log| (End::Log, with(end, |of| of.log = Some(log)))),
    ]
    .into_iter()
    .flatten()
    .collect()
}
