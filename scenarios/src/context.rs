//! Context for parsing a value: the text that it is in, and the handles that are declared.

use std::collections::BTreeSet;

use crate::reader::Source;

/// The text, and the declared handles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// The text.
    pub(crate) source: Source<'a>,
    /// The declared handles.
    pub(crate) handles: &'a BTreeSet<String>,
    /// Whether `it` is allowed.
    pub(crate) in_each: bool,
}

impl<'a> Context<'a> {
    /// A context in which `it` is not allowed.
    pub(crate) fn new(source: Source<'a>, handles: &'a BTreeSet<String>) -> Self {
        Self {
            source,
            handles,
            in_each: false,
        }
    }

    /// The same context, with `it` allowed.
    pub(crate) fn with_it(self) -> Self {
        Self {
            in_each: true,
            ..self
        }
    }
}
