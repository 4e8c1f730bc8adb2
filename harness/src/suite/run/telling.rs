//! A run as it is told: its events in order, with the totals and the exit code that follow from them. The drills are
//! played now ([`super::run`]), or were played by the shards of the run ([`super::merge`]). Start at [`Telling`].

use std::time::Instant;

use observe::Recording;
use reports::{
    DrillReport, ExitCode, Lanes, Outcome, PlannedDrill, ProbeOutcome, RunEvent, RunReport, Wall,
    slowest,
};
use serde_json::{Value, json};
use terms::Arm;

use super::{
    super::{judged, keeping::Keeping, probing::Probed},
    Audience, Show,
};
use crate::run_folder::Artifact;

/// How many drills the end of a run names that took longest. Chosen.
const SLOWEST: usize = 10;

/// A run that is being told.
pub(super) struct Telling<'r> {
    show: &'r Show<'r>,
    audience: &'r mut dyn Audience,
    report: RunReport,
    keeping: Keeping,
    /// The exit code of the probe.
    probe: ExitCode,
    /// Whether the probe failed, so that no drill was begun.
    is_over: bool,
    began: Instant,
}

impl<'r> Telling<'r> {
    /// Tells the plan.
    pub(super) fn begin(show: &'r Show<'r>, audience: &'r mut dyn Audience) -> Self {
        let mut telling = Self {
            show,
            audience,
            report: RunReport::default(),
            keeping: Keeping::default(),
            probe: ExitCode::Success,
            is_over: false,
            began: Instant::now(),
        };
        telling.emit(RunEvent::RunStarted(show.plan()));
        for pair in &show.selected.not_applicable {
            telling.emit(RunEvent::NotApplicable(pair.clone()));
        }
        telling
    }

    fn emit(&mut self, event: RunEvent) {
        self.report.take(&event);
        self.audience.hear(&event);
    }

    /// Tells the result of the probe, if there was one. Returns whether drills follow.
    pub(super) fn probed(&mut self, probed: Option<Probed>) -> bool {
        let Some(Probed {
            mut outcome,
            wall,
            files,
        }) = probed
        else {
            return true;
        };
        if let ProbeOutcome::Failed { exit_code, .. } = &mut outcome {
            // The run ends with the code of the signal, so that is what is told.
            if let Some(interrupted) = self.show.how.interruption.exit_code() {
                *exit_code = exit_code.or(interrupted);
            }
            (self.probe, self.is_over) = (*exit_code, true);
        }
        let outcome = outcome.shown();
        let monitor = self.show.descriptor.name.clone();
        self.emit(RunEvent::Probe {
            monitor,
            outcome,
            wall,
        });
        self.audience.probed(&files);
        !self.is_over
    }

    /// Tells that a drill has ended; `None` if it has no report because it fell.
    pub(super) fn ended(&mut self, report: Option<&DrillReport>) {
        let is_red = report.is_none_or(|report| report.outcome == Outcome::Failed);
        self.audience.ended(is_red);
    }

    /// Tells that a drill starts, and hands on its recordings.
    pub(super) fn played(&mut self, planned: &PlannedDrill, recordings: &[(Arm, Recording)]) {
        self.emit(RunEvent::DrillStarted(planned.clone()));
        self.audience.played(&planned.drill, recordings);
    }

    /// Hands on the lanes of a drill, if it has any.
    pub(super) fn drawn(&mut self, report: &DrillReport, lanes: Vec<Lanes>) {
        let has_findings = !report.findings.is_empty();
        if !lanes.is_empty() && (has_findings || self.keeping.draws_a_passed_one()) {
            let lanes = lanes.into_iter().map(Lanes::shown).collect();
            self.audience.drawn(&report.drill, lanes);
        }
    }

    /// Tells the result of a drill, and keeps its artifacts if it leaves any. Returns whether it failed.
    pub(super) fn drill(
        &mut self,
        mut drill: DrillReport,
        artifacts: impl FnOnce(&DrillReport) -> Vec<Artifact>,
    ) -> bool {
        let how = self.show.how;
        // What was found since it ended, such as another result of the drill in another repeat, may be known too.
        how.excuses.mark(&mut drill);
        let drill = drill.shown();
        let failed = drill.outcome == Outcome::Failed;
        if how.keep || failed && self.keeping.admits(&drill) {
            let mut artifacts = artifacts(&drill);
            self.keeping.thin(&mut artifacts);
            self.keeping.weigh(&artifacts);
            self.audience.receive(&drill.drill, &artifacts);
        }
        self.emit(told(drill));
        failed
    }

    /// Tells the totals and the exit code, and how long the run took.
    pub(super) fn end(self) -> RunReport {
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.end_after(ms)
    }

    /// Tells the same of a run that took so many milliseconds.
    pub(super) fn end_after(mut self, ms: u64) -> RunReport {
        let Show { how, .. } = self.show;
        let mut summary = self.report.counted();
        summary.not_kept = self.keeping.not_kept;
        let drills = self.report.drills.iter();
        let mut code = drills.fold(self.probe, |code, drill| code.or(drill.exit_code()));
        // The drills of the run are in its other shards.
        let is_empty_shard = how.shard.is_some() && self.report.plan.drills.is_empty();
        let nothing_run = summary.memory.run + summary.process.run == 0 && !is_empty_shard;
        if nothing_run && !how.allow_skips && !self.is_over {
            let is_begun = how.budget.is_none() || !self.report.drills.is_empty();
            code = code.or(if is_begun {
                ExitCode::StageNotSet
            } else {
                ExitCode::NothingJudged
            });
        }
        if how.require_process && summary.process.run == 0 && !is_empty_shard {
            code = code.or(ExitCode::StageNotSet);
        }
        if let Some(interrupted) = how.interruption.exit_code() {
            code = code.or(interrupted);
        }
        if !self.is_over && !is_empty_shard {
            let judged_by = &self.report.plan.judged_by;
            code = code.or(judged::judged_exit_code(judged_by, &summary));
        }
        if let Some(excuses) = self.show.excuses(&self.report.drills) {
            code = code.or(excuses.exit_code());
            self.emit(RunEvent::Excuses(excuses));
        }
        if let Some(coverage) = self.show.coverage(&self.report.drills) {
            code = code.or(coverage.exit_code());
            self.emit(RunEvent::Coverage(coverage));
        }
        let slowest = slowest(&self.report.drills, SLOWEST).into_iter();
        let slowest = slowest.map(|(drill, ms)| json!({ "drill": drill.to_string(), "ms": ms }));
        let slowest: Vec<Value> = slowest.collect();
        let wall = Wall::default().with("ms", ms).with("slowest", slowest);
        self.emit(RunEvent::RunEnded {
            summary,
            exit_code: code,
            wall,
        });
        self.report
    }
}

/// The event that tells the result of a drill.
pub(super) fn told(drill: DrillReport) -> RunEvent {
    match drill.outcome {
        Outcome::Passed => RunEvent::DrillPassed(drill),
        Outcome::Known => RunEvent::DrillKnown(drill),
        Outcome::Failed => RunEvent::DrillFailed(drill),
        Outcome::Skipped => RunEvent::DrillSkipped(drill),
    }
}
