//! Parses a port's state files and grades what they say.
//!
//! The kernel's spelling is written here a second time on purpose: monitor and simulator share no
//! code. Source: Linux `drivers/infiniband/core/sysfs.c`, `state_show` and `phys_state_show`. Start
//! with [`Reading`] and [`severity`].

use std::fmt;

use serde::{Deserialize, Serialize};
use terms::LinkLayer;

/// The logical state of a port (IBTA volume 1, PortInfo:PortState).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum PortState {
    /// No change; never a real state.
    Nop,
    /// No connectivity.
    Down,
    /// Trained, waiting for the subnet manager.
    Init,
    /// Configured, not yet active.
    Armed,
    /// Carries traffic.
    Active,
    /// Active with a defect that is being repaired.
    ActiveDefer,
    /// A number without a name in the kernel, with the printed text.
    Other(Box<str>),
}

const STATES: [(u32, &str, PortState); 6] = [
    (0, "NOP", PortState::Nop),
    (1, "DOWN", PortState::Down),
    (2, "INIT", PortState::Init),
    (3, "ARMED", PortState::Armed),
    (4, "ACTIVE", PortState::Active),
    (5, "ACTIVE_DEFER", PortState::ActiveDefer),
];

/// The physical state of a port (IBTA volume 1, PortInfo:PortPhysicalState).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum PhysState {
    /// Sleep: saves power.
    Sleep,
    /// Searches for a partner.
    Polling,
    /// Switched off.
    Disabled,
    /// Trains with its partner.
    Training,
    /// Up.
    LinkUp,
    /// Link error recovery.
    LinkErrorRecovery,
    /// Test mode.
    PhyTest,
    /// A number without a name in the kernel, with the printed text.
    Other(Box<str>),
}

const PHYS_STATES: [(u32, &str, PhysState); 7] = [
    (1, "Sleep", PhysState::Sleep),
    (2, "Polling", PhysState::Polling),
    (3, "Disabled", PhysState::Disabled),
    (4, "PortConfigurationTraining", PhysState::Training),
    (5, "LinkUp", PhysState::LinkUp),
    (6, "LinkErrorRecovery", PhysState::LinkErrorRecovery),
    (7, "Phy Test", PhysState::PhyTest),
];

/// Splits `<digits>: <text>`; `None` when the text is not of that form.
fn split(text: &[u8]) -> Option<(u32, &str)> {
    let text = std::str::from_utf8(text).ok()?.trim_ascii();
    let (digits, name) = text.split_once(": ")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = !name.is_empty() && !name.contains(char::is_control);
    (is_number && is_name).then_some(())?;
    Some((digits.parse().ok()?, name))
}

/// The entry of a kernel table for a text. A known number with another name, as a torn read can
/// return it, is garbled: `None`.
fn look_up<T: Clone>(table: &[(u32, &str, T)], text: &[u8], other: fn(Box<str>) -> T) -> Option<T> {
    let (number, name) = split(text)?;
    match table.iter().find(|(known, _, _)| *known == number) {
        Some((_, known, value)) => (*known == name).then(|| value.clone()),
        None => Some(other(name.into())),
    }
}

impl PortState {
    /// Reads the text of `state`; `None` when it is garbled.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<PortState> {
        look_up(&STATES, text, PortState::Other)
    }
}

impl PhysState {
    /// Reads the text of `phys_state`; `None` when it is garbled.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<PhysState> {
        // The kernel prints `0: <unknown>` for a number that the standard does not use.
        look_up(&PHYS_STATES, text, PhysState::Other)
    }
}

macro_rules! told_by_name {
    ($type:ident, $table:ident) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if let $type::Other(name) = self {
                    return f.write_str(name);
                }
                let named = $table.iter().find(|(_, _, value)| value == self);
                f.write_str(named.map_or("", |(_, name, _)| name))
            }
        }

        impl From<String> for $type {
            fn from(name: String) -> Self {
                let named = $table.iter().find(|(_, known, _)| *known == name);
                named.map_or_else(|| $type::Other(name.into()), |(_, _, value)| value.clone())
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}

told_by_name!(PortState, STATES);
told_by_name!(PhysState, PHYS_STATES);

/// Both state files of a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reading {
    /// The logical state.
    pub state: PortState,
    /// The physical state.
    #[serde(rename = "physical_state")]
    pub phys: PhysState,
}

impl Reading {
    /// `ACTIVE` with `LinkUp`, and nothing else (`lsd 3.4`).
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.state == PortState::Active && self.phys == PhysState::LinkUp
    }

    /// Whether the port could be training. Such a port has the patience before its first judgement;
    /// `Disabled`, and `DOWN` with a physical state that is not searching for a partner, have none.
    #[must_use]
    pub(crate) fn may_be_training(&self) -> bool {
        match (&self.state, &self.phys) {
            (_, PhysState::Disabled) => false,
            (PortState::Down, phys) => matches!(phys, PhysState::Polling | PhysState::Training),
            _ => !self.is_healthy(),
        }
    }
}

/// The severity of a fault (`lsd 1.3`): will the workload fail because of it?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The workload continues.
    NonFatal,
    /// The workload fails.
    Fatal,
}

/// The severity of a reading; `None` if it is healthy, or gives no event on that layer (`lsd 3.2`:
/// INIT and ARMED on Ethernet are brief).
#[must_use]
pub fn severity(layer: LinkLayer, reading: &Reading) -> Option<Severity> {
    let is_down = reading.state == PortState::Down;
    match layer {
        _ if reading.is_healthy() => None,
        LinkLayer::InfiniBand if is_down || reading.phys == PhysState::Disabled => {
            Some(Severity::Fatal)
        }
        LinkLayer::InfiniBand => Some(Severity::NonFatal),
        LinkLayer::Ethernet => is_down.then_some(Severity::Fatal),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const STATE_TEXTS: [&str; 7] = [
        "0: NOP\n",
        "1: DOWN\n",
        "2: INIT\n",
        "3: ARMED\n",
        "4: ACTIVE\n",
        "5: ACTIVE_DEFER\n",
        "9: UNKNOWN\n",
    ];
    const PHYS_TEXTS: [&str; 8] = [
        "0: <unknown>\n",
        "1: Sleep\n",
        "2: Polling\n",
        "3: Disabled\n",
        "4: PortConfigurationTraining\n",
        "5: LinkUp\n",
        "6: LinkErrorRecovery\n",
        "7: Phy Test\n",
    ];

    /// One line per state in the order of `STATE_TEXTS`, one letter per phy in the order of
    /// `PHYS_TEXTS`: `F`atal, `n`on-fatal, `.` healthy or silent.
    #[rstest]
    #[case(LinkLayer::InfiniBand, [
        "nnnFnnnn", "FFFFFFFF", "nnnFnnnn", "nnnFnnnn", "nnnFn.nn", "nnnFnnnn", "nnnFnnnn",
    ])]
    #[case(LinkLayer::Ethernet, [
        "........", "FFFFFFFF", "........", "........", "........", "........", "........",
    ])]
    fn every_pair_has_its_severity(#[case] layer: LinkLayer, #[case] rows: [&str; 7]) {
        for (state_text, row) in STATE_TEXTS.iter().zip(rows) {
            let mut got = String::new();
            for phys_text in PHYS_TEXTS {
                let reading = Reading {
                    state: PortState::parse(state_text.as_bytes()).unwrap(),
                    phys: PhysState::parse(phys_text.as_bytes()).unwrap(),
                };
                got.push(match severity(layer, &reading) {
                    Some(Severity::Fatal) => 'F',
                    Some(Severity::NonFatal) => 'n',
                    None => '.',
                });
            }
            assert_eq!(got, row, "{layer} {state_text}");
        }
    }

    /// As above: `t` may be training, `!` is judged at once, `+` is healthy.
    #[test]
    fn only_a_port_that_may_be_training_is_given_patience() {
        let rows = [
            "ttt!tttt", "!!t!t!!!", "ttt!tttt", "ttt!tttt", "ttt!t+tt", "ttt!tttt", "ttt!tttt",
        ];
        for (state_text, row) in STATE_TEXTS.iter().zip(rows) {
            let mut got = String::new();
            for phys_text in PHYS_TEXTS {
                let reading = Reading {
                    state: PortState::parse(state_text.as_bytes()).unwrap(),
                    phys: PhysState::parse(phys_text.as_bytes()).unwrap(),
                };
                got.push(match (reading.is_healthy(), reading.may_be_training()) {
                    (true, false) => '+',
                    (false, true) => 't',
                    (false, false) => '!',
                    (true, true) => '?',
                });
            }
            assert_eq!(got, row, "{state_text}");
        }
    }

    #[rstest]
    #[case("")]
    #[case("\n")]
    #[case("4")]
    #[case("4: ")]
    #[case("4: ACT")]
    #[case("4: DOWN")]
    #[case("ACTIVE")]
    #[case(": ACTIVE")]
    #[case("x: ACTIVE")]
    #[case("-4: ACTIVE")]
    #[case("4: ACTIVE\n5: LinkUp")]
    #[case("99999999999: ACTIVE")]
    fn a_torn_or_foreign_text_is_garbled(#[case] text: &str) {
        assert_eq!(PortState::parse(text.as_bytes()), None);
    }

    #[rstest]
    #[case("9: <unknown>", "<unknown>")]
    #[case("0: NOP", "NOP")]
    #[case("4: ACTIVE", "ACTIVE")]
    fn a_number_without_a_name_is_a_value(#[case] text: &str, #[case] rendered: &str) {
        let state = PortState::parse(text.as_bytes()).unwrap();
        assert_eq!(state.to_string(), rendered);
    }

    #[test]
    fn names_come_back_from_a_saved_text() {
        for (_, name, state) in STATES {
            assert_eq!(PortState::from(name.to_owned()), state);
            assert_eq!(String::from(state), name);
        }
        for (_, name, phys) in PHYS_STATES {
            assert_eq!(PhysState::from(name.to_owned()), phys);
            assert_eq!(String::from(phys), name);
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = PortState::parse(&bytes);
            let _ = PhysState::parse(&bytes);
        }
    }

    #[rstest]
    #[case(b"4: ACTIVE\n", Some((4, "ACTIVE")))]
    #[case(b"+4: ACTIVE", None)]
    #[case(b": ACTIVE", None)]
    #[case(b"4x: ACTIVE", None)]
    #[case(b"4: ", None)]
    #[case(b"4: AC\x07TIVE", None)]
    #[case(b"99999999999: ACTIVE", None)]
    fn a_state_is_a_number_and_a_printable_name(
        #[case] text: &[u8],
        #[case] parts: Option<(u32, &str)>,
    ) {
        assert_eq!(split(text), parts);
    }
}
