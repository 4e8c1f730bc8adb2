//! Reads the entries of a `known.toml` one by one, so that a mistake of one hides none of another. Start at [`entries`].

use files::{FileError, Mistakes, toml::Source};
use toml::{Spanned, de::DeValue, value::Datetime};

use super::{Day, EntrySpec, KEYS, KnownEntry};
use crate::DrillName;

/// The keys that each entry has, with values in which nothing is wrong.
const STAND_IN: &str = "id = 'any#any'\nreason = 'any'\n";

/// The entries of a text.
pub(super) fn entries(file: &str, text: &str) -> Result<Vec<KnownEntry>, Mistakes> {
    let keys = KEYS;
    let source = Source { file, text, keys };
    let mut found = Mistakes::default();
    let mut entries = Vec::new();
    let table = found.take(source.table()).map(Spanned::into_inner);
    for (key, value) in table.into_iter().flatten() {
        let span = value.span();
        match (key.get_ref().as_ref(), value.into_inner()) {
            ("known", DeValue::Array(items)) => {
                entries.extend(items.into_iter().filter_map(|item| {
                    let spec = source.part(item, STAND_IN, &mut found).value?;
                    found.take(entry(&source, spec))
                }))
            }
            ("known", other) => {
                let value = Spanned::new(span, other);
                source.part::<Vec<EntrySpec>>(value, "", &mut found);
            }
            _ => found.note(source.unknown(&key, &["known"])),
        }
    }
    found.or(Some(entries))
}

/// An entry, if none of its values is wrong.
fn entry(source: &Source<'_>, spec: Spanned<EntrySpec>) -> Result<KnownEntry, Mistakes> {
    let mut found = Mistakes::default();
    let place = source.place(spec.span());
    let EntrySpec {
        id,
        reason,
        link,
        expires,
        drill,
    } = spec.into_inner();
    let is_id = id.get_ref().rsplit_once('#');
    if is_id.is_none_or(|(scenario, cause)| scenario.is_empty() || cause.is_empty()) {
        found.note(source.error(
            id.span(),
            format!("invalid id `{}`", id.get_ref()),
            "an id is `scenario#cause`, as a run prints it with each group; `*` and `?` match anything",
        ));
    }
    if reason.get_ref().trim().is_empty() {
        let hint = "write why the finding is accepted";
        found.note(source.error(reason.span(), "an empty `reason`", hint));
    }
    let expires = expires.and_then(|date| found.take(day(source, &date)));
    let drill = drill.and_then(|drill| {
        let read = drill.get_ref().parse::<DrillName>().map_err(|error| {
            let what = format!("invalid drill name `{}`", error.text);
            source.error(drill.span(), what, error.hint)
        });
        found.take(read)
    });
    found.or(Some(KnownEntry {
        id: id.into_inner(),
        reason: reason.into_inner(),
        link,
        expires,
        drill,
        line: place.line,
    }))
}

/// The last day of an entry.
fn day(source: &Source<'_>, reported: &Spanned<Datetime>) -> Result<Day, FileError> {
    let date = reported.get_ref();
    match (date.date, date.time) {
        (Some(day), None) => Ok(Day {
            year: day.year,
            month: day.month,
            day: day.day,
        }),
        _ => Err(source.error(
            reported.span(),
            format!("`expires` is {date}, not a day"),
            "write a date without a time, such as `expires = 2027-01-31`",
        )),
    }
}
