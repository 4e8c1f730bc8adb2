//! How far an interface is trusted.

use std::fmt;

/// A health value: 0 (every message failed) to 1000 (nothing has failed, or all is forgotten).
///
/// "LNet Health HLD, Health Value Updates"; steps as in `lnet/lnet/lib-msg.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Health(u16);

impl Health {
    /// `LNET_MAX_HEALTH_VALUE`.
    pub const MAX: Self = Self(1000);
    /// No message gets through.
    pub const ZERO: Self = Self(0);

    /// `value`, cut at 1000.
    #[must_use]
    pub fn new(value: u16) -> Self {
        Self(value.min(Self::MAX.0))
    }

    /// 0 to 1000.
    #[must_use]
    pub fn value(self) -> u16 {
        self.0
    }

    /// After a failure: one step down, not below 0.
    #[must_use]
    pub fn lowered(self, step: u16) -> Self {
        Self(self.0.saturating_sub(step))
    }

    /// After a success: one step up, not above 1000.
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
