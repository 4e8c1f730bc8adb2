//! A duration on the command line, such as `1s` or `1h`.

use std::time::Duration;

use capture::span;

use super::Stop;

/// Reads a duration that is longer than zero.
pub(super) fn duration(text: &str) -> Result<Duration, Stop> {
    let time = span(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // With a unit it is refused as well.
        let is_zero = !text.is_empty() && text.bytes().all(|digit| digit == b'0');
        let hint = match (is_number, span(text)) {
            _ if is_zero => "it is longer than zero".to_owned(),
            (true, _) => format!("write its unit, as in `{text}s`"),
            (false, Some(_)) => "it is longer than zero".to_owned(),
            (false, None) => "write a number and a unit, as in `1s` or `1h`".to_owned(),
        };
        Stop::usage(format!("invalid duration `{text}`")).hint(hint)
    })
}
