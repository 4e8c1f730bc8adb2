//! The views of a node: the commands of `lnetctl`, by name.
//!
//! `text` formats them. Start at [`Lnet::show`].

use std::{fmt, str::FromStr};

use platforms::NodeName;

use super::{error::LnetError, network::Lnet, node::Node, workload_event::Side};

/// A view of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// `lnetctl net show -v 2`: its own interfaces.
    Net,
    /// `lnetctl peer show -v 2`: the peers it knows.
    Peer,
    /// `lnetctl route show -v`: its routes.
    Route,
    /// `lnetctl stats show`: its counters.
    Stats,
    /// `lnetctl global show`: its parameters.
    Global,
    /// `lnetctl debug recovery -l`: its own interfaces that are being recovered.
    LocalRecovery,
    /// `lnetctl debug recovery -p`: peers' interfaces that are being recovered.
    PeerRecovery,
}

impl View {
    /// All views.
    pub const ALL: [Self; 7] = [
        Self::Net,
        Self::Peer,
        Self::Route,
        Self::Stats,
        Self::Global,
        Self::LocalRecovery,
        Self::PeerRecovery,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Net => "net",
            Self::Peer => "peer",
            Self::Route => "route",
            Self::Stats => "stats",
            Self::Global => "global",
            Self::LocalRecovery => "local-recovery",
            Self::PeerRecovery => "peer-recovery",
        }
    }

    /// The command that prints it on a real node.
    #[must_use]
    pub fn command(self) -> &'static str {
        match self {
            Self::Net => "lnetctl net show -v 2",
            Self::Peer => "lnetctl peer show -v 2",
            Self::Route => "lnetctl route show -v",
            Self::Stats => "lnetctl stats show",
            Self::Global => "lnetctl global show",
            Self::LocalRecovery => "lnetctl debug recovery -l",
            Self::PeerRecovery => "lnetctl debug recovery -p",
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for View {
    type Err = ViewError;

    fn from_str(text: &str) -> Result<Self, ViewError> {
        Self::ALL
            .into_iter()
            .find(|view| view.name() == text)
            .ok_or_else(|| ViewError(text.to_owned()))
    }
}

/// An unknown view.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a view of LNet\nhint: {hint}", hint = Self::HINT)]
pub struct ViewError(String);

impl ViewError {
    /// The hint.
    pub const HINT: &str =
        "`net`, `peer`, `route`, `stats`, `global`, `local-recovery` or `peer-recovery`";
}

impl Node {
    /// A view of the node, as YAML.
    #[must_use]
    pub fn show(&self, view: View) -> String {
        match view {
            View::Net => self.net_show(),
            View::Peer => self.peer_show(),
            View::Route => self.route_show(),
            View::Stats => self.stats_show(),
            View::Global => self.global_show(),
            View::LocalRecovery => self.recovery_show(Side::Local),
            View::PeerRecovery => self.recovery_show(Side::Peer),
        }
    }
}

impl Lnet {
    /// A view of a node, as YAML.
    ///
    /// # Errors
    /// [`LnetError::NoNode`], [`LnetError::NotLoaded`].
    pub fn show(&self, node: &NodeName, view: View) -> Result<String, LnetError> {
        match self.node(node) {
            Some(held) if held.is_loaded() => Ok(held.show(view)),
            Some(_) => Err(LnetError::NotLoaded(node.clone())),
            None => Err(LnetError::NoNode(node.clone())),
        }
    }
}
