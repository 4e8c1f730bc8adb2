//! OfflineDisabledReason: why a port is offline or disabled, four bits next to the pair of reasons.
//!
//! Unlike the pair, it describes the present state. `record.rs` changes it. Start at
//! [`OfflineDisabledReason`].

use std::fmt;

use super::reason::{LinkDownReason, UNDEFINED};

/// Why a port is offline or disabled; only defined numbers can be represented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfflineDisabledReason(u8);

/// Number and text of the fabric tools (`StlPortOfflineDisabledReasonToText`). Three texts differ
/// from those of LinkDownReason: `Not installed`, `SMA disabled` and `Width Policy`.
const ROWS: [(u8, &str); 12] = [
    (0, "None"),
    (1, "Disconnected"),
    (2, "No Loc Media"),
    (3, "Not installed"),
    (4, "Chassis Conf"),
    (6, "No End to End"),
    (8, "Power Policy"),
    (9, "Speed Policy"),
    (10, "Width Policy"),
    (12, "Switch Mgmt"),
    (13, "SMA disabled"),
    (15, "Transient"),
];

/// `Transient`: the port waits for its partner.
const TRANSIENT: u8 = 15;

/// The bits of a LinkDownReason that are kept (`HFI1_ODR_MASK`).
const MASK: u8 = 0x0f;

impl OfflineDisabledReason {
    /// Neither offline nor disabled.
    pub const NONE: Self = Self(0);

    /// The reason of this number; `None` for an undefined one.
    #[must_use]
    pub fn by_code(code: u8) -> Option<Self> {
        ROWS.iter()
            .find(|(known, _)| *known == code)
            .map(|(known, _)| Self(*known))
    }

    /// The low bits of a LinkDownReason, if they are a defined number.
    ///
    /// Through the mask, 35 (a reboot) becomes `Not installed`, as on an hfi1 host that was shut
    /// down.
    #[must_use]
    pub fn of(reason: LinkDownReason) -> Option<Self> {
        Self::by_code(reason.code() & MASK)
    }

    /// Whether it keeps the port down; a port whose reason is `Transient` only waits for its partner.
    #[must_use]
    pub fn holds(self) -> bool {
        !matches!(self.0, 0 | TRANSIENT)
    }

    /// Its number, 0 to 15.
    #[must_use]
    pub fn code(self) -> u8 {
        self.0
    }

    /// The value after another reason was added: the smaller one that is not none.
    #[must_use]
    pub(crate) fn joined_by(self, other: Self) -> Self {
        match (self, other) {
            (Self::NONE, other) => other,
            (this, Self::NONE) => this,
            (this, other) => this.min(other),
        }
    }

    /// The text of every fabric tool for a number.
    #[must_use]
    pub fn tool_text(code: u8) -> &'static str {
        ROWS.iter()
            .find(|(known, _)| *known == code)
            .map_or(UNDEFINED, |(_, text)| text)
    }
}

impl fmt::Display for OfflineDisabledReason {
    /// As the fabric tools print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Self::tool_text(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_to_stay_down_has_its_four_bits() {
        for reason in LinkDownReason::all().filter(|reason| reason.holds()) {
            let four = OfflineDisabledReason::of(reason).expect("defined");
            assert_eq!(four.code(), reason.code() - 48, "{reason}");
        }
        let reboot = OfflineDisabledReason::of(LinkDownReason::REBOOT);
        assert_eq!(reboot.map(OfflineDisabledReason::code), Some(3));
    }

    #[test]
    fn three_texts_differ_from_the_links_reasons_and_the_others_do_not() {
        let differing: Vec<(&str, &str)> = ROWS[1..]
            .iter()
            .map(|(code, text)| (*text, LinkDownReason::tool_text(code + 48)))
            .filter(|(ours, links)| ours != links)
            .collect();
        assert_eq!(
            differing,
            [
                ("Not installed", "Not Installed"),
                ("Width Policy", "Width_Policy"),
                ("SMA disabled", "SMA Disabled"),
            ]
        );
        assert_eq!(OfflineDisabledReason::tool_text(7), " ???? ");
    }

    #[test]
    fn the_smaller_reason_stands() {
        let of = |code| OfflineDisabledReason::by_code(code).expect("defined");
        let joined = |one, other| of(one).joined_by(of(other)).code();
        assert_eq!(
            [joined(0, 13), joined(13, 0), joined(2, 13), joined(15, 2)],
            [13, 13, 2, 2]
        );
    }
}
