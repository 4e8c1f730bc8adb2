//! Files of needs: what a site requires of its monitor. The content is defined by [`Needs`]. Start at [`read`].

use observe::{Needs, needs::NeedsProblem};
use platforms::yaml::{self, Place, YamlError};

/// The needs of a run, and the file that they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteNeeds {
    /// The file, as the command line names it.
    pub file: String,
    /// What it states.
    pub needs: Needs,
}

/// Reads needs. `file` is the name that errors carry.
///
/// # Errors
/// If the text is no needs of version 1, with the place of the mistake.
pub fn read(file: &str, text: &str) -> Result<SiteNeeds, YamlError> {
    let needs: Needs = yaml::read(file, text)?;
    if let Some(problem) = needs.problem() {
        let NeedsProblem { keys, what, hint } = problem;
        return Err(YamlError::at(file, text, place_of(text, &keys), what).hint(hint));
    }
    Ok(SiteNeeds {
        file: file.to_owned(),
        needs,
    })
}

/// The place of the innermost of these keys, each looked for below the one before.
pub(crate) fn place_of(text: &str, keys: &[String]) -> Place {
    let mut place = Place::default();
    let mut lines = (1..).zip(text.lines());
    for key in keys {
        let is_key = |line: &str| {
            let line = line.trim_start();
            let rest = line.strip_prefix(key.as_str());
            rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        let Some((line, found)) = lines.find(|(_, line)| is_key(line)) else {
            break;
        };
        let indent = found.len() - found.trim_start().len();
        let column = u32::try_from(indent + 1).unwrap_or(u32::MAX);
        place = Place { line, column };
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_docs_is_read() {
        let needs = read("needs.yaml", include_str!("../../docs/needs.yaml")).unwrap();
        assert_eq!(needs.file, "needs.yaml");
        assert_eq!(needs.needs.needs_version, 1);
    }

    #[track_caller]
    fn check(more: &str, place: &str, words: &[&str]) {
        let text = format!("needs_version: 1\n{more}\n");
        let error = read("n.yaml", &text).unwrap_err().to_string();
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
            &["unknown kind `rebot`"],
        );
        check(
            "never_alarms:\n  reboot: never",
            "3:11",
            &["invalid time `never`", "such as `for 5m`"],
        );
        check("never_alarm: {}", "2:1", &["never_alarm", "`never_alarms`"]);
    }
}
