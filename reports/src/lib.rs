//! How a run is told: its events in plain words, its outcomes, the exit codes, and the three texts
//! made of them: terminal, JSON and JUnit.
//!
//! It opens no file and knows no clock: whoever runs drills hands it [`RunEvent`]s and writes the
//! texts where they belong. A value that differs between two equal runs (a wall-clock time, a
//! process id, a port, a path of the host) stands in a member named `wall` and nowhere else. HTML is
//! not built yet. Start at [`RunEvent`], then [`ExitCode`].

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
    ArmName, ArmReport, ArmStatus, DrillName, DrillNameError, DrillReport, Failure, FailureKind,
    Outcome, Read, StoryLine, VerdictReport, VerdictWord,
};
pub use run::{ArmCount, RunReport, Summary, VerdictCount};
pub use terminal::{Style, coverage_page, drill_block, event_line, summary_line};
