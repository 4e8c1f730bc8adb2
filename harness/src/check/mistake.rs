//! A mistake in a file. Start at [`Mistake`].

use std::fmt;

use cluster::rules::RuleError;
use files::{About, FileError, Place};
use reports::KnownError;
use scenarios::ScenarioError;

use crate::near;

/// A mistake in a file: its place, what was found, what is allowed, and a hint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// The file, as the user named it.
    pub file: String,
    /// Its line and column; `None` if the whole file is meant.
    pub place: Option<Place>,
    /// The text of the error, which begins with the place and may have several lines.
    pub text: String,
    /// The text of the error of another file, if this one is wrong only because it names that file. Then `text` is this
    /// behind the name of the file.
    pub elsewhere: Option<String>,
    /// What it is about, if something depends on it.
    pub about: Option<Box<About>>,
}

impl Mistake {
    /// A mistake whose text begins with the file.
    pub fn new(file: &str, place: Option<Place>, text: impl fmt::Display) -> Self {
        Self {
            file: file.to_owned(),
            place,
            text: text.to_string(),
            elsewhere: None,
            about: None,
        }
    }

    /// The mistake of a file that names another one, which has this error.
    pub fn elsewhere(file: &str, error: impl fmt::Display) -> Self {
        let error = error.to_string();
        Self {
            elsewhere: Some(error.clone()),
            ..Self::new(file, None, format_args!("{file}: {error}"))
        }
    }

    /// A mistake of cluster rules or of a cabling.
    pub(super) fn of_rules(error: &RuleError) -> Self {
        Self::asking(&error.0, error.to_string())
    }

    /// A mistake of known deviations.
    pub(super) fn of_known(error: &KnownError) -> Self {
        let line = error.0.place.map(|place| Place { column: 1, ..place });
        Self {
            place: line,
            ..Self::asking(&error.0, error.to_string())
        }
    }

    /// The mistake with this text, whose hint asks for the name that was meant.
    fn asking(error: &FileError, text: String) -> Self {
        let near = match error.about.as_deref() {
            Some(About::Unknown { name, known, .. }) => near::names(
                name,
                &known.iter().map(String::as_str).collect::<Vec<&str>>(),
            ),
            _ => Vec::new(),
        };
        let text = match near::did_you_mean(&near) {
            Some(question) => text.replacen("\nhint: ", &format!("\nhint: {question} "), 1),
            None => text,
        };
        Self::new(&error.file, error.place, text)
    }

    /// The mistakes of a scenario or world.
    pub(super) fn of_scenario(error: ScenarioError) -> impl Iterator<Item = Self> {
        error.into_iter().map(|one| Self::from(&one))
    }
}

impl From<&FileError> for Mistake {
    fn from(error: &FileError) -> Self {
        Self {
            about: error.about.clone(),
            ..Self::new(&error.file, error.place, error)
        }
    }
}
