//! The placeholders of a message: `{device}` is the subject's, `{victim.device}` a handle's.
//!
//! A handle's are filled in when the story is told in a world; the subject's stay, for whoever
//! judges an event knows the name its device bears by then.

use platforms::yaml::Place;

use crate::context::Context;
use crate::error::ScenarioError;

/// What can be said of a port.
pub(crate) const FIELDS: [&str; 6] = ["device", "port", "card", "role", "netdev", "pci"];

/// The parts of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// A text as it is.
    Text(&'a str),
    /// `{field}`.
    Own(&'a str),
    /// `{handle.field}`.
    Of(&'a str, &'a str),
}

/// A message's parts. A brace that closes nothing, or is never closed, is text.
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

/// Refuses an unknown placeholder.
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
