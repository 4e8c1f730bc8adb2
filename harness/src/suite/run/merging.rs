//! A run whose drills were played elsewhere: the shards of it, put together as if one machine had played them.
//!
//! The selection, what is known, the coverage and the exit code are computed here again, from all drills; so the merged run
//! is, but for members named `wall`, that of one machine.

use reports::{DrillReport, RunReport};

use super::{How, Show, Telling};
use crate::{
    read_files::Library,
    run_folder::{ShardProblem, Shards, ShardsError},
    suite::{Audience, Probed, Selected},
};
use observe::Descriptor;

/// The shards of a run with the report of each of its drills, in their order.
#[derive(Debug)]
pub struct Joined<'s> {
    shards: &'s Shards,
    reports: Vec<DrillReport>,
}

impl<'s> Joined<'s> {
    /// The shards of this selection.
    ///
    /// # Errors
    /// If the shards have other drills than the selection, or played other texts than those of the library.
    pub fn of(
        shards: &'s Shards,
        selected: &Selected,
        library: &Library,
    ) -> Result<Self, ShardsError> {
        let drills = selected.drills.iter().enumerate();
        let reports = drills.map(|(place, planned)| shards.drill(place, &planned.drill));
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        if shards.len() != reports.len() {
            let (found, selected) = (shards.len(), reports.len());
            return Err(ShardProblem::OtherCount { found, selected }.into());
        }
        shards.played_these(selected, library)?;
        Ok(Self { shards, reports })
    }
}

/// Merges the shards of a run, and tells it like [`super::run`].
///
/// # Errors
/// If an artifact cannot be read, which is told at the end.
pub fn merge(
    library: &Library,
    descriptor: &Descriptor,
    selected: &Selected,
    how: &How<'_>,
    joined: Joined<'_>,
    audience: &mut dyn Audience,
) -> Result<RunReport, ShardsError> {
    let Joined { shards, reports } = joined;
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
    let drills = selected.drills.iter().enumerate();
    for ((place, planned), report) in drills.zip(reports) {
        telling.played(planned, &[]);
        telling.drill(report, |drill| {
            let artifacts = shards.artifacts(place, &drill.drill);
            artifacts.unwrap_or_else(|error| {
                unread.get_or_insert(error);
                Vec::new()
            })
        });
    }
    let report = telling.end_after(shards.ms());
    match unread {
        Some(error) => Err(ShardProblem::Artifact(error).into()),
        None => Ok(report),
    }
}
