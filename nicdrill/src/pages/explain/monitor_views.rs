//! What a drill's monitors said, and what a cluster made of it. Start at [`views`].

use judge::Consequences;
use observe::Recording;
use scenarios::Story;
use simfs::SimTime;

use super::{View, at};

/// The views of the monitor and of the cluster, until healing begins.
pub(super) fn views(story: &Story, recording: &Recording) -> [View; 2] {
    let end = recording.healing_from.unwrap_or(u64::MAX);
    let end = usize::try_from(end).unwrap_or(usize::MAX);
    [
        View {
            name: "monitor: what it said after its first poll",
            lines: Some(said(story, recording, end)),
        },
        View {
            name: "cluster: conditions, cordons, rules",
            lines: Some(made(story, recording, end)),
        },
    ]
}

/// Every event after the first poll, with the answer if it was not accepted.
fn said(story: &Story, recording: &Recording, end: usize) -> Vec<String> {
    let many = story.monitors.len() > 1;
    let ticks = recording.ticks.iter().enumerate().take(end).skip(1);
    ticks
        .flat_map(|(_, tick)| {
            let time = SimTime::from_ns(tick.at_ns);
            tick.monitors.iter().flat_map(move |(node, monitor)| {
                let on = if many {
                    format!("{node}: ")
                } else {
                    String::new()
                };
                let calls = monitor.calls.iter();
                calls.flat_map(move |call| {
                    let answer = if call.accepted {
                        String::new()
                    } else {
                        format!(" ({})", call.answer)
                    };
                    let on = on.clone();
                    let said = call.observations.iter();
                    said.map(move |event| at(time, format!("{on}{event}{answer}")))
                })
            })
        })
        .collect()
}

/// What the cluster did.
fn made(story: &Story, recording: &Recording, end: usize) -> Vec<String> {
    let made = Consequences::of(story, recording);
    let ticks = made.ticks.iter().take(end);
    ticks.flat_map(judge::TickMade::lines).collect()
}
