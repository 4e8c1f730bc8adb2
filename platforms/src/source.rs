//! The file that a platform or driver was read from, for errors with a place.

use files::{FileError, Node, Place};

use crate::places::Places;

/// Something that a platform or driver cannot be read with.
#[derive(Clone, Debug)]
pub(crate) struct Mistake {
    /// The path of the value that is wrong.
    pub(crate) path: String,
    /// What it is about, so that it is told once: its kind, and a name.
    pub(crate) about: (&'static str, String),
    /// The keys of the file that say, beside the value itself, that it is wrong.
    pub(crate) needs: &'static [&'static str],
    /// The mistake with its place and a hint.
    pub(crate) error: FileError,
}

/// The first mistake as an error.
pub(crate) fn first(mistakes: Vec<Mistake>) -> Result<(), FileError> {
    match mistakes.into_iter().next() {
        None => Ok(()),
        Some(mistake) => Err(mistake.error),
    }
}

/// A file's name and text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// The file's name as given by the caller.
    pub(crate) file: String,
    pub(crate) text: String,
    /// What of it could be read, if that is not all of it.
    pub(crate) rest: Option<Node>,
}

/// What could be read of a text follows from the text.
impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        (&self.file, &self.text) == (&other.file, &other.text)
    }
}

impl Eq for Source {}

impl Source {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        Self {
            file: file.to_owned(),
            text: text.to_owned(),
            rest: None,
        }
    }

    /// An error about the value at `path`, or about the nearest existing value around it.
    pub(crate) fn wrong(&self, path: &str, what: impl Into<String>) -> FileError {
        let place = self.place(path).unwrap_or_default();
        FileError::at(&self.file, &self.text, place, what)
    }

    /// The place of the value at `path`, or of the nearest existing one around it.
    fn place(&self, path: &str) -> Option<Place> {
        let places = self.places()?;
        let mut path = path;
        loop {
            if let Some(place) = places.find(path) {
                return Some(place);
            }
            path = path.rsplit_once('.')?.0;
        }
    }

    /// The places of the values, if the text can be parsed.
    pub(crate) fn places(&self) -> Option<Places> {
        match &self.rest {
            Some(rest) => Some(Places::of_tree(rest)),
            None => Places::of(&self.file, &self.text).ok(),
        }
    }
}
