//! The outcome of one drill: its arms, its failures, and their names.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use terms::{Arm, ReportVerdict};

use crate::{Cause, CauseAction, CauseKind, ExitCode, Judged, Wall};

/// A drill's name: a scenario in a world, written `port/cable-pulled@h100-oci:vfs`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrillName {
    /// The scenario, as `family/name`.
    pub scenario: String,
    /// The world; for a world of one node its platform, with `:variant` if it is a variant.
    pub world: String,
}

impl DrillName {
    /// The family of its scenario, such as `port`; empty if it has none.
    #[must_use]
    pub fn family(&self) -> &str {
        let scenario = self.scenario.rsplit_once('/');
        scenario.map_or("", |(family, _)| family)
    }

    /// The world without its variant: for a world of one node its platform.
    #[must_use]
    pub fn platform(&self) -> &str {
        let world = self.world.split_once(':');
        world.map_or(&self.world, |(platform, _)| platform)
    }
}

impl fmt::Display for DrillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.scenario, self.world)
    }
}

impl FromStr for DrillName {
    type Err = DrillNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A file of scenarios may have a `@` in its name, a platform has none.
        match text.rsplit_once('@') {
            Some((scenario, world)) if !scenario.is_empty() && !world.is_empty() => Ok(Self {
                scenario: scenario.to_owned(),
                world: world.to_owned(),
            }),
            _ => Err(DrillNameError {
                text: text.to_owned(),
                hint: "a drill is written `scenario@platform`, such as `port/cable-pulled@h100-oci`",
            }),
        }
    }
}

impl Serialize for DrillName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DrillName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// An invalid drill name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid drill name `{text}`\nhint: {hint}")]
pub struct DrillNameError {
    /// The text.
    pub text: String,
    /// The hint.
    pub hint: &'static str,
}

/// The status of a drill in one arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum ArmStatus {
    /// Played, and every expectation held.
    Passed,
    /// Played, and the monitor was wrong or failed.
    Failed,
    /// Not played.
    Skipped {
        /// The reason.
        reason: String,
    },
}

/// The report of one drill in one arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmReport {
    /// The arm.
    pub arm: Arm,
    /// The status.
    #[serde(flatten)]
    pub status: ArmStatus,
    /// The number of polls of all monitors.
    pub polls: u64,
    /// The number of health events that the connector received.
    pub events: u64,
}

/// The verdict on a monitor's report about one workload of a drill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictReport {
    /// The workload.
    pub workload: String,
    /// Whether the monitor was right.
    pub verdict: ReportVerdict,
    /// Time from the report to the workload's failure, in milliseconds; negative if the report came
    /// after. `None` without a report or without a failure.
    pub lead_ms: Option<i64>,
}

/// One logical read of a monitor, as a failure shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// The tick of its poll.
    pub poll: u64,
    /// `op path outcome`.
    pub text: String,
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Something expected did not come, or not in time, or not often enough.
    Missing,
    /// An event came that no expectation matches.
    Unexpected,
    /// An event violates the wire contract.
    Contract,
    /// A fault was still outstanding when the deadline after healing had passed.
    Outstanding,
    /// A node condition was present, or a node cordoned, after the deadline that follows healing.
    LeftStanding,
    /// A moment that the story waits for never came.
    MissedMoment,
    /// The recordings of the two arms differ.
    ArmsDiffer,
    /// The trace differs from the golden one.
    GoldenDiffers,
    /// Two repeats of one drill differ.
    RepeatsDiffer,
    /// The monitor ended by itself.
    Crashed,
    /// The monitor made no progress within the limit.
    Hung,
    /// The monitor used more in one poll, or took longer, than a drill allows.
    Excess,
    /// The monitor cannot be killed: it waits in the kernel.
    StuckInKernel,
    /// Somebody in the monitor's namespace has removed the connector's socket, or put something else in its place.
    SocketTampered,
    /// The stage could not be set, which is not the monitor's fault.
    Stage,
    /// An internal error: the drill could not be played or reported.
    Fault,
}

impl FindingKind {
    /// The exit code for a failure of this kind.
    #[must_use]
    pub const fn exit_code(self) -> ExitCode {
        match self {
            Self::Missing
            | Self::Unexpected
            | Self::Contract
            | Self::Outstanding
            | Self::LeftStanding
            | Self::MissedMoment
            | Self::ArmsDiffer
            | Self::GoldenDiffers
            | Self::RepeatsDiffer => ExitCode::JudgedWrongly,
            Self::Crashed
            | Self::Hung
            | Self::Excess
            | Self::StuckInKernel
            | Self::SocketTampered => ExitCode::CrashedOrHung,
            Self::Stage => ExitCode::StageNotSet,
            Self::Fault => ExitCode::InternalFault,
        }
    }

    /// The kind of cause of a finding about which no more is known.
    const fn cause(self) -> CauseKind {
        match self {
            Self::Missing => CauseKind::Missed,
            Self::Unexpected => CauseKind::Unexpected,
            Self::Contract => CauseKind::Contract,
            Self::Outstanding => CauseKind::NotCleared,
            Self::LeftStanding => CauseKind::ConditionLeft,
            Self::MissedMoment => CauseKind::Moment,
            Self::ArmsDiffer => CauseKind::ArmsDiffer,
            Self::GoldenDiffers => CauseKind::GoldenDiffers,
            Self::RepeatsDiffer => CauseKind::RepeatsDiffer,
            Self::Crashed => CauseKind::Crashed,
            Self::Hung => CauseKind::Hung,
            Self::Excess => CauseKind::Excess,
            Self::StuckInKernel => CauseKind::StuckInKernel,
            Self::SocketTampered => CauseKind::SocketTampered,
            Self::Stage => CauseKind::Stage,
            Self::Fault => CauseKind::Fault,
        }
    }

    /// The kind in a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Missing => "expected, and did not come",
            Self::Unexpected => "said, although nobody expected it",
            Self::Contract => "breaks the contract of the wire",
            Self::Outstanding => "not cleared after healing",
            Self::LeftStanding => "left standing in the cluster after healing",
            Self::MissedMoment => "the moment never came",
            Self::ArmsDiffer => "the arms differ",
            Self::GoldenDiffers => "the trace is not the golden one",
            Self::RepeatsDiffer => "two repeats differ",
            Self::Crashed => "the monitor ended by itself",
            Self::Hung => "the monitor hangs",
            Self::Excess => "the monitor does too much in a poll",
            Self::StuckInKernel => "the monitor is stuck in the kernel",
            Self::SocketTampered => "the monitor takes the connector's socket away",
            Self::Stage => "the stage could not be set",
            Self::Fault => "a fault of nicdrill's own",
        }
    }
}

/// A line of a file, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoryLine {
    /// Its place, as `file:line:column`, or `file:line` for a golden trace.
    pub place: String,
    /// Its text.
    pub text: String,
}

/// Why a finding does not count as a failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "because")]
pub enum Excuse {
    /// An entry of `known.toml` has it.
    Known {
        /// The reason that the entry gives.
        reason: String,
    },
    /// The run that this one is compared with had it too.
    InBaseline,
}

/// One failure, with everything needed to understand it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The cause, as facts.
    pub cause: Cause,
    /// How often it occurred in the drill, at least 1: a breach of every event is told once.
    pub times: u64,
    /// Why it does not count as a failure; `None` if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excuse: Option<Excuse>,
    /// The arm; `None` if it is about both.
    pub arm: Option<Arm>,
    /// The node; `None` in a world of one node.
    pub node: Option<String>,
    /// The line of the story, or of the golden trace, that it is about; `None` if there is none.
    pub line: Option<StoryLine>,
    /// The tick (poll) in which it occurred; `None` if there is none.
    pub tick: Option<u64>,
    /// What was done last before it, and the last call before it that was not accepted, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// What was expected, one line each.
    pub expected: Vec<String>,
    /// What came, one line each, the nearest first; empty if nothing came.
    pub came: Vec<String>,
    /// The reads around that tick.
    pub reads: Vec<Read>,
}

impl Finding {
    /// Its kind in a few words. An alarm that is judged by its fault can stay too long before anything heals by itself.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match (self.kind, self.cause.action) {
            (FindingKind::Outstanding, Some(action)) if action != CauseAction::Healing => {
                "not cleared when its fault was over"
            }
            (kind, _) => kind.words(),
        }
    }

    /// Whether it is about the line at this place.
    #[must_use]
    pub fn is_at(&self, place: &str) -> bool {
        self.line.as_ref().is_some_and(|line| line.place == place)
    }

    /// A failure without a line of the story, with its kind and what came.
    #[must_use]
    pub fn plain(kind: FindingKind, arm: Option<Arm>, came: impl Into<String>) -> Self {
        Self {
            kind,
            cause: Cause::of(kind.cause()),
            times: 1,
            excuse: None,
            arm,
            node: None,
            line: None,
            tick: None,
            before: Vec::new(),
            expected: Vec::new(),
            came: vec![came.into()],
            reads: Vec::new(),
        }
    }

    /// A failure of which only the kind is known yet, with the cause that follows from it.
    #[must_use]
    pub fn of(kind: FindingKind) -> Self {
        Self {
            came: Vec::new(),
            ..Self::plain(kind, None, "")
        }
    }
}

/// The outcome of a drill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Played in at least one arm, without a failure.
    Passed,
    /// Played with findings, each of which is excused.
    Known,
    /// Played with a failure.
    Failed,
    /// Played in no arm.
    Skipped,
}

/// The report of one drill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrillReport {
    /// Its name.
    pub drill: DrillName,
    /// Its outcome.
    pub outcome: Outcome,
    /// Its arms, in order.
    pub arms: Vec<ArmReport>,
    /// Its failures, in order of time.
    pub findings: Vec<Finding>,
    /// The verdicts on the monitor's reports, by workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<VerdictReport>,
    /// How many of its expectations were judged, and why the others were not.
    pub judged: Judged,
    /// The file of its scenario.
    pub file: String,
    /// The command that repeats it.
    pub repeat: String,
    /// The command that shows it in full.
    pub show: String,
    /// Values that differ between equal runs.
    pub wall: Wall,
}

impl DrillReport {
    /// The outcome that follows from `arms` and `findings`.
    #[must_use]
    pub fn outcome_of(arms: &[ArmReport], findings: &[Finding]) -> Outcome {
        if findings.iter().any(|finding| finding.excuse.is_none()) {
            Outcome::Failed
        } else if !findings.is_empty() {
            Outcome::Known
        } else if arms
            .iter()
            .all(|arm| matches!(arm.status, ArmStatus::Skipped { .. }))
        {
            Outcome::Skipped
        } else {
            Outcome::Passed
        }
    }

    /// The exit code for this drill.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        self.findings
            .iter()
            .filter(|finding| finding.excuse.is_none())
            .fold(ExitCode::Success, |code, finding| {
                code.or(finding.kind.exit_code())
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drills_name_is_read_back_as_it_was_written() {
        for scenario in ["port/cut", "mine/cut@night"] {
            let name = DrillName {
                scenario: scenario.to_owned(),
                world: "h100-oci:vfs".to_owned(),
            };
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        for text in ["", "port/cut", "@h100-oci", "port/cut@"] {
            let error = text.parse::<DrillName>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }

    #[test]
    fn a_drill_that_was_played_nowhere_is_not_passed() {
        let skipped = ArmReport {
            arm: Arm::Process,
            status: ArmStatus::Skipped {
                reason: "no /dev/fuse".to_owned(),
            },
            polls: 0,
            events: 0,
        };
        let passed = ArmReport {
            arm: Arm::Memory,
            status: ArmStatus::Passed,
            polls: 3,
            events: 1,
        };
        assert_eq!(DrillReport::outcome_of(&[], &[]), Outcome::Skipped);
        assert_eq!(
            DrillReport::outcome_of(std::slice::from_ref(&skipped), &[]),
            Outcome::Skipped
        );
        assert_eq!(
            DrillReport::outcome_of(&[passed.clone(), skipped], &[]),
            Outcome::Passed
        );
        let wrong = Finding::plain(FindingKind::Unexpected, None, "fatal mlx5_0");
        assert_eq!(
            DrillReport::outcome_of(&[passed], &[wrong]),
            Outcome::Failed
        );
    }
}
