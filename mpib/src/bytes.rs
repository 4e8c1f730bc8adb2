//! An amount of data.

use std::{fmt, iter, ops};

/// A number of bytes: the size of a message, or a NIC's traffic. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Self = Self(0);

    /// From a number of bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// From mebibytes (1024 × 1024 bytes).
    #[must_use]
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib.saturating_mul(1 << 20))
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// This number minus `part`; zero if `part` is larger.
    #[must_use]
    pub const fn without(self, part: Self) -> Self {
        Self(self.0.saturating_sub(part.0))
    }

    /// The largest multiple of `step` that is not larger.
    ///
    /// # Panics
    ///
    /// If `step` is 0.
    #[must_use]
    pub(crate) const fn rounded_down_to(self, step: u64) -> Self {
        Self(self.0 / step * step)
    }
}

impl ops::Add for Bytes {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

impl ops::AddAssign for Bytes {
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

impl iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, ops::Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
