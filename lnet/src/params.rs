//! A node's parameters, their limits, and the times derived from them.

use std::{borrow::Cow, fmt, str::FromStr};

use simfs::SimTime;

use super::{nid::Lnd, profile::LnetProfile};

/// The largest `retry_count`. Lustre takes as many as the transaction timeout has seconds; this bound is chosen, because a
/// try can fail in no time, and whoever asks for 2 billion of them waits for 2 billion.
const RETRIES_MAX: i64 = 1000;

/// A parameter of `lnetctl set` or a module option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Param {
    /// `numa_range`: NUMA distances up to it count as equal.
    NumaRange,
    /// `max_interfaces`: 1 or more.
    MaxInterfaces,
    /// `discovery`: 0 or 1; without it every NID is a peer of its own.
    Discovery,
    /// `drop_asym_route`: 0 or 1; whether messages from a router that is not on a route back are
    /// dropped.
    DropAsymRoute,
    /// `retry_count`: the number of resends of a message; at most 1000 here.
    RetryCount,
    /// `transaction_timeout`: the time limit of a response, in seconds.
    TransactionTimeout,
    /// `health_sensitivity`: 0 to 1000; the cost of a failure. 0 disables health.
    HealthSensitivity,
    /// `recovery_interval`: seconds between recovery pings without back-off.
    RecoveryInterval,
    /// `router_sensitivity`: 0 to 100 percent. It is stored and shown but has no effect: a route
    /// stays up at peer health 500 ("lustre/tests/sanity-lnet.sh", 228).
    RouterSensitivity,
    /// `response_tracking`: 0 LNet's own messages only, 1 also GETs, 2 also PUTs, 3 both.
    ResponseTracking,
    /// `recovery_limit`: seconds after which a silent peer is not pinged any more; 0: never.
    RecoveryLimit,
    /// `max_recovery_ping_interval`: seconds, 1 or more.
    MaxRecoveryPingInterval,
    /// `avoid_asym_router_failure`: 0 or 1; whether a route needs the router's far side up.
    AvoidAsymRouterFailure,
}

impl Param {
    /// All parameters, in the order of `lnetctl global show`.
    pub const ALL: [Self; 13] = [
        Self::NumaRange,
        Self::MaxInterfaces,
        Self::Discovery,
        Self::DropAsymRoute,
        Self::RetryCount,
        Self::TransactionTimeout,
        Self::HealthSensitivity,
        Self::RecoveryInterval,
        Self::RouterSensitivity,
        Self::ResponseTracking,
        Self::RecoveryLimit,
        Self::MaxRecoveryPingInterval,
        Self::AvoidAsymRouterFailure,
    ];

    /// The spelling in `lnetctl`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NumaRange => "numa_range",
            Self::MaxInterfaces => "max_interfaces",
            Self::Discovery => "discovery",
            Self::DropAsymRoute => "drop_asym_route",
            Self::RetryCount => "retry_count",
            Self::TransactionTimeout => "transaction_timeout",
            Self::HealthSensitivity => "health_sensitivity",
            Self::RecoveryInterval => "recovery_interval",
            Self::RouterSensitivity => "router_sensitivity",
            Self::ResponseTracking => "response_tracking",
            Self::RecoveryLimit => "recovery_limit",
            Self::MaxRecoveryPingInterval => "max_recovery_ping_interval",
            Self::AvoidAsymRouterFailure => "avoid_asym_router_failure",
        }
    }

    /// The smallest and the largest allowed value; a release may allow fewer retries.
    #[must_use]
    pub fn range(self) -> (i64, i64) {
        let most = i64::from(i32::MAX);
        match self {
            Self::NumaRange | Self::RecoveryLimit => (0, most),
            Self::RetryCount => (0, RETRIES_MAX),
            Self::MaxInterfaces
            | Self::TransactionTimeout
            | Self::RecoveryInterval
            | Self::MaxRecoveryPingInterval => (1, most),
            Self::Discovery | Self::DropAsymRoute | Self::AvoidAsymRouterFailure => (0, 1),
            Self::HealthSensitivity => (0, 1000),
            Self::RouterSensitivity => (0, 100),
            Self::ResponseTracking => (0, 3),
        }
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Param {
    type Err = ParamError;

    fn from_str(text: &str) -> Result<Self, ParamError> {
        Self::ALL
            .into_iter()
            .find(|param| param.name() == text)
            .ok_or_else(|| ParamError::Unknown(text.to_owned()))
    }
}

/// Why a parameter was not set. `lnetctl` reports each as `EINVAL`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// There is no such parameter.
    #[error("`{0}` is not a parameter of LNet\nhint: {hint}", hint = self.hint())]
    Unknown(String),
    /// The value is outside the parameter's limits.
    #[error("`{param}` cannot be {value}\nhint: {hint}", hint = self.hint())]
    OutOfRange {
        /// The parameter.
        param: Param,
        /// The requested value.
        value: i64,
        /// The smallest allowed value.
        least: i64,
        /// The largest allowed value.
        most: i64,
    },
    /// Retries require health.
    #[error("`retry_count` cannot be {0} while `health_sensitivity` is 0\nhint: {hint}", hint = self.hint())]
    RetryWithoutHealth(i64),
    /// The transaction timeout is too short for the retries.
    #[error("`retry_count` cannot be {retry_count} with a `transaction_timeout` of {timeout_s} s\nhint: {hint}", hint = self.hint())]
    RetryBeyondTimeout {
        /// The requested number of retries.
        retry_count: i64,
        /// The transaction timeout, in seconds.
        timeout_s: i64,
    },
    /// The timeout is too short for the present retries.
    #[error("`transaction_timeout` cannot be {timeout_s} s with a `retry_count` of {retry_count}\nhint: {hint}", hint = self.hint())]
    TimeoutWithinRetries {
        /// The requested timeout, in seconds.
        timeout_s: i64,
        /// The number of retries.
        retry_count: i64,
    },
}

impl ParamError {
    /// The hint.
    #[must_use]
    pub fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Unknown(..) => "such as `retry_count` or `health_sensitivity`".into(),
            Self::OutOfRange { least, most, .. } => format!("{least} to {most}").into(),
            Self::RetryWithoutHealth(..) => "set `health_sensitivity` first".into(),
            Self::RetryBeyondTimeout { .. } => "a retry needs a second at least".into(),
            Self::TimeoutWithinRetries { .. } => "it must be greater than `retry_count`".into(),
        }
    }
}

/// The parameters of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    profile: LnetProfile,
    /// In the order of [`Param::ALL`].
    values: [u32; Param::ALL.len()],
}

impl Params {
    /// Defaults: "lnet/lnet/api-ni.c", "lnet/lnet/lib-move.c", "lnet/lnet/peer.c".
    pub(crate) fn new(profile: LnetProfile, transaction_timeout_s: u32) -> Self {
        let values = Param::ALL.map(|param| match param {
            Param::NumaRange | Param::DropAsymRoute | Param::RecoveryLimit => 0,
            Param::MaxInterfaces => 200,
            Param::Discovery | Param::RecoveryInterval | Param::AvoidAsymRouterFailure => 1,
            Param::RetryCount => 2,
            Param::TransactionTimeout => transaction_timeout_s,
            Param::HealthSensitivity | Param::RouterSensitivity => 100,
            Param::ResponseTracking => 3,
            Param::MaxRecoveryPingInterval => 900,
        });
        Self { profile, values }
    }

    /// The profile of the node.
    #[must_use]
    pub fn profile(&self) -> LnetProfile {
        self.profile
    }

    /// The value of a parameter.
    #[must_use]
    pub fn get(&self, param: Param) -> u32 {
        self.values[param as usize]
    }

    /// Sets a parameter. In the releases, setting the sensitivity to 0 also sets the retries to 0.
    ///
    /// # Errors
    /// A [`ParamError`]; then nothing has changed.
    pub fn set(&mut self, param: Param, value: i64) -> Result<(), ParamError> {
        let (least, mut most) = param.range();
        if let (Param::RetryCount, Some(cap)) = (param, self.profile.behaviour().retry_count_max) {
            most = i64::from(cap);
        }
        let wanted = u32::try_from(value)
            .ok()
            .filter(|_| (least..=most).contains(&value))
            .ok_or(ParamError::OutOfRange {
                param,
                value,
                least,
                most,
            })?;
        let needs_health = self.profile.behaviour().retries_need_health;
        let timeout_s = i64::from(self.get(Param::TransactionTimeout));
        let retry_count = i64::from(self.get(Param::RetryCount));
        match param {
            Param::RetryCount
                if needs_health && value > 0 && self.get(Param::HealthSensitivity) == 0 =>
            {
                return Err(ParamError::RetryWithoutHealth(value));
            }
            Param::RetryCount if value > timeout_s => {
                return Err(ParamError::RetryBeyondTimeout {
                    retry_count: value,
                    timeout_s,
                });
            }
            Param::TransactionTimeout if value <= retry_count => {
                return Err(ParamError::TimeoutWithinRetries {
                    timeout_s: value,
                    retry_count,
                });
            }
            Param::HealthSensitivity if needs_health && value == 0 => {
                self.values[Param::RetryCount as usize] = 0;
            }
            _ => {}
        }
        self.values[param as usize] = wanted;
        Ok(())
    }

    /// The cost of a failure: 0 to 1000.
    #[must_use]
    pub fn sensitivity(&self) -> u16 {
        u16::try_from(self.get(Param::HealthSensitivity)).unwrap_or(u16::MAX)
    }

    /// The time limit of a response.
    #[must_use]
    pub fn transaction_timeout(&self) -> SimTime {
        SimTime::from_secs(u64::from(self.get(Param::TransactionTimeout)))
    }

    /// The time limit of an attempt: `lnd_timeout` of `lnetctl global show`. The HLD calls it the message
    /// timeout, and divides it among the messages of an attempt.
    #[must_use]
    pub fn lnd_timeout(&self) -> SimTime {
        let timeout_s = self.get(Param::TransactionTimeout);
        let retry_count = self.get(Param::RetryCount);
        let share_s = if self.profile.behaviour().timeout_by_tries {
            (timeout_s - 1) / (retry_count + 1)
        } else {
            // The HLD divides by the retries and does not define the result for none.
            timeout_s / retry_count.max(1)
        };
        SimTime::from_secs(u64::from(share_s.max(1)))
    }

    /// The time limit of one attempt in the driver, which needs this many messages of its own for it
    /// (at least 1). Only the HLD divides the time among them.
    #[must_use]
    pub(crate) fn attempt_timeout(&self, lnd_messages: u64) -> SimTime {
        let whole = self.lnd_timeout();
        if self.profile.behaviour().timeout_by_tries {
            whole
        } else {
            SimTime::from_ns(whole.as_ns() / lnd_messages.max(1))
        }
    }

    /// The time limit of a message over all attempts, on a net of this driver. A driver with a
    /// timeout of its own (50 s) gives each attempt that time and one second more; the HLD defines
    /// the send time and the transaction timeout only.
    #[must_use]
    pub fn message_timeout(&self, lnd: Lnd) -> SimTime {
        match lnd.own_timeout_s() {
            Some(own_s) if self.profile.behaviour().timeout_by_tries => {
                let tries = u64::from(self.get(Param::RetryCount)) + 1;
                SimTime::from_secs(own_s * tries + 1)
            }
            _ => self.transaction_timeout(),
        }
    }

    /// The interval at which the node checks for overdue responses: half the transaction timeout, so
    /// that one is detected after between one and one and a half of it; in the HLD every second.
    #[must_use]
    pub(crate) fn response_scan_interval_s(&self) -> u64 {
        if self.profile.behaviour().monitor_finalises {
            return 1;
        }
        u64::from(self.get(Param::TransactionTimeout) / 2).max(1)
    }

    /// Seconds from the `sent`th recovery ping of an interface to the next; for 0, the wait before
    /// the first.
    #[must_use]
    pub fn recovery_ping_gap_s(&self, sent: u32) -> u64 {
        if !self.profile.behaviour().pings_back_off {
            return u64::from(self.get(Param::RecoveryInterval));
        }
        let most = self.get(Param::MaxRecoveryPingInterval);
        if sent > most.ilog2() {
            u64::from(most)
        } else {
            1 << sent
        }
    }
}
