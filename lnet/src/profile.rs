//! Profiles of LNet: the design as written, and two releases, each a row of data.

use std::{fmt, str::FromStr};

use super::params::Params;

/// The LNet that a node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LnetProfile {
    /// The "LNet Health HLD" as written; defaults that it does not state are those of
    /// [`LnetProfile::V2_17`].
    Hld,
    /// Lustre 2.15.
    V2_15,
    /// Lustre 2.15.54 to 2.17.
    V2_17,
}

/// The differences between the profiles, apart from defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Whether a success raises health by the sensitivity (LU-12303), for any delivered message.
    /// Otherwise it raises by 1, and only for recovery pings ("LNet Health HLD, Health Value
    /// Updates").
    pub success_by_sensitivity: bool,
    /// Whether recovery pings back off 1, 2, 4 … seconds. Otherwise there is one per interval.
    pub pings_back_off: bool,
    /// Whether a failure lowers the health of a node's only interface (LU-19476).
    pub single_rail_blamed: bool,
    /// Whether a node with one interface does not resend after a local failure, and a peer with one
    /// interface gets no resend and no blame. The HLD has no such condition: "if there is none available
    /// attempt the same interface again".
    pub single_rail_gates: bool,
    /// Whether an interface whose health fell to 0 has status down until it is back at 1000.
    pub down_at_zero: bool,
    /// Whether peers are notified of a status down, and then blame that interface.
    pub down_is_advertised: bool,
    /// Whether a missing response blames the next hop.
    pub timeout_blames_next_hop: bool,
    /// Whether a resend avoids interfaces that the message has used, if there are others.
    pub resend_avoids_used: bool,
    /// Whether a send fails if its given source or its preferred interface is down or at health 0,
    /// and a given destination is replaced by a better interface of the same peer. The HLD calls an
    /// interface of a peer *unhealthy* without a number; here that is health 0.
    pub given_must_be_healthy: bool,
    /// Whether an interface with the fatal flag is used if there is no other. Otherwise it is never
    /// used.
    pub fatal_is_last_resort: bool,
    /// Whether the LND timeout is (transaction − 1) / (retries + 1), and a message has the time of
    /// all its attempts. Otherwise it is transaction / retries over the number of the driver's messages
    /// ("LNet Health HLD, System Timeouts"), and a message has the transaction timeout.
    pub timeout_by_tries: bool,
    /// Whether retries require health: a sensitivity of 0 sets them to 0 and refuses others. Otherwise a
    /// sensitivity of 0 turns off health, selection by it included, and nothing else ("LNet Health HLD,
    /// Health Value Updates", 2 g).
    pub retries_need_health: bool,
    /// Whether the monitor thread finalises a message at its deadline, and notifies the layer above of
    /// a missing response, in the second in which the transaction timeout has passed ("LNet Health HLD,
    /// The Monitor Thread", 1). Otherwise drivers end messages, and responses are checked at half the
    /// transaction timeout.
    pub monitor_finalises: bool,
    /// Whether the removal of a device sets the fatal flag ("LNet Health HLD, Hard Failures").
    /// Otherwise there is a line on the console.
    pub removal_is_fatal: bool,
    /// Whether a connection that cannot be made blames the interface of the peer and is followed by a resend, however it
    /// failed ("LNet Health HLD, Asynchronous Send Failures", 2, and "Handling Errors on Sends", which calls address,
    /// route, unreachable, connect and reject errors those of the remote interface). Otherwise the driver decides.
    pub connecting_fails_remotely: bool,
    /// Whether a recovery ping that fails blames the interface that is being recovered ("LNet Health HLD, Health Value
    /// Updates", 2 f). Otherwise it blames as any message does.
    pub failed_ping_blames_pinged: bool,
    /// The largest allowed number of retries; if `None`, the number of seconds of the transaction
    /// timeout.
    pub retry_count_max: Option<u32>,
}

impl LnetProfile {
    /// All profiles.
    pub const ALL: [Self; 3] = [Self::Hld, Self::V2_15, Self::V2_17];

    /// The spelling in scenarios and tests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hld => "hld",
            Self::V2_15 => "2.15",
            Self::V2_17 => "2.17",
        }
    }

    /// The default parameters of a node.
    #[must_use]
    pub fn defaults(self) -> Params {
        let transaction_timeout_s = match self {
            Self::V2_15 => 50,
            // LU-15288.
            Self::Hld | Self::V2_17 => 150,
        };
        Params::new(self, transaction_timeout_s)
    }

    /// The behaviour.
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
            retries_need_health: built,
            monitor_finalises: !built,
            removal_is_fatal: !built,
            connecting_fails_remotely: !built,
            failed_ping_blames_pinged: !built,
            retry_count_max: if built { None } else { Some(5) },
        }
    }
}

impl fmt::Display for LnetProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LnetProfile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == text)
            .ok_or_else(|| ProfileError(text.to_owned()))
    }
}

/// An unknown profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a profile of LNet\nhint: {hint}", hint = Self::HINT)]
pub struct ProfileError(String);

impl ProfileError {
    /// The hint.
    pub const HINT: &str = "`hld`, `2.15` or `2.17`";
}
