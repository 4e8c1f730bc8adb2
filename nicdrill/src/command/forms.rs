//! The reports that `--report` asks for: their formats, and where they go. Start at [`asked_for`].

use std::{
    collections::BTreeMap,
    env, fs,
    fs::OpenOptions,
    io::Write as _,
    path::{Path, PathBuf},
};

use harness::run_folder::write_report;
use reports::{
    DrillName, GITHUB_SUMMARY_MAX, HtmlReport, Lanes, Repository, RunReport, github_commands,
    github_summary, gitlab,
};

use super::Stop;
use crate::{arguments::ReportArguments, terminal::Terminal};

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
#[derive(Clone, Debug)]
pub(super) struct Asked {
    form: Form,
    /// The file; `None` for standard output, which only annotations go to.
    to: Option<PathBuf>,
}

/// What a report tells of.
pub(super) struct Told<'r> {
    pub(super) run: &'r RunReport,
    pub(super) lanes: &'r BTreeMap<DrillName, Vec<Lanes>>,
    /// The run folder, as messages name it.
    pub(super) folder: &'r str,
    /// Whether the scenarios are files of the user's.
    pub(super) own_scenarios: bool,
}

/// The reports that the arguments ask for.
pub(super) fn asked_for(reporting: &ReportArguments) -> Result<Vec<Asked>, Stop> {
    let read = |asked: &String| {
        let (name, path) = match asked.split_once('=') {
            Some((name, path)) => (name, Some(path)),
            None => (asked.as_str(), None),
        };
        let form = match name {
            "junit" => Form::JUnit,
            "json" => Form::Json,
            "html" => Form::Html,
            "github" => Form::GitHub,
            "gitlab" => Form::GitLab,
            _ => return Err(unreadable(asked)),
        };
        match path {
            Some("") => Err(unreadable(asked)),
            None if form != Form::GitHub => Err(unreadable(asked)),
            path => Ok(Asked {
                form,
                to: path.map(PathBuf::from),
            }),
        }
    };
    reporting.report.iter().map(read).collect()
}

fn unreadable(asked: &str) -> Stop {
    Stop::usage(format!("`--report {asked}` cannot be read")).hint(
        "write `junit=FILE`, `json=FILE`, `html=FILE`, `gitlab=FILE`, `github` or `github=FILE`, several with commas",
    )
}

impl Asked {
    /// Whether drills are drawn in it.
    pub(super) fn draws(&self) -> bool {
        self.form == Form::Html
    }

    /// Writes the report.
    pub(super) fn write(&self, told: &Told<'_>, terminal: &mut Terminal) -> Result<(), String> {
        let Told { run, lanes, .. } = told;
        let text = match self.form {
            Form::JUnit => {
                reports::junit(run, &told.repository()).map_err(|error| error.to_string())?
            }
            Form::Json => reports::results(run),
            Form::Html => HtmlReport { run, lanes }.page(),
            Form::GitLab => gitlab(run, &told.repository()),
            Form::GitHub => {
                add_step_summary(run)?;
                github_commands(run, &told.repository(), told.folder)
            }
        };
        match &self.to {
            Some(path) => write_report(path, &text).map_err(|error| error.to_string()),
            None => {
                terminal.out(&text);
                Ok(())
            }
        }
    }
}

impl Told<'_> {
    /// The files of the run that are in the repository.
    fn repository(&self) -> Repository {
        let scenarios = self.run.drills.iter().map(|drill| drill.file.as_str());
        let scenarios = scenarios.filter(|_| self.own_scenarios);
        let known = self.run.excuses.iter().flat_map(|excuses| {
            let entries = excuses.no_longer.iter().chain(&excuses.expired);
            entries.filter_map(|entry| Some(entry.split_once(':')?.0))
        });
        let files = scenarios
            .chain(self.run.plan.descriptor.as_deref())
            .chain(known);
        let root = root();
        let path_of = |file: &str| {
            let path = fs::canonicalize(file).ok()?;
            let inside = path.strip_prefix(root.as_deref()?).ok()?;
            Some((file.to_owned(), inside.to_str()?.to_owned()))
        };
        Repository {
            paths: files.filter_map(path_of).collect(),
        }
    }
}

/// The root of the repository: what the CI system says, or the folder with `.git` that the current one is in, or the current
/// one.
fn root() -> Option<PathBuf> {
    let named = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"];
    let named = named.iter().find_map(|name| env::var_os(name));
    let current = env::current_dir().ok();
    let with_git = |folder: &&Path| folder.join(".git").exists();
    let found = current
        .as_deref()
        .and_then(|current| current.ancestors().find(with_git));
    let root = named
        .map(PathBuf::from)
        .or_else(|| found.map(Path::to_owned));
    fs::canonicalize(root.or(current)?).ok()
}

/// Appends the run to the step summary of GitHub Actions, if there is one, as far as it has room.
fn add_step_summary(run: &RunReport) -> Result<(), String> {
    let Some(path) = env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let path = PathBuf::from(path);
    let used = fs::metadata(&path).map_or(0, |found| found.len());
    let used = usize::try_from(used).unwrap_or(usize::MAX);
    let text = github_summary(run, GITHUB_SUMMARY_MAX.saturating_sub(used));
    let mut options = OpenOptions::new();
    let file = options.append(true).create(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
}
