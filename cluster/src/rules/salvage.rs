//! A TOML value with mistakes in its keys and types: what is wrong is left out, and the rest is read again, because a reader
//! ends at the first mistake. Start at [`every`].

use std::ops::Range;

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue, ValueDeserializer},
};

/// What could not be read of a value.
pub(super) struct Wrong<'i> {
    /// Every mistake, with its place in the text. Keys that are missing are among them if no key is unknown, because an unknown
    /// key may have been meant.
    pub(super) mistakes: Vec<(Range<usize>, String)>,
    /// What is left of the value without them.
    pub(super) rest: Spanned<DeValue<'i>>,
}

/// A value of a text that has these keys, or what is wrong with it.
pub(super) fn every<'i, T: Deserialize<'i>>(
    value: Spanned<DeValue<'i>>,
    required: &[&str],
) -> Result<T, Wrong<'i>> {
    let is_missing = |key: &&&str| !has(value.get_ref(), key);
    let missing: Vec<&&str> = required.iter().filter(is_missing).collect();
    let span = value.span();
    let mut rest = value;
    let mut mistakes: Vec<(Range<usize>, String)> = Vec::new();
    let mut is_known = true;
    loop {
        let error = match T::deserialize(ValueDeserializer::from(rest.clone())) {
            Ok(value) if mistakes.is_empty() => return Ok(value),
            Ok(_) => break,
            Err(error) => error,
        };
        if error.message().starts_with("missing field") {
            break;
        }
        let at = error.span().unwrap_or(0..0);
        is_known &= !error.message().starts_with("unknown field");
        mistakes.push((at.clone(), plain(error.message())));
        if !leave_out(rest.get_mut(), at.start) {
            break;
        }
    }
    if is_known {
        let missing = missing.into_iter();
        mistakes.extend(missing.map(|key| (span.clone(), format!("missing field `{key}`"))));
    }
    Err(Wrong { mistakes, rest })
}

/// What a reader says, without the names that its language has for types.
fn plain(message: &str) -> String {
    let types = [
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected a table"),
        ("expected struct RuleText", "expected a table"),
        ("expected struct MatchText", "expected a table"),
        ("expected struct WorldText", "expected a table"),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: table"),
    ];
    let message = message.replace('\n', " ");
    types
        .into_iter()
        .fold(message, |text, (from, to)| text.replace(from, to))
}

/// What is left of a value, with those of the keys of `stand_in` that it lacks; `None` if it cannot be read even so.
pub(super) fn complete<'i, T: Deserialize<'i>>(
    mut rest: Spanned<DeValue<'i>>,
    stand_in: &'i str,
) -> Option<T> {
    let DeValue::Table(keys) = rest.get_mut() else {
        return None;
    };
    for (key, value) in DeTable::parse(stand_in).ok()?.into_inner() {
        keys.entry(key).or_insert(value);
    }
    T::deserialize(ValueDeserializer::from(rest)).ok()
}

/// Whether a value has this key.
pub(super) fn has(value: &DeValue<'_>, key: &str) -> bool {
    matches!(value, DeValue::Table(keys) if keys.contains_key(key))
}

/// Leaves the innermost key or item out in which this place is; false if there is none. The place of a table that has a header
/// is that of its header alone.
fn leave_out(value: &mut DeValue<'_>, at: usize) -> bool {
    let has = |span: Range<usize>| span.contains(&at);
    match value {
        DeValue::Table(table) => {
            let mut wrong = None;
            for (key, value) in table.iter_mut() {
                if !has(key.span()) && leave_out(value.get_mut(), at) {
                    return true;
                }
                if has(key.span()) || has(value.span()) {
                    wrong = Some(key.clone());
                    break;
                }
            }
            wrong.is_some_and(|key| table.remove(&key).is_some())
        }
        DeValue::Array(items) => {
            let mut kept: Vec<Spanned<DeValue<'_>>> = items.iter().cloned().collect();
            let is_within = kept.iter_mut().any(|item| leave_out(item.get_mut(), at));
            if !is_within {
                let Some(number) = kept.iter().position(|item| has(item.span())) else {
                    return false;
                };
                kept.remove(number);
                // Nobody wrote an empty list.
                if kept.is_empty() {
                    return false;
                }
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
