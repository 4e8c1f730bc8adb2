//! Reports of a run: its events, its outcomes, the exit codes, and its output formats: terminal, JSON, JUnit, HTML, and what
//! GitHub and GitLab show.
//!
//! This crate opens no file and knows no clock: the runner passes it [`RunEvent`]s and writes the
//! texts. Values that differ between two equal runs (a wall-clock time, a process id, a port, a path
//! of the host) are in members named `wall` only. Start at [`RunEvent`], then
//! [`ExitCode`].

mod cause;
#[cfg(test)]
mod check;
mod comparison;
mod comparison_page;
mod counted;
mod coverage;
mod event;
mod excuses;
mod excuses_report;
mod exit_code;
mod foreign;
mod github;
mod github_summary;
mod gitlab;
mod glob;
mod group;
mod group_page;
mod html;
mod json;
mod judged;
mod judged_by;
mod judged_page;
mod junit;
mod known;
mod lanes;
mod outcome;
mod repository;
mod root;
mod run;
mod run_fault;
mod shown;
mod slowest;
mod terminal;

pub use cause::{Cause, CauseAction, CauseError, CauseKind, CauseRole, CauseSubject};
pub use comparison::{
    AlarmCount, ComparedMonitor, Comparison, Conceded, Estimate, FaultCount, Spread, Weighted,
};
pub use comparison_page::comparison_page;
pub use counted::counted;
pub use coverage::{
    ClauseCoverage, ClauseStatus, Coverage, CoverageCount, Defence, ScenarioCoverage,
    SourceCoverage,
};
pub use event::{NotApplicable, PlannedDrill, ProbeOutcome, RunEvent, RunPlan, Wall};
pub use excuses::{Baseline, Excuses};
pub use excuses_report::ExcusesReport;
pub use exit_code::ExitCode;
use foreign::harmless;
pub use foreign::{as_output, one_line, quoted, visible};
pub use github::github_commands;
pub use github_summary::{GITHUB_SUMMARY_MAX, github_summary};
pub use gitlab::gitlab;
pub use glob::Glob;
pub use group::{FirstDrill, Group, finding_id, groups};
pub use group_page::groups_page;
pub use html::{HtmlReport, comparison_html};
pub use json::results;
pub use judged::{BROKE_OFF, Judged, LeftOut};
pub use judged_by::JudgedBy;
pub use judged_page::{judged_line, not_judged_page};
pub use junit::{JUnitError, junit};
pub use known::{Day, KnownDeviations, KnownEntry, KnownError, known_schema};
pub use lanes::{Lane, LaneOf, Lanes, Mark, MarkKind, Stretch, lanes_page};
pub use outcome::{
    ArmReport, ArmStatus, DrillName, DrillNameError, DrillReport, Excuse, Finding, FindingKind,
    Outcome, Read, StoryLine, VerdictReport,
};
pub use repository::Repository;
pub use run::{ArmCount, RunReport, Summary, VerdictCount};
pub use slowest::{slowest, slowest_page};
pub use terminal::{Style, coverage_page, drill_block, event_line, summary_line};
