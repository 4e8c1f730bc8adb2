//! One drill: a story played in each of its arms, each recording judged, and the arms compared.
//!
//! [`crate::suite`] selects drills and arms; `reports` formats the results. Start at [`play`].

use reports::{ArmReport, ArmStatus, Finding, FindingKind, Judged, VerdictReport};
use scenarios::Story;
use terms::Arm;

use judge::{compare, judge, judge_needs, verdict_on};
use memory::{Played, Variant, play_on};
use observe::{Broken, Descriptor, Needs};

use crate::{
    SharedTrees,
    still::{Still, play_still},
    turn::Turn,
};

/// Plays stories in one arm.
pub trait Player {
    /// The arm that it plays in.
    fn arm(&self) -> Arm;

    /// Plays a story to its end, or until it cannot go on.
    fn play(&mut self, story: &Story, descriptor: &Descriptor) -> Played;

    /// What has stood still while it played last, if something has: the machine stalled. A player that waits for no
    /// real time never stalls.
    fn stall(&mut self) -> Option<String> {
        None
    }

    /// Tells whoever waits for the run what becomes of a drill. A player that never stalls has nothing to tell.
    fn tells(&mut self, _what: &str) {}

    /// Sets the job's [`Turn`], which a player yields while it only waits. A player that never
    /// waits ignores it.
    fn takes(&mut self, _turn: &Turn) {}
}

/// A monitor that is wrong on purpose.
#[derive(Clone, Debug)]
pub struct WrongMonitor {
    /// Its name, by which it is started as a process.
    pub name: String,
    /// What it is run with in memory.
    pub variant: Variant,
}

/// Plays in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryPlayer {
    /// The wrong monitor to play; the descriptor's own if there is none.
    pub wrong: Option<Variant>,
    /// The trees that drills start with, shared.
    pub trees: SharedTrees,
}

impl Player for MemoryPlayer {
    fn arm(&self) -> Arm {
        Arm::Memory
    }

    fn play(&mut self, story: &Story, descriptor: &Descriptor) -> Played {
        play_on(self.trees.stage(story), story, descriptor, self.wrong)
    }
}

/// The result of a drill.
#[derive(Clone, Debug, Default)]
pub struct DrillResult {
    /// The recordings, one for each arm, in order.
    pub played: Vec<Played>,
    /// The report of each arm.
    pub arms: Vec<ArmReport>,
    /// The failures, by arm and in order of time.
    pub findings: Vec<Finding>,
    /// Whether the monitor's report was right for each workload, from the first arm.
    pub verdicts: Vec<VerdictReport>,
    /// How many expectations were judged, in the arm in which the fewest were; every expectation counts
    /// once, in however many arms the drill was played.
    pub judged: Judged,
    /// How often the story was played again because the machine stalled.
    pub replays: u32,
    /// Whether it was given up because the machine stalled in every play. Then its findings mean nothing.
    pub is_given_up: bool,
    /// Whether the drill was not played to its end, because the run is to end early. Then its findings mean nothing.
    pub is_interrupted: bool,
}

/// Plays a story in each of the given arms, judges each recording, and compares them.
#[must_use]
pub fn play(
    story: &Story,
    descriptor: &Descriptor,
    players: &mut [&mut dyn Player],
) -> DrillResult {
    play_for(story, descriptor, None, players)
}

/// Plays a story like [`play`], and judges by what a site needs, if that is given, instead of what the monitor
/// promises.
#[must_use]
pub fn play_for(
    story: &Story,
    descriptor: &Descriptor,
    needs: Option<&Needs>,
    players: &mut [&mut dyn Player],
) -> DrillResult {
    let mut result = DrillResult::default();
    for player in players
        .iter_mut()
        .filter(|player| story.arms.contains(&player.arm()))
    {
        let judged = |played: &Played| {
            let (truth, recording) = (&played.truth, &played.recording);
            match needs {
                Some(needs) => judge_needs(story, truth, recording, descriptor, needs),
                None => judge(story, truth, recording, descriptor),
            }
        };
        let before = result.played.last();
        let Still {
            played,
            replays,
            is_given_up,
        } = play_still(*player, story, descriptor, |played| {
            let mut findings = judged(played).findings;
            findings.extend(before.and_then(|before| differences(before, played)));
            (!findings.is_empty()).then_some(findings)
        });
        result.replays += replays;
        result.is_given_up |= is_given_up;
        result.is_interrupted |= played.recording.broken == Some(Broken::Interrupted);
        let judgement = judged(&played);
        let status = if judgement.findings.is_empty() {
            ArmStatus::Passed
        } else {
            ArmStatus::Failed
        };
        result.arms.push(report(player.arm(), status, &played));
        let arm = Some(player.arm());
        let findings = judgement.findings.into_iter();
        result
            .findings
            .extend(findings.map(|finding| Finding { arm, ..finding }));
        if result.played.is_empty() || judgement.judged.judged < result.judged.judged {
            result.judged = judgement.judged;
        }
        result.played.push(played);
    }
    if let Some(played) = result.played.first() {
        result.verdicts = verdicts(story, played);
    }
    for pair in result.played.windows(2) {
        result.findings.extend(differences(&pair[0], &pair[1]));
    }
    result
}

/// The verdict for each workload, over all monitors.
fn verdicts(story: &Story, played: &Played) -> Vec<VerdictReport> {
    let report = |workload: &String| {
        let found = verdict_on(workload, None, story, &played.truth, &played.recording)?;
        Some(VerdictReport {
            workload: workload.clone(),
            verdict: found.verdict,
            lead_ms: found.lead_ns.map(|ns| ns / 1_000_000),
        })
    };
    story.workloads.keys().filter_map(report).collect()
}

fn report(arm: Arm, status: ArmStatus, played: &Played) -> ArmReport {
    let instances = || {
        played
            .recording
            .ticks
            .iter()
            .flat_map(|tick| tick.monitors.values())
    };
    ArmReport {
        arm,
        status,
        polls: instances().map(|program| u64::from(program.polls)).sum(),
        events: instances()
            .flat_map(|program| &program.calls)
            .map(|call| call.observations.len() as u64)
            .sum(),
    }
}

/// A failure if the recordings of two arms differ.
fn differences(one: &Played, other: &Played) -> Option<Finding> {
    let difference = compare(&one.recording, &other.recording)?;
    let mut finding = Finding::plain(
        FindingKind::ArmsDiffer,
        None,
        format!("arms differ {difference}"),
    );
    finding.tick = difference.tick;
    finding
        .came
        .push(format!("{}: {}", one.arm, difference.one));
    finding
        .came
        .push(format!("{}: {}", other.arm, difference.other));
    finding.expected.push("the same in both arms".to_owned());
    Some(finding)
}
