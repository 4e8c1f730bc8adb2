//! Why the fabric manager leaves a link in Init.
//!
//! It leaves out that it does so (the subnet manager's) and when. Start at [`LinkInitReason`].

use std::fmt;

use super::reason::UNDEFINED;

/// Why a link stays in Init: a number of four bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkInitReason(u8);

impl LinkInitReason {
    /// No reason; the link was never up.
    pub const NONE: Self = Self(0);
    /// It came up, and nothing is against it.
    pub const LINK_UP: Self = Self(1);
    /// It went up and down too often.
    pub const FLAPPING: Self = Self(2);
    /// It is out of policy.
    pub const OUT_OF_POLICY: Self = Self(8);
    /// It is in quarantine.
    pub const QUARANTINED: Self = Self(9);
    /// It cannot do what is asked of it.
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

    /// What it is after the link came up again: 2 to 7 persist, all others give way.
    #[must_use]
    pub fn after_link_up(self) -> Self {
        if (2..=7).contains(&self.0) {
            self
        } else {
            Self::LINK_UP
        }
    }

    /// What every fabric tool prints.
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
