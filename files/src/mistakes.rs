//! The mistakes of a file, gathered while it is read piece by piece. Start at [`Mistakes`].

use std::fmt;

use crate::{About, FileError};

/// Mistakes in a file. As an error, they are at least one, each once, and in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes(Vec<FileError>);

impl Mistakes {
    /// What was read of a piece; if there were mistakes in it they are kept, and nothing was.
    pub fn take<T>(&mut self, read: Result<T, impl Into<Self>>) -> Option<T> {
        read.map_err(|mistakes| self.0.append(&mut mistakes.into().0))
            .ok()
    }

    /// Adds a mistake of a value by itself.
    pub fn note(&mut self, mistake: FileError) {
        self.0.push(mistake);
    }

    /// Adds a mistake between the keys of a part of the file, which may follow from a key that cannot be read.
    pub fn note_between(&mut self, mistake: FileError) {
        self.note(mistake.about(About::Between));
    }

    /// A mistake between keys alone.
    #[must_use]
    pub fn between(mistake: FileError) -> Self {
        mistake.about(About::Between).into()
    }

    /// Those of values by themselves: what holds of a part of the file some of whose keys cannot be read.
    #[must_use]
    pub fn of_values(mut self) -> Self {
        let is_between = |mistake: &FileError| mistake.about.as_deref() == Some(&About::Between);
        self.0.retain(|mistake| !is_between(mistake));
        self
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value, if it could be made and there was no mistake.
    ///
    /// # Errors
    /// The mistakes.
    pub fn or<T>(self, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if self.is_empty() => Ok(value),
            _ => Err(self.sorted()),
        }
    }

    /// Both values, if both are right.
    ///
    /// # Errors
    /// Every mistake in them.
    pub fn in_both<A, B>(one: Result<A, Self>, other: Result<B, Self>) -> Result<(A, B), Self> {
        let mut mistakes = Self::default();
        let (one, other) = (mistakes.take(one), mistakes.take(other));
        mistakes.or(one.zip(other))
    }

    /// The values, if all are right.
    ///
    /// # Errors
    /// Every mistake in them.
    pub fn in_all<T>(read: impl IntoIterator<Item = Result<T, Self>>) -> Result<Vec<T>, Self> {
        let mut mistakes = Self::default();
        let values = read.into_iter().filter_map(|one| mistakes.take(one));
        let values = values.collect();
        mistakes.or(Some(values))
    }

    /// The same mistakes, each once and in the order of the text.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.0.sort_by_key(|mistake| mistake.place);
        self.0.dedup();
        self
    }

    /// The first of them.
    ///
    /// # Panics
    /// If there is none, which is no error.
    #[must_use]
    pub fn first(&self) -> &FileError {
        self.0.first().expect("an error is at least one mistake")
    }

    /// The same mistakes with this hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        let hinted = self.into_iter().map(|mistake| mistake.hint(hint.clone()));
        Self(hinted.collect())
    }

    /// The same mistakes, which are about this.
    #[must_use]
    pub fn about(self, about: About) -> Self {
        let told = self.into_iter().map(|mistake| mistake.about(about.clone()));
        Self(told.collect())
    }
}

impl std::error::Error for Mistakes {}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n"))
    }
}

impl From<FileError> for Mistakes {
    fn from(mistake: FileError) -> Self {
        Self(vec![mistake])
    }
}

impl Extend<FileError> for Mistakes {
    fn extend<I: IntoIterator<Item = FileError>>(&mut self, mistakes: I) {
        self.0.extend(mistakes);
    }
}

impl IntoIterator for Mistakes {
    type Item = FileError;
    type IntoIter = std::vec::IntoIter<FileError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
