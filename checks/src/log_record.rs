//! What the agent has to tell its operator: one structured log line each.
//!
//! Hands print notes as they come. The agent says each thing once per cause, so a note is never the
//! start of a flood.

use std::fmt;

/// How loud a [`LogRecord`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For the developer.
    Debug,
    /// For the record.
    Info,
    /// Something an operator may want to change.
    Warn,
    /// Something an operator must change.
    Error,
}

/// One log line: a level, a text, and named values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRecord {
    /// How loud.
    pub level: Level,
    /// What happened, without its values.
    pub text: String,
    /// The values, in the order in which they are told.
    pub fields: Vec<(&'static str, String)>,
}

impl LogRecord {
    /// A note without values.
    #[must_use]
    pub fn new(level: Level, text: impl Into<String>) -> LogRecord {
        LogRecord {
            level,
            text: text.into(),
            fields: Vec::new(),
        }
    }

    /// The note with one value more.
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
