//! Finds where a run's files are in the repository that a CI system shows.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use reports::Repository;

use super::select::Choice;

/// The variables with the folder of the checked-out repository: of GitHub Actions (GitHub Docs, "Variables reference") and
/// of GitLab (GitLab Docs, "Predefined CI/CD variables reference").
const ROOTS: [&str; 2] = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"];

/// Whether this runs in a CI system: `CI` has a value that says so, as these systems set it to `true` (GitHub Docs, "Variables
/// reference"; GitLab Docs, "Predefined CI/CD variables reference"). Nothing, `0` and `false` do not.
pub(super) fn is_ci() -> bool {
    let value = env::var_os("CI").unwrap_or_default();
    let value = value.to_string_lossy().to_ascii_lowercase();
    !matches!(&*value, "" | "0" | "false")
}

/// The files that a run names and that are in the repository around the current folder: its scenarios if they are a user's
/// own, and these `files`. Without a repository, paths are from the current folder.
pub(super) fn repository<'f>(
    choice: &'f Choice,
    files: impl IntoIterator<Item = &'f str>,
) -> Repository {
    let Some(root) = root() else {
        return Repository::default();
    };
    let scenarios = choice.library.scenarios.iter();
    // The name of a scenario that is built in could be that of a file here.
    let own = scenarios.filter(|_| choice.library.own_scenarios);
    let names = own.map(|scenario| scenario.file.as_str());
    let placed = names.chain(files).filter_map(|name| {
        let path = fs::canonicalize(name).ok()?;
        let path = path.strip_prefix(&root).ok()?.to_str()?.to_owned();
        Some((name.to_owned(), path))
    });
    Repository {
        paths: placed.collect(),
    }
}

/// The repository's folder: the one that a CI system names, if the current folder is in it; else the nearest above with
/// `.git`; else the current folder.
fn root() -> Option<PathBuf> {
    let here = fs::canonicalize(".").ok()?;
    let named = ROOTS.iter().filter_map(env::var_os);
    let mut named = named.filter_map(|root| fs::canonicalize(root).ok());
    let above = || here.ancestors().find(|folder| folder.join(".git").exists());
    let root = named
        .find(|root| here.starts_with(root))
        .or_else(|| above().map(Path::to_owned));
    Some(root.unwrap_or(here))
}
