//! Files with how often things happen at a site. The content is defined by [`Mix`]. Start at [`read`].

use files::{FileError, Problem};
use observe::Mix;

use crate::{counter_names, read_files::Library};

/// A mix, and the file that it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteMix {
    /// The file, as the command line names it.
    pub file: String,
    /// What it states.
    pub mix: Mix,
}

/// Reads a mix. `file` is the name that errors carry, and `library` has the drivers and scenarios of the run, by which
/// counters are known; without it only the shipped drivers count.
///
/// # Errors
/// If the text is no mix of version 1, with the place of the mistake.
pub fn read(file: &str, text: &str, library: Option<&Library>) -> Result<SiteMix, FileError> {
    Ok(SiteMix {
        file: file.to_owned(),
        mix: files::read(file, text, |mix| problems(mix, library))?,
    })
}

/// Every mistake of a text that is to be a mix, with its place; none if [`read`] reads it.
#[must_use]
pub fn mistakes(file: &str, text: &str, library: Option<&Library>) -> Vec<FileError> {
    files::mistakes(file, text, |mix| problems(mix, library))
}

/// What is wrong with a mix that can be read.
fn problems(mix: &Mix, library: Option<&Library>) -> Vec<Problem> {
    let kinds = mix.per_1000_nodes_and_month.keys();
    let counters = counter_names::unknown(kinds, library, "").into_iter();
    let counters = counters.map(|(kind, what, hint)| {
        Problem::at(["per_1000_nodes_and_month", &kind.to_string()], what, hint)
    });
    mix.problems().into_iter().chain(counters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_docs_is_read() {
        let mix = read("mix.yaml", include_str!("../../docs/mix.yaml"), None).unwrap();
        assert_eq!(mix.mix.mix_version, 1);
    }

    #[track_caller]
    fn check(more: &str, place: &str, words: &[&str]) {
        let text = format!("mix_version: 1\n{more}\n");
        let error = read("m.yaml", &text, None).unwrap_err().to_string();
        assert!(error.starts_with(&format!("m.yaml:{place}: ")), "{error}");
        for word in words {
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn a_mix_that_cannot_be_is_refused_with_line_and_hint() {
        check(
            "per_1000_nodes_and_month:\n  slow: -2",
            "3:3",
            &["`-2` is no number of events", "hint: write a number"],
        );
        check(
            "per_1000_nodes_and_month: { rebot: 2 }",
            "2:29",
            &["unknown word `rebot`"],
        );
        check(
            "per_1000_nodes_and_month: { counter.symbol_eror: 2 }",
            "2:29",
            &["there is no counter", "`counter.symbol_error`"],
        );
        check("title: a", "2:1", &["per_1000_nodes_and_month"]);
        check("per_1000_nodes_and_month: {}", "2:1", &["nothing happens"]);
    }
}
