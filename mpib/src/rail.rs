//! The two rails of a node, and sets of them.

use std::{fmt, ops};

/// One of a node's two NICs. The order is that of the plugin's device array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rail {
    /// Scaleout, device 0: the network between islands.
    Sout,
    /// Scaleup, device 1: replaces NVLink inside an island.
    Sup,
}

impl Rail {
    /// Both, in the order of the device array.
    pub const BOTH: [Self; 2] = [Self::Sout, Self::Sup];

    /// The rail's bit in a mask: 1 for SOUT, 2 for SUP.
    #[must_use]
    pub const fn bit(self) -> u8 {
        match self {
            Self::Sout => 1,
            Self::Sup => 2,
        }
    }
}

impl fmt::Display for Rail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sout => "SOUT",
            Self::Sup => "SUP",
        })
    }
}

/// A set of rails: bit 0 is SOUT, bit 1 is SUP (the plugin's `active_mask`). Range: 0 to 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RailMask(u8);

impl RailMask {
    /// No rail.
    pub const NONE: Self = Self(0);
    /// SOUT only: 1.
    pub const SOUT: Self = Self(Rail::Sout.bit());
    /// SUP only: 2.
    pub const SUP: Self = Self(Rail::Sup.bit());
    /// Both rails: 3.
    pub const BOTH: Self = Self::SOUT.with(Rail::Sup);

    /// The two lowest bits; the others are ignored.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 3)
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether `rail` is in the set.
    #[must_use]
    pub const fn has(self, rail: Rail) -> bool {
        self.0 & rail.bit() != 0
    }

    /// The set with `rail` in it.
    #[must_use]
    pub const fn with(self, rail: Rail) -> Self {
        Self(self.0 | rail.bit())
    }

    /// The leading rail of a message: SOUT if it is in the set, otherwise SUP.
    #[must_use]
    pub const fn leader(self) -> Option<Rail> {
        if self.has(Rail::Sout) {
            Some(Rail::Sout)
        } else if self.has(Rail::Sup) {
            Some(Rail::Sup)
        } else {
            None
        }
    }
}

/// One value for each rail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerRail<T> {
    /// SOUT's.
    pub sout: T,
    /// SUP's.
    pub sup: T,
}

impl<T> ops::Index<Rail> for PerRail<T> {
    type Output = T;

    fn index(&self, rail: Rail) -> &T {
        match rail {
            Rail::Sout => &self.sout,
            Rail::Sup => &self.sup,
        }
    }
}

impl<T> ops::IndexMut<Rail> for PerRail<T> {
    fn index_mut(&mut self, rail: Rail) -> &mut T {
        match rail {
            Rail::Sout => &mut self.sout,
            Rail::Sup => &mut self.sup,
        }
    }
}
