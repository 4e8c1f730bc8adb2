//! A run: plays every drill once or several times, reports in order, and computes the result.
//!
//! The run itself writes and prints nothing; an [`Audience`] does. An internal error in one drill is
//! reported as such and does not affect the others. One drill of it is in `run/drilled.rs`.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    num::NonZeroUsize,
    ops::ControlFlow,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use reports::{
    Coverage, DrillName, DrillReport, Excuses, ExcusesReport, ExitCode, Finding, FindingKind,
    Lanes, Outcome, ProbeOutcome, RunEvent, RunPlan, RunReport, Wall,
};
use terms::Arm;

use super::{
    NoProcessArm,
    coverage::{Covering, coverage},
    jobs, judged,
    pairs::Selected,
    probing::Probed,
};
use observe::{Descriptor, Recording};

use crate::{
    Interruption, Player, SharedTrees, WrongMonitor, needs::SiteNeeds, process::run_pid,
    read_files::Library, repeat::Fingerprint, run_folder::Artifact,
};

mod drilled;
mod merging;
mod telling;

use drilled::compare;
pub use merging::{Joined, merge};
use telling::Telling;

/// Creates the player of a worker, counted from 0, for the process arm.
pub type Players<'r> = dyn Fn(usize) -> Result<Box<dyn Player>, NoProcessArm> + Sync + 'r;

/// The process arm of a run.
pub struct ProcessArm<'r> {
    /// Probes the monitor.
    pub probe: &'r (dyn Fn() -> Probed + Sync),
    /// Creates players.
    pub players: &'r Players<'r>,
}

/// Options of a run.
#[derive(Default)]
pub struct How<'r> {
    /// Number of drills at once; the number of allowed CPUs if `None`.
    pub jobs: Option<usize>,
    /// After which time no further drill begins.
    pub budget: Option<Duration>,
    /// Whether drills that need much real time start first; they are reported in their order all the same.
    pub long_ones_first: bool,
    /// Whether the run ends at the first failure.
    pub fail_fast: bool,
    /// How often everything is played; the repeats are compared.
    pub repeat: Option<u32>,
    /// Whether the process arm must be available.
    pub require_process: bool,
    /// Whether a run in which every requested drill was skipped counts as a success.
    pub allow_skips: bool,
    /// Whether every drill leaves artifacts, not only a failed one.
    pub keep: bool,
    /// Whether the audience receives the lanes of drills with findings; with `keep`, of every drill.
    pub draws: bool,
    /// Whether the audience receives the recordings of every drill; otherwise those of a passed drill are dropped when
    /// it ends, unless artifacts or repeats need them.
    pub records: bool,
    /// What a site needs; then the monitor is judged by it, and not by what it promises.
    pub needs: Option<SiteNeeds>,
    /// What does not count as a failure.
    pub excuses: Excuses,
    /// Whether golden traces are rewritten.
    pub bless: bool,
    /// Whether, and how, clause coverage is reported.
    pub coverage: Option<Covering>,
    /// The monitor is one that is wrong on purpose.
    pub wrong: Option<WrongMonitor>,
    /// The trees that drills start with, shared.
    pub trees: SharedTrees,
    /// The words of the command line, without those that say where results go and which shard this is.
    pub asked: Vec<String>,
    /// Which shard this is, as `K/N`; `None` for a whole run.
    pub shard: Option<String>,
    /// The arguments that select the same files and monitor again.
    pub again: Vec<String>,
    /// The process arm; `None` if no drill needs it.
    pub process: Option<Result<ProcessArm<'r>, NoProcessArm>>,
    /// Whether the run is to end early.
    pub interruption: Interruption,
}

/// Receives the events of a run.
pub trait Audience {
    /// Receives an event.
    fn hear(&mut self, event: &RunEvent);

    /// Receives a drill's artifacts: of a failed drill, or of every drill if they are kept.
    fn receive(&mut self, drill: &DrillName, artifacts: &[Artifact]);

    /// Receives what is kept of a probe; nothing if it succeeded. The default ignores it.
    fn probed(&mut self, _files: &[Artifact]) {}

    /// Receives the recordings of a played drill, by arm; empty if it was not played to its end, or if it passed and
    /// [`How::records`] is not set. The default ignores them.
    fn played(&mut self, _drill: &DrillName, _recordings: &[(Arm, Recording)]) {}

    /// Receives the lanes of a drill in its arms, if they are asked for. The default ignores them.
    fn drawn(&mut self, _drill: &DrillName, _lanes: Vec<Lanes>) {}

    /// Tells that a drill has ended, and whether it is red; it is reported when all before it are. The default ignores it.
    fn ended(&mut self, _is_red: bool) {}

    /// Announces that what follows belongs to this repeat, counted from 1.
    fn repeat(&mut self, number: u32);

    /// Announces that what follows belongs to the run as a whole.
    fn whole(&mut self);

    /// Receives the result of a drill over all repeats, which was heard in one of them. The default ignores it.
    fn result(&mut self, _event: &RunEvent) {}
}

/// Plays the selected drills.
pub fn run(
    library: &Library,
    descriptor: &Descriptor,
    selected: &Selected,
    how: &How<'_>,
    audience: &mut dyn Audience,
) -> RunReport {
    let began = Instant::now();
    let show = Show {
        library,
        descriptor,
        selected,
        how,
    };
    let mut whole = RunReport::default();
    let repeats = how.repeat.unwrap_or(1);
    let mut first = BTreeMap::new();
    for number in 1..=repeats {
        if how.repeat.is_some() {
            audience.repeat(number);
        }
        let report = show.once(number, &mut first, audience);
        let over =
            matches!(report.probe, Some(ProbeOutcome::Failed { .. })) || show.is_interrupted();
        if number == 1 {
            whole = report;
        } else {
            join(&mut whole, report);
        }
        let failed = whole
            .drills
            .iter()
            .any(|drill| drill.outcome == Outcome::Failed);
        if over || how.fail_fast && failed {
            break;
        }
    }
    if how.repeat.is_some() {
        audience.whole();
        whole.coverage = show.coverage(&whole.drills);
        whole.excuses = show.excuses(&whole.drills);
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        whole.wall = Wall::default().with("ms", ms).with("repeats", repeats);
        audience.hear(&RunEvent::RunStarted(whole.plan.clone()));
        for drill in &whole.drills {
            audience.result(&telling::told(drill.clone()));
        }
        if let Some(excuses) = &whole.excuses {
            audience.hear(&RunEvent::Excuses(excuses.clone()));
        }
        if let Some(coverage) = &whole.coverage {
            audience.hear(&RunEvent::Coverage(coverage.clone()));
        }
        audience.hear(&RunEvent::RunEnded {
            summary: whole.summary.clone(),
            exit_code: whole.exit_code.unwrap_or(ExitCode::InternalFault),
            wall: whole.wall.clone(),
        });
    }
    whole
}

/// Merges the report of a later repeat into the run's.
fn join(whole: &mut RunReport, report: RunReport) {
    for (drill, again) in whole.drills.iter_mut().zip(report.drills) {
        if again.outcome != Outcome::Failed {
            continue;
        }
        if drill.outcome == Outcome::Failed {
            // That repeats differ is told by later ones alone.
            let differ = |finding: &Finding| finding.kind == FindingKind::RepeatsDiffer;
            if again.findings.iter().any(differ) {
                drill.repeat = again.repeat;
            }
            drill
                .findings
                .extend(again.findings.into_iter().filter(differ));
        } else {
            *drill = again;
        }
    }
    let not_kept = whole.summary.not_kept + report.summary.not_kept;
    whole.summary = whole.counted();
    whole.summary.not_kept = not_kept;
    whole.exit_code = match (whole.exit_code, report.exit_code) {
        (Some(one), Some(other)) => Some(one.or(other)),
        (one, other) => one.or(other),
    };
}

/// State that all repeats share.
struct Show<'r> {
    library: &'r Library,
    descriptor: &'r Descriptor,
    selected: &'r Selected,
    how: &'r How<'r>,
}

impl Show<'_> {
    fn once(
        &self,
        number: u32,
        first: &mut BTreeMap<DrillName, Vec<Fingerprint>>,
        audience: &mut dyn Audience,
    ) -> RunReport {
        let began = Instant::now();
        let is_used_up = || {
            self.how
                .budget
                .is_some_and(|budget| began.elapsed() >= budget)
        };
        let mut telling = Telling::begin(self, audience);
        if telling.probed(self.probe()) {
            let order = match self.how.long_ones_first {
                true => self.selected.long_ones_first(self.jobs()),
                false => (0..self.selected.drills.len()).collect(),
            };
            // What has ended is counted, and what is due is told, both on this thread.
            let telling = RefCell::new(&mut telling);
            jobs::postponing(
                self.jobs(),
                &order,
                |job, turn| self.job_players(job, turn),
                |job_players, place, beside| {
                    let planned = &self.selected.drills[place];
                    if is_used_up() {
                        return Some(None);
                    }
                    let drilled = self.drill(job_players, planned);
                    let is_last = beside == jobs::Beside::Nothing || self.is_interrupted();
                    if drilled.is_given_up && !is_last {
                        let drill = &planned.drill;
                        job_players.tells(&format!(
                            "{drill} is played again when all others are done: the machine stalls"
                        ));
                    }
                    (is_last || !drilled.is_given_up).then_some(Some(drilled))
                },
                |done| {
                    let report = match done {
                        Ok(Some(drilled)) => Some(&drilled.report),
                        Ok(None) => return,
                        Err(_) => None,
                    };
                    telling.borrow_mut().ended(report);
                },
                |place, done| {
                    let mut telling = telling.borrow_mut();
                    let planned = &self.selected.drills[place];
                    let done = done.unwrap_or_else(|panic| Some(self.fallen(planned, panic)));
                    let Some(mut drilled) = done else {
                        return ControlFlow::Break(());
                    };
                    if drilled.is_interrupted {
                        return ControlFlow::Break(());
                    }
                    let repeats = self.how.repeat.unwrap_or(number);
                    compare(&mut drilled, number, repeats, first);
                    let recordings = drilled.recordings;
                    telling.played(planned, &recordings);
                    telling.drawn(&drilled.report, drilled.lanes);
                    let failed = telling.drill(drilled.report, |drill| {
                        self.artifacts(&drill.drill, &recordings)
                    });
                    if self.is_interrupted() || failed && self.how.fail_fast {
                        return ControlFlow::Break(());
                    }
                    ControlFlow::Continue(())
                },
            );
        }
        telling.end()
    }

    fn plan(&self) -> RunPlan {
        let began = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        RunPlan {
            monitor: self.monitor(),
            descriptor: judged::descriptor_file(&self.how.again),
            judged_by: judged::judged_by(self.descriptor, self.how.needs.as_ref(), &self.how.again),
            loses_events: judged::loses_events(self.descriptor),
            asked: self.how.asked.clone(),
            shard: self.how.shard.clone(),
            again: self.how.again.clone(),
            drills: self.selected.drills.clone(),
            not_applicable: self.selected.not_applicable.clone(),
            wall: Wall::default()
                .with("began_unix_s", began.as_secs())
                .with("pid", run_pid())
                .with("jobs", self.jobs()),
        }
    }

    fn excuses(&self, drills: &[DrillReport]) -> Option<ExcusesReport> {
        let excuses = &self.how.excuses;
        (!excuses.is_empty()).then(|| excuses.report(drills))
    }

    fn coverage(&self, drills: &[DrillReport]) -> Option<Coverage> {
        let Selected {
            drills: planned,
            not_applicable,
            ..
        } = self.selected;
        let Library {
            clauses, scenarios, ..
        } = self.library;
        let rendered = |covering| {
            coverage(
                clauses,
                scenarios,
                planned,
                drills,
                not_applicable,
                covering,
            )
        };
        self.how.coverage.map(rendered)
    }

    fn monitor(&self) -> String {
        match &self.how.wrong {
            Some(wrong) => format!("{} ({})", self.descriptor.name, wrong.name),
            None => self.descriptor.name.clone(),
        }
    }

    fn jobs(&self) -> usize {
        self.how
            .jobs
            .unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }

    fn is_interrupted(&self) -> bool {
        self.how.interruption.is_asked_for()
    }

    /// Probes the monitor as a process, if any drill needs the process arm.
    fn probe(&self) -> Option<Probed> {
        Some(match self.how.process.as_ref()? {
            Ok(arm) => (arm.probe)(),
            Err(reason) => {
                let reason = reason.to_string();
                ProbeOutcome::Skipped { reason }.into()
            }
        })
    }
}
