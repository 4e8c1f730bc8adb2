//! The mistakes of a `nicdrill.toml`: those of its text, and what `nicdrill run` would refuse. Start at [`mistakes`].

use std::fs;

use harness::check::Mistake;
use platforms::yaml::Place;

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
        mistakes.extend(refused(file, &settings));
    }
    mistakes.sort_by_key(|mistake| mistake.place);
    mistakes
}

/// Whether a file is the one of the current folder.
fn is_read_here(file: &str) -> bool {
    let here = fs::canonicalize(FILE).ok();
    here.is_some() && here == fs::canonicalize(file).ok()
}

/// What `nicdrill run` refuses of settings of the current folder, and of each flag of their profiles alone.
fn refused(file: &str, settings: &Settings) -> Vec<Mistake> {
    let at_all = would_start(settings, &RunArguments::default()).err();
    // The flags are looked at beside another monitor too.
    let with_reference = settings.with_reference();
    let beside = match at_all {
        None => settings,
        Some(_) => &with_reference,
    };
    let by_flags = settings.asked().filter_map(|(place, arguments)| {
        let stop = would_start(beside, &arguments).err()?;
        let is_new = at_all.as_ref().is_none_or(|known| known.text != stop.text);
        is_new.then_some((place, stop))
    });
    let by_flags: Vec<(Place, Stop)> = by_flags.collect();
    let by_flags = by_flags.into_iter().map(|(place, stop)| {
        let what = format_args!("{file}:{place}: {}", stop.whole());
        Mistake::new(file, Some(place), what)
    });
    let whole = at_all.as_ref().map(|stop| {
        let text = stop.whole();
        match text.strip_prefix(FILE) {
            Some(rest) => Mistake::new(file, None, format_args!("{file}{rest}")),
            None => Mistake::new(file, None, format_args!("{file}: {text}")),
        }
    });
    whole.into_iter().chain(by_flags).collect()
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
