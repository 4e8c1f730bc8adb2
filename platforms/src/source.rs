//! The file that a platform or driver was read from, for errors with a place.

use crate::places::Places;
use crate::yaml::{Place, YamlError};

/// Why a platform could not be read, with its place and a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct PlatformError(#[from] YamlError);

impl PlatformError {
    /// The error with its place.
    #[must_use]
    pub fn located(&self) -> &YamlError {
        &self.0
    }
}

/// A file's name and text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// The file's name as given by the caller.
    pub(crate) file: String,
    /// Its text.
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        Self {
            file: file.to_owned(),
            text: text.to_owned(),
        }
    }

    /// An error about the value at `path`, or about the nearest existing value around it.
    pub(crate) fn wrong(&self, path: &str, what: impl Into<String>) -> YamlError {
        let place = self.place(path).unwrap_or_default();
        YamlError::at(&self.file, &self.text, place, what)
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
        Places::of(&self.file, &self.text).ok()
    }
}
