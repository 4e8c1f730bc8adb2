//! The two clocks of a poll: the system's, or two numbers in a file.

use checks::{Clocks, ReadError};
use rustix::time::{ClockId, clock_gettime};

/// The system's wall clock and boot clock.
pub(crate) fn system() -> Clocks {
    Clocks {
        wall_ns: nanoseconds(ClockId::Realtime),
        boot_ns: nanoseconds(ClockId::Boottime),
    }
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u64::try_from(time.tv_nsec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// Reads `<wall ns> <boot ns>`; another text gives `EINVAL`.
pub(crate) fn parse(bytes: &[u8]) -> Result<Clocks, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ReadError::EINVAL)?;
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(wall_ns)), Some(Ok(boot_ns)), None) => Ok(Clocks { wall_ns, boot_ns }),
        _ => Err(ReadError::EINVAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_are_a_clock_and_nothing_else_is() {
        let clocks = Clocks {
            wall_ns: 1_740_787_200_000_000_000,
            boot_ns: 7,
        };
        assert_eq!(parse(b"1740787200000000000 7\n"), Ok(clocks));
        for text in ["", "1", "1 2 3", "1 x", "-1 2", "1.5 2"] {
            assert_eq!(parse(text.as_bytes()), Err(ReadError::EINVAL), "{text}");
        }
    }

    #[test]
    fn the_system_has_both_clocks() {
        let before = system();
        let after = system();
        assert!(before.boot_ns > 0 && before.wall_ns > before.boot_ns);
        assert!(after.boot_ns >= before.boot_ns);
    }
}
