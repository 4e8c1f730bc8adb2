//! An invalid value in a file that can be read: where it is, what is wrong, and what to write. Start at [`Problem`].

use std::borrow::Cow;

/// An invalid value in a descriptor, in needs, in a mix or in alert rules.
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
    pub(crate) fn below<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        let before = self.keys.len();
        self.keys.splice(0..0, keys.into_iter().map(Into::into));
        self.part += self.keys.len() - before;
        self
    }
}
