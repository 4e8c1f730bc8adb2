//! A run whose drills were played elsewhere: the shards of it, put together as if one machine had played them.
//!
//! The selection, what is known, the coverage and the exit code are computed here again, from all drills; so the merged run
//! is, but for members named `wall`, that of one machine.

use reports::RunReport;

use super::{How, Show, Telling};
use crate::{
    read_files::Library,
    run_folder::{Shards, ShardsError},
    suite::{Audience, Probed, Selected},
};
use observe::Descriptor;

/// Merges the shards of a run, and tells it like [`super::run`].
///
/// # Errors
/// If the shards have other drills than the selection; then nothing was told. An artifact that cannot be read is an error
/// too, which is told at the end.
pub fn merge(
    library: &Library,
    descriptor: &Descriptor,
    selected: &Selected,
    how: &How<'_>,
    shards: &Shards,
    audience: &mut dyn Audience,
) -> Result<RunReport, ShardsError> {
    let drills: Vec<_> = selected.drills.iter().enumerate().collect();
    let reports = drills
        .iter()
        .map(|(place, planned)| shards.drill(*place, &planned.drill));
    let reports = reports.collect::<Result<Vec<_>, _>>()?;
    if shards.len() != reports.len() {
        return Err(ShardsError::other_files(shards.len(), reports.len()));
    }
    let show = Show {
        library,
        descriptor,
        selected,
        how,
    };
    let mut unread = None;
    let mut telling = Telling::begin(&show, audience);
    telling.probed(shards.probe().map(|(outcome, wall)| Probed {
        outcome,
        wall,
        files: Vec::new(),
    }));
    for ((place, planned), report) in drills.into_iter().zip(reports) {
        telling.played(planned, &[]);
        telling.drill(report, |drill| {
            let artifacts = shards.artifacts(place, &drill.drill);
            artifacts.unwrap_or_else(|error| {
                unread.get_or_insert(error);
                Vec::new()
            })
        });
    }
    let report = telling.end();
    match unread {
        Some(error) => Err(ShardsError::artifact(&error)),
        None => Ok(report),
    }
}
