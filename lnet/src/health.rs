//! Health values of interfaces.

use std::fmt;

/// A health value, from 0 (every message failed) to 1000 (no failures, or all recovered).
///
/// "LNet Health HLD, Health Value Updates"; steps as in `lnet/lnet/lib-msg.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Health(u16);

impl Health {
    /// `LNET_MAX_HEALTH_VALUE`.
    pub const MAX: Self = Self(1000);
    /// The lowest value.
    pub const ZERO: Self = Self(0);

    /// `value`, limited to 1000.
    #[must_use]
    pub fn new(value: u16) -> Self {
        Self(value.min(Self::MAX.0))
    }

    /// The value, 0 to 1000.
    #[must_use]
    pub fn value(self) -> u16 {
        self.0
    }

    /// The value after a failure: lowered by `step`, not below 0.
    #[must_use]
    pub fn lowered(self, step: u16) -> Self {
        Self(self.0.saturating_sub(step))
    }

    /// The value after a success: raised by `step`, not above 1000.
    #[must_use]
    pub fn raised(self, step: u16) -> Self {
        Self::new(self.0.saturating_add(step))
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
