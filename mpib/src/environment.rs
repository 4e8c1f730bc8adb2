//! The environment variables that the plugin reads, and its reasons to refuse to start.

use std::collections::BTreeMap;

use platforms::DeviceName;

use super::{BadHints, IslandPrefix, Mode, NcclResult};

/// The environment variables of a process, including those that the plugin does not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// An empty environment.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The document's example launch: `mlx5_0` for SOUT, `mlx5_1` for SUP, `eth0` for control.
    #[must_use]
    pub fn baseline() -> Self {
        Self::new()
            .with("MPIB_HCA_SOUT", "mlx5_0")
            .with("MPIB_HCA_SUP", "mlx5_1")
            .with("MPIB_OOB_IF", "eth0")
    }

    /// The environment with a variable set.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The environment without a variable.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    fn required(&self, name: &'static str) -> Result<String, Refusal> {
        let value = self.0.get(name).filter(|value| !value.is_empty());
        value.cloned().ok_or(Refusal::Missing { name })
    }

    /// A number as the plugin parses it: unset, empty and out of range give the default; text that is
    /// not a number gives 0.
    fn number(&self, name: &str, default: i64) -> i64 {
        match self.0.get(name) {
            Some(text) if !text.is_empty() => strtoll(text).unwrap_or(default),
            _ => default,
        }
    }
}

/// The plugin's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// `MPIB_HCA_SOUT`: the device of the SOUT rail.
    pub hca_sout: DeviceName,
    /// `MPIB_HCA_SUP`: the device of the SUP rail.
    pub hca_sup: DeviceName,
    /// `MPIB_OOB_IF`: the interface of the control connections.
    pub oob_interface: String,
    /// `MPIB_ISLAND_PREFIX_LEN`, default 24.
    pub island_prefix: IslandPrefix,
    /// Whether the given prefix was invalid and replaced.
    pub is_prefix_replaced: bool,
    /// `MPIB_SOUT_QP`, default 2: queue pairs per connection on SOUT.
    pub sout_queue_pairs: u8,
    /// `MPIB_SUP_QP`, default 4: queue pairs per connection on SUP.
    pub sup_queue_pairs: u8,
    /// `MPIB_CTS_SIGNAL_INTERVAL`, default 128: one in this many clear-to-send writes requests a
    /// completion.
    pub cts_signal_interval: u32,
    /// `MPIB_MODE`, default vanilla; read by the second generation.
    pub mode: Mode,
}

impl Parameters {
    /// Reads an environment.
    ///
    /// Queue pairs outside 0 to 127 and intervals below 1 become the default (the documents do not
    /// define it); 0 queue pairs are accepted, which is a known hazard.
    ///
    /// # Errors
    ///
    /// If a required variable is missing or empty.
    pub fn read(environment: &Environment) -> Result<Self, Refusal> {
        let prefix = truncated(environment.number("MPIB_ISLAND_PREFIX_LEN", 24));
        let pairs = |name, default: u8| {
            let value = environment.number(name, i64::from(default));
            let pairs = u8::try_from(value).ok().filter(|pairs| *pairs < 128);
            pairs.unwrap_or(default)
        };
        let interval = environment.number("MPIB_CTS_SIGNAL_INTERVAL", 128);
        let interval = u32::try_from(interval).unwrap_or(128);
        Ok(Self {
            hca_sout: DeviceName(environment.required("MPIB_HCA_SOUT")?),
            hca_sup: DeviceName(environment.required("MPIB_HCA_SUP")?),
            oob_interface: environment.required("MPIB_OOB_IF")?,
            island_prefix: IslandPrefix::new(prefix),
            is_prefix_replaced: !(1..=32).contains(&prefix),
            sout_queue_pairs: pairs("MPIB_SOUT_QP", 2),
            sup_queue_pairs: pairs("MPIB_SUP_QP", 4),
            cts_signal_interval: if interval == 0 { 128 } else { interval },
            mode: match environment.number("MPIB_MODE", 0) {
                0 => Mode::Vanilla,
                _ => Mode::Advanced,
            },
        })
    }
}

/// Why the plugin refuses to start; the job then runs on NCCL's own transport.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A required variable is not set.
    #[error(
        "`{name}` is not set\n(hint: MPIB needs `MPIB_HCA_SOUT`, `MPIB_HCA_SUP` and `MPIB_OOB_IF`)"
    )]
    Missing {
        /// The variable.
        name: &'static str,
    },
    /// The host has no such device on that rail.
    #[error(
        "no device `{device}`\n(hint: `MPIB_HCA_SOUT` and `MPIB_HCA_SUP` name the host's NICs)"
    )]
    NoDevice {
        /// The device, as the environment names it.
        device: DeviceName,
    },
    /// Port 1 of the device is not Ethernet.
    #[error("device `{device}` is not offered: its link layer is not Ethernet")]
    NotEthernet {
        /// The device.
        device: DeviceName,
    },
    /// There is no agent's shared memory.
    #[error("no hints at `/tmp/mpib/hints`\n(hint: start the agent before the job)")]
    NoHints,
    /// The shared memory is not valid.
    #[error(transparent)]
    BadHints(#[from] BadHints),
}

impl Refusal {
    /// The result of the plugin's `init`. A missing variable is `ncclInvalidUsage`; for the others it
    /// is only known not to be success, and `ncclSystemError` is chosen.
    #[must_use]
    pub const fn result(&self) -> NcclResult {
        match self {
            Self::Missing { .. } => NcclResult::InvalidUsage,
            _ => NcclResult::SystemError,
        }
    }
}

/// The lower 32 bits, like a C cast to `int`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the plugin casts to int, and what is cut off is the fact"
)]
const fn truncated(value: i64) -> i32 {
    value as i32
}

/// C's `strtoll` with base 0: leading blanks, a sign, `0x` or `0` as prefix, then digits; 0 without
/// digits. `None` on a range error.
fn strtoll(text: &str) -> Option<i64> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .filter(|rest| rest.starts_with(|digit: char| digit.is_ascii_hexdigit()));
    let (digits, base) = match hex {
        Some(rest) => (rest, 16),
        None if text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    let digits = digits.chars().map_while(|digit| digit.to_digit(base));
    let mut value: i64 = 0;
    for digit in digits {
        let digit = i64::from(digit);
        let signed = if is_negative { -digit } else { digit };
        value = value.checked_mul(i64::from(base))?.checked_add(signed)?;
    }
    Some(value)
}
