//! Which polls happen, and which of them a line refers to.
//!
//! Poll k happens at tick k, after everything that is due by then, unless the monitor is paused,
//! between a kill and a restart, or down with its node. Hangs are not considered: their length
//! depends on the monitor.

use simfs::SimTime;

use crate::expect::WindowSpec;
use crate::step::{StepSpec, When};
use crate::story::Window;
use crate::ticks::Ticks;
use crate::verbs::spec::{MonitorSpec, VerbSpec};

/// The polls of a story.
#[derive(Clone, Debug)]
pub(crate) struct Polls {
    ticks: Ticks,
    /// Ranges of ticks without a poll: first tick, and the tick after the last.
    missing: Vec<(u64, u64)>,
}

impl Polls {
    /// The polls of these steps.
    pub(crate) fn new(ticks: Ticks, steps: &[StepSpec]) -> Self {
        let mut polls = Self {
            ticks,
            missing: Vec::new(),
        };
        let mut gone: Option<u64> = None;
        for step in steps {
            let When::At(at) = step.when else { continue };
            // A kill within a poll ends that poll; the next poll is the first to be missing.
            let from = polls.tick_at(at) + u64::from(step.moment.is_some());
            for line in &step.actions {
                match &line.spec {
                    VerbSpec::Reboot(reboot) => {
                        polls.missing.push((from, polls.tick_at(at + reboot.takes)));
                    }
                    VerbSpec::Monitor(MonitorSpec::Restart { away, .. }) => {
                        polls.missing.push((from, from + polls.ticks(*away)));
                    }
                    VerbSpec::Monitor(MonitorSpec::Pause(span)) => {
                        polls.missing.push((from, from + polls.ticks(*span)));
                    }
                    VerbSpec::Monitor(MonitorSpec::Stop(_)) => gone = gone.or(Some(from)),
                    VerbSpec::Monitor(MonitorSpec::Start { .. }) => {
                        if let Some(gone) = gone.take() {
                            polls.missing.push((gone, from));
                        }
                    }
                    _ => {}
                }
            }
        }
        polls.missing.retain(|(from, to)| from < to);
        polls.missing.sort_unstable();
        polls
    }

    /// The first tick at or after this time.
    pub(crate) fn tick_at(&self, at: SimTime) -> u64 {
        self.ticks.first_from(at)
    }

    /// The number of ticks that cover this span, rounded up.
    pub(crate) fn ticks(&self, span: SimTime) -> u64 {
        self.ticks.covering(span)
    }

    /// The time of a tick.
    pub(crate) fn at(&self, tick: u64) -> SimTime {
        self.ticks.at(tick)
    }

    /// The polls of a window stated at this time; `None` if it contains no poll.
    pub(crate) fn window(&self, spec: Option<WindowSpec>, at: SimTime) -> Option<Window> {
        let own = self.tick_at(at);
        let window = match spec.unwrap_or(WindowSpec::Polls(1)) {
            WindowSpec::Polls(polls) => Window {
                from: own,
                to: self.nth_from(own, polls),
            },
            WindowSpec::ThisPoll => Window {
                from: own,
                to: self.nth_from(own, 0),
            },
            WindowSpec::NextPoll => {
                let next = self.nth_from(own, 1);
                Window {
                    from: next,
                    to: next,
                }
            }
            WindowSpec::Span(span) => Window {
                from: own,
                to: self.ticks.last_until(at + span).max(own),
            },
            WindowSpec::FromTo(from, to) => Window {
                from: self.tick_at(from),
                to: self.tick_at(to).checked_sub(1)?,
            },
            WindowSpec::Between(from, to) => Window {
                from: self.tick_at(from),
                to: self.ticks.last_until(to),
            },
            WindowSpec::ExactlyAt(at) => Window {
                from: self.tick_at(at),
                to: self.tick_at(at),
            },
        };
        (window.from <= window.to).then_some(window)
    }

    /// The nth poll at or after a tick, counted from 0. It costs as much as there are stretches without a poll,
    /// whatever `nth` is.
    fn nth_from(&self, tick: u64, nth: u32) -> u64 {
        let mut tick = self.poll_from(tick);
        let mut left = u64::from(nth);
        for &(from, _) in &self.missing {
            if from > tick && left >= from - tick {
                left -= from - tick;
                tick = self.poll_from(from);
            }
        }
        tick + left
    }

    fn poll_from(&self, mut tick: u64) -> u64 {
        while let Some((_, to)) = self
            .missing
            .iter()
            .find(|(from, to)| (*from..*to).contains(&tick))
        {
            tick = *to;
        }
        tick
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn polls(missing: &[(u64, u64)]) -> Polls {
        Polls {
            ticks: Ticks::every(SimTime::from_secs(1)),
            missing: missing.to_vec(),
        }
    }

    #[rstest]
    #[case::own_poll_or_the_next(None, 10_000, (10, 11))]
    #[case::a_time_between_two_polls_belongs_to_the_later(None, 10_400, (11, 12))]
    #[case(Some(WindowSpec::Polls(0)), 10_000, (10, 10))]
    #[case(Some(WindowSpec::ThisPoll), 10_000, (10, 10))]
    #[case(Some(WindowSpec::NextPoll), 10_000, (11, 11))]
    #[case(Some(WindowSpec::Span(SimTime::from_secs(5))), 10_000, (10, 15))]
    #[case::polls_that_do_not_happen_are_not_counted(None, 20_000, (20, 111))]
    #[case(Some(WindowSpec::NextPoll), 20_000, (111, 111))]
    #[case::counted_from_within_the_gap(Some(WindowSpec::Polls(3)), 30_000, (30, 113))]
    #[case::up_to_the_last_before_the_gap(Some(WindowSpec::Polls(9)), 10_000, (10, 19))]
    #[case::over_the_gap(Some(WindowSpec::Polls(10)), 10_000, (10, 110))]
    #[case::a_hundred_thousand(Some(WindowSpec::Polls(100_000)), 10_000, (10, 100_100))]
    #[case::until_just_before(Some(WindowSpec::FromTo(SimTime::from_secs(20), SimTime::from_secs(110))), 20_000, (20, 109))]
    #[case::both_included(Some(WindowSpec::Between(SimTime::from_secs(40), SimTime::from_secs(50))), 10_000, (40, 50))]
    fn a_window_counts_polls_that_happen(
        #[case] spec: Option<WindowSpec>,
        #[case] at_ms: u64,
        #[case] (from, to): (u64, u64),
    ) {
        let window = polls(&[(20, 110)]).window(spec, SimTime::from_ms(at_ms));
        assert_eq!(window, Some(Window { from, to }));
    }
}
