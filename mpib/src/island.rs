//! Islands: nodes whose scaleout addresses share a prefix.
//!
//! Source: "Baseline: Isolated Path Separation", Step 3. A prefix length outside 1 to 32 is replaced
//! by 24, so `0` does not mean "everything is one island", and /0 cannot be expressed. Each end
//! classifies by its own environment; the ends are not checked for agreement.

use std::fmt;

/// The prefix length that separates islands (`MPIB_ISLAND_PREFIX_LEN`). Range: 1 to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IslandPrefix(u8);

impl IslandPrefix {
    /// 24: the document's default, and the replacement for invalid values.
    pub const DEFAULT: Self = Self(24);

    /// The prefix for a variable's value: 1 to 32, or 24 for anything else.
    #[must_use]
    pub fn new(value: i32) -> Self {
        match u8::try_from(value) {
            Ok(bits @ 1..=32) => Self(bits),
            _ => Self::DEFAULT,
        }
    }

    /// The number of leading bits that must be equal.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The mask: the leading bits set.
    #[must_use]
    pub const fn mask(self) -> u32 {
        u32::MAX << (32 - self.0 as u32)
    }

    /// The class of a connection between two addresses in host order.
    #[must_use]
    pub const fn class(self, local: u32, remote: u32) -> PathClass {
        if local & self.mask() == remote & self.mask() {
            PathClass::Intra
        } else {
            PathClass::Inter
        }
    }
}

impl Default for IslandPrefix {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for IslandPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The class of a connection, in the view of one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathClass {
    /// Inside an island: belongs on SUP.
    Intra,
    /// Between islands: belongs on SOUT.
    Inter,
}

impl PathClass {
    /// `hintActive`: whether the first generation reads the agent's hint at every send.
    #[must_use]
    pub const fn is_hint_active(self) -> bool {
        matches!(self, Self::Intra)
    }

    /// `pathSupBw`: the cached share, either all for SUP or nothing.
    #[must_use]
    pub const fn path_sup_bandwidth(self) -> u32 {
        match self {
            Self::Intra => u32::MAX,
            Self::Inter => 0,
        }
    }
}

impl fmt::Display for PathClass {
    /// As in the classification log: `SUP (intra-island)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Intra => "SUP (intra-island)",
            Self::Inter => "SOUT (inter-island)",
        })
    }
}
