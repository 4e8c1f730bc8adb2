//! An invalid value in a file that can be read: where it is, what is wrong, and what to write. Start at [`Problem`], and at
//! [`mistakes`] for every mistake of a text.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use crate::yaml::{self, Salvage};
use crate::{FileError, Node, Place};

/// An invalid value in a file, such as a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The keys that lead to it, the outermost first. An item of a list is its number, from 0.
    pub keys: Vec<String>,
    /// The problem.
    pub what: Cow<'static, str>,
    /// The hint.
    pub hint: Cow<'static, str>,
    /// The other keys of the file without which it may be none.
    pub beside: Cow<'static, [&'static str]>,
    /// How many of `keys`, from the outermost on, lead to the part of the file that it is a problem of: without something
    /// of that part it may be none. 0 for the value alone.
    pub part: usize,
}

impl Problem {
    /// A problem with the value to which these keys lead.
    #[must_use]
    pub fn at<K: Into<String>>(
        keys: impl IntoIterator<Item = K>,
        what: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            keys: keys.into_iter().map(Into::into).collect(),
            what: what.into(),
            hint: hint.into(),
            beside: Cow::Borrowed(&[]),
            part: 0,
        }
    }

    /// The same problem, which may be none without these other keys of the file.
    #[must_use]
    pub fn beside(self, keys: impl Into<Cow<'static, [&'static str]>>) -> Self {
        Self {
            beside: keys.into(),
            ..self
        }
    }

    /// The same problem of a part of a file: these keys lead to that part.
    #[must_use]
    pub fn below<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        let before = self.keys.len();
        self.keys.splice(0..0, keys.into_iter().map(Into::into));
        self.part += self.keys.len() - before;
        self
    }

    /// The error of a text that was read already, with its place.
    #[must_use]
    pub fn located(self, file: &str, text: &str) -> FileError {
        self.within(&yaml::tree(file, text).unwrap_or_default(), file, text)
    }

    /// The error in this tree of a text.
    fn within(self, root: &Node, file: &str, text: &str) -> FileError {
        FileError::at(file, text, of_keys(root, &self.keys), self.what).hint(self.hint)
    }

    /// Whether nothing was left out on which this problem depends.
    fn is_own<T>(&self, salvage: &Salvage<T>) -> bool {
        let mut beside = self.beside.iter();
        let part = &self.keys[..self.part];
        salvage.is_whole(&self.keys)
            && (part.is_empty() || salvage.is_whole(part))
            && beside.all(|key| salvage.is_whole(&[(*key).to_owned()]))
    }
}

/// Reads a text in whose value nothing may be wrong.
///
/// # Errors
/// The first mistake of its words, or of its values.
pub fn read<T: DeserializeOwned>(
    file: &str,
    text: &str,
    problems: impl FnOnce(&T) -> Vec<Problem>,
) -> Result<T, FileError> {
    let value = yaml::read(file, text)?;
    match problems(&value).into_iter().next() {
        Some(problem) => Err(problem.located(file, text)),
        None => Ok(value),
    }
}

/// Every mistake of a text: of its words, and of the values of a `T`. Where words are wrong, the values without them are
/// judged, and a problem that may follow from what is left out is not told.
pub fn mistakes<T: DeserializeOwned>(
    file: &str,
    text: &str,
    problems: impl FnOnce(&T) -> Vec<Problem>,
) -> Vec<FileError> {
    let salvage = match yaml::salvage::<T>(file, text) {
        Ok(value) => {
            let problems = problems(&value);
            if problems.is_empty() {
                return Vec::new();
            }
            let root = yaml::tree(file, text).unwrap_or_default();
            let problems = problems.into_iter();
            return problems
                .map(|problem| problem.within(&root, file, text))
                .collect();
        }
        Err(salvage) => *salvage,
    };
    let problems = salvage.value.as_ref().map(problems).unwrap_or_default();
    let own = problems.into_iter();
    let own = own.filter(|problem| problem.is_own(&salvage));
    let own = own.map(|problem| problem.within(&salvage.rest, file, text));
    let own: Vec<FileError> = own.collect();
    let mut mistakes = salvage.mistakes;
    mistakes.extend(own);
    mistakes.sort_by_key(|mistake| mistake.place);
    mistakes
}

/// The place of the innermost of these keys, the outermost first; an item of a list is its number, from 0. If the last
/// ones are not there, it is the place of the last one that is; nowhere, if none is.
fn of_keys(root: &Node, keys: &[String]) -> Place {
    let (mut place, mut node) = (Place::default(), root);
    for key in keys {
        let Some((at, inner)) = node.below(key) else {
            break;
        };
        (place, node) = (at, inner);
    }
    place
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TEXT: &str = "lines:\n  - { a: 1 }\n  - b: 2\n    c: { down: x, up: y }\ndown: z\n";

    #[rstest]
    #[case("down", 5, 1)]
    #[case("lines 0 a", 2, 7)]
    #[case("lines 1", 3, 5)]
    #[case("lines 1 c up", 4, 19)]
    #[case::the_last_that_is_there("lines 1 c left right", 4, 5)]
    #[case::nothing_is_there("up", 0, 0)]
    fn keys_lead_to_a_place(#[case] keys: &str, #[case] line: u32, #[case] column: u32) {
        let keys: Vec<String> = keys.split(' ').map(str::to_owned).collect();
        let root = yaml::read::<Node>("f", TEXT).unwrap();
        assert_eq!(of_keys(&root, &keys), Place { line, column });
    }
}
