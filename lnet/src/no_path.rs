//! Why a message has no path, as selection found it.

use std::fmt;

use super::status::MsgStatus;

/// Why a message has no path; it is then not sent, blamed or resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPath {
    /// No peer of the node has the destination.
    UnknownPeer,
    /// The node has no route to the destination's net.
    NoRoute,
    /// All its routes to that net are down.
    RoutesDown,
    /// Of its routes to that net that are up, none starts on the net of the given source; the node may be on that net by
    /// another interface.
    NoRouteFromSource,
    /// The next hop has no interface on the net of the source.
    NoPeerNi,
    /// The given source is no interface of the node.
    NotOwn,
    /// The given source has its fatal flag set (HLD).
    SourceFatal,
    /// All own interfaces on the net have their fatal flag set (HLD).
    AllFatal,
    /// The own interface that the peer keeps seeing has its fatal flag set, or health 0 (HLD).
    PreferredUnusable,
    /// The peer's interface has health 0, and the message was tried before (HLD).
    PeerAtZero,
}

impl NoPath {
    /// The status for the layer above: `-EHOSTUNREACH` if there is no way, any other error if the required interface
    /// cannot be used.
    #[must_use]
    pub const fn status(self) -> MsgStatus {
        match self {
            Self::UnknownPeer
            | Self::NoRoute
            | Self::RoutesDown
            | Self::NoRouteFromSource
            | Self::NoPeerNi => MsgStatus::RemoteError,
            Self::NotOwn
            | Self::SourceFatal
            | Self::AllFatal
            | Self::PreferredUnusable
            | Self::PeerAtZero => MsgStatus::LocalError,
        }
    }
}

impl fmt::Display for NoPath {
    /// As in the trace: `the node has no route to its net`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownPeer => "the node knows no such peer",
            Self::NoRoute => "the node has no route to its net",
            Self::RoutesDown => "every route to its net is down",
            Self::NoRouteFromSource => {
                "no route to its net that is up starts on the net of the given source"
            }
            Self::NoPeerNi => "the next hop has no NI on the net of the source",
            Self::NotOwn => "the given source is no NI of the node",
            Self::SourceFatal => "the given source has its fatal flag set",
            Self::AllFatal => "every NI of the node on that net has its fatal flag set",
            Self::PreferredUnusable => {
                "the NI that the peer keeps seeing has its fatal flag set, or no health"
            }
            Self::PeerAtZero => "the peer's only NI has no health",
        })
    }
}
