//! `nicdrill check`: every mistake of a user's files.

use std::{collections::BTreeMap, fmt::Write as _};

use harness::check::{self, Checked, FileKind, Surroundings};
use reports::{ExitCode, counted};

use super::{Stop, settings_check};
use crate::{
    arguments::{CheckArguments, Color},
    settings::Settings,
    terminal::{Terminal, log},
};

/// Checks files of every kind and prints their mistakes.
pub(crate) fn check(arguments: &CheckArguments) -> Result<ExitCode, Stop> {
    // Mistakes in `nicdrill.toml` are told like those of other files if it is among them.
    let (settings, unread) = match Settings::read() {
        Ok(settings) => (settings, None),
        Err(stop) => (Settings::default(), Some(stop)),
    };
    let beside = Surroundings {
        scenarios: &settings.scenarios,
        platforms: &settings.platforms,
        settings: settings_check::mistakes,
    };
    let checked = check::check(&arguments.files, &beside).map_err(Stop::input)?;
    let is_told = |file: &check::Source| file.kind == Some(FileKind::Settings);
    if let Some(stop) = unread
        && !checked.files.iter().any(is_told)
    {
        return Err(stop);
    }
    if checked.files.is_empty() {
        let what = format!("no file to check in `{}`", arguments.files.join("`, `"));
        return Err(Stop::usage(what).hint("name files, or folders with files of nicdrill"));
    }
    for warning in &checked.warnings {
        log(&format!("warning: {warning}"));
    }
    Terminal::new(Color::Never).out(&page(&checked));
    Ok(match checked.mistakes.is_empty() {
        true => ExitCode::Success,
        false => ExitCode::Usage,
    })
}

/// The mistakes, and how many there are in what.
fn page(checked: &Checked) -> String {
    let mut page = String::new();
    for mistake in &checked.mistakes {
        writeln!(page, "{}", mistake.text).expect("writing to a string cannot fail");
    }
    let mut kinds: BTreeMap<FileKind, u64> = BTreeMap::new();
    for kind in checked.files.iter().filter_map(|file| file.kind) {
        *kinds.entry(kind).or_default() += 1;
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| format!("{kind}: {count}"))
        .collect();
    let files = counted(checked.files.len() as u64, "file");
    let mistakes = match checked.mistakes.len() {
        0 => "no mistake".to_owned(),
        count => counted(count as u64, "mistake"),
    };
    let kinds = match kinds.is_empty() {
        true => String::new(),
        false => format!(" ({})", kinds.join(", ")),
    };
    writeln!(page, "checked {files}{kinds}: {mistakes}").expect("writing to a string cannot fail");
    page
}
