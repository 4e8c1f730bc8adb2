//! LinkWidthDowngrade: how many lanes of an Omni-Path link still carry data, and how many may.
//!
//! A lane that dies does not take the link down: both ends go on with fewer lanes in that direction, unless
//! an end's policy forbids the new width. Source: the driver `hfi1`, `chip.c`,
//! `apply_link_downgrade_policy`. Start at [`Lanes`].

/// The most lanes of a link.
const MOST: u8 = 4;

/// The lanes over which an end sends and receives: LinkWidthDowngrade.TxActive and RxActive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Over how many it sends, 1 to [`Lanes::full`].
    pub sends: u8,
    /// Over how many it receives, 1 to [`Lanes::full`].
    pub receives: u8,
    /// How many there were when the link came up (LinkWidth.Active), 1 to 4.
    pub full: u8,
}

impl Lanes {
    /// Whether the end sends or receives over fewer lanes than when the link came up.
    #[must_use]
    pub fn is_downgraded(self) -> bool {
        self.sends < self.full || self.receives < self.full
    }
}

/// The widths that a downgrade may end in: LinkWidthDowngrade.Enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkWidths(u8);

impl LinkWidths {
    /// Every width, as when a link comes up.
    pub(crate) const EVERY: Self = Self(0x0f);
    /// No width: a link that loses a lane goes down.
    pub const NONE: Self = Self(0);

    /// These widths and this one, of 1 to 4 lanes; another number adds nothing.
    #[must_use]
    pub fn and(self, lanes: u8) -> Self {
        Self(self.0 | code(lanes))
    }

    /// Whether a link with these lanes may stay up. Without a downgrade it may.
    #[must_use]
    pub fn allow(self, lanes: Lanes) -> bool {
        !lanes.is_downgraded()
            || [lanes.sends, lanes.receives]
                .iter()
                .all(|lanes| self.0 & code(*lanes) != 0)
    }

    /// Its number in PortInfo and in the kernel log: bit 0 is one lane, bit 3 four.
    #[must_use]
    pub fn code(self) -> u8 {
        self.0
    }
}

/// The number of a width in PortInfo and in the kernel log, which is a bit; 0 if there is no such width.
pub(super) fn code(lanes: u8) -> u8 {
    if (1..=MOST).contains(&lanes) {
        1 << (lanes - 1)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(widths: LinkWidths, sends: u8, receives: u8, allowed: bool) {
        let full = 4;
        for (sends, receives) in [(sends, receives), (receives, sends)] {
            let lanes = Lanes {
                sends,
                receives,
                full,
            };
            assert_eq!(widths.allow(lanes), allowed, "{widths:?} {lanes:?}");
        }
    }

    #[test]
    fn both_directions_of_a_downgraded_link_are_judged_and_a_whole_one_is_not() {
        let wide = LinkWidths::NONE.and(3).and(4);
        check(wide, 4, 3, true);
        check(wide, 4, 2, false);
        check(wide, 3, 2, false);
        check(LinkWidths::NONE.and(2), 4, 2, false);
        check(LinkWidths::NONE, 4, 4, true);
        check(LinkWidths::NONE, 4, 3, false);
        check(LinkWidths::EVERY, 1, 1, true);
    }

    #[test]
    fn a_width_is_a_bit() {
        assert_eq!([1, 2, 3, 4, 5, 0].map(code), [1, 2, 4, 8, 0, 0]);
        assert_eq!(LinkWidths::NONE.and(3).and(4).and(9).code(), 0x0c);
    }
}
