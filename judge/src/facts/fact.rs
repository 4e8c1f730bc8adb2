//! What an expectation that is not about single events has to say, and what it is judged by. Start at [`Fact`].

use std::ops::RangeInclusive;

use observe::{Answers, MonitorTick, Recording};
use platforms::{NodeName, SlotRef};
use reports::{CauseKind, FindingKind};
use scenarios::{About, Expectation};

use crate::{
    altered::change::{Alteration, AlteredSubject},
    consequences::Consequences,
    fits::JudgeContext,
    reported_event::ReportedEvent,
};

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
    pub(super) const fn of(word: &'static str, cause: CauseKind) -> Self {
        Self {
            word,
            cause,
            finding: FindingKind::Missing,
            needs_connector: false,
            needs_events: false,
        }
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
    pub(super) fn instances(&self) -> impl Iterator<Item = (u64, &'s MonitorTick)> + use<'s> {
        let (window, node) = (self.expectation.window, self.node);
        (0..)
            .zip(&self.recording.ticks)
            .filter(move |(tick, _)| (window.from..=window.to).contains(tick))
            .filter_map(|(tick, all)| Some((tick, &**all.monitors.get(node.as_str())?)))
    }

    /// What the monitor answered at the end of the window.
    pub(super) fn answers(&self) -> Option<&'s Answers> {
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
    NotJudged(&'static str),
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

/// It holds, or fails with what was expected and what came.
pub(super) fn check(
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

pub(super) fn bounds(bound: &RangeInclusive<u64>) -> String {
    match (*bound.start(), *bound.end()) {
        (least, most) if least == most => least.to_string(),
        (least, u64::MAX) => format!(">= {least}"),
        (least, most) => format!("{least} to {most}"),
    }
}

pub(super) fn up_or_down(up: bool) -> &'static str {
    if up { "up" } else { "down" }
}
