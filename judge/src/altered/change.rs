//! An expectation, and a change that makes it false.

use observe::Recording;
use scenarios::{Expectation, What};

use crate::fits::JudgeContext;

/// An expectation made false.
pub(super) enum Change {
    /// The line says this instead.
    Line(Box<Expectation>),
    /// The line claims less, or is missing: what it no longer claims is red by itself.
    Less(Option<Box<Expectation>>),
    /// The line stands twice.
    Twice,
    /// The recording is this one.
    Recording(Box<Recording>),
    /// It cannot be made false in this way.
    Equivalent(&'static str),
}

/// A copy with a part of it changed.
pub(super) fn with<T: Clone>(whole: &T, change: impl FnOnce(&mut T)) -> T {
    let mut other = whole.clone();
    change(&mut other);
    other
}

/// An expectation with the drill that it was judged by.
pub(super) struct AlteredSubject<'a> {
    pub(super) expectation: &'a Expectation,
    pub(super) context: JudgeContext<'a>,
    pub(super) recording: &'a Recording,
}

impl AlteredSubject<'_> {
    /// The line with something else.
    pub(super) fn line(&self, what: What) -> Change {
        Change::Line(Box::new(Expectation {
            what,
            ..self.expectation.clone()
        }))
    }

    /// The last tick of the drill.
    pub(super) fn last(&self) -> u64 {
        (self.recording.ticks.len() as u64).saturating_sub(1)
    }
}
