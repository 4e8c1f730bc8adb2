//! How many drills are played at once: the value of `--jobs`.

/// Reads it.
///
/// # Errors
/// What is allowed, if the text is something else.
pub(super) fn at_once(asked: &str) -> Result<usize, String> {
    match asked.parse() {
        Ok(jobs @ 1..) => Ok(jobs),
        _ => Err("it is a whole number, at least 1".to_owned()),
    }
}
