//! The report of a whole run: its plan, its drills, and totals.

use std::collections::BTreeSet;

use serde::Serialize;
use terms::{Arm, ReportVerdict};

use crate::{
    ArmStatus, CauseKind, Coverage, DrillName, DrillReport, ExcusesReport, ExitCode, Judged,
    Outcome, PlannedDrill, ProbeOutcome, RunEvent, RunPlan, VerdictReport, Wall,
};

/// The planned and the played drills of one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ArmCount {
    /// Drills planned for the arm.
    pub planned: u64,
    /// Drills played in it.
    pub run: u64,
}

/// How often the monitor was right about the workloads of a run's drills, and how early it reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerdictCount {
    /// Fatal and failed, or silent and not failed.
    pub agreement: u64,
    /// Fatal, and it did not fail.
    pub over_report: u64,
    /// Silent, and it failed.
    pub under_report: u64,
    /// The minimum, the median (the lower of two) and the maximum of the time from report to
    /// failure, in milliseconds, over drills with both; negative if the report came after.
    pub lead_ms: Option<[i64; 3]>,
}

/// The totals of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Drills that ended, with any outcome.
    pub drills: u64,
    /// Drills without a failure.
    pub passed: u64,
    /// Drills with excused findings alone.
    #[serde(skip_serializing_if = "is_zero")]
    pub known: u64,
    /// Drills with a failure.
    pub failed: u64,
    /// Drills played in no arm.
    pub skipped: u64,
    /// Drills that were planned but not reached, because the run ended early.
    pub not_reached: u64,
    /// Pairs that are not applicable.
    pub not_applicable: u64,
    /// How many expectations of these drills were judged, and why the others were not.
    pub judged: Judged,
    /// Number of polls in all arms.
    pub polls: u64,
    /// Number of health events received in all arms.
    pub events: u64,
    /// The memory arm.
    pub memory: ArmCount,
    /// The process arm.
    pub process: ArmCount,
    /// Failed drills whose artifacts were not kept, because others of their causes were.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_kept: u64,
    /// Why the process arm was skipped; `None` if it was not.
    pub process_skipped: Option<String>,
    /// The verdicts on the monitor's reports about workloads; `None` if no workload ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<VerdictCount>,
}

/// The report of a run, built from its events one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunReport {
    /// Its plan.
    pub plan: RunPlan,
    /// The result of the probe, if there was one.
    pub probe: Option<ProbeOutcome>,
    /// Its drills, in order.
    pub drills: Vec<DrillReport>,
    /// Its clause coverage, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What became of the known deviations and of an earlier run's findings, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excuses: Option<ExcusesReport>,
    /// Its totals.
    pub summary: Summary,
    /// The exit code of the command; `None` while the run is in progress.
    pub exit_code: Option<ExitCode>,
    /// Values that differ between equal runs.
    pub wall: Wall,
}

impl RunReport {
    /// Adds an event.
    pub fn take(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted(plan) => {
                self.plan = plan.clone();
                self.summary = self.counted();
            }
            RunEvent::Probe { outcome, .. } => self.probe = Some(outcome.clone()),
            RunEvent::NotApplicable(_) | RunEvent::DrillStarted(_) => {}
            RunEvent::DrillPassed(drill)
            | RunEvent::DrillKnown(drill)
            | RunEvent::DrillFailed(drill)
            | RunEvent::DrillSkipped(drill) => self.drills.push(drill.clone()),
            RunEvent::Excuses(excuses) => self.excuses = Some(excuses.clone()),
            RunEvent::Coverage(coverage) => self.coverage = Some(coverage.clone()),
            RunEvent::RunEnded {
                summary,
                exit_code,
                wall,
            } => {
                self.summary = summary.clone();
                self.exit_code = Some(*exit_code);
                self.wall = wall.clone();
            }
        }
    }

    /// The totals over the drills so far.
    #[must_use]
    pub fn counted(&self) -> Summary {
        let count = |number: usize| u64::try_from(number).expect("a count fits 64 bits");
        let mut summary = Summary {
            drills: count(self.drills.len()),
            not_reached: count(self.plan.drills.len().saturating_sub(self.drills.len())),
            not_applicable: count(self.plan.not_applicable.len()),
            ..Summary::default()
        };
        for planned in &self.plan.drills {
            for arm in &planned.arms {
                summary.arm_mut(*arm).planned += 1;
            }
        }
        for drill in &self.drills {
            match drill.outcome {
                Outcome::Passed => summary.passed += 1,
                Outcome::Known => summary.known += 1,
                Outcome::Failed => summary.failed += 1,
                Outcome::Skipped => summary.skipped += 1,
            }
            summary.judged.add(&drill.judged);
            for arm in &drill.arms {
                summary.polls += arm.polls;
                summary.events += arm.events;
                match &arm.status {
                    ArmStatus::Skipped { reason } if arm.arm == Arm::Process => {
                        summary.process_skipped = Some(reason.clone());
                    }
                    ArmStatus::Skipped { .. } => {}
                    ArmStatus::Passed | ArmStatus::Failed => summary.arm_mut(arm.arm).run += 1,
                }
            }
        }
        summary.verdicts = self.verdicts();
        summary
    }

    /// The planned drills that were not reached, because the run ended early.
    pub(crate) fn not_reached(&self) -> impl Iterator<Item = &PlannedDrill> {
        let reached: BTreeSet<&DrillName> = self.drills.iter().map(|drill| &drill.drill).collect();
        let planned = self.plan.drills.iter();
        planned.filter(move |planned| !reached.contains(&planned.drill))
    }

    /// Why the run ends with its exit code, and in how many of the failed drills that was so if not in all of them:
    /// one drill in which the monitor hung decides the code of a run that has hundreds of other mistakes.
    #[must_use]
    pub fn reason(&self, code: ExitCode) -> String {
        let failed = self
            .drills
            .iter()
            .filter(|drill| drill.outcome == Outcome::Failed);
        let (such, others): (Vec<&DrillReport>, Vec<&DrillReport>) =
            failed.partition(|drill| drill.exit_code() == code);
        let found = such.iter().flat_map(|drill| &drill.findings);
        let mut kinds = (found.filter(|finding| finding.excuse.is_none()))
            .map(|finding| finding.cause.kind)
            .peekable();
        let of_the_world = kinds.peek().is_some() && kinds.all(CauseKind::is_of_the_world);
        let not_drilled = matches!(self.probe, Some(ProbeOutcome::Failed { .. }));
        let meaning = match code {
            ExitCode::StageNotSet if not_drilled => {
                "the monitor cannot be drilled, and nothing was"
            }
            ExitCode::JudgedWrongly if of_the_world => {
                "the world is not what a line of a scenario says, whatever the monitor did"
            }
            _ => code.meaning(),
        };
        match such.first() {
            Some(first) if !others.is_empty() => {
                let all = such.len() + others.len();
                let name = match such.len() {
                    1 => first.drill.to_string(),
                    _ => format!("{} is the first", first.drill),
                };
                format!(
                    "{meaning}, in {} of the {all} failed drills: {name}",
                    such.len()
                )
            }
            _ => meaning.to_owned(),
        }
    }

    fn verdicts(&self) -> Option<VerdictCount> {
        let all: Vec<&VerdictReport> = self
            .drills
            .iter()
            .flat_map(|drill| &drill.verdicts)
            .collect();
        let mut leads: Vec<i64> = all.iter().filter_map(|verdict| verdict.lead_ms).collect();
        leads.sort_unstable();
        let mut count = VerdictCount {
            lead_ms: leads
                .first()
                .zip(leads.last())
                .map(|(least, most)| [*least, leads[(leads.len() - 1) / 2], *most]),
            ..VerdictCount::default()
        };
        for verdict in &all {
            match verdict.verdict {
                ReportVerdict::Agreement => count.agreement += 1,
                ReportVerdict::OverReport => count.over_report += 1,
                ReportVerdict::UnderReport => count.under_report += 1,
            }
        }
        (!all.is_empty()).then_some(count)
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Summary {
    fn arm_mut(&mut self, arm: Arm) -> &mut ArmCount {
        match arm {
            Arm::Memory => &mut self.memory,
            Arm::Process => &mut self.process,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Cause, Finding, FindingKind, check::found};

    use super::*;

    #[test]
    fn an_exit_code_that_few_drills_decide_says_how_many() {
        let failed =
            |scenario, kind| found(scenario, "p", vec![Finding::plain(kind, None, "poll 3")]);
        let missing = || failed("port/a", FindingKind::Missing);
        let hung = |scenario| failed(scenario, FindingKind::Hung);
        let of = |drills: Vec<DrillReport>| {
            let run = RunReport {
                drills,
                ..RunReport::default()
            };
            run.reason(ExitCode::CrashedOrHung)
        };
        assert_eq!(
            of(vec![missing(), hung("ops/a")]),
            "a monitor crashed or hung, in 1 of the 2 failed drills: ops/a@p"
        );
        assert_eq!(
            of(vec![missing(), hung("ops/a"), hung("ops/b")]),
            "a monitor crashed or hung, in 2 of the 3 failed drills: ops/a@p is the first"
        );
        assert_eq!(of(vec![hung("ops/a")]), "a monitor crashed or hung");
        assert_eq!(of(Vec::new()), "a monitor crashed or hung");
    }

    #[test]
    fn a_monitor_is_not_blamed_for_a_line_about_the_world() {
        let failed = |kind| {
            let finding = Finding {
                cause: Cause::of(kind),
                ..Finding::plain(FindingKind::Missing, None, "poll 3")
            };
            found("link/a", "p", vec![finding])
        };
        let of = |kinds: &[CauseKind]| {
            let run = RunReport {
                drills: kinds.iter().map(|kind| failed(*kind)).collect(),
                ..RunReport::default()
            };
            run.reason(ExitCode::JudgedWrongly)
        };
        let of_the_world =
            "the world is not what a line of a scenario says, whatever the monitor did";
        assert_eq!(of(&[CauseKind::Link, CauseKind::Lnet]), of_the_world);
        let of_the_monitor = "the monitor did not do what a drill expects";
        assert_eq!(of(&[CauseKind::Link, CauseKind::Missed]), of_the_monitor);
    }
}
