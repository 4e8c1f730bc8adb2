//! The states of a port, in the kernel's spelling.
//!
//! The spelling is the kernel's (`drivers/infiniband/core/sysfs.c`: `state_show`,
//! `phys_state_show`, `rate_show`). The monitor's side repeats it on purpose, so that a mistake on one
//! side is found by the other.

use std::fmt;

use serde::Deserialize;

use files::yaml::Refused;

/// A port's logical state by number; like the kernel, it can hold any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortState(pub u8);

impl PortState {
    /// `0: NOP`.
    pub const NOP: Self = Self(0);
    /// `1: DOWN`.
    pub const DOWN: Self = Self(1);
    /// `2: INIT`.
    pub const INIT: Self = Self(2);
    /// `3: ARMED`.
    pub const ARMED: Self = Self(3);
    /// `4: ACTIVE`.
    pub const ACTIVE: Self = Self(4);
    /// `5: ACTIVE_DEFER`.
    pub const ACTIVE_DEFER: Self = Self(5);

    /// The kernel's word without the number; `UNKNOWN` beyond 5 (`ib_port_state_to_str`).
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self.0 {
            0 => "NOP",
            1 => "DOWN",
            2 => "INIT",
            3 => "ARMED",
            4 => "ACTIVE",
            5 => "ACTIVE_DEFER",
            _ => "UNKNOWN",
        }
    }

    /// The state with this word (`ACTIVE`), in the kernel's spelling; `None` for any other word.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        (0..=5).map(Self).find(|state| state.word() == word)
    }
}

impl fmt::Display for PortState {
    /// The content of `state`, without newline: `4: ACTIVE`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0, self.word())
    }
}

/// A port's physical state by number; like the kernel, it can hold any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysState(pub u8);

impl PhysState {
    /// `1: Sleep`.
    pub const SLEEP: Self = Self(1);
    /// `2: Polling`.
    pub const POLLING: Self = Self(2);
    /// `3: Disabled`.
    pub const DISABLED: Self = Self(3);
    /// `4: PortConfigurationTraining`.
    pub const TRAINING: Self = Self(4);
    /// `5: LinkUp`.
    pub const LINK_UP: Self = Self(5);
    /// `6: LinkErrorRecovery`.
    pub const RECOVERY: Self = Self(6);
    /// `7: Phy Test`.
    pub const PHY_TEST: Self = Self(7);

    /// The kernel's word without the number; `<unknown>` for 0 and beyond 7 (`phys_state_to_str`).
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self.0 {
            1 => "Sleep",
            2 => "Polling",
            3 => "Disabled",
            4 => "PortConfigurationTraining",
            5 => "LinkUp",
            6 => "LinkErrorRecovery",
            7 => "Phy Test",
            _ => "<unknown>",
        }
    }

    /// Whether the kernel has a word for it.
    const fn has_word(self) -> bool {
        matches!(self.0, 1..=7)
    }

    /// The state with this word (`LinkUp`), in the kernel's spelling; `None` for any other word.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        (1..=7).map(Self).find(|state| state.word() == word)
    }
}

impl fmt::Display for PhysState {
    /// The content of `phys_state`, without newline: `5: LinkUp`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0, self.word())
    }
}

impl<'de> Deserialize<'de> for PortState {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::by_word(&word).ok_or_else(|| {
            serde::de::Error::custom(Refused {
                what: format!("invalid port state `{word}`"),
                hint: "write one such as `ACTIVE` or `DOWN`",
            })
        })
    }
}

impl<'de> Deserialize<'de> for PhysState {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let nameless = || {
            word.parse()
                .ok()
                .map(Self)
                .filter(|state| !state.has_word())
        };
        Self::by_word(&word).or_else(nameless).ok_or_else(|| {
            serde::de::Error::custom(Refused {
 what: format!("invalid physical state `{word}`"),
 hint: "write one such as `LinkUp` or `Polling`, or the number of one that the kernel has no word for, such as `9`",
 })
        })
    }
}

/// The speed of one lane, as in `rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum LaneSpeed {
    /// 2.5 Gb/s.
    SDR,
    /// 5 Gb/s.
    DDR,
    /// 10 Gb/s.
    QDR,
    /// 10 Gb/s, with a more efficient encoding.
    FDR10,
    /// 14 Gb/s.
    FDR,
    /// 25 Gb/s.
    EDR,
    /// 50 Gb/s.
    HDR,
    /// 100 Gb/s.
    NDR,
    /// 200 Gb/s.
    XDR,
}

impl LaneSpeed {
    const ALL: [(Self, &'static str, u32); 9] = [
        (Self::SDR, "SDR", 25),
        (Self::DDR, "DDR", 50),
        (Self::QDR, "QDR", 100),
        (Self::FDR10, "FDR10", 100),
        (Self::FDR, "FDR", 140),
        (Self::EDR, "EDR", 250),
        (Self::HDR, "HDR", 500),
        (Self::NDR, "NDR", 1000),
        (Self::XDR, "XDR", 2000),
    ];

    fn row(self) -> (&'static str, u32) {
        let row = Self::ALL.iter().find(|(speed, ..)| *speed == self);
        let (_, suffix, deci) = row.expect("every lane speed has its row in `ALL`");
        (suffix, *deci)
    }
}

/// A port's rate: lanes times lane speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate {
    /// Lanes: 1, 2, 4, 8 or 12.
    pub width: u8,
    /// The speed of one lane.
    pub speed: LaneSpeed,
}

impl Rate {
    /// The rate of an mlx5 Ethernet port without a speed (`translate_eth_proto_oper` keeps its
    /// default, `mlx5_query_port_roce`): `40 Gb/sec (4X QDR)`.
    pub const WITHOUT_SPEED: Self = Self {
        width: 4,
        speed: LaneSpeed::QDR,
    };

    /// Parses lanes and speed, as in `4X NDR`.
    #[must_use]
    pub fn by_words(words: &str) -> Option<Self> {
        let (width, suffix) = words.split_once("X ")?;
        let width = width
            .parse()
            .ok()
            .filter(|width| [1, 2, 4, 8, 12].contains(width))?;
        let (speed, ..) = LaneSpeed::ALL
            .iter()
            .find(|(_, known, _)| *known == suffix)?;
        Some(Self {
            width,
            speed: *speed,
        })
    }

    /// Gigabits per second, rounded down, as in `ethtool` and `speed`.
    #[must_use]
    pub fn gbps(self) -> u32 {
        u32::from(self.width) * self.speed.row().1 / 10
    }
}

impl fmt::Display for Rate {
    /// The content of `rate`, without newline: `400 Gb/sec (4X NDR)`, `2.5 Gb/sec (1X SDR)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (suffix, deci) = self.speed.row();
        let deci = u32::from(self.width) * deci;
        let half = if deci.is_multiple_of(10) { "" } else { ".5" };
        write!(f, "{}{half} Gb/sec ({}X {suffix})", deci / 10, self.width)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = String::deserialize(deserializer)?;
        Self::by_words(&words).ok_or_else(|| {
            serde::de::Error::custom(Refused {
                what: format!("invalid rate `{words}`"),
                hint: "write lanes and speed, as in `4X NDR` or `2X HDR`",
            })
        })
    }
}
