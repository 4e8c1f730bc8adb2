//! A mistake in a file. Start at [`FileError::at`].

use crate::Place;

/// Why a text could not be read: place, problem, source line and hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.rendered())]
pub struct FileError {
    /// The file's name as given by the caller.
    pub file: String,
    /// The place; `None` for the whole text.
    pub place: Option<Place>,
    /// The problem: lower case, names in backticks.
    pub what: String,
    /// The source line, if it is not empty.
    pub line: Option<String>,
    /// The hint, if there is one.
    pub hint: Option<String>,
    /// What it is about, if something depends on it.
    pub about: Option<Box<About>>,
}

/// What an error is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// A key that is missing.
    MissingKey(String),
    /// A name that does not exist.
    Unknown {
        /// What has such a name, such as a platform.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names that there are, if the hint does not say which one is near.
        known: Vec<String>,
    },
    /// A value of another kind than the one that belongs there.
    Kind,
    /// A word that is planned, and not implemented.
    NotBuilt,
    /// Several keys, of which one that cannot be read may be the reason.
    Between,
}

impl FileError {
    /// An error about a place in `text`.
    #[must_use]
    pub fn at(file: &str, text: &str, place: Place, what: impl Into<String>) -> Self {
        let number = usize::try_from(place.line).unwrap_or(usize::MAX);
        let line = number
            .checked_sub(1)
            .and_then(|above| text.lines().nth(above))
            .filter(|line| !line.is_empty());
        Self {
            line: line.map(str::to_owned),
            ..Self::new(file, place, what)
        }
    }

    /// An error that does not show its source line.
    #[must_use]
    pub fn new(file: &str, place: Place, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            place: (place.line > 0).then_some(place),
            what: what.into(),
            line: None,
            hint: None,
            about: None,
        }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with what it is about.
    #[must_use]
    pub fn about(mut self, about: About) -> Self {
        self.about = Some(Box::new(about));
        self
    }

    fn rendered(&self) -> String {
        let mut rendered = match self.place {
            Some(place) => format!("{}:{place}: {}", self.file, self.what),
            None => format!("{}: {}", self.file, self.what),
        };
        if let (Some(place), Some(line)) = (self.place, &self.line) {
            let number = place.line.to_string();
            let gutter = " ".repeat(number.len());
            let shown: String = line.chars().take(160).collect();
            let under: String = shown
                .chars()
                .take(place.column.saturating_sub(1) as usize)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            rendered += &format!("\n {gutter} |\n {number} | {shown}\n {gutter} | {under}^");
        }
        if let Some(hint) = &self.hint {
            rendered += &format!("\nhint: {hint}");
        }
        rendered
    }
}
