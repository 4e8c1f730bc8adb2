//! The severity of a statement about a subject.

use std::fmt;

/// The severity of an event, of a monitor's statement, or of what is expected of it, from the worst on. [`Self::worst`] and
/// [`Self::is_worse_than`] compare two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The subject has a fault, and work that uses it fails: `isFatal`, `REPLACE_VM`.
    Fatal,
    /// The subject has a fault, and work continues: neither fatal nor healthy, `NONE`.
    NonFatal,
    /// The subject is healthy, or healthy again.
    Healthy,
    /// Unknown: the monitor states so, or contradicts itself. Nothing is expected to be so.
    #[default]
    Unknown,
}

impl Severity {
    /// Every severity, in order.
    pub const ALL: [Self; 4] = [Self::Fatal, Self::NonFatal, Self::Healthy, Self::Unknown];

    /// The worse of the two; of several by [`Iterator::reduce`].
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        self.min(other)
    }

    /// Whether it is worse than another one.
    #[must_use]
    pub fn is_worse_than(self, other: Self) -> bool {
        self < other
    }

    /// Its word, as printed and in a cause's name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fatal => "fatal",
            Self::NonFatal => "nonfatal",
            Self::Healthy => "healthy",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fatal_is_the_worst_and_none_is_worse_than_itself() {
        let worst = Severity::ALL.into_iter().rev().reduce(Severity::worst);
        assert_eq!(worst, Some(Severity::Fatal));
        assert!(Severity::Fatal.is_worse_than(Severity::NonFatal));
        assert!(Severity::NonFatal.is_worse_than(Severity::Healthy));
        assert!(!Severity::Healthy.is_worse_than(Severity::NonFatal));
        for severity in Severity::ALL {
            assert!(!severity.is_worse_than(severity), "{severity}");
        }
    }
}
