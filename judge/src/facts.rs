//! Expectations that are not about single events: exits, log lines, numbers, the state file, silence, links, workloads,
//! the cluster. Each is one file, with how it is judged, made false for `suite check`, told and drawn. Start at [`Fact`].

mod calls;
mod condition;
mod cordon;
mod count;
mod exit;
mod healthz;
mod link;
mod lnet;
mod log;
mod metric;
mod polls;
mod reads;
mod rule;
mod silence;
mod stands;
mod state_file;
mod stuck;
mod verdict;
mod workload;

use std::ops::RangeInclusive;

use observe::{Answers, MonitorTick, Recording};
use platforms::{NodeName, SlotRef};
use reports::{CauseKind, FindingKind};
use scenarios::{About, Expectation, What};

use crate::{
    altered::{Alteration, AlteredSubject},
    consequences::Consequences,
    demands::is_meant,
    fits::JudgeContext,
    reasons,
    reported_event::ReportedEvent,
};

pub(crate) use link::shown as shown_end;
pub(crate) use silence::Silence;
pub(crate) use stands::stands;

/// An expectation that is not about single events.
pub(crate) trait Fact {
    /// Its kind.
    fn kind(&self) -> FactKind;

    /// The subject of a finding about it, if it has one.
    fn about(&self) -> Option<About> {
        None
    }

    /// The lane in which it is drawn.
    fn lane(&self) -> FactLane<'_> {
        FactLane::Monitor
    }

    /// Why it does not apply to the monitor; `None` if it does.
    fn not_judged(&self, _: &Scene<'_>) -> Option<&'static str> {
        None
    }

    /// Whether it holds.
    fn outcome(&self, scene: &Scene<'_>) -> Outcome;

    /// Every way in which it can be made false.
    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration>;
}

/// What all facts of a kind have in common.
pub(crate) struct FactKind {
    /// The kind in words, for `suite check`.
    pub(crate) word: &'static str,
    /// The cause of a finding about one.
    pub(crate) cause: CauseKind,
    /// What a finding about one is: something is missing, or is there although it must not be.
    pub(crate) finding: FindingKind,
    /// Whether only calls to a connector can tell.
    pub(crate) needs_connector: bool,
    /// Whether single events decide it, so that nothing is known of a monitor that reports devices, its node, or what is.
    pub(crate) needs_events: bool,
}

impl FactKind {
    /// That of something that is missing.
    const fn of(word: &'static str, cause: CauseKind) -> Self {
        Self {
            word,
            cause,
            finding: FindingKind::Missing,
            needs_connector: false,
            needs_events: false,
        }
    }
}

/// The fact that an expectation states; `None` if it is about single events.
pub(crate) fn fact(what: &What) -> Option<Box<dyn Fact + '_>> {
    Some(match what {
        What::Say { .. } | What::FollowEdges { .. } | What::Baseline { .. } => return None,
        What::Nothing { .. } => Box::new(silence(what)?),
        What::Exit { code } => Box::new(exit::ExitsWith(*code)),
        What::Log { contains } => Box::new(log::Logged(contains)),
        What::NoLog { contains } => Box::new(log::NotLogged(contains)),
        What::Polls(count) => Box::new(polls::Polls(*count)),
        What::Calls { count } => Box::new(calls::Calls(*count)),
        What::StateFile(is) => Box::new(state_file::StateFile(is)),
        What::Reads { file, times } => Box::new(reads::Reads(file, *times)),
        What::Metric { name, labels, is } => Box::new(metric::Metric {
            name,
            labels,
            is: *is,
        }),
        What::Healthz { status } => Box::new(healthz::Healthz(*status)),
        What::Link { slot, here, there } => Box::new(link::Link { slot, here, there }),
        What::Lnet(is) => Box::new(lnet::Lnet(is)),
        What::Count(is) => Box::new(count::Count(is)),
        What::Workload(is) => Box::new(workload::Workload(is)),
        What::Verdict {
            workload,
            verdict,
            lead,
        } => Box::new(verdict::Verdict {
            workload,
            verdict: *verdict,
            lead: *lead,
        }),
        What::Condition(is) => Box::new(condition::Condition(is)),
        What::Cordoned(stands) => Box::new(cordon::Cordoned(*stands)),
        What::Uncordoned(is) => Box::new(cordon::Released(*is)),
        What::Rule(is) => Box::new(rule::Rule(is)),
        What::RulesSilent => Box::new(rule::RulesSilent),
        What::StuckInKernel => Box::new(stuck::StuckInKernel),
    })
}

/// The silence that an expectation states; `None` if it states another fact.
pub(crate) fn silence(what: &What) -> Option<Silence<'_>> {
    match what {
        What::Nothing {
            about,
            counter,
            reported,
        } => Some(Silence {
            about,
            counter: counter.as_deref(),
            attempts: *reported,
        }),
        _ => None,
    }
}

/// The lane in which a fact is drawn.
pub(crate) enum FactLane<'w> {
    /// That of the monitor.
    Monitor,
    /// That of the connector.
    Connector,
    /// That of the cluster.
    Cluster,
    /// That of a subject.
    About(&'w About),
    /// That of a port.
    Port(&'w SlotRef),
    /// That of a workload.
    Workload(&'w str),
}

/// What a fact is judged by, on one node.
pub(crate) struct Scene<'s> {
    pub(crate) expectation: &'s Expectation,
    pub(crate) node: &'s NodeName,
    pub(crate) context: JudgeContext<'s>,
    pub(crate) recording: &'s Recording,
    /// What was reported, and whether a line claims it.
    pub(crate) reported: &'s [(ReportedEvent<'s>, bool)],
    pub(crate) made: &'s Consequences,
}

impl<'s> Scene<'s> {
    /// What the node's monitor did in the ticks of the window.
    fn instances(&self) -> impl Iterator<Item = (u64, &'s MonitorTick)> + use<'s> {
        let (window, node) = (self.expectation.window, self.node);
        (0..)
            .zip(&self.recording.ticks)
            .filter(move |(tick, _)| (window.from..=window.to).contains(tick))
            .filter_map(|(tick, all)| Some((tick, &**all.monitors.get(node.as_str())?)))
    }

    /// What the monitor answered at the end of the window.
    fn answers(&self) -> Option<&'s Answers> {
        let last = usize::try_from(self.expectation.window.to).ok()?;
        let tick = self.recording.ticks.get(last)?;
        Some(&tick.monitors.get(self.node.as_str())?.answers)
    }
}

/// The result of an expectation.
pub(crate) enum Outcome {
    /// It holds.
    Holds,
    /// It does not hold: what was expected, what came, and the tick in which it went wrong, if
    /// there is one.
    Fails {
        expected: String,
        came: Vec<String>,
        at: Option<u64>,
    },
    /// It does not apply to this monitor, for this reason.
    NotJudged(String),
}

impl Outcome {
    /// The same result, with the tick in which it went wrong.
    pub(super) fn wrong_in(self, tick: Option<u64>) -> Self {
        match self {
            Self::Fails { expected, came, .. } => Self::Fails {
                expected,
                came,
                at: tick,
            },
            other => other,
        }
    }
}

/// The result of a fact on a node; `None` if the expectation is about single events, or not about this node.
pub(crate) fn standing(scene: &Scene<'_>) -> Option<Outcome> {
    if !is_meant(scene.expectation, scene.node) {
        return None;
    }
    let fact = fact(&scene.expectation.what)?;
    let is_deaf = fact.kind().needs_connector && !scene.recording.protocol.has_connector();
    let reason = match is_deaf {
        true => Some(reasons::NO_CONNECTOR),
        false => fact.not_judged(scene),
    };
    Some(match reason {
        Some(reason) => Outcome::NotJudged(reason.to_owned()),
        None => fact.outcome(scene),
    })
}

/// It holds, or fails with what was expected and what came.
fn check(
    holds: bool,
    expected: impl FnOnce() -> String,
    came: impl FnOnce() -> Vec<String>,
) -> Outcome {
    if holds {
        Outcome::Holds
    } else {
        Outcome::Fails {
            expected: expected(),
            came: came(),
            at: None,
        }
    }
}

fn bounds(bound: &RangeInclusive<u64>) -> String {
    match (*bound.start(), *bound.end()) {
        (least, most) if least == most => least.to_string(),
        (least, u64::MAX) => format!(">= {least}"),
        (least, most) => format!("{least} to {most}"),
    }
}

fn up_or_down(up: bool) -> &'static str {
    if up { "up" } else { "down" }
}

#[cfg(test)]
pub(crate) mod tests;
