//! What happens in a run, in plain words and in drill order: the only thing a renderer sees.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::{ArmName, Coverage, DrillName, DrillReport, ExitCode, Summary};

/// Values that differ between two equal runs: wall-clock times, process ids, ports, paths.
///
/// Whoever compares two runs leaves out every member named `wall`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Wall(pub BTreeMap<String, Value>);

impl Wall {
    /// The same with one value more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The milliseconds under `ms`, if there are any.
    #[must_use]
    pub fn ms(&self) -> Option<u64> {
        self.0.get("ms").and_then(Value::as_u64)
    }
}

/// What a run is going to do, complete before its first drill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunPlan {
    /// The monitor under test, by its descriptor's name.
    pub monitor: String,
    /// What was asked for, as the words of a command line without host paths.
    pub asked: Vec<String>,
    /// The drills in order, each with the arms in which it is to be played.
    pub drills: Vec<PlannedDrill>,
    /// Pairs of scenario and world that do not fit, with the reason.
    pub not_applicable: Vec<NotApplicable>,
    /// Values that differ between equal runs.
    pub wall: Wall,
}

/// One drill to be played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedDrill {
    /// Its name.
    pub drill: DrillName,
    /// Where it is to be played.
    pub arms: Vec<ArmName>,
}

/// A pair that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotApplicable {
    /// The drill that it would be.
    pub drill: DrillName,
    /// Why it is none.
    pub reason: String,
}

/// How the drill before the drills went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "outcome")]
pub enum ProbeOutcome {
    /// The monitor polls and comes back to the gate.
    Ready,
    /// It does not; the run ends here.
    Failed {
        /// Why.
        reason: String,
        /// What the run ends with.
        exit_code: ExitCode,
    },
    /// The arm is not to be had here.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum RunEvent {
    /// The run begins.
    RunStarted(RunPlan),
    /// The monitor was tried once, before any drill.
    Probe {
        /// The monitor.
        monitor: String,
        /// How it went.
        #[serde(flatten)]
        outcome: ProbeOutcome,
        /// Values that differ between equal runs.
        wall: Wall,
    },
    /// A pair was found not to fit.
    NotApplicable(NotApplicable),
    /// A drill begins.
    DrillStarted(PlannedDrill),
    /// A drill ended, and nothing was wrong.
    DrillPassed(DrillReport),
    /// A drill ended, and something was wrong.
    DrillFailed(DrillReport),
    /// A drill was played in no arm.
    DrillSkipped(DrillReport),
    /// Which clauses were covered; told only if it was asked for.
    Coverage(Coverage),
    /// The run ends.
    RunEnded {
        /// What it came to.
        summary: Summary,
        /// What the command ends with.
        exit_code: ExitCode,
        /// Values that differ between equal runs.
        wall: Wall,
    },
}
