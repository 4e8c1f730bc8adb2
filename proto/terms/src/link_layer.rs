//! The link layer of a port.

use std::fmt;

use crate::{Check, CheckKind};

/// The link layer of a port, in the kernel's spelling (`link_layer_show`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum LinkLayer {
    /// `InfiniBand`.
    InfiniBand,
    /// `Ethernet`, that is RoCE.
    Ethernet,
}

impl LinkLayer {
    /// Both, in order.
    pub const ALL: [Self; 2] = [Self::InfiniBand, Self::Ethernet];

    /// Its word in a cause's name: `infiniband` or `ethernet`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::InfiniBand => "infiniband",
            Self::Ethernet => "ethernet",
        }
    }

    /// The check for the states of its ports.
    #[must_use]
    pub fn state_check(self) -> Check {
        Check::only(self, CheckKind::State)
    }

    /// The check for the counters of its ports.
    #[must_use]
    pub fn degradation_check(self) -> Check {
        Check::only(self, CheckKind::Degradation)
    }
}

impl fmt::Display for LinkLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InfiniBand => "InfiniBand",
            Self::Ethernet => "Ethernet",
        })
    }
}
