//! Commands that a report prints, to be pasted into a shell.

/// Words as a shell reads them back.
#[must_use]
pub fn pasted(words: &[String]) -> String {
    let quoted = shlex::try_join(words.iter().map(String::as_str));
    quoted.unwrap_or_else(|_| words.join(" "))
}
