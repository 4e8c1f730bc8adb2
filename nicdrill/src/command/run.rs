//! `nicdrill run`: runs drills.

use std::{collections::BTreeMap, ffi::OsString, process, time::Duration};

use harness::{
    alert_rules,
    needs::SiteNeeds,
    run_folder::{Artifact, RunFolder, RunFolderError},
    suite::{self, Audience, Before, Covering, How, ProcessArm, Starting},
};
use observe::Recording;
use reports::{
    DrillName, Excuses, ExitCode, JudgedBy, Lanes, ProbeOutcome, RunEvent, RunReport, counted,
    coverage_page, event_line, groups_page, not_judged_page, slowest_page, summary_line,
};
use terms::Arm;

use store::StoreUrl;

use super::{
    Stop,
    asked::asked,
    excuses, needs,
    report_output::{ReportOutput, Reported, reports_asked_for},
    repository::{is_ci, repository},
    run_values,
    select::{Choice, choose, is_path},
    stage::{self, Here, Standing},
    stored::{self, Storing},
};
use crate::{
    arguments::{Arms, Required, RunArguments, TellArguments},
    pages::{conceded::conceded_page, undrilled::undrilled_page},
    settings::FILE,
    terminal::{Terminal, log},
};

/// Runs drills and reports the results.
///
/// `words` are those of the command line, with those of a profile.
pub(crate) fn run(arguments: &RunArguments, words: &[OsString]) -> Result<process::ExitCode, Stop> {
    let reports = reports_asked_for(&arguments.reporting.tell, arguments.select.out.as_deref())?;
    let store = stored::asked_for(arguments)?;
    may_bless(arguments)?;
    let drill_limit = run_values::drill_limit(arguments)?;
    let budget = run_values::budget(arguments)?;
    if arguments.select.arm != Some(Arms::Memory)
        && let Some(code) = stage::begin(store.is_some())
    {
        return Ok(code.into());
    }
    let mut choice = choose(&arguments.select, arguments.how.seed)?;
    // The run replaces the folder of the run before.
    let before = Before::read(&choice.out);
    if budget.is_some() {
        before.order(&mut choice.selected, &choice.library);
        // A clause whose drill was not reached is not uncovered.
        choice.covering = Covering::SuiteScenario;
    }
    names_its_monitor(
        &choice,
        "this would drill nicdrill's own monitor, not yours",
    )?;
    if choice.is_assumed {
        log(&format!(
            "NOTE  {FILE} names no `monitor`, so `{}` is drilled",
            choice.descriptor.name
        ));
        log("hint: write `monitor = \"FILE\"` into it, or pass `--monitor`");
    }
    if let Some(what) = alert_rules::without_meaning(&choice.descriptor) {
        log(&format!("NOTE  {what}"));
    }
    // The run folder may be the baseline: it is read before the run replaces it.
    let excuses = excuses::excuses(arguments, &choice)?;
    let needs = needs::read(
        arguments.how.needs.as_deref().or(choice.needs.as_deref()),
        &choice.library,
    )?;
    if needs.is_some() && choice.against.is_some() {
        return Err(Stop::usage(
            "`--against` and `--needs` say twice what the monitor is judged by",
        )
        .hint("leave one of them out"));
    }
    let all = choice.selected.of_all_shards;
    if let Some(shard) = &choice.shard
        && choice.selected.drills.is_empty()
        && all > 0
    {
        // Its folder says that it is not missing.
        let all = counted(all as u64, "drill");
        log(&format!(
            "NOTE  shard {shard} has nothing to play: the run has {all}"
        ));
    } else if choice.selected.drills.is_empty() {
        if arguments.select.failed {
            let failed = RunFolder::failed_before(&choice.out).map_err(Stop::input)?;
            log(if choice.out.join("probe").is_dir() {
                "nothing was selected: the run before stopped before its first drill"
            } else if failed.is_empty() && RunFolder::not_reached(&choice.out).is_some() {
                // The note before has told how many drills nothing is known of.
                "nothing was selected: the list `failed.txt` of the run before is empty"
            } else if failed.is_empty() {
                "nothing was selected: nothing failed in the run before"
            } else {
                "nothing was selected: no drill that failed in the run before is among those asked for"
            });
            return Ok(ExitCode::NothingJudged.into());
        }
        let unfit = choice.selected.not_applicable.len();
        let verb = if unfit == 1 { "does" } else { "do" };
        let unfit = counted(unfit as u64, "pair");
        match &arguments.select.filter {
            Some(filter) if choice.selected.not_applicable.is_empty() => {
                log(&format!(
                    "nothing was selected: `--filter '{filter}'` matches no drill"
                ));
                log(
                    "hint: a pattern is the whole of a name, and `*` stands for any part of it: `*nan*`, `port/*`",
                );
            }
            _ => {
                log(&format!("nothing was selected; {unfit} {verb} not fit"));
                if choice.library.own_scenarios {
                    let page = undrilled_page(&choice.selected.undrilled);
                    page.lines().for_each(log);
                }
                log("hint: `nicdrill list --drills` with the same names and flags prints why");
            }
        }
        return Ok(ExitCode::NothingJudged.into());
    }
    let as_process = |planned: &reports::PlannedDrill| planned.arms.contains(&Arm::Process);
    let wanted = choice.selected.drills.iter().any(as_process);
    let set = match store {
        Some(_) => stage::set_with_password,
        None => stage::set,
    };
    match set(wanted) {
        Standing::Outside(code) => Ok(code.into()),
        Standing::Here(here) => {
            let files = Files {
                reports,
                store,
                before,
                budget,
                drill_limit,
                asked: asked(words.iter().skip(1)),
            };
            played(arguments, &choice, &here, wanted, files, (excuses, needs))
        }
    }
}

/// What a run is given besides its drills.
struct Files {
    reports: Vec<ReportOutput>,
    store: Option<StoreUrl>,
    /// The run before.
    before: Before,
    /// After which time no drill begins.
    budget: Option<Duration>,
    /// How long a drill may take at most.
    drill_limit: Option<Duration>,
    /// What it was asked for.
    asked: Vec<String>,
}

/// Plays the selected drills and reports the results.
fn played(
    arguments: &RunArguments,
    choice: &Choice,
    here: &Here,
    wanted: bool,
    files: Files,
    (excuses, needs): (Excuses, Option<SiteNeeds>),
) -> Result<process::ExitCode, Stop> {
    let asked = files.asked;
    // A run whose store is not available does not start.
    let reached = stored::reach(files.store.as_ref(), arguments, &asked, here)?;
    let folder = folder_of(choice, &arguments.reporting.tell)?;
    let starting = Starting {
        drill_limit: files.drill_limit,
        pin: !arguments.how.no_pin,
        wrap: split(arguments.how.wrap.as_deref()),
        tell: Some(log),
        ..Starting::default()
    };
    let Choice {
        library,
        descriptor,
        selected,
        ..
    } = choice;
    let stage = here.stage.as_ref();
    let probe = || match stage {
        Ok(stage) => starting.probe(stage, library, descriptor, selected),
        Err(reason) => {
            let reason = reason.to_string();
            ProbeOutcome::Skipped { reason }.into()
        }
    };
    let players = |job| match stage {
        Ok(stage) => starting.player(stage, job),
        Err(reason) => Err(reason.clone()),
    };
    let arm = || match stage {
        Ok(_) => Ok(ProcessArm {
            probe: &probe,
            players: &players,
        }),
        Err(reason) => Err(reason.clone()),
    };
    let how = How {
        trees: starting.trees.clone(),
        jobs: arguments.how.jobs,
        budget: files.budget,
        // Otherwise the order is the user's, or that of what is valuable.
        long_ones_first: files.budget.is_none()
            && !arguments.how.fail_fast
            && arguments.how.seed == 0,
        fail_fast: arguments.how.fail_fast,
        repeat: arguments
            .how
            .repeat
            .and_then(|repeat| u32::try_from(repeat).ok()),
        require_process: arguments.how.require == Some(Required::Process),
        allow_skips: arguments.how.allow_skips,
        keep: arguments.how.keep,
        draws: files.reports.iter().any(ReportOutput::draws),
        records: reached.is_some(),
        excuses,
        again: again_with(choice, needs.as_ref()),
        needs,
        bless: arguments.reporting.bless,
        coverage: arguments.reporting.coverage.then_some(choice.covering),
        wrong: None,
        asked: asked.clone(),
        shard: choice.shard.clone(),
        process: wanted.then(arm),
        interruption: here.interruption.clone(),
    };
    if let Some(estimate) = suite::estimate(library, descriptor, selected)
        && !arguments.reporting.tell.quiet
    {
        log(&estimate.to_string());
    }
    let mut terminal = Terminal::new(arguments.reporting.tell.color);
    let repeats = usize::try_from(arguments.how.repeat.unwrap_or(1)).unwrap_or(usize::MAX);
    terminal.begin(
        selected.drills.len().saturating_mul(repeats),
        arguments.reporting.tell.quiet,
    );
    let storing = reached.map(|reached| Storing::begin(reached, folder.path(), arguments, asked));
    let mut output = RunOutput::new(terminal, folder, storing, &arguments.reporting.tell);
    let report = suite::run(library, descriptor, selected, &how, &mut output);
    let contents = files
        .before
        .after(library, &selected.drills, &report.drills);
    output.write(|folder| folder.keep_contents(&contents));
    if let Some(budget) = &arguments.how.budget
        && report.summary.not_reached > 0
        && !matches!(report.probe, Some(ProbeOutcome::Failed { .. }))
    {
        let drills = counted(report.summary.not_reached, "drill");
        log(&format!(
            "NOTE  {drills} not reached within the budget of {budget}"
        ));
    }
    let outputs = Outputs {
        reports: &files.reports,
        choice,
        known: how.excuses.known_file(),
        told: &arguments.reporting.tell,
    };
    Ok(tell(&report, output, &outputs).into())
}

/// Checks that a monitor is named where a pipeline is to tell about one; `what` says what comes of it otherwise.
pub(super) fn names_its_monitor(choice: &Choice, what: &str) -> Result<(), Stop> {
    if !(choice.is_unnamed && is_ci()) {
        return Ok(());
    }
    let stop = Stop::usage(format!("no monitor is named, and `CI` is set: {what}"));
    Err(stop.hint(format!(
        "write `monitor = \"FILE\"` into {FILE}, or pass `--monitor FILE`; `--monitor reference` drills nicdrill's own"
    )))
}

/// Where a run is told, other than its run folder.
pub(super) struct Outputs<'r> {
    pub(super) reports: &'r [ReportOutput],
    /// What was selected, and the run folder.
    pub(super) choice: &'r Choice,
    /// The file of known deviations.
    pub(super) known: Option<&'r str>,
    /// How it is told.
    pub(super) told: &'r TellArguments,
}

/// Writes the reports of a run that ended, tells its result on the terminal, and returns the exit code.
pub(super) fn tell(report: &RunReport, output: RunOutput, outputs: &Outputs<'_>) -> ExitCode {
    let RunOutput {
        mut terminal,
        storing,
        unwritten,
        lanes,
        ..
    } = output;
    let Outputs { told, .. } = outputs;
    let mut unwritten = Vec::from_iter(unwritten);
    terminal.end();
    let kept = storing.map_or(Ok(()), |storing| storing.finish(&mut terminal));
    // Hints name files in it, to be pasted into a shell.
    let folder = suite::pasted(&[outputs.choice.out.display().to_string()]);
    if !outputs.reports.is_empty() {
        let files = [outputs.known, report.plan.descriptor.as_deref()];
        let repository = repository(outputs.choice, files.into_iter().flatten());
        let reported = Reported {
            run: report,
            lanes: &lanes,
            repository: &repository,
            folder: &folder,
        };
        for asked in outputs.reports {
            if let Err(error) = asked.write(&reported, &mut terminal) {
                unwritten.push(error);
            }
        }
    }
    if let Some(coverage) = &report.coverage {
        terminal.out(&coverage_page(coverage, terminal.style()));
    }
    let is_red = report.exit_code != Some(ExitCode::Success);
    if !told.verbose && (is_red || !told.quiet) {
        terminal.out(&groups_page(report, &folder, terminal.style()));
    }
    if let Some(excuses) = &report.excuses
        && (is_red || !told.quiet)
    {
        terminal.out(&excuses.page(&folder));
    }
    if told.not_judged {
        terminal.out(&not_judged_page(report, terminal.style()));
    }
    let is_by_promises = report.plan.judged_by == JudgedBy::Promises;
    if is_by_promises && !report.drills.is_empty() && !told.quiet {
        let conceded = outputs.choice.descriptor.promises.conceded();
        terminal.out(&conceded_page(&conceded, told.not_judged));
    }
    // Nobody expects a built-in scenario to fit what is asked for.
    if outputs.choice.library.own_scenarios && !told.quiet {
        terminal.out(&undrilled_page(&outputs.choice.selected.undrilled));
    }
    if let Some(count) = told.slowest {
        terminal.out(&slowest_page(report, count));
    }
    let line = summary_line(report, terminal.style(), told.not_judged);
    terminal.out(&line);
    let mut code = report.exit_code.unwrap_or(ExitCode::InternalFault);
    for error in unwritten.into_iter().chain(kept.err()) {
        log(&format!("error: {error}"));
        code = code.or(ExitCode::ReportNotWritten);
    }
    if let Some(coverage) = &report.coverage
        && coverage.exit_code() != ExitCode::Success
    {
        let uncovered = coverage.count.uncovered;
        let verb = if uncovered == 1 { "is" } else { "are" };
        log(&format!(
            "{} {verb} uncovered, and nothing narrowed the run down",
            counted(uncovered, "clause")
        ));
    }
    if code != ExitCode::Success {
        log(&format!("exit code {code}: {}", report.reason(code)));
    }
    code
}

/// The folder of a run that begins.
///
/// # Errors
/// If it is not this run's to have, or cannot be written.
pub(super) fn folder_of(choice: &Choice, told: &TellArguments) -> Result<RunFolder, Stop> {
    let folder = match told.replace_out {
        true => RunFolder::take_over(&choice.out),
        false => RunFolder::create(&choice.out),
    };
    folder.map_err(|error| match error {
        RunFolderError::NoFolder { .. }
        | RunFolderError::NotOurs { .. }
        | RunFolderError::BadMarker { .. }
        | RunFolderError::InUse { .. } => Stop::input(error),
        other => Stop::with(ExitCode::ReportNotWritten, other.to_string()),
    })
}

/// The arguments that select the same again, with the needs that the run is judged by.
pub(super) fn again_with(choice: &Choice, needs: Option<&SiteNeeds>) -> Vec<String> {
    let mut again = choice.again.clone();
    if let Some(needs) = needs {
        again.extend(["--needs".to_owned(), needs.file.clone()]);
    }
    again
}

fn split(command: Option<&str>) -> Vec<String> {
    command
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// Checks that golden traces may be rewritten: only for files given by path, and not in CI.
fn may_bless(arguments: &RunArguments) -> Result<(), Stop> {
    if !arguments.reporting.bless {
        return Ok(());
    }
    if is_ci() {
        return Err(Stop::usage("`--bless` is refused while CI is set"));
    }
    if !arguments.select.what.iter().any(|what| is_path(what)) {
        return Err(Stop::usage("`--bless` needs a suite given by path")
            .hint("`nicdrill run ./suite/scenarios --bless`"));
    }
    Ok(())
}

/// Passes the events of a run to the terminal and the run folder.
pub(super) struct RunOutput {
    terminal: Terminal,
    folder: RunFolder,
    repeat: Option<RunFolder>,
    storing: Option<Storing>,
    /// The lanes of drills, if they are asked for.
    lanes: BTreeMap<DrillName, Vec<Lanes>>,
    /// The first error of a write.
    unwritten: Option<String>,
    told: Told,
    /// The drills that are not reported yet, the next one last.
    awaited: Vec<DrillName>,
}

/// What is told of a drill while the run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Nothing but what stops the run.
    Quiet,
    /// What is about the run as a whole.
    Run,
    /// Each drill with findings too.
    Drills,
}

impl Told {
    fn of(arguments: &TellArguments) -> Self {
        match arguments {
            TellArguments { quiet: true, .. } => Self::Quiet,
            TellArguments { verbose: true, .. } => Self::Drills,
            _ => Self::Run,
        }
    }

    /// Whether the line of an event is told.
    fn has(self, event: &RunEvent) -> bool {
        match event {
            RunEvent::DrillFailed(_) | RunEvent::DrillKnown(_) | RunEvent::DrillPassed(_) => {
                self == Self::Drills
            }
            RunEvent::Probe { outcome, .. } => {
                self != Self::Quiet || matches!(outcome, ProbeOutcome::Failed { .. })
            }
            _ => true,
        }
    }
}

impl RunOutput {
    /// That of a run that begins.
    pub(super) fn new(
        terminal: Terminal,
        folder: RunFolder,
        storing: Option<Storing>,
        told: &TellArguments,
    ) -> Self {
        Self {
            terminal,
            folder,
            repeat: None,
            storing,
            lanes: BTreeMap::new(),
            unwritten: None,
            told: Told::of(told),
            awaited: Vec::new(),
        }
    }

    fn awaits(&mut self) {
        if let Some(drill) = self.awaited.last() {
            self.terminal.awaits(drill);
        }
    }

    /// Writes to the run folder; the first error is told at the end.
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut RunFolder) -> Result<(), RunFolderError>,
    ) {
        let folder = self.repeat.as_mut().unwrap_or(&mut self.folder);
        if let Err(error) = write(folder) {
            self.unwritten.get_or_insert(error.to_string());
        }
    }
}

impl Audience for RunOutput {
    fn hear(&mut self, event: &RunEvent) {
        if let Some(text) = event_line(event, self.terminal.style())
            && self.told.has(event)
        {
            self.terminal.out(&text);
        }
        match event {
            RunEvent::RunStarted(plan) => {
                let drills = plan.drills.iter().rev();
                self.awaited = drills.map(|planned| planned.drill.clone()).collect();
                self.awaits();
            }
            RunEvent::DrillFailed(_)
            | RunEvent::DrillKnown(_)
            | RunEvent::DrillPassed(_)
            | RunEvent::DrillSkipped(_) => {
                self.awaited.pop();
                self.awaits();
            }
            _ => {}
        }
        self.write(|folder| folder.take(event));
    }

    fn ended(&mut self, is_red: bool) {
        self.terminal.step(is_red);
    }

    fn receive(&mut self, drill: &DrillName, artifacts: &[Artifact]) {
        self.write(|folder| folder.keep(drill, artifacts));
    }

    fn probed(&mut self, files: &[Artifact]) {
        if files.is_empty() {
            return;
        }
        let mut kept = None;
        self.write(|folder| {
            kept = Some(folder.keep_probe(files)?);
            Ok(())
        });
        if let Some(kept) = kept {
            let text = format!("      all of this is kept in {}\n", kept.display());
            self.terminal.out(&text);
        }
    }

    fn played(&mut self, drill: &DrillName, recordings: &[(Arm, Recording)]) {
        if let Some(storing) = &mut self.storing {
            storing.take(drill, recordings);
        }
    }

    fn drawn(&mut self, drill: &DrillName, lanes: Vec<Lanes>) {
        // Of repeats, the first with something to show is shown.
        self.lanes.entry(drill.clone()).or_insert(lanes);
    }

    fn repeat(&mut self, number: u32) {
        if let Some(storing) = &mut self.storing {
            storing.repeat(number);
        }
        self.repeat = None;
        match self.folder.repeat(number) {
            Ok(folder) => self.repeat = Some(folder),
            Err(error) => {
                self.unwritten.get_or_insert(error.to_string());
            }
        }
    }

    fn whole(&mut self) {
        self.repeat = None;
    }

    fn result(&mut self, event: &RunEvent) {
        self.write(|folder| folder.take(event));
    }
}
