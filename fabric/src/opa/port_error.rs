//! Errors that a port detects in what it receives, and which of them take the link down.
//!
//! Each bit of a port's PortErrorAction states whether an error causes a bounce; other errors are
//! only logged. The two error registers are those of hfi1 (`chip.c`, `handle_dcc_err`). Start at
//! [`PortErrorAction`].

use super::reason::{Group, LinkDownReason};

/// The errors that take the link down: bit n is LinkDownReason n + 1, for 1 to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortErrorAction(pub u32);

impl PortErrorAction {
    /// No error.
    pub const NOTHING: Self = Self(0);
    /// Every error.
    pub const EVERYTHING: Self = Self(u32::MAX);

    /// The bit of a reason; `None` if it is not such an error.
    #[must_use]
    pub fn bit_of(reason: LinkDownReason) -> Option<u32> {
        (reason.group() == Group::PortErrorAction).then(|| u32::from(reason.code()) - 1)
    }

    /// Whether this error takes the link down.
    #[must_use]
    pub fn bounces(self, reason: LinkDownReason) -> bool {
        Self::bit_of(reason).is_some_and(|bit| self.has(bit))
    }

    /// These errors and this one; a reason that is not an error adds nothing.
    #[must_use]
    pub fn and(self, reason: LinkDownReason) -> Self {
        Self(self.0 | Self::bit_of(reason).map_or(0, |bit| 1 << bit))
    }

    fn has(self, bit: u32) -> bool {
        self.0 >> bit & 1 == 1
    }
}

/// The content of an hfi1 port's two error registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorInfo {
    /// The number in the register of flit errors (`DCC_ERR_INFO_FMCONFIG`), if there is one.
    pub fm_config: Option<u8>,
    /// The number in the register of packet errors (`DCC_ERR_INFO_PORTRCV`), if there is one.
    pub receive: Option<u8>,
}

/// The first of the reasons for flit errors, and its bit.
const FIRST_FLIT_ERROR: (u8, u32) = (17, 16);

impl ErrorInfo {
    /// The reason for which these errors take the link down, under this action; `None` if they do
    /// not. If both registers would, the flit error decides.
    #[must_use]
    pub fn bounce(self, action: PortErrorAction) -> Option<LinkDownReason> {
        let flit = self.fm_config.and_then(|info| flit_bounce(info, action));
        flit.or_else(|| self.receive.and_then(|info| packet_bounce(info, action)))
    }
}

/// Numbers 0 to 6 map to consecutive reasons from 17. Number 8 is the unsupported VL marker with a
/// bit of its own; if that bit is clear, the driver goes on counting and finds 25
/// (`handle_dcc_err`).
fn flit_bounce(info: u8, action: PortErrorAction) -> Option<LinkDownReason> {
    let (first, bit) = FIRST_FLIT_ERROR;
    let marker = LinkDownReason::UNSUPPORTED_VL_MARKER;
    match info {
        8 if action.bounces(marker) => Some(marker),
        0..=6 | 8 if action.has(bit + u32::from(info)) => LinkDownReason::by_code(first + info),
        _ => None,
    }
}

/// Only numbers with an error of their own bounce; 9, which the driver calls an illegal RC, maps to
/// reason 10, which every table calls a bad mid tail.
fn packet_bounce(info: u8, action: PortErrorAction) -> Option<LinkDownReason> {
    let known = matches!(info, 1..=7 | 9 | 11 | 12);
    let reason = LinkDownReason::by_code(info.checked_add(1).filter(|_| known)?)?;
    action.bounces(reason).then_some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fm_config: Option<u8>, receive: Option<u8>, action: u32, expected: Option<u8>) {
        let bounce = ErrorInfo { fm_config, receive }.bounce(PortErrorAction(action));
        assert_eq!(bounce.map(LinkDownReason::code), expected);
    }

    #[test]
    fn the_flit_error_decides_when_both_bounce() {
        check(Some(2), Some(5), u32::MAX, Some(19));
        check(Some(2), Some(5), !(1 << 18), Some(6));
        check(Some(7), Some(5), u32::MAX, Some(6));
    }

    #[test]
    fn an_unsupported_marker_has_its_own_bit_and_a_stray_one() {
        check(Some(8), None, u32::MAX, Some(21));
        check(Some(8), None, 1 << 20, Some(21));
        check(Some(8), None, 1 << 24, Some(25));
        check(Some(8), None, 0, None);
    }

    #[test]
    fn every_error_has_the_bit_below_its_number_and_nothing_else_has_one() {
        for reason in LinkDownReason::all() {
            let bit = PortErrorAction::bit_of(reason);
            let expected = (1..=32).contains(&reason.code());
            assert_eq!(bit, expected.then(|| u32::from(reason.code()) - 1));
            let only = PortErrorAction::NOTHING.and(reason);
            assert_eq!(only, PortErrorAction(bit.map_or(0, |bit| 1 << bit)));
            assert_eq!(only.bounces(reason), expected);
        }
    }

    #[test]
    fn a_number_without_an_error_never_bounces() {
        for info in [0, 8, 10, 13, 255] {
            check(None, Some(info), u32::MAX, None);
        }
    }
}
