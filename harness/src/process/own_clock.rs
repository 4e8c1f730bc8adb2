//! Compares the timestamps of a monitor that reads the system's clock with that clock.
//!
//! The simulated time runs faster than the real one, so a drill can demand of such a timestamp only that it is the
//! real time at which the event was made, which is shortly before it is received.

use std::time::{SystemTime, UNIX_EPOCH};

use observe::{Observation, Span};

/// Marks the observations, received just now, whose timestamps are further off than `tolerance`.
pub(super) fn judge(observations: &mut [Observation], tolerance: Span) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    });
    mark(observations, now, tolerance);
}

fn mark(observations: &mut [Observation], now_ns: u64, tolerance: Span) {
    for observation in observations {
        let off = observation.stamped_ns.map(|ns| ns.abs_diff(now_ns));
        observation.off_clock = off.is_some_and(|off| off > tolerance.as_ns());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_may_be_off_by_the_tolerance_and_no_more() {
        let tolerance = Span::parse("2s").unwrap();
        let is_off = |stamped_ns: Option<u64>| {
            let mut one = [Observation {
                stamped_ns,
                ..Observation::default()
            }];
            mark(&mut one, 10_000_000_000, tolerance);
            one[0].off_clock
        };
        assert!(!is_off(Some(8_000_000_000)));
        assert!(is_off(Some(7_999_999_999)));
        assert!(!is_off(Some(12_000_000_000)));
        assert!(is_off(Some(12_000_000_001)));
        assert!(!is_off(None));
    }
}
