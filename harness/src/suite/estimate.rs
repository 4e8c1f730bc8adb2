//! How long a run takes at least with a monitor that needs real time.

use std::{fmt, time::Duration};

use observe::Descriptor;
use scenarios::Story;
use terms::Arm;

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
    let as_process = |arms: &Vec<Arm>| arms.contains(&Arm::Process);
    for planned in selected.drills.iter().filter(|one| as_process(&one.arms)) {
        let Some(Ok(story)) = story(library, &planned.drill) else {
            continue;
        };
        let (intervals, waits) = of_story(&story, descriptor);
        all.drills += 1;
        all.intervals += intervals;
        all.waits += waits;
        all.longest = all.longest.max(intervals + waits);
    }
    (all.longest > Duration::ZERO).then_some(all)
}

/// The real time that a drill of this story needs as a process, beside the work of the monitor.
pub(super) fn real_time(story: &Story, descriptor: &Descriptor) -> Duration {
    let (intervals, waits) = of_story(story, descriptor);
    intervals + waits
}

/// The time between the polls of a story, and the longest time of its waits.
fn of_story(story: &Story, descriptor: &Descriptor) -> (Duration, Duration) {
    let polls = story.ticks.last_until(story.until) + 1;
    let tick = Duration::from_nanos(story.ticks.interval().as_ns());
    let checks = descriptor.switched_on(&story.checks.names(), &story.config);
    let intervals = descriptor.between_polls(&checks, polls, tick);
    (intervals, Outages::of(story).waits(&descriptor.real_time))
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |span: Duration| span.as_secs_f64().ceil();
        let drills = match self.drills {
            1 => "1 drill as a process needs".to_owned(),
            drills => format!("{drills} drills as processes need"),
        };
        let between = format!("{} s between polls", seconds(self.intervals));
        let waits = format!("{} s of waits at most", seconds(self.waits));
        let parts = [(self.intervals, between), (self.waits, waits)];
        let parts = parts.into_iter().filter(|(span, _)| *span > Duration::ZERO);
        let parts: Vec<String> = parts.map(|(_, text)| text).collect();
        write!(
            f,
            "{drills} real time: {}; one drill up to {} s, and each job plays one at a time",
            parts.join(", "),
            seconds(self.longest)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_no_time_is_not_told() {
        let seconds = Duration::from_secs;
        let mut estimate = Estimate {
            drills: 1,
            intervals: Duration::ZERO,
            waits: seconds(119),
            longest: seconds(119),
        };
        assert_eq!(
            estimate.to_string(),
            "1 drill as a process needs real time: 119 s of waits at most; one drill up to 119 s, and each job plays one at a time"
        );
        estimate.intervals = Duration::from_millis(2500);
        estimate.drills = 2;
        assert_eq!(
            estimate.to_string(),
            "2 drills as processes need real time: 3 s between polls, 119 s of waits at most; one drill up to 119 s, and each job plays one at a time"
        );
    }
}
