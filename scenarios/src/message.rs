//! Placeholders in an expected message: `{device}` is the subject's, `{victim.device}` a handle's.
//!
//! A handle's placeholders are filled in when the story is resolved in a world. The subject's are
//! left to the judge, which knows the device's name at the time of the event.

use files::Place;

use crate::context::Context;
use crate::error::ScenarioError;

/// The properties of a port that a placeholder can name.
pub(crate) const FIELDS: [&str; 6] = ["device", "port", "card", "role", "netdev", "pci"];

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Literal text.
    Text(&'a str),
    /// `{field}`, a property of the subject.
    Own(&'a str),
    /// `{handle.field}`, a property of a handle's port.
    Of(&'a str, &'a str),
}

/// Splits a message into its parts. A brace without its counterpart is literal text.
pub(crate) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else {
            break;
        };
        if open > 0 {
            parts.push(Part::Text(&rest[..open]));
        }
        let inner = &rest[open + 1..open + length];
        parts.push(match inner.split_once('.') {
            Some((handle, field)) => Part::Of(handle, field),
            None => Part::Own(inner),
        });
        rest = &rest[open + length + 1..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

/// Rejects unknown placeholders.
pub(crate) fn check(context: &Context<'_>, place: Place, text: &str) -> Result<(), ScenarioError> {
    for part in parts(text) {
        let field = match part {
            Part::Text(_) => continue,
            Part::Own(field) => field,
            Part::Of(handle, field) => {
                context.declared(place, handle)?;
                field
            }
        };
        if !FIELDS.contains(&field) {
            return Err(context.source.unknown(place, "placeholder", field, FIELDS));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_texts_and_placeholders() {
        assert_eq!(
            parts("NIC {victim.device} port {port} …"),
            [
                Part::Text("NIC "),
                Part::Of("victim", "device"),
                Part::Text(" port "),
                Part::Own("port"),
                Part::Text(" …"),
            ]
        );
        assert_eq!(parts("a } b { c"), [Part::Text("a } b { c")]);
    }
}
