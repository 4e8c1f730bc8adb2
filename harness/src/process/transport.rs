//! Transports: how a monitor's output reaches a drill, one implementation per protocol.
//!
//! The adapters in [`observe`] interpret the output; a transport only receives it. A further protocol
//! is a file of its own and a row in [`start`].

use std::{collections::BTreeMap, io, path::Path};

use director::Socket;
use observe::Protocol;
use platforms::NodeName;
use tokio::runtime::Runtime;

use super::{connector::Connector, inbox::EventSender};

/// Connects the monitors of a job's drill with the player.
pub(super) trait Transport {
    /// Prepares a node: its monitor will publish to this path, where nothing exists yet; `root` is the
    /// node's mount. What is received goes to `sender`.
    fn open(&mut self, node: &NodeName, path: &Path, root: &Path, sender: EventSender);

    /// Brings a node's socket into the state that the script asks for.
    ///
    /// # Errors
    /// The error of a refused system call.
    fn stand(&mut self, runtime: &Runtime, node: &NodeName, socket: Socket) -> io::Result<()>;

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

    /// How many bytes have come from the monitors on all connections; 0 for protocols without connections.
    fn received(&self) -> u64 {
        0
    }

    /// Closes all sockets and connections.
    ///
    /// # Errors
    /// The error of a refused system call.
    fn close(&mut self, runtime: &Runtime) -> io::Result<()>;
}

/// Starts the transport of a protocol.
pub(super) fn start(protocol: Protocol, runtime: &Runtime) -> Box<dyn Transport> {
    match protocol {
        Protocol::PlatformConnector => Box::new(Connector::start(runtime)),
        Protocol::Lines
        | Protocol::ExitCode
        | Protocol::Textfile
        | Protocol::Scrape
        | Protocol::HttpJson
        | Protocol::PrometheusRules => Box::new(Output),
    }
}

/// The transport of what the player gets by itself: output, exit codes, files and pages.
struct Output;

impl Transport for Output {
    fn open(&mut self, _: &NodeName, _: &Path, _: &Path, _: EventSender) {}

    fn stand(&mut self, _: &Runtime, _: &NodeName, _: Socket) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self, _: &Runtime) -> io::Result<()> {
        Ok(())
    }
}
