//! Numbers in sentences.

/// A number with its noun: `1 drill`, `2 drills`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
