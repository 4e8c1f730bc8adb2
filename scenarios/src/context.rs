//! What the parsing of a value needs to know: the text it stands in, and the handles that may be named.

use std::collections::BTreeSet;

use crate::reader::Source;

/// The text, and the handles that may be named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// The text.
    pub(crate) source: Source<'a>,
    /// The declared handles.
    pub(crate) handles: &'a BTreeSet<String>,
    /// Whether `it` may be said.
    pub(crate) in_each: bool,
}

impl<'a> Context<'a> {
    /// Where `it` may not be said.
    pub(crate) fn new(source: Source<'a>, handles: &'a BTreeSet<String>) -> Self {
        Self {
            source,
            handles,
            in_each: false,
        }
    }

    /// The same, where `it` may be said.
    pub(crate) fn with_it(self) -> Self {
        Self {
            in_each: true,
            ..self
        }
    }
}
