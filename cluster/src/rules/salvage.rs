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
    /// Every mistake, with its place in the text. Keys that are missing are among them if nothing was left out before, because
    /// a key that was left out may have been meant.
    pub(super) mistakes: Vec<(Range<usize>, String)>,
    /// What is left of the value without them.
    pub(super) rest: Spanned<DeValue<'i>>,
}

/// A value of a text that has these keys, or what is wrong with it.
pub(super) fn every<'i, T: Deserialize<'i>>(
    value: Spanned<DeValue<'i>>,
    required: &[&str],
) -> Result<T, Wrong<'i>> {
    let mut rest = value;
    let mut mistakes: Vec<(Range<usize>, String)> = Vec::new();
    loop {
        let error = match T::deserialize(ValueDeserializer::from(rest.clone())) {
            Ok(value) if mistakes.is_empty() => return Ok(value),
            Ok(_) => return Err(Wrong { mistakes, rest }),
            Err(error) => error,
        };
        let at = error.span().unwrap_or(0..0);
        let is_missing = error.message().starts_with("missing field");
        match (is_missing, mistakes.is_empty()) {
            (true, true) => {
                let missing = required.iter().filter(|key| !has(rest.get_ref(), key));
                let missing = missing.map(|key| (at.clone(), format!("missing field `{key}`")));
                mistakes.extend(missing);
            }
            (true, false) => {}
            (false, _) => mistakes.push((at.clone(), error.message().replace('\n', " "))),
        }
        if is_missing || !leave_out(rest.get_mut(), at.start) {
            return Err(Wrong { mistakes, rest });
        }
    }
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
