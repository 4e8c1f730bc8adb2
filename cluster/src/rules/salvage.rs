//! A TOML table with mistakes in its keys and types: what is wrong is left out, and the rest is read again, because a reader
//! ends at the first mistake. Start at [`every`].

use std::ops::Range;

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeArray, DeValue, Error, ValueDeserializer},
};

/// A value of a text, or every mistake in it. A key that is missing is told if nothing was left out before, because the
/// key that was left out may have been meant.
pub(super) fn every<'i, T: Deserialize<'i>>(value: Spanned<DeValue<'i>>) -> Result<T, Vec<Error>> {
    let mut rest = value;
    let mut mistakes: Vec<Error> = Vec::new();
    loop {
        let error = match T::deserialize(ValueDeserializer::from(rest.clone())) {
            Ok(value) if mistakes.is_empty() => return Ok(value),
            Ok(_) => return Err(mistakes),
            Err(error) => error,
        };
        let at = error.span().map_or(usize::MAX, |span| span.start);
        let is_consequence = !mistakes.is_empty() && error.message().starts_with("missing field");
        if !is_consequence {
            mistakes.push(error);
        }
        if !leave_out(rest.get_mut(), at) {
            return Err(mistakes);
        }
    }
}

/// Leaves the innermost key or item out in which this place is; false if there is none.
fn leave_out(value: &mut DeValue<'_>, at: usize) -> bool {
    let has = |span: Range<usize>| span.contains(&at);
    match value {
        DeValue::Table(table) => {
            let found = table.iter_mut().find_map(|(key, value)| {
                let is_key = has(key.span());
                let is_it = is_key || has(value.span());
                is_it.then(|| (key.clone(), !is_key && leave_out(value.get_mut(), at)))
            });
            let Some((key, is_within)) = found else {
                return false;
            };
            if !is_within {
                table.remove(&key);
            }
            true
        }
        DeValue::Array(items) => {
            let Some(number) = items.iter().position(|item| has(item.span())) else {
                return false;
            };
            let mut kept: Vec<Spanned<DeValue<'_>>> = items.iter().cloned().collect();
            if !leave_out(kept[number].get_mut(), at) {
                kept.remove(number);
            }
            *items = DeArray::new();
            for item in kept {
                items.push(item);
            }
            true
        }
        _ => false,
    }
}
