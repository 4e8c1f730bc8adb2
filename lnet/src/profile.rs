//! Which LNet: the design as written, or one of two releases, each a row of data.

use std::{fmt, str::FromStr};

use super::params::Params;

/// What a node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// The "LNet Health HLD" as written; where it names no default, that of [`Profile::V2_17`].
    Hld,
    /// Lustre 2.15.
    V2_15,
    /// Lustre 2.15.54 to 2.17.
    V2_17,
}

/// How the profiles differ, apart from defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// A success is worth the sensitivity (LU-12303), by any message that got through. Otherwise it
    /// is worth 1, and only a recovery ping counts ("LNet Health HLD, Health Value Updates").
    pub success_by_sensitivity: bool,
    /// Recovery pings back off 1, 2, 4 … seconds. Otherwise there is one every interval.
    pub pings_back_off: bool,
    /// A failure lowers the health of a node's only interface too (LU-19476).
    pub single_rail_blamed: bool,
    /// A peer or node with one interface gets no resend, and such a peer no blame. The HLD knows no
    /// such gate: "if there is none available attempt the same interface again".
    pub single_rail_gates: bool,
    /// An interface whose health fell to 0 has status down until it is back at 1000.
    pub down_at_zero: bool,
    /// A status down is told to peers, who then blame that interface.
    pub down_is_advertised: bool,
    /// A missing response blames the next hop.
    pub timeout_blames_next_hop: bool,
    /// A resend passes over interfaces that the message has used, as long as there are others.
    pub resend_avoids_used: bool,
    /// A given source or preferred interface that is down or at health 0 fails the send, and a given
    /// destination yields to a better interface of the same peer. The HLD calls an interface of a
    /// peer *unhealthy* without a number; here that is health 0.
    pub given_must_be_healthy: bool,
    /// An interface with the fatal flag is used when there is no other. Otherwise never.
    pub fatal_is_last_resort: bool,
    /// LND timeout is (transaction − 1) / (retries + 1), and a message has all its tries' time.
    /// Otherwise transaction / retries, and a message has the transaction's time.
    pub timeout_by_tries: bool,
    /// The most retries that may be set; `None`: as many as the transaction timeout has seconds.
    pub retry_count_max: Option<u32>,
}

impl Profile {
    /// All.
    pub const ALL: [Self; 3] = [Self::Hld, Self::V2_15, Self::V2_17];

    /// As scenarios and cases spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hld => "hld",
            Self::V2_15 => "2.15",
            Self::V2_17 => "2.17",
        }
    }

    /// The parameters of a node that nobody has tuned.
    #[must_use]
    pub fn defaults(self) -> Params {
        let transaction_timeout_s = match self {
            Self::V2_15 => 50,
            // LU-15288.
            Self::Hld | Self::V2_17 => 150,
        };
        Params::new(self, transaction_timeout_s)
    }

    /// How it behaves.
    #[must_use]
    pub fn behaviour(self) -> Behaviour {
        let built = self != Self::Hld;
        Behaviour {
            success_by_sensitivity: built,
            pings_back_off: built,
            single_rail_blamed: self != Self::V2_15,
            single_rail_gates: built,
            down_at_zero: self == Self::V2_17,
            down_is_advertised: built,
            timeout_blames_next_hop: built,
            resend_avoids_used: !built,
            given_must_be_healthy: !built,
            fatal_is_last_resort: built,
            timeout_by_tries: built,
            retry_count_max: if built { None } else { Some(5) },
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == text)
            .ok_or_else(|| ProfileError(text.to_owned()))
    }
}

/// A profile that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a profile of LNet\nhint: `hld`, `2.15` or `2.17`")]
pub struct ProfileError(String);
