//! What makes a run red and is no finding of a drill: a monitor that cannot be drilled, wrong entries of `known.toml`, and an end before
//! every drill was reached. A report without these would look green. Start at [`RunFault::all`].

use crate::{
    DrillReport, ExitCode, Outcome, ProbeOutcome, RunReport, counted, terminal::not_drilled,
};

/// How many drills a text names. Chosen: a line of an annotation.
const NAMES_MAX: usize = 8;

/// Something that makes a run red and is no finding of a drill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFault {
    /// What it is about; the same in each run in which it occurs.
    pub(crate) name: String,
    /// The exit code for it.
    pub(crate) code: ExitCode,
    /// The place that it is about, as `file:line` or `file`; empty if there is none.
    pub(crate) place: String,
    /// It in a few words.
    pub(crate) title: String,
    /// It in full, in one line.
    pub(crate) text: String,
}

impl RunFault {
    /// The name of the one about the monitor's probe.
    pub(crate) const PROBE: &'static str = "probe";

    /// The name of the one about the run as a whole.
    pub(crate) const RUN: &'static str = "run";

    /// Those of a run. That of the run as a whole comes first; it is there if the exit code follows from nothing else that is told, and
    /// whenever a signal ended the run early.
    pub(crate) fn all(run: &RunReport) -> Vec<Self> {
        let mut all: Vec<Self> = of_probe(run).into_iter().chain(of_entries(run)).collect();
        let failed = |drill: &DrillReport| drill.outcome == Outcome::Failed;
        let is_told = !all.is_empty() || run.drills.iter().any(failed);
        // A signal that ended the probe is told with it.
        let is_of_probe = |code: ExitCode| all.iter().any(|fault| fault.code == code);
        let needs_telling =
            |code: &ExitCode| !is_told || code.is_early_end() && !is_of_probe(*code);
        let code = run.exit_code.filter(|code| *code != ExitCode::Success);
        if let Some(code) = code.filter(needs_telling) {
            all.insert(0, of_run(run, code));
        }
        all
    }
}

fn of_probe(run: &RunReport) -> Option<RunFault> {
    let Some(ProbeOutcome::Failed { reason, exit_code }) = &run.probe else {
        return None;
    };
    Some(RunFault {
        name: RunFault::PROBE.to_owned(),
        code: *exit_code,
        place: run.plan.descriptor.clone().unwrap_or_default(),
        title: format!(
            "the monitor `{}` {}",
            run.plan.monitor,
            not_drilled(*exit_code)
        ),
        text: reason.clone(),
    })
}

fn of_entries(run: &RunReport) -> Vec<RunFault> {
    let Some(excuses) = &run.excuses else {
        return Vec::new();
    };
    let of = |why: &str, entries: &[String]| -> Vec<RunFault> {
        let fault = |entry: &String| {
            let (place, text) = entry.split_once(": ").unwrap_or(("", entry));
            RunFault {
                name: format!("known: {text}"),
                code: ExitCode::JudgedWrongly,
                place: place.to_owned(),
                title: format!("known deviation: {why}"),
                text: text.to_owned(),
            }
        };
        entries.iter().map(fault).collect()
    };
    let mut all = of(
        "it no longer occurs, so the entry must be removed",
        &excuses.no_longer,
    );
    all.extend(of("the entry has expired", &excuses.expired));
    all
}

fn of_run(run: &RunReport, code: ExitCode) -> RunFault {
    let uncovered = run.coverage.as_ref();
    let uncovered = uncovered.filter(|of| of.exit_code() == code);
    let mut text = match uncovered {
        Some(coverage) => format!(
            "{} uncovered, and nothing narrowed the run down",
            counted(coverage.count.uncovered, "clause")
        ),
        None => code.meaning().to_owned(),
    };
    let left: Vec<String> = (run.not_reached())
        .map(|planned| planned.drill.to_string())
        .collect();
    if !left.is_empty() {
        let of = counted(run.plan.drills.len() as u64, "drill");
        let names = left[..left.len().min(NAMES_MAX)].join(", ");
        text += &format!("; of {of} {} not reached: {names}", left.len());
        if left.len() > NAMES_MAX {
            text += &format!(" and {} more", left.len() - NAMES_MAX);
        }
    }
    RunFault {
        name: RunFault::RUN.to_owned(),
        code,
        place: String::new(),
        title: format!("nicdrill ended with exit code {code}"),
        text,
    }
}
