//! Values of flags that are whole numbers. Each reader tells what is allowed if the text is something else.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

/// The most repeats that `--repeat` takes: each has a folder of its own. Chosen.
const REPEATS_MAX: u64 = 10_000;

/// The most drills that are played at once. Chosen: more than any machine has processors.
const JOBS_MAX: usize = 4096;

/// The number of drills that are played at once.
pub(super) fn at_once(asked: &str) -> Result<usize, String> {
    whole(asked, 1..=JOBS_MAX)
}

/// The number of repeats.
pub(super) fn repeats(asked: &str) -> Result<u64, String> {
    let why = |allowed| format!("{allowed}; each repeat has a folder of its own");
    whole(asked, 1..=REPEATS_MAX).map_err(why)
}

pub(super) fn seed(asked: &str) -> Result<u64, String> {
    whole(asked, 0..=u64::MAX)
}

/// A number in this range, or what is allowed.
fn whole<N: FromStr + PartialOrd + Display>(
    asked: &str,
    allowed: RangeInclusive<N>,
) -> Result<N, String> {
    let number = asked.parse().ok().filter(|number| allowed.contains(number));
    number.ok_or_else(|| {
        let (least, most) = allowed.into_inner();
        format!("it is a whole number, {least} to {most}")
    })
}
