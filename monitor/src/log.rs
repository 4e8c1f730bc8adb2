//! The monitor's log: one line per record on stderr, as text or JSON.

use std::io::Write as _;

use checks::{Level, LogFormat, LogRecord};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// Prints records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Log {
    format: LogFormat,
    quietest: Level,
}

impl Log {
    pub(crate) fn new(format: LogFormat, quietest: Level) -> Log {
        Log { format, quietest }
    }

    pub(crate) fn record(self, record: &LogRecord) {
        if record.level < self.quietest {
            return;
        }
        let time = format!("{:.3}", Timestamp::now());
        let line = match self.format {
            LogFormat::Text => text(&time, record),
            LogFormat::Json => json(&time, record),
        };
        // A log that cannot be written is no reason to stop.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Debug => "DEBUG",
        Level::Info => "INFO",
        Level::Warn => "WARN",
        Level::Error => "ERROR",
    }
}

fn text(time: &str, record: &LogRecord) -> String {
    let mut line = format!("{time} {:5} {}", word(record.level), record.text);
    for (name, value) in &record.fields {
        let is_plain = !value.is_empty()
            && !value.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"');
        let rendered = if is_plain {
            format!(" {name}={value}")
        } else {
            format!(" {name}={value:?}")
        };
        line.push_str(&rendered);
    }
    line
}

fn json(time: &str, record: &LogRecord) -> String {
    let mut line = Map::new();
    line.insert("time".to_owned(), time.into());
    line.insert("level".to_owned(), word(record.level).into());
    line.insert("msg".to_owned(), record.text.as_str().into());
    for (name, value) in &record.fields {
        line.insert((*name).to_owned(), value.as_str().into());
    }
    Value::Object(line).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> LogRecord {
        LogRecord::new(Level::Warn, "cannot be read")
            .with("path", "/a")
            .with("cause", "timed out")
    }

    #[test]
    fn a_note_is_one_line_of_text() {
        let line = text("T", &record());
        assert_eq!(line, r#"T WARN  cannot be read path=/a cause="timed out""#);
    }

    #[test]
    fn a_note_is_one_json_object() {
        let line: Value = serde_json::from_str(&json("T", &record())).unwrap();
        assert_eq!(line["level"], "WARN");
        assert_eq!(line["msg"], "cannot be read");
        assert_eq!(line["cause"], "timed out");
    }
}
