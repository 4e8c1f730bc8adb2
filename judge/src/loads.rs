//! Checks expectations about workloads, and whether the monitor's report about them was right.
//!
//! The outcome of a workload depends on the world only; the monitor matters for the verdict only. Its
//! report is the first event with `isFatal` that a connector accepted during the story: an event about
//! a port, device or card without a fault fails the drill anyway. A monitor with non-fatal events only
//! counts as silent. Start at [`verdict_on`].

use lnet::{NiView, Recovery};
use platforms::NodeName;
use scenarios::{CountIs, CounterOf, LnetIs, Story, Window, WorkloadIs};
use simfs::SimTime;
use terms::{ReportVerdict, Severity};
use workloads::{WorkloadOutcome, WorkloadStats};

use director::{Interface, Truth};
use observe::Recording;

use crate::{
    facts::{Outcome, check},
    reported_event::all_reported,
};

/// The verdict on the monitor's report, given a workload's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadVerdict {
    /// The verdict.
    pub verdict: ReportVerdict,
    /// Time from the report to the failure, in nanoseconds; negative if the report came after. `None`
    /// without a report or without a failure.
    pub lead_ns: Option<i64>,
}

/// The verdict for a workload at the story's end, on the monitor of this node or on any monitor.
/// `None` if there is no workload of this name.
#[must_use]
pub fn verdict_on(
    workload: &str,
    node: Option<&NodeName>,
    story: &Story,
    truth: &Truth,
    recording: &Recording,
) -> Option<WorkloadVerdict> {
    let last = story.ticks.first_from(story.until);
    let stats = stats(workload, last, truth)?;
    let reported = all_reported(story, recording);
    let word = reported.iter().find(|reported| {
        let meant = node.is_none_or(|node| node == reported.node);
        meant
            && reported.accepted
            && reported.event.severity == Severity::Fatal
            && reported.tick <= last
    });
    let word = word.and_then(|reported| Some(at(reported.tick, truth)?.as_ns()));
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    Some(WorkloadVerdict {
        verdict: ReportVerdict::of(word.is_some(), stats.outcome == WorkloadOutcome::Failed),
        lead_ns: stats
            .failed_at
            .zip(word)
            .map(|(failed, word)| signed(failed.as_ns()) - signed(word)),
    })
}

pub(super) fn verdict(
    workload: &str,
    expected: ReportVerdict,
    lead: Option<(i64, i64)>,
    found: Option<WorkloadVerdict>,
) -> Outcome {
    let in_time = |found: &WorkloadVerdict| {
        lead.is_none_or(|(from, to)| {
            found
                .lead_ns
                .is_some_and(|lead| (from..=to).contains(&lead))
        })
    };
    let holds = found.is_some_and(|found| found.verdict == expected && in_time(&found));
    let rendered = |verdict: ReportVerdict, lead: String| {
        format!("{} about `{workload}`{lead}", verdict.word())
    };
    check(
        holds,
        || {
            let lead = lead.map(|(from, to)| {
                format!(
                    ", the word {} to {} before the failure",
                    secs(from),
                    secs(to)
                )
            });
            rendered(expected, lead.unwrap_or_default())
        },
        || {
            let Some(found) = found else {
                return vec!["nothing of this name ran".to_owned()];
            };
            let lead = found
                .lead_ns
                .map(|lead| format!(", the word {} before the failure", secs(lead)));
            vec![rendered(found.verdict, lead.unwrap_or_default())]
        },
    )
}

/// Checks an expectation of a workload at the window's end.
pub(super) fn workload(is: &WorkloadIs, window: Window, truth: &Truth) -> Outcome {
    let found = stats(&is.workload, window.to, truth);
    let within = |bound: &Option<std::ops::RangeInclusive<u64>>, number: u64| {
        bound.as_ref().is_none_or(|bound| bound.contains(&number))
    };
    let holds = found.is_some_and(|found| {
        let in_time = |(from, to): (SimTime, SimTime)| {
            found.failed_at.is_some_and(|at| (from..=to).contains(&at))
        };
        is.outcome.is_none_or(|outcome| outcome == found.outcome)
            && is.cause.is_none_or(|cause| found.cause == Some(cause))
            && is.failed.is_none_or(in_time)
            && within(&is.errors, found.errors)
            && within(&is.retries, found.retries)
            && within(&is.done, found.done)
    });
    check(
        holds,
        || {
            let figure = |name: &str, bound: &Option<std::ops::RangeInclusive<u64>>| {
                bound
                    .as_ref()
                    .map(|bound| format!("{name} {}", bounds(bound)))
            };
            let parts = [
                is.outcome.map(|outcome| outcome.to_string()),
                is.cause.map(|cause| format!("by `{cause}`")),
                is.failed
                    .map(|(from, to)| format!("between {from} and {to}")),
                figure("errors", &is.errors),
                figure("retries", &is.retries),
                figure("done", &is.done),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("`{}`: {}", is.workload, parts.join(", "))
        },
        || {
            vec![found.map_or_else(
                || "nothing of this name ran".to_owned(),
                |found| rendered(&is.workload, &found),
            )]
        },
    )
}

/// Checks an expectation of a counter: it holds if it does in one tick of the window.
pub(super) fn count(is: &CountIs, window: Window, truth: &Truth) -> Outcome {
    let CountIs { counter, is } = is;
    let name = counter.of.name();
    let ticks = (0_u64..).zip(&truth.ticks);
    let meant = ticks.filter(|(tick, _)| (window.from..=window.to).contains(tick));
    let seen: Vec<(u64, u64)> = meant
        .filter_map(|(tick, all)| Some((tick, *all.counters.get(counter)?)))
        .collect();
    check(
        seen.iter().any(|(_, value)| is.contains(value)),
        || {
            let edge = match &counter.of {
                CounterOf::Mpib(_, Some(to)) => format!(" to {to}"),
                _ => String::new(),
            };
            let is = match counter.of {
                CounterOf::LnetRoute(_) => status(is.contains(&1)).to_owned(),
                _ => bounds(is),
            };
            format!("{name} of {}{edge}: {is}", counter.node)
        },
        || {
            let mut lines = Vec::new();
            let mut before = None;
            for (tick, value) in &seen {
                if before.replace(value) != Some(value) {
                    let value = match counter.of {
                        CounterOf::LnetRoute(_) => status(*value == 1).to_owned(),
                        _ => value.to_string(),
                    };
                    lines.push(format!("poll {tick}: {name} {value}"));
                }
            }
            if lines.is_empty() {
                lines.push("the node is not on LNet, or LNet is not loaded".to_owned());
            }
            lines
        },
    )
}

/// Checks an expectation of an LNet interface: it holds if it does in one tick of the window.
pub(super) fn lnet(is: &LnetIs, window: Window, truth: &Truth) -> Outcome {
    let interface = Interface::of(is);
    let ticks = (0_u64..).zip(&truth.ticks);
    let meant = ticks.filter(|(tick, _)| (window.from..=window.to).contains(tick));
    let seen: Vec<(u64, NiView)> = meant
        .filter_map(|(tick, all)| Some((tick, *all.interfaces.get(&interface)?)))
        .collect();
    let holds = seen.iter().any(|(_, ni)| {
        is.up.is_none_or(|up| up == ni.up)
            && is.fatal.is_none_or(|fatal| ni.fatal == Some(fatal))
            && is
                .health
                .as_ref()
                .is_none_or(|health| health.contains(&u64::from(ni.health)))
            && is.queued.is_none_or(|queued| queued == ni.recovery.queued)
            && is
                .pings
                .as_ref()
                .is_none_or(|pings| pings.contains(&u64::from(ni.recovery.ping_count)))
            && is
                .next_ping_s
                .is_none_or(|at| ni.recovery.queued && ni.recovery.next_ping_s == at)
    });
    check(
        holds,
        || {
            let parts = [
                is.up.map(|up| format!("status {}", status(up))),
                is.fatal
                    .map(|fatal| format!("fatal_error {}", u8::from(fatal))),
                is.health
                    .as_ref()
                    .map(|health| format!("health {}", bounds(health))),
                is.queued.map(|queued| recovery(queued).to_owned()),
                is.pings
                    .as_ref()
                    .map(|pings| format!("pings {}", bounds(pings))),
                is.next_ping_s.map(|at| format!("next ping at {at}s")),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("an interface: {}", parts.join(", "))
        },
        || {
            let mut lines = Vec::new();
            let mut before = None;
            for (tick, ni) in &seen {
                if before.replace(*ni) != Some(*ni) {
                    let fatal = ni
                        .fatal
                        .map(|fatal| format!(", fatal_error {}", u8::from(fatal)));
                    let queue = ni.recovery.queued.then(|| {
                        let Recovery {
                            ping_count,
                            next_ping_s,
                            ..
                        } = ni.recovery;
                        format!(
                            ", {}, pings {ping_count}, next ping at {next_ping_s}s",
                            recovery(true)
                        )
                    });
                    lines.push(format!(
                        "poll {tick}: status {}{}, health {}{}",
                        status(ni.up),
                        fatal.unwrap_or_default(),
                        ni.health,
                        queue.unwrap_or_default()
                    ));
                }
            }
            if lines.is_empty() {
                lines.push(
                    "the workload has no interface on this port, or LNet is not loaded".to_owned(),
                );
            }
            lines
        },
    )
}

/// The statistics of a workload at the end of a tick, or of the last tick if that never came.
fn stats(workload: &str, tick: u64, truth: &Truth) -> Option<WorkloadStats> {
    let tick = usize::try_from(tick).unwrap_or(usize::MAX);
    let tick = truth.ticks.get(tick).or(truth.ticks.last())?;
    tick.workloads.get(workload).copied()
}

fn at(tick: u64, truth: &Truth) -> Option<SimTime> {
    let tick = truth.ticks.get(usize::try_from(tick).ok()?)?;
    Some(tick.at)
}

fn rendered(name: &str, stats: &WorkloadStats) -> String {
    let failed = stats
        .cause
        .zip(stats.failed_at)
        .map(|(cause, at)| format!(" by `{cause}` at {at}"));
    format!(
        "`{name}`: {}{}, {} errors, {} retries, {} done",
        stats.outcome,
        failed.unwrap_or_default(),
        stats.errors,
        stats.retries,
        stats.done
    )
}

fn status(up: bool) -> &'static str {
    if up { "up" } else { "down" }
}

fn recovery(queued: bool) -> &'static str {
    if queued {
        "on the recovery queue"
    } else {
        "not on the recovery queue"
    }
}

fn bounds(bound: &std::ops::RangeInclusive<u64>) -> String {
    match (*bound.start(), *bound.end()) {
        (least, most) if least == most => least.to_string(),
        (least, u64::MAX) => format!(">= {least}"),
        (least, most) => format!("{least} to {most}"),
    }
}

/// A signed time in seconds, with three decimals.
fn secs(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ms = ns.unsigned_abs() / 1_000_000;
    format!("{sign}{}.{:03} s", ms / 1000, ms % 1000)
}

#[cfg(test)]
mod tests;
