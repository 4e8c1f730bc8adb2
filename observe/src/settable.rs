//! The flags of a monitor that a story may set, each with the kind of its value.
//!
//! A story is data from somebody else, and a flag can name a file to write or a socket to send to. So a flag reaches
//! the monitor only if the descriptor lists it, and no kind of value can hold a path. Start at [`Settable`].

use std::{collections::BTreeMap, fmt};

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Span;

/// The longest word and number, in characters.
const WORD_CHARS_MAX: usize = 64;

/// The most words of a list.
const WORDS_MAX: usize = 64;

/// The kind of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FlagKind {
    /// No value: `--name`.
    Switch,
    /// Digits.
    Number,
    /// A number with a unit, such as `30ms`, `5s` or `1m30s`, a day at most.
    Duration,
    /// Letters, digits, `_` and `-`, at most 64.
    Word,
    /// Words separated by commas, at most 64.
    Words,
}

impl FlagKind {
    /// Whether a flag of this kind takes this value; `None` is a flag without a value.
    fn takes(self, value: Option<&str>) -> bool {
        let is_word = |text: &str| {
            let of_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            (1..=WORD_CHARS_MAX).contains(&text.len()) && text.chars().all(of_word)
        };
        match (self, value) {
            (Self::Switch, value) => value.is_none(),
            (_, None) => false,
            (Self::Number, Some(text)) => is_word(text) && text.chars().all(|c| c.is_ascii_digit()),
            (Self::Duration, Some(text)) => {
                text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
                    && Span::parse(text).is_some()
            }
            (Self::Word, Some(text)) => is_word(text),
            (Self::Words, Some(text)) => {
                text.split(',').count() <= WORDS_MAX && text.split(',').all(is_word)
            }
        }
    }
}

impl fmt::Display for FlagKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Switch => "no value",
            Self::Number => "a number",
            Self::Duration => "a duration such as `5s`",
            Self::Word => "a word",
            Self::Words => "words separated by commas",
        })
    }
}

/// The flags that a story may set: names without the dashes, and the kinds of their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Settable(BTreeMap<String, FlagKind>);

impl Settable {
    /// Why a flag of a story, such as `--log-level=debug`, cannot be given to this monitor; `None` if it can.
    #[must_use]
    pub fn refuses(&self, flag: &str) -> Option<String> {
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        let Some(kind) = name.strip_prefix("--").and_then(|name| self.0.get(name)) else {
            return Some(format!(
                "lets no story set the flag `{name}` (`settable` of its descriptor)"
            ));
        };
        (!kind.takes(value)).then(|| format!("takes {kind} with `{name}`, and not `{flag}`"))
    }

    /// The names that no flag has, and those that the descriptor fills in itself, because their values are paths, sockets
    /// or ports of the harness. `words` are the descriptor's own arguments.
    pub(crate) fn problems<'a>(&self, words: impl Iterator<Item = &'a String>) -> Vec<Problem> {
        let is_plain = |name: &String| {
            let of_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(of_name)
        };
        let owned: Vec<&str> = words.filter_map(|word| owned(word)).collect();
        let problems = self.0.keys().filter_map(|name| {
            let (what, hint) = match name {
                name if !is_plain(name) => (
                    format!("`{name}` is no name of a flag"),
                    "write the name without the dashes, such as `log-level: word`",
                ),
                name if owned.contains(&name.as_str()) => (
                    format!("`--{name}` is filled in by nicdrill, so no story may set it"),
                    "leave it out of `settable`",
                ),
                _ => return None,
            };
            Some(Problem::at(["settable", name], what, hint))
        });
        problems.collect()
    }
}

/// The name of the flag in an argument such as `--config={config}`; the checks are no path, and a story may choose them.
fn owned(word: &str) -> Option<&str> {
    let (name, value) = word.strip_prefix("--")?.split_once('=')?;
    (value.contains('{') && value != "{checks}").then_some(name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn settable() -> Settable {
        Settable(BTreeMap::from(
            [
                ("explain", FlagKind::Switch),
                ("attempts", FlagKind::Number),
                ("patience", FlagKind::Duration),
                ("level", FlagKind::Word),
                ("checks", FlagKind::Words),
            ]
            .map(|(name, kind)| (name.to_owned(), kind)),
        ))
    }

    #[rstest]
    #[case("--explain")]
    #[case("--attempts=3")]
    #[case("--patience=1m30s")]
    #[case("--patience=30ms")]
    #[case("--level=STORE_ONLY")]
    #[case("--checks=A,B")]
    fn a_listed_flag_with_a_value_of_its_kind_is_given(#[case] flag: &str) {
        assert_eq!(settable().refuses(flag), None);
    }

    #[rstest]
    #[case("--explain=1", "takes no value")]
    #[case("--attempts", "takes a number")]
    #[case("--attempts=-1", "takes a number")]
    #[case("--patience=5", "takes a duration")]
    #[case("--patience=25h", "takes a duration")]
    #[case("--level=a.json", "takes a word")]
    #[case("--level=", "takes a word")]
    #[case("--checks=A,,B", "takes words")]
    #[case("--state-file=x", "lets no story set the flag `--state-file`")]
    #[case("-explain", "lets no story set")]
    fn anything_else_is_refused_with_the_reason(#[case] flag: &str, #[case] reason: &str) {
        let told = settable().refuses(flag).expect("it is refused");
        assert!(told.starts_with(reason), "{told}");
    }

    #[rstest]
    fn no_kind_of_value_can_hold_a_path_or_an_address(
        #[values("explain", "attempts", "patience", "level", "checks")] name: &str,
        #[values(
            "/tmp/x", "../x", "./x", "x/y", "unix:x", "a.sock", "h:80", "~", "$HOME", "a\nb"
        )]
        value: &str,
    ) {
        assert!(settable().refuses(&format!("--{name}={value}")).is_some());
    }
}
