//! The mistakes of a `nicdrill.toml`: those of its text, and what `nicdrill run` would refuse. Start at [`mistakes`].

use std::{collections::BTreeSet, fs, mem};

use files::Place;
use harness::check::Mistake;

use super::{Stop, excuses, needs, run_values::can_be_read, select::choice};
use crate::{
    arguments::RunArguments,
    settings::{self, FILE, Settings},
};

/// Every mistake in the text of such a file, in its order; `file` is the name that they carry. What the file of the current
/// folder names is looked at too.
pub(super) fn mistakes(file: &str, text: &str) -> Vec<Mistake> {
    let (settings, mut mistakes) = settings::read_every(file, text);
    if is_read_here(file) {
        mistakes.extend(refused(file, settings));
    }
    mistakes.sort_by_key(|mistake| mistake.place);
    mistakes
}

/// Whether a file is the one of the current folder.
fn is_read_here(file: &str) -> bool {
    let here = fs::canonicalize(FILE).ok();
    here.is_some() && here == fs::canonicalize(file).ok()
}

/// What `nicdrill run` refuses of settings of the current folder: of their files, of all of them, of each flag of their
/// profiles alone, and of each profile.
fn refused(file: &str, mut settings: Settings) -> Vec<Mistake> {
    let at = |place: Place, what: &str| {
        let what = format_args!("{file}:{place}: {what}");
        Mistake::new(file, Some(place), what)
    };
    let mut mistakes = Vec::new();
    for (place, path) in mem::take(&mut settings.files) {
        if let Err(error) = fs::metadata(&path) {
            let what = format!("`{}` cannot be read: {error}", path.display());
            mistakes.push(at(place, &what));
            settings.forget(&path);
        }
    }
    let at_all = would_start(&settings, &RunArguments::default()).err();
    // The flags are looked at beside another monitor too.
    let with_reference = settings.with_reference();
    let beside = match at_all {
        None => &settings,
        Some(_) => &with_reference,
    };
    let mut refused = BTreeSet::new();
    if let Some(stop) = at_all {
        let text = stop.whole();
        mistakes.push(match text.strip_prefix(FILE) {
            Some(rest) => Mistake::new(file, None, format_args!("{file}{rest}")),
            None => Mistake::elsewhere(file, &text),
        });
        refused.insert(stop.text);
    }
    let mut told = refused.clone();
    for (place, arguments) in settings.each_flag() {
        if let Err(stop) = would_start(beside, &arguments)
            && !refused.contains(&stop.text)
        {
            mistakes.push(at(place, &stop.whole()));
            told.insert(stop.text);
        }
    }
    for (place, arguments) in settings.each_profile() {
        if let Err(stop) = would_start(beside, &arguments)
            && !told.contains(&stop.text)
        {
            mistakes.push(at(place, &stop.whole()));
        }
    }
    mistakes
}

/// Whether a run with these settings and arguments would start, so far as files, monitor and names are concerned. What a run
/// writes, and the folder of `--baseline`, may come later.
fn would_start(settings: &Settings, arguments: &RunArguments) -> Result<(), Stop> {
    can_be_read(arguments)?;
    let choice = choice(settings, &arguments.select, arguments.how.seed)?;
    if let Some(known) = &arguments.reporting.known {
        excuses::read_known(known, true)?;
    }
    needs::read(arguments.how.needs.as_deref(), &choice.library)?;
    Ok(())
}
