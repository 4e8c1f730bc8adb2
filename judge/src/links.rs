//! Checks expectations about both ends of a link.
//!
//! They are about the world only, independently of the monitor.

use fabric::{EndTruth, opa::Pair};
use platforms::SlotRef;
use scenarios::{EndIs, PairIs, Window};

use director::Truth;

use crate::facts::{Outcome, check};

/// Checks an expectation of a link: it holds if both ends are as expected in one tick of the
/// window.
pub(super) fn standing(
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
