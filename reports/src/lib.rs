//! Reports of a run: its events, its outcomes, the exit codes, and three output formats: terminal,
//! JSON and JUnit.
//!
//! This crate opens no file and knows no clock: the runner passes it [`RunEvent`]s and writes the
//! texts. Values that differ between two equal runs (a wall-clock time, a process id, a port, a path
//! of the host) are in members named `wall` only. HTML is not built yet. Start at [`RunEvent`], then
//! [`ExitCode`].

mod coverage;
mod event;
mod exit_code;
mod json;
mod junit;
mod outcome;
mod run;
mod terminal;

pub use coverage::{
    ClauseCoverage, ClauseStatus, Coverage, CoverageCount, ScenarioCoverage, SourceCoverage,
};
pub use event::{NotApplicable, PlannedDrill, ProbeOutcome, RunEvent, RunPlan, Wall};
pub use exit_code::ExitCode;
pub use json::{RESULTS_VERSION, results};
pub use junit::{JUnitError, junit};
pub use outcome::{
    ArmName, ArmReport, ArmStatus, DrillName, DrillNameError, DrillReport, Finding, FindingKind,
    Outcome, Read, StoryLine, VerdictReport, VerdictWord,
};
pub use run::{ArmCount, RunReport, Summary, VerdictCount};
pub use terminal::{Style, coverage_page, drill_block, event_line, summary_line};
