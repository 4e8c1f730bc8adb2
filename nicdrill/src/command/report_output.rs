//! The reports of `--report`: their formats, and where each is written.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use harness::run_folder::{self, may_write_report, write_report};
use reports::{DrillName, ExitCode, HtmlReport, Lanes, Repository, RunReport};

use super::{Stop, step_summary};
use crate::{arguments::TellArguments, settings::Settings, terminal::Terminal};

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    JUnit,
    Json,
    Html,
    GitHub,
    GitLab,
}

/// A report that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReportOutput {
    form: Form,
    /// The file; `None` for stdout.
    file: Option<PathBuf>,
}

/// What a report is made from.
pub(super) struct Reported<'r> {
    pub(super) run: &'r RunReport,
    /// The lanes of its drills, if they were asked for.
    pub(super) lanes: &'r BTreeMap<DrillName, Vec<Lanes>>,
    /// Where its files are.
    pub(super) repository: &'r Repository,
    /// The run folder, as messages name it.
    pub(super) folder: &'r str,
}

impl ReportOutput {
    /// Whether drills are drawn in it.
    pub(super) fn draws(&self) -> bool {
        self.form == Form::Html
    }

    /// Writes it.
    ///
    /// # Errors
    /// The text of what cannot be written.
    pub(super) fn write(
        &self,
        reported: &Reported<'_>,
        terminal: &mut Terminal,
    ) -> Result<(), String> {
        let Reported {
            run,
            lanes,
            repository,
            folder,
        } = *reported;
        let text = match self.form {
            Form::JUnit => reports::junit(run, repository).map_err(|error| error.to_string())?,
            Form::Json => reports::results(run),
            Form::Html => HtmlReport { run, lanes }.page(),
            Form::GitHub => reports::github_commands(run, repository, folder),
            Form::GitLab => reports::gitlab(run, repository),
        };
        match &self.file {
            Some(file) => write_report(file, &text).map_err(|error| error.to_string())?,
            // Its lines are commands, and foreign text in them is escaped.
            None => terminal.verbatim(&text),
        }
        if self.form == Form::GitHub {
            step_summary::append(run)?;
        }
        Ok(())
    }
}

/// The reports that are asked for, each of which can be written. `out` is the run folder, if the command line names it: it may
/// hold reports before it is there.
///
/// # Errors
/// A word that names none, or a file that cannot be written.
pub(super) fn reports_asked_for(
    reporting: &TellArguments,
    out: Option<&Path>,
) -> Result<Vec<ReportOutput>, Stop> {
    let outputs = forms_asked_for(reporting)?;
    if outputs.is_empty() {
        return Ok(outputs);
    }
    let out = match out {
        Some(out) => Some(out.to_owned()),
        None => Settings::read()?.out,
    };
    let out = out.unwrap_or_else(|| PathBuf::from(run_folder::DEFAULT));
    for file in outputs.iter().filter_map(|output| output.file.as_ref()) {
        let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|it| !it.is_dir() && !it.starts_with(&out)) {
            let text = format!("there is no folder `{}`", folder.display());
            let stop = Stop::with(ExitCode::ReportNotWritten, text);
            return Err(stop.hint("`--report` names a file in a folder that exists"));
        }
    }
    // What cannot be written is said before the run, not after it.
    for file in outputs.iter().filter_map(|output| output.file.as_ref()) {
        let written = may_write_report(file);
        written.map_err(|error| Stop::with(ExitCode::ReportNotWritten, error.to_string()))?;
    }
    Ok(outputs)
}

/// The reports that are asked for.
///
/// # Errors
/// A word that names none, or a file that is named twice.
pub(super) fn forms_asked_for(reporting: &TellArguments) -> Result<Vec<ReportOutput>, Stop> {
    let output = |asked: &String| {
        let (form, file) = match asked.split_once('=') {
            Some((form, file)) => (form, Some(file).filter(|file| !file.is_empty())),
            // GitHub reads the output of a step, so only this one can do without a file.
            None if asked == "github" => {
                let form = Form::GitHub;
                return Ok(ReportOutput { form, file: None });
            }
            None => (asked.as_str(), None),
        };
        let form = match form {
            "junit" => Some(Form::JUnit),
            "json" => Some(Form::Json),
            "html" => Some(Form::Html),
            "github" => Some(Form::GitHub),
            "gitlab" => Some(Form::GitLab),
            _ => None,
        };
        match (form, file) {
            (Some(form), Some(file)) => Ok(ReportOutput {
                form,
                file: Some(PathBuf::from(file)),
            }),
            _ => Err(Stop::usage(format!("`--report {asked}` cannot be read")).hint(
                "write `junit=FILE`, `json=FILE`, `html=FILE`, `gitlab=FILE`, `github=FILE`, `github`, or several with commas",
            )),
        }
    };
    let outputs: Vec<ReportOutput> = reporting
        .report
        .iter()
        .map(output)
        .collect::<Result<_, _>>()?;
    let mut files = BTreeSet::new();
    for file in outputs.iter().filter_map(|output| output.file.as_ref()) {
        if !files.insert(whole(file)) {
            let what = format!("`{}` is named for two reports", file.display());
            return Err(Stop::usage(what).hint("each report needs a file of its own"));
        }
    }
    Ok(outputs)
}

/// The file that a path leads to: two spellings of one file are one. What cannot be resolved stays as it is, and is told by
/// the attempt to write it.
fn whole(file: &Path) -> PathBuf {
    let of_folder = || {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(file.file_name()?))
    };
    let there = file.canonicalize().ok().or_else(of_folder);
    there.unwrap_or_else(|| file.to_owned())
}
