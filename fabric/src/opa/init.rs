//! Why the fabric manager keeps a link in Init.
//!
//! The rest of the crate decides when it does. Start at [`LinkInitReason`].

use std::fmt;

use super::reason::UNDEFINED;

/// LinkInitReason, a number of four bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkInitReason(u8);

impl LinkInitReason {
    /// No reason; the link was never up.
    pub const NONE: Self = Self(0);
    /// The link came up without objection.
    pub const LINK_UP: Self = Self(1);
    /// The link went up and down too often.
    pub const FLAPPING: Self = Self(2);
    /// The link is out of policy.
    pub const OUT_OF_POLICY: Self = Self(8);
    /// The link is in quarantine.
    pub const QUARANTINED: Self = Self(9);
    /// The link lacks a required capability.
    pub const INSUFFICIENT_CAPABILITY: Self = Self(10);

    /// The reason of this number; `None` above 15.
    #[must_use]
    pub fn by_code(code: u8) -> Option<Self> {
        (code <= 15).then_some(Self(code))
    }

    /// Its number, 0 to 15.
    #[must_use]
    pub fn code(self) -> u8 {
        self.0
    }

    /// The value after the link came up again: 2 to 7 persist, all others are replaced.
    #[must_use]
    pub fn after_link_up(self) -> Self {
        if (2..=7).contains(&self.0) {
            self
        } else {
            Self::LINK_UP
        }
    }

    /// The text of every fabric tool.
    #[must_use]
    pub fn tool_text(self) -> &'static str {
        match self.0 {
            0 => "None",
            1 => "LinkUp",
            2 => "Flapping",
            8 => "Out of policy",
            9 => "Quarantined",
            10 => "Insuffic Cap",
            _ => UNDEFINED,
        }
    }
}

impl fmt::Display for LinkInitReason {
    /// As the fabric tools print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tool_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flapping_link_stays_marked_when_it_is_up_again_and_a_quarantined_one_does_not() {
        let after = |reason: LinkInitReason| reason.after_link_up();
        assert_eq!(after(LinkInitReason::FLAPPING), LinkInitReason::FLAPPING);
        for reason in [0, 1, 8, 9, 10, 15] {
            assert_eq!(after(LinkInitReason(reason)), LinkInitReason::LINK_UP);
        }
        assert_eq!(LinkInitReason::by_code(16), None);
        assert_eq!(LinkInitReason(7).tool_text(), " ???? ");
    }
}
