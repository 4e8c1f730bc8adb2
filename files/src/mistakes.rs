//! The mistakes of a file, gathered while it is read piece by piece. Start at [`Mistakes`].

use crate::YamlError;

/// Mistakes, in the order in which they were found.
#[derive(Debug, Default)]
pub struct Mistakes {
    /// Of a value by itself.
    of_values: Vec<YamlError>,
    /// Between the keys of a part of the file: they may follow from a key that cannot be read.
    between_keys: Vec<YamlError>,
}

impl Mistakes {
    /// What was read of a piece; if there were mistakes in it they are kept, and nothing was.
    pub fn take<T>(&mut self, read: Result<T, impl Into<Self>>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(mistakes) => {
                let mistakes = mistakes.into();
                self.of_values.extend(mistakes.of_values);
                self.between_keys.extend(mistakes.between_keys);
                None
            }
        }
    }

    /// Adds a mistake of a value by itself.
    pub fn note(&mut self, mistake: YamlError) {
        self.of_values.push(mistake);
    }

    /// Adds a mistake between keys.
    pub fn note_between(&mut self, mistake: YamlError) {
        self.between_keys.push(mistake);
    }

    /// A mistake between keys alone.
    pub fn between(mistake: YamlError) -> Self {
        Self {
            between_keys: vec![mistake],
            ..Self::default()
        }
    }

    /// Those of values alone: what holds of a rule some of whose keys cannot be read.
    pub fn of_values(self) -> Self {
        Self {
            between_keys: Vec::new(),
            ..self
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.of_values.is_empty() && self.between_keys.is_empty()
    }

    /// The value, if it could be made and there was no mistake.
    pub fn or<T>(self, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if self.is_empty() => Ok(value),
            _ => Err(self),
        }
    }

    /// All of them, each once, in the order of the text.
    pub fn in_order(self) -> Vec<YamlError> {
        let mut all = self.of_values;
        all.extend(self.between_keys);
        all.sort_by_cached_key(|mistake| (mistake.place, mistake.what.clone()));
        all.dedup();
        all
    }
}

impl From<YamlError> for Mistakes {
    fn from(mistake: YamlError) -> Self {
        Self {
            of_values: vec![mistake],
            between_keys: Vec::new(),
        }
    }
}
