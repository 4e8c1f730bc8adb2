//! The instants of an evaluation. Start at [`Instants`].

/// The instants at which rules are evaluated, in nanoseconds since the drill began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instants {
    /// The time from one to the next; whole milliseconds, at least one, because Prometheus counts in these.
    pub interval_ns: u64,
    /// The first one; shorter than the interval, whole milliseconds.
    pub phase_ns: u64,
    /// None is later than this.
    pub until_ns: u64,
}

/// A millisecond.
pub(crate) const MS: u64 = 1_000_000;

impl Instants {
    /// Those with the interval and the `nth` of `of` phases, which are spread over the interval and rounded down to
    /// milliseconds.
    #[must_use]
    pub fn with_phase(interval_ns: u64, (nth, of): (u64, u64), until_ns: u64) -> Self {
        let interval_ns = (interval_ns / MS).max(1) * MS;
        let phase_ns = interval_ns / MS * (nth % of.max(1)) / of.max(1) * MS;
        Self {
            interval_ns,
            phase_ns,
            until_ns,
        }
    }

    /// Them, in order.
    pub fn iter(self) -> impl Iterator<Item = u64> {
        let step = usize::try_from(self.interval_ns).unwrap_or(usize::MAX);
        (self.phase_ns..=self.until_ns).step_by(step)
    }
}

/// The greatest common divisor; of 0 and a number that number.
pub(crate) fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        gcd(other, one % other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_phases_are_spread_over_the_interval() {
        let phases: Vec<u64> = (0..8)
            .map(|nth| Instants::with_phase(15_000 * MS, (nth, 8), 0).phase_ns / MS)
            .collect();
        assert_eq!(phases, [0, 1875, 3750, 5625, 7500, 9375, 11250, 13125]);
        let of_a_millisecond = Instants::with_phase(MS, (7, 8), 0);
        assert_eq!(
            (of_a_millisecond.interval_ns, of_a_millisecond.phase_ns),
            (MS, 0)
        );
    }

    #[test]
    fn instants_end_with_the_drill() {
        let at: Vec<u64> = Instants::with_phase(4 * MS, (1, 4), 10 * MS)
            .iter()
            .map(|at| at / MS)
            .collect();
        assert_eq!(at, [1, 5, 9]);
    }
}
