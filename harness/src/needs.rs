//! Files of needs: what a site requires of its monitor. The content is defined by [`Needs`]. Start at [`read`].

use files::{FileError, Problem};
use observe::Needs;

use crate::{counter_names, read_files::Library};

/// The needs of a run, and the file that they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteNeeds {
    /// The file, as the command line names it.
    pub file: String,
    /// What it states.
    pub needs: Needs,
}

/// Reads needs. `file` is the name that errors carry; a counter is known by the drivers and scenarios of `library`, or by
/// the shipped drivers.
///
/// # Errors
/// If the text is no needs of version 1, with the place of the mistake.
pub fn read(file: &str, text: &str, library: Option<&Library>) -> Result<SiteNeeds, FileError> {
    Ok(SiteNeeds {
        file: file.to_owned(),
        needs: files::read(file, text, |needs| problems(needs, library))?,
    })
}

/// Every mistake of a text that is to be needs, with its place; none if [`read`] reads it.
#[must_use]
pub fn mistakes(file: &str, text: &str, library: Option<&Library>) -> Vec<FileError> {
    files::mistakes(file, text, |needs| problems(needs, library))
}

/// What is wrong with needs that can be read.
fn problems(needs: &Needs, library: Option<&Library>) -> Vec<Problem> {
    let (kinds, quiet) = (needs.kinds.keys(), needs.never_alarms.keys());
    let counters = counter_names::unknown(kinds.chain(quiet), library, "");
    let counters = counters.into_iter().map(|(kind, what, hint)| {
        let part = match needs.kinds.contains_key(kind) {
            true => "kinds",
            false => "never_alarms",
        };
        Problem::at([part, &kind.to_string()], what, hint)
    });
    needs.problems().into_iter().chain(counters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_docs_is_read() {
        let needs = read("needs.yaml", include_str!("../../docs/needs.yaml"), None).unwrap();
        assert_eq!(needs.file, "needs.yaml");
        assert_eq!(needs.needs.needs_version, 1);
    }

    #[track_caller]
    fn check(more: &str, place: &str, words: &[&str]) {
        let text = format!("needs_version: 1\n{more}\n");
        let error = read("n.yaml", &text, None).unwrap_err().to_string();
        assert!(error.starts_with(&format!("n.yaml:{place}: ")), "{error}");
        for word in words {
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn needs_that_cannot_be_are_refused_with_line_and_hint() {
        check(
            "title: a",
            "1:1",
            &["nothing is needed", "hint: list kinds"],
        );
        check(
            "kinds:\n  down: { noticed: within 5s }\n  reboot: { noticed: within 5s }",
            "4:3",
            &["`reboot` is an episode", "hint: "],
        );
        check(
            "kinds:\n  down: { notced: within 5s }",
            "3:11",
            &["notced", "did you mean `noticed`"],
        );
        check(
            "kinds:\n  down: { noticed: 5s }",
            "3:20",
            &["invalid time `5s`", "such as `within 60s`"],
        );
        check(
            "never_alarms:\n  rebot: always",
            "3:3",
            &["unknown word `rebot`", "did you mean `reboot`? allowed: "],
        );
        check(
            "kinds: { down: { noticed: within 5s }, reboot: { noticed: within 5s } }",
            "2:40",
            &["`reboot` is an episode"],
        );
        check(
            "kinds:\n  down: { noticed: within 5s }\n  counter.symbol_eror: { noticed: within 5s }",
            "4:3",
            &[
                "no counter `symbol_eror`",
                "did you mean `counter.symbol_error`?",
            ],
        );
        check(
            "never_alarms: { down: always, counter.link_down: always }",
            "2:31",
            &[
                "no counter `link_down`",
                "did you mean `counter.link_downed`?",
            ],
        );
        check(
            "never_alarms:\n  reboot: never",
            "3:11",
            &["invalid time `never`", "such as `for 5m`"],
        );
        check("never_alarm: {}", "2:1", &["never_alarm", "`never_alarms`"]);
    }
}
