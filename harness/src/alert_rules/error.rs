//! Why alert rules cannot be evaluated. Start at [`EvaluationError`].

use std::io;

use files::FileError;

use super::promtool::PROMTOOL;

/// Why alert rules cannot be evaluated over what was scraped.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// The monitor does not speak by alert rules.
    #[error("`{monitor}` has no alert rules")]
    NoRules {
        /// Its name.
        monitor: String,
    },
    /// The rule file cannot be read or evaluated, with the place.
    #[error(transparent)]
    Rules(#[from] FileError),
    /// Prometheus' engine gives no answer.
    #[error(transparent)]
    Promtool(#[from] PromtoolError),
    /// Its answer is not one to the questions.
    #[error("what `{PROMTOOL} {command}` answered cannot be used: {what}")]
    Answer {
        /// The command, such as `test rules`.
        command: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// Only the rules of one interval can be exported.
    #[error(
        "the groups of `{rules}` have several intervals, and promtool evaluates all of a file at one\nhint: export from a file with the groups of one interval"
    )]
    SeveralIntervals {
        /// The rule file.
        rules: String,
    },
    /// There is no group of rules.
    #[error("nothing was evaluated")]
    Nothing,
    /// nicdrill panicked while it evaluated: a bug.
    #[error("an evaluation panicked")]
    Panicked,
}

/// Why promtool gives no answer.
#[derive(Debug, thiserror::Error)]
pub enum PromtoolError {
    /// The files that it is to read cannot be written.
    #[error("the files for `{PROMTOOL}` cannot be written: {0}")]
    Files(io::Error),
    /// It cannot be started, or not be waited for.
    #[error("`{PROMTOOL}` cannot be started: {0}\nhint: it is in Debian's package `prometheus`")]
    NotStarted(io::Error),
    /// It took longer than it may.
    #[error(
        "`{PROMTOOL}` was killed: it may run for {most_s} s on CPUs\nhint: a rule is too expensive, such as one whose annotation has `query` within `range` within `range`"
    )]
    Killed {
        /// How long it may run on CPUs, in seconds.
        most_s: u64,
    },
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::not_there(
        PromtoolError::NotStarted(io::ErrorKind::NotFound.into()),
        "`promtool` cannot be started: entity not found\nhint: it is in Debian's package `prometheus`"
    )]
    #[case::no_space(
        PromtoolError::Files(io::ErrorKind::StorageFull.into()),
        "the files for `promtool` cannot be written: no storage space"
    )]
    #[case::too_expensive(
        PromtoolError::Killed { most_s: 60 },
        "`promtool` was killed: it may run for 60 s on CPUs\nhint: a rule is too expensive, such as one whose annotation \
         has `query` within `range` within `range`"
    )]
    fn why_promtool_gives_no_answer_is_told_with_what_helps(
        #[case] error: PromtoolError,
        #[case] told: &str,
    ) {
        assert_eq!(EvaluationError::from(error).to_string(), told);
    }

    #[test]
    fn an_answer_that_cannot_be_used_is_told_with_the_command() {
        let error = EvaluationError::Answer {
            command: "test rules",
            what: "no case has the number 7".to_owned(),
        };
        let told = "what `promtool test rules` answered cannot be used: no case has the number 7";
        assert_eq!(error.to_string(), told);
    }
}
