//! A duration on the command line, such as `1s` or `1h`.

use std::time::Duration;

use capture::span;

use super::Stop;

/// Reads a duration that is longer than zero.
pub(super) fn duration(text: &str) -> Result<Duration, Stop> {
    let time = span(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| {
        Stop::usage(format!("invalid duration `{text}`"))
            .hint("write a number and a unit, as in `1s` or `1h`")
    })
}
