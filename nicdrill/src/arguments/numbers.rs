//! Values of flags that are whole numbers. Each reader tells what is allowed if the text is something else.

/// The most repeats that `--repeat` takes: each has a folder of its own. Chosen.
const REPEATS_MAX: u64 = 10_000;

/// The most drills that are played at once. Chosen: more than any machine has processors.
const JOBS_MAX: usize = 4096;

/// The number of drills that are played at once.
///
/// # Errors
/// What is allowed, if the text is something else.
pub(super) fn at_once(asked: &str) -> Result<usize, String> {
    match asked.parse() {
        Ok(jobs @ 1..=JOBS_MAX) => Ok(jobs),
        _ => Err(format!("it is a whole number, 1 to {JOBS_MAX}")),
    }
}

/// The number of repeats.
///
/// # Errors
/// What is allowed, if the text is something else.
pub(super) fn repeats(asked: &str) -> Result<u64, String> {
    match asked.parse() {
        Ok(repeats @ 1..=REPEATS_MAX) => Ok(repeats),
        _ => Err(format!(
            "it is a whole number, 1 to {REPEATS_MAX}; each repeat has a folder of its own"
        )),
    }
}

/// A seed.
///
/// # Errors
/// What is allowed, if the text is something else.
pub(super) fn seed(asked: &str) -> Result<u64, String> {
    let allowed = |_| format!("it is a whole number, 0 to {}", u64::MAX);
    asked.parse().map_err(allowed)
}
