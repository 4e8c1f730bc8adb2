//! Findings as a report has them: of which kind, about which line, in which poll, with which reads. The
//! recordings are stated, of three ticks with a poll each.
mod attempts;
mod before;
mod broken;
mod causes;
mod facts;
mod left_out;
mod many;
mod missing;
mod moments;
mod unexpected;

use std::collections::BTreeMap;

use observe::{
    Broken, Call, ClockKind, Exit, Messages, MonitorTick, Observation, RunEnd, Subject, Tick,
};
use reports::StoryLine;
use rstest::rstest;
use scenarios::{About, Expectation, Heal, Times, What, Window};
use terms::Severity;

use super::*;
use crate::fits::tests::{Case, device, event, ib_port, node_a, node_b, pattern, port};

const IB: &str = "InfiniBandStateCheck";

fn polls(ticks: u64) -> Recording {
    let tick = |_| {
        let mut tick = Tick::default();
        let instance = MonitorTick {
            polls: 1,
            ..MonitorTick::default()
        };
        tick.insert((&node_a()).into(), instance.into());
        tick
    };
    Recording {
        ticks: (0..ticks).map(tick).collect(),
        ..Recording::default()
    }
}

fn instance(recording: &mut Recording, tick: usize) -> &mut MonitorTick {
    let monitors = std::sync::Arc::make_mut(&mut recording.ticks[tick].monitors);
    std::sync::Arc::make_mut(monitors.get_mut("node-a").expect("it has a monitor"))
}

fn say(recording: &mut Recording, tick: usize, event: Observation, accepted: bool) {
    let answer = if accepted { "accepted" } else { "UNAVAILABLE" };
    instance(recording, tick).calls.push(Call {
        observations: vec![event],
        fields: Vec::new(),
        accepted,
        answer: answer.to_owned(),
    });
}

/// A case that expects these, each in its window.
fn expecting(expected: impl IntoIterator<Item = (What, u64, u64)>) -> Case {
    let mut case = Case::new();
    // A clock of its own: stamps are another test's.
    case.descriptor.clock = ClockKind::Own;
    let like = case.story.expectations[0].clone();
    let expected = expected.into_iter().map(|(what, from, to)| Expectation {
        what,
        window: Window { from, to },
        ..like.clone()
    });
    case.story.expectations = expected.collect();
    case
}

fn reported(about: About, at_least: u32) -> What {
    What::Say {
        event: pattern(about),
        times: Times {
            at_least,
            at_most: at_least,
        },
        reported: false,
        in_order: None,
    }
}

/// What was wrong but for the contract of the wire, which stated events do not keep.
fn found(case: &Case, recording: &Recording) -> Vec<Finding> {
    let judged = judge(&case.story, &case.truth, recording, &case.descriptor);
    let findings = judged.findings.into_iter();
    findings
        .filter(|finding| finding.kind != FindingKind::Contract)
        .collect()
}

fn judged(case: &Case, recording: &Recording) -> Judged {
    judge(&case.story, &case.truth, recording, &case.descriptor).judged
}

fn reasons<const N: usize>(reasons: [(&str, u64); N]) -> BTreeMap<String, u64> {
    let owned = |(reason, count): (&str, u64)| (reason.to_owned(), count);
    reasons.map(owned).into()
}
