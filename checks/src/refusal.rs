//! Why the agent does not start.

/// The agent refuses to start: the caller prints one line and exits with the code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}{}", .hint.as_ref().map_or_else(String::new, |hint| format!(" (hint: {hint})")))]
pub struct Refusal {
    /// The exit code: 1, or 2 for usage.
    pub code: u8,
    /// What is wrong, and where; one line.
    pub what: String,
    /// A hint, or the allowed values.
    pub hint: Option<String>,
}

impl Refusal {
    /// A refusal with exit code 1.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Refusal {
        Refusal {
            code: 1,
            what: what.into().replace('\n', " "),
            hint: None,
        }
    }

    pub(crate) fn usage(what: impl Into<String>) -> Refusal {
        Refusal {
            code: 2,
            ..Refusal::new(what)
        }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Refusal {
        let hint = Some(hint.into());
        Refusal { hint, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_line_and_1_or_2_for_usage() {
        let refusal = Refusal::new("a\nb");
        assert_eq!((refusal.code, refusal.to_string()), (1, "a b".to_owned()));
        assert_eq!(Refusal::usage("c").code, 2);
    }
}
