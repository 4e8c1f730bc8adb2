//! Reads the entries of a `known.toml` one by one, so that a mistake of one hides none of another. Start at [`Source`].

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeTable, DeValue, Error, ValueDeserializer},
    value::Datetime,
};

use super::{Day, EntrySpec, KEYS, KnownEntry, KnownError};
use crate::DrillName;

/// The keys that each entry has, and values in which nothing is wrong.
const REQUIRED: [(&str, &str); 2] = [("id", "any#any"), ("reason", "any")];

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
                    specs.extend(entries.into_iter().filter_map(|entry| self.spec(entry)));
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

    /// The keys of an entry, with something in place of a required one that cannot be read; `None` if it is no table.
    fn spec(&mut self, entry: Spanned<DeValue<'_>>) -> Option<Spanned<EntrySpec>> {
        let mut rest = entry;
        let mut left_out: Vec<String> = Vec::new();
        let mut is_known = true;
        loop {
            let error = match Spanned::deserialize(ValueDeserializer::from(rest.clone())) {
                Ok(spec) => return Some(spec),
                Err(error) => error,
            };
            let DeValue::Table(keys) = rest.get_mut() else {
                self.unreadable(&error);
                return None;
            };
            let at = error.span().map_or(0, |span| span.start);
            let wrong = keys.iter().find_map(|(key, value)| {
                let is_it = key.span().contains(&at) || value.span().contains(&at);
                is_it.then(|| key.clone())
            });
            if let Some(key) = wrong {
                self.unreadable(&error);
                is_known &= !error.message().starts_with("unknown field");
                left_out.push(key.get_ref().to_string());
                keys.remove(&key);
                continue;
            }
            let (missing, stand_in) = REQUIRED
                .into_iter()
                .find(|(key, _)| !keys.contains_key(*key))?;
            // An unknown key may have been meant.
            if is_known && !left_out.iter().any(|key| key == missing) {
                self.unreadable(&error);
            }
            let value = DeValue::String(stand_in.into());
            keys.insert(
                Spanned::new(at..at, missing.into()),
                Spanned::new(at..at, value),
            );
        }
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
        let is_id = id.get_ref().rsplit_once('#');
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
