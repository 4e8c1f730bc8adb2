//! Reads the entries of a `known.toml` one by one, so that a mistake of one hides none of another. Start at [`Source`].

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeTable, DeValue, Error, ValueDeserializer},
    value::Datetime,
};

use super::{Day, EntrySpec, KEYS, KnownEntry, KnownError};
use crate::DrillName;

/// A text that is read, and what is wrong in it.
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    pub(super) mistakes: Vec<KnownError>,
}

impl Source<'_> {
    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        self.text[..at.min(self.text.len())].matches('\n').count() + 1
    }

    /// Notes a mistake at a byte.
    fn wrong(&mut self, at: usize, found: impl Into<String>, hint: &'static str) {
        let mistake = KnownError {
            file: self.file.to_owned(),
            line: self.line(at),
            found: found.into(),
            hint,
        };
        self.mistakes.push(mistake);
    }

    /// Notes what the TOML reader says.
    fn unreadable(&mut self, error: &Error) {
        let at = error.span().map_or(0, |span| span.start);
        self.wrong(at, error.message().replace('\n', " "), KEYS);
    }

    /// The entries, one by one, of a text whose keys cannot be read as a whole. `first` is its first mistake.
    pub(super) fn each_entry(&mut self, first: &Error) -> Vec<Spanned<EntrySpec>> {
        self.unreadable(first);
        let Ok(table) = DeTable::parse(self.text) else {
            return Vec::new();
        };
        let mut specs = Vec::new();
        for (key, value) in table.into_inner() {
            match (key.get_ref().as_ref(), value.into_inner()) {
                ("known", DeValue::Array(entries)) => {
                    for entry in entries {
                        match Spanned::deserialize(ValueDeserializer::from(entry)) {
                            Ok(spec) => specs.push(spec),
                            Err(error) => self.unreadable(&error),
                        }
                    }
                }
                ("known", _) => {}
                (strange, _) => {
                    let found = format!("unknown field `{strange}`, expected `known`");
                    self.wrong(key.span().start, found, KEYS);
                }
            }
        }
        specs
    }

    /// An entry, if none of its values is wrong.
    pub(super) fn entry(&mut self, spec: Spanned<EntrySpec>) -> Option<KnownEntry> {
        let before = self.mistakes.len();
        let line = self.line(spec.span().start);
        let EntrySpec {
            id,
            reason,
            link,
            expires,
            drill,
        } = spec.into_inner();
        let is_id = id.get_ref().split_once('#');
        if is_id.is_none_or(|(scenario, cause)| scenario.is_empty() || cause.is_empty()) {
            self.wrong(
                id.span().start,
                format!("invalid id `{}`", id.get_ref()),
                "an id is `scenario#cause`, as a run prints it with each group; `*` and `?` match anything",
            );
        }
        if reason.get_ref().trim().is_empty() {
            let hint = "write why the finding is accepted";
            self.wrong(reason.span().start, "an empty `reason`", hint);
        }
        let expires = expires.and_then(|date| self.day(&date));
        let drill = drill.and_then(|drill| {
            let read = drill.get_ref().parse::<DrillName>().map_err(|error| {
                let found = format!("invalid drill name `{}`", error.text);
                self.wrong(drill.span().start, found, error.hint);
            });
            read.ok()
        });
        (self.mistakes.len() == before).then(|| KnownEntry {
            id: id.into_inner(),
            reason: reason.into_inner(),
            link,
            expires,
            drill,
            line,
        })
    }

    /// The last day of an entry.
    fn day(&mut self, reported: &Spanned<Datetime>) -> Option<Day> {
        let date = reported.get_ref();
        let (Some(day), None) = (date.date, date.time) else {
            self.wrong(
                reported.span().start,
                format!("`expires` is {date}, not a day"),
                "write a date without a time, such as `expires = 2027-01-31`",
            );
            return None;
        };
        Some(Day {
            year: day.year,
            month: day.month,
            day: day.day,
        })
    }
}
