//! The values of the flags of `nicdrill run` that are read before any file is. Start at [`can_be_read`].

use std::{ops::RangeInclusive, time::Duration};

use harness::suite::{Filter, Shard};

use super::{Stop, duration::duration, report_output::forms_asked_for};
use crate::arguments::{RunArguments, SelectArguments};

/// The limits of a drill that can be set. Chosen: in less than a second a monitor hardly starts.
const DRILL_LIMITS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);

/// The longest time of a drill.
pub(super) fn drill_limit(arguments: &RunArguments) -> Result<Option<Duration>, Stop> {
    let Some(text) = &arguments.how.drill_limit else {
        return Ok(None);
    };
    let limit = duration(text)?;
    if !DRILL_LIMITS.contains(&limit) {
        return Err(Stop::usage(format!(
            "`--drill-limit {text}` is from 1s to 1h"
        )));
    }
    Ok(Some(limit))
}

/// The time after which no drill begins.
pub(super) fn budget(arguments: &RunArguments) -> Result<Option<Duration>, Stop> {
    arguments.how.budget.as_deref().map(duration).transpose()
}

/// The longest real time that a drill may need.
pub(super) fn real_time_at_most(arguments: &SelectArguments) -> Result<Option<Duration>, Stop> {
    let text = arguments.real_time_at_most.as_deref();
    text.map(duration).transpose()
}

/// The expression that drills have to match.
pub(super) fn filter(arguments: &SelectArguments) -> Result<Option<Filter>, Stop> {
    let filter = arguments.filter.as_deref().map(Filter::read);
    filter.transpose().map_err(Stop::input)
}

/// The part of the drills that is asked for.
pub(super) fn shard(arguments: &SelectArguments) -> Result<Shard, Stop> {
    match &arguments.shard {
        Some(text) => text.parse().map_err(Stop::input),
        None => Ok(Shard::WHOLE),
    }
}

/// Whether the values can be read; no file is.
pub(crate) fn can_be_read(arguments: &RunArguments) -> Result<(), Stop> {
    forms_asked_for(&arguments.reporting.tell)?;
    drill_limit(arguments)?;
    budget(arguments)?;
    filter(&arguments.select)?;
    real_time_at_most(&arguments.select)?;
    shard(&arguments.select)?;
    Ok(())
}
