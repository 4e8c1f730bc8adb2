//! The modelled behaviours: the document's, and those of its implementations.

use std::fmt;

/// A modelled behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MpibProfile {
    /// "Baseline: Isolated Path Separation" as intended: a connection has one rail, which carries
    /// all bytes of its messages.
    Spec,
    /// The first generation of the plugin: the document's code, with its asymptotic ratio.
    G1,
    /// The second generation, as far as it is known: a [`Mode`], classes from the control network's
    /// addresses, hints in 1024ths.
    G2,
}

impl fmt::Display for MpibProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spec => "spec",
            Self::G1 => "g1",
            Self::G2 => "g2",
        })
    }
}

/// `MPIB_MODE` of the second generation; the others do not read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// 0: the class alone selects the rail; no hint is read.
    #[default]
    Vanilla,
    /// 1: the hint sets the share of each rail.
    Advanced,
}
