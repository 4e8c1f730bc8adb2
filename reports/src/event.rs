//! The events of a run, in drill order: the only input of a reporter.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use terms::Arm;

use crate::{Coverage, DrillName, DrillReport, ExcusesReport, ExitCode, JudgedBy, Summary};

/// Values that differ between two equal runs: wall-clock times, process ids, ports, paths.
///
/// A comparison of two runs must ignore every member named `wall`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Wall(pub BTreeMap<String, Value>);

impl Wall {
    /// The same values with one added.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The milliseconds under `ms`, if present.
    #[must_use]
    pub fn ms(&self) -> Option<u64> {
        self.0.get("ms").and_then(Value::as_u64)
    }
}

/// The plan of a run, complete before its first drill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunPlan {
    /// The monitor under test, by its descriptor's name.
    pub monitor: String,
    /// The file of its descriptor, as the command line or `nicdrill.toml` names it; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<String>,
    /// What it is judged by.
    pub judged_by: JudgedBy,
    /// Whether it promises that an event is lost if its call fails.
    #[serde(skip_serializing_if = "is_false")]
    pub loses_events: bool,
    /// The arguments of the command line, without those that say where results go (`--out`, `--report`) and which
    /// shard this is.
    pub asked: Vec<String>,
    /// Which shard of the selection this is, as `K/N`; `None` for the whole of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The arguments that select the same scenario files, monitor, platform files and needs again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<String>,
    /// The drills in order, each with its arms.
    pub drills: Vec<PlannedDrill>,
    /// Pairs of scenario and world that are not applicable, with the reason.
    pub not_applicable: Vec<NotApplicable>,
    /// Values that differ between equal runs.
    pub wall: Wall,
}

impl RunPlan {
    /// Whether neither the command line nor `nicdrill.toml` named a monitor.
    pub(crate) fn names_no_monitor(&self) -> bool {
        !self.drills.is_empty() && !self.again.iter().any(|word| word == "--monitor")
    }

    /// The monitor as text: its name, and the file of its descriptor.
    pub(crate) fn monitor_text(&self) -> String {
        let file = self.descriptor.as_ref();
        let file = file.map_or_else(String::new, |file| format!(" ({file})"));
        format!("`{}`{file}", self.monitor)
    }
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// One drill to be played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDrill {
    /// Its name.
    pub drill: DrillName,
    /// The arms in which it is to be played.
    pub arms: Vec<Arm>,
}

/// A pair that is not applicable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotApplicable {
    /// The drill that it would be.
    pub drill: DrillName,
    /// In words, for a report.
    pub reason: String,
}

/// The result of the probe drill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "outcome")]
pub enum ProbeOutcome {
    /// The monitor polls and returns to the gate.
    Ready {
        /// What its descriptor seems to say wrongly, and what to write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        advice: Option<String>,
    },
    /// It does not; the run ends here.
    Failed {
        /// In words, for a report.
        reason: String,
        /// The exit code of the run.
        exit_code: ExitCode,
    },
    /// The arm is not available.
    Skipped {
        /// In words, for a report.
        reason: String,
    },
}

impl ProbeOutcome {
    /// A monitor that can be drilled, and whose descriptor says nothing wrong.
    pub const READY: Self = Self::Ready { advice: None };
}

/// An event of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum RunEvent {
    /// The run starts.
    RunStarted(RunPlan),
    /// The monitor was probed, before any drill.
    Probe {
        /// The monitor.
        monitor: String,
        /// The result.
        #[serde(flatten)]
        outcome: ProbeOutcome,
        /// Values that differ between equal runs.
        wall: Wall,
    },
    /// A pair is not applicable.
    NotApplicable(NotApplicable),
    /// A drill starts.
    DrillStarted(PlannedDrill),
    /// A drill ended without a failure.
    DrillPassed(DrillReport),
    /// A drill ended with findings, each of which is excused.
    DrillKnown(DrillReport),
    /// A drill ended with a failure.
    DrillFailed(DrillReport),
    /// A drill was played in no arm.
    DrillSkipped(DrillReport),
    /// What became of the known deviations and of an earlier run's findings; emitted only with a
    /// `known.toml` or a baseline.
    Excuses(ExcusesReport),
    /// The clause coverage; emitted on request only.
    Coverage(Coverage),
    /// The run ends.
    RunEnded {
        /// The summary.
        summary: Summary,
        /// The exit code of the command.
        exit_code: ExitCode,
        /// Values that differ between equal runs.
        wall: Wall,
    },
}
