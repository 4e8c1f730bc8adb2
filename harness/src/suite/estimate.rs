//! How long a run takes at least with a monitor that needs real time.

use std::{fmt, time::Duration};

use observe::Descriptor;
use reports::ArmName;

use super::pairs::{Selected, story};
use crate::{outages::Outages, read_files::Library};

/// The real time of the selected drills beside the work of the monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Number of drills in the process arm.
    drills: u32,
    /// The time between their polls.
    intervals: Duration,
    /// The longest time of their waits.
    waits: Duration,
    /// The longest drill.
    longest: Duration,
}

/// The estimate for a monitor; `None` if its descriptor states nothing that it needs of the real time.
#[must_use]
pub fn estimate(
    library: &Library,
    descriptor: &Descriptor,
    selected: &Selected,
) -> Option<Estimate> {
    let mut all = Estimate::default();
    let as_process = |arms: &Vec<ArmName>| arms.contains(&ArmName::Process);
    for planned in selected.drills.iter().filter(|one| as_process(&one.arms)) {
        let Some(Ok(story)) = story(library, &planned.drill) else {
            continue;
        };
        let polls = story.until.as_ns() / story.tick.as_ns() + 1;
        let tick = Duration::from_nanos(story.tick.as_ns());
        let intervals = descriptor.between_polls(&story.checks.names(), polls, tick);
        let (_, waits) = descriptor.real_time.estimate(0, Outages::of(&story).polls);
        all.drills += 1;
        all.intervals += intervals;
        all.waits += waits;
        all.longest = all.longest.max(intervals + waits);
    }
    (all.longest > Duration::ZERO).then_some(all)
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |span: Duration| span.as_secs_f64().ceil();
        let drills = match self.drills {
            1 => "1 drill".to_owned(),
            drills => format!("{drills} drills"),
        };
        write!(
            f,
            "{drills} as a process: {} s of real time between polls",
            seconds(self.intervals)
        )?;
        if self.waits > Duration::ZERO {
            write!(f, ", and {} s of waits at most", seconds(self.waits))?;
        }
        write!(
            f,
            "; one drill takes up to {} s, and each job plays one at a time",
            seconds(self.longest)
        )
    }
}
