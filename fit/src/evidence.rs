//! Evidence of a promise: the drill, the poll, and what came. Start at [`Evidence`].

use std::fmt;

/// How far a promise can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// It was observed, and is not less than the documents ask.
    #[default]
    Observed,
    /// It was observed, and the documents ask for more: earlier, worse, or at all.
    Weaker,
    /// It is no promise: something happened that no monitor can want.
    Suspect,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Observed => "observed",
            Self::Weaker => "weaker than the reference",
            Self::Suspect => "suspect",
        })
    }
}

/// Evidence from one drill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The drill, as `scenario@platform`.
    pub drill: String,
    /// The poll, if it is one.
    pub poll: Option<u64>,
    /// What came.
    pub came: String,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.drill)?;
        if let Some(poll) = self.poll {
            write!(f, ", poll {poll}")?;
        }
        write!(f, ": {}", self.came)
    }
}
