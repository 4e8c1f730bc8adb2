//! Transports: how what a monitor says reaches a drill, if it calls somebody.
//!
//! The adapters in [`observe`] interpret what it says; a transport only receives it.

use std::{collections::BTreeMap, io, path::Path};

use director::Socket;
use observe::Broken;
use platforms::NodeName;
use tokio::runtime::Runtime;

use super::{connector::Connector, inbox::EventSender};

/// What monitors have sent to their sockets and opened there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SocketTraffic {
    /// How many bytes have come on all connections of all nodes.
    pub(super) received: u64,
    /// How many connections were opened to the sockets of all nodes.
    pub(super) opened: u64,
    /// The most connections that were open to the socket of a node at once, with one that was refused.
    pub(super) connections: usize,
    /// The most calls that are open now on the connections to the socket of a node, or were open on one of them.
    pub(super) calls: usize,
}

/// Why a node's socket is not as the script asks for.
#[derive(Debug, thiserror::Error)]
pub(super) enum SocketError {
    /// It is not as it was made: what was found. The monitor's mount namespace alone has its folder.
    #[error("{0}")]
    Tampered(&'static str),
    /// The kernel refused a call.
    #[error(transparent)]
    Refused(#[from] io::Error),
}

impl SocketError {
    /// The end of a drill in whose present tick that was found.
    pub(super) fn broken(self, tick: u64) -> Broken {
        match self {
            Self::Tampered(what) => {
                let what = format!("{what} by somebody in the monitor's namespace");
                Broken::SocketTampered { tick, what }
            }
            Self::Refused(error) => Broken::Stage {
                cause: error.to_string(),
            },
        }
    }
}

/// Connects the monitors of a job's drill with the player.
pub(super) trait Transport {
    /// Prepares a node: its monitor will publish to this path, where nothing exists yet; `root` is the
    /// node's mount. What is received goes to `sender`.
    fn open(&mut self, node: &NodeName, path: &Path, root: &Path, sender: EventSender);

    /// Brings a node's socket into the state that the script asks for; it must be in the state that it was brought into before.
    ///
    /// # Errors
    /// [`SocketError`].
    fn stand(
        &mut self,
        runtime: &Runtime,
        node: &NodeName,
        socket: Socket,
    ) -> Result<(), SocketError>;

    /// What was spoken on each connection of a node since it was opened, with the number of such connections; empty
    /// for protocols without connections.
    fn connections(&mut self, _node: &NodeName) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    /// Whether a monitor is connected to a node's socket, so that its next call is sent at once; `true` for protocols
    /// without connections.
    fn is_connected(&self, _node: &NodeName) -> bool {
        true
    }

    /// What the monitors have sent and opened; nothing for protocols without connections.
    fn traffic(&self) -> SocketTraffic {
        SocketTraffic::default()
    }

    /// Closes all sockets and connections.
    ///
    /// # Errors
    /// [`SocketError`].
    fn close(&mut self, runtime: &Runtime) -> Result<(), SocketError>;
}

/// Starts the transport of monitors that call a connector, or of those that do not.
pub(super) fn start(has_connector: bool, runtime: &Runtime) -> Box<dyn Transport> {
    match has_connector {
        true => Box::new(Connector::start(runtime)),
        false => Box::new(Output),
    }
}

/// The transport of what the player gets by itself: output, exit codes, files and pages.
struct Output;

impl Transport for Output {
    fn open(&mut self, _: &NodeName, _: &Path, _: &Path, _: EventSender) {}

    fn stand(&mut self, _: &Runtime, _: &NodeName, _: Socket) -> Result<(), SocketError> {
        Ok(())
    }

    fn close(&mut self, _: &Runtime) -> Result<(), SocketError> {
        Ok(())
    }
}
