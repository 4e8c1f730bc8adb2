//! Log records of the agent: a level, a text and named values.
//!
//! The caller prints records as they come. The agent makes one record per cause, so the log is not
//! flooded.

use std::fmt;

/// The level of a [`LogRecord`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For developers.
    Debug,
    /// For information.
    Info,
    /// Something that an operator may want to change.
    Warn,
    /// Something that an operator must change.
    Error,
}

/// One log line: a level, a text, and named values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRecord {
    /// The level.
    pub level: Level,
    /// What happened, without its values.
    pub text: String,
    /// The values, in the order in which they are printed.
    pub fields: Vec<(&'static str, String)>,
}

impl LogRecord {
    /// A record without values.
    #[must_use]
    pub fn new(level: Level, text: impl Into<String>) -> LogRecord {
        LogRecord {
            level,
            text: text.into(),
            fields: Vec::new(),
        }
    }

    /// The record with one more value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> LogRecord {
        self.fields.push((name, value.to_string()));
        self
    }
}

impl fmt::Display for LogRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        for (name, value) in &self.fields {
            write!(f, " {name}={value}")?;
        }
        Ok(())
    }
}
