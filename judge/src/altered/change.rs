//! An expectation, and a change that makes it false.

use std::sync::Arc;

use observe::{MonitorTick, Recording};
use scenarios::{Expectation, What};

use crate::fits::JudgeContext;

/// A way in which an expectation is made false: in words, and how.
pub(crate) type Alteration = (&'static str, Change);

/// An expectation made false.
pub(crate) enum Change {
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
pub(crate) fn with<T: Clone>(whole: &T, change: impl FnOnce(&mut T)) -> T {
    let mut other = whole.clone();
    change(&mut other);
    other
}

/// An expectation with the drill that it was judged by.
pub(crate) struct AlteredSubject<'a> {
    pub(crate) expectation: &'a Expectation,
    pub(crate) context: JudgeContext<'a>,
    pub(crate) recording: &'a Recording,
}

impl AlteredSubject<'_> {
    /// The line with something else.
    pub(crate) fn line(&self, what: What) -> Change {
        Change::Line(Box::new(Expectation {
            what,
            ..self.expectation.clone()
        }))
    }

    /// The last tick of the drill.
    pub(crate) fn last(&self) -> u64 {
        (self.recording.ticks.len() as u64).saturating_sub(1)
    }
}

/// The recording with this done to the monitors that the line is about, in a tick.
pub(crate) fn in_window(
    subject: &AlteredSubject<'_>,
    tick: u64,
    done: impl Fn(&mut MonitorTick),
) -> Change {
    let mut recording: Recording = subject.recording.clone();
    let at = usize::try_from(tick).ok();
    let Some(at) = at.and_then(|at| recording.ticks.get_mut(at)) else {
        return Change::Equivalent("its time is after the end of the drill");
    };
    let of = subject.expectation.node.as_ref();
    for (name, monitor) in Arc::make_mut(&mut at.monitors) {
        if of.is_none_or(|of| of.as_str() == &**name) {
            done(Arc::make_mut(monitor));
        }
    }
    Change::Recording(Box::new(recording))
}
