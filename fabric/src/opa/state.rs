//! A port's logical and physical state, and which changes a Set(PortInfo) may request.
//!
//! The tables are those of hfi1 (`mad.c`, `logical_transition_allowed` and
//! `physical_transition_allowed`). The effect of a change on the link is in the rest of the crate.
//! Start at [`Logical`] and [`Physical`].

use std::fmt;

use platforms::{PhysState, PortState};

/// A port's logical state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Logical {
    /// No link.
    Down,
    /// Physically up, not configured.
    Init,
    /// Configured, not yet carrying data.
    Armed,
    /// Carrying data.
    Active,
}

impl Logical {
    /// The state as the kernel shows it.
    #[must_use]
    pub fn shown(self) -> PortState {
        match self {
            Self::Down => PortState::DOWN,
            Self::Init => PortState::INIT,
            Self::Armed => PortState::ARMED,
            Self::Active => PortState::ACTIVE,
        }
    }

    /// Its number in PortInfo, 1 to 4.
    #[must_use]
    pub fn code(self) -> u8 {
        self.shown().0
    }

    /// The state of a value of `state`; `None` for values that such a port never shows.
    #[must_use]
    pub fn by_shown(shown: PortState) -> Option<Self> {
        let all = [Self::Down, Self::Init, Self::Armed, Self::Active];
        all.into_iter().find(|state| state.shown() == shown)
    }
}

impl fmt::Display for Logical {
    /// As the fabric tools print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Down => "Down",
            Self::Init => "Init",
            Self::Armed => "Armed",
            Self::Active => "Active",
        })
    }
}

/// A port's physical state; two of them exist in Omni-Path only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Physical {
    /// Searching for a partner.
    Polling,
    /// Disabled by its user.
    Disabled,
    /// The ends agree on width and speed.
    Training,
    /// Up.
    LinkUp,
    /// Not searching for a partner, for a reason of its own.
    Offline,
    /// In a test.
    Test,
}

impl Physical {
    /// Every physical state.
    pub const ALL: [Self; 6] = [
        Self::Polling,
        Self::Disabled,
        Self::Training,
        Self::LinkUp,
        Self::Offline,
        Self::Test,
    ];

    /// The state as the kernel shows it; it has no word for 9 and 11 (`phys_state_to_str` ends at
    /// 7).
    #[must_use]
    pub fn shown(self) -> PhysState {
        match self {
            Self::Polling => PhysState::POLLING,
            Self::Disabled => PhysState::DISABLED,
            Self::Training => PhysState::TRAINING,
            Self::LinkUp => PhysState::LINK_UP,
            Self::Offline => PhysState(9),
            Self::Test => PhysState(11),
        }
    }

    /// Its number in PortInfo.
    #[must_use]
    pub fn code(self) -> u8 {
        self.shown().0
    }

    /// The state of a value of `phys_state`; `None` for values that such a port never shows.
    #[must_use]
    pub fn by_shown(shown: PhysState) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.shown() == shown)
    }
}

impl fmt::Display for Physical {
    /// As the fabric tools print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Polling => "Polling",
            Self::Disabled => "Disabled",
            Self::Training => "Training",
            Self::LinkUp => "LinkUp",
            Self::Offline => "Offline",
            Self::Test => "Test",
        })
    }
}

/// The result of a change requested by a Set(PortInfo).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is made.
    Allowed,
    /// It is answered but not made.
    Ignored,
    /// It is rejected.
    Refused,
}

/// Whether the logical state may change this way, by numbers in PortInfo. A new number of 0
/// requests no change, which is always allowed.
#[must_use]
pub fn logical_change(old: u8, new: u8) -> Change {
    match (old, new) {
        (_, 0) | (2, 3) | (3, 4) => Change::Allowed,
        (1, 1) | (2, 2) | (3, 3) | (4, 3 | 4) => Change::Ignored,
        _ => Change::Refused,
    }
}

/// Whether the physical state may change this way, by numbers in PortInfo. A new number of 0
/// requests no change, which is always allowed; old numbers without a rule are rejected.
#[must_use]
pub fn physical_change(old: u8, new: u8) -> Change {
    match (old, new) {
        (_, 0) | (2, 2 | 3) | (3, 2 | 11) | (5, 2 | 3) | (7 | 9 | 11, 3) => Change::Allowed,
        (3, 3) | (5, 5) | (7, 7) | (9, 2 | 9) | (11, 11) => Change::Ignored,
        _ => Change::Refused,
    }
}

/// Whether both may change together, each as (logical, physical). One rejection rejects both.
/// Offline to Polling is ignored even if the logical change alone would be made.
#[must_use]
pub fn change(old: (u8, u8), new: (u8, u8)) -> Change {
    let logical = logical_change(old.0, new.0);
    let physical = physical_change(old.1, new.1);
    let going_to_poll = (old.1, new.1) == (Physical::Offline.code(), Physical::Polling.code());
    match logical.max(physical) {
        Change::Refused => Change::Refused,
        _ if going_to_poll => Change::Ignored,
        Change::Ignored if new.0 == 0 || new.1 == 0 || logical == physical => Change::Ignored,
        _ => Change::Allowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_reads_back_as_what_it_is_and_two_have_no_word() {
        for state in Physical::ALL {
            let shown = state.shown();
            assert_eq!(Physical::by_shown(shown), Some(state));
            let nameless = [Physical::Offline, Physical::Test].contains(&state);
            assert_eq!(shown.word() == "<unknown>", nameless, "{state}");
        }
        assert_eq!(Physical::Offline.shown().to_string(), "9: <unknown>");
        assert_eq!(Logical::by_shown(PortState::NOP), None);
        assert_eq!(Logical::by_shown(PortState::ARMED), Some(Logical::Armed));
    }

    #[test]
    fn offline_to_polling_is_ignored_whatever_comes_with_it() {
        assert_eq!(change((2, 9), (3, 2)), Change::Ignored);
        assert_eq!(change((1, 9), (0, 2)), Change::Ignored);
        assert_eq!(change((1, 9), (4, 2)), Change::Refused);
    }

    #[test]
    fn one_part_of_a_request_can_be_made_while_the_other_is_ignored() {
        assert_eq!(change((2, 5), (3, 5)), Change::Allowed);
        assert_eq!(change((4, 5), (4, 3)), Change::Allowed);
        assert_eq!(change((4, 5), (4, 5)), Change::Ignored);
        assert_eq!(change((4, 5), (0, 0)), Change::Allowed);
        assert_eq!(change((2, 5), (3, 0)), Change::Allowed);
        assert_eq!(change((2, 5), (2, 0)), Change::Ignored);
    }
}
