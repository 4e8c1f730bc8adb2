//! How what monitors say reaches a drill: one implementation a protocol.
//!
//! What a call means is its adapter's, in [`observe`]; here is only how it comes. A further protocol is
//! a file of its own and a row in [`start`].

use std::{io, path::Path};

use director::Socket;
use observe::{Delivery, Protocol};
use platforms::NodeName;
use tokio::runtime::Runtime;

use super::{connector::Connector, inbox::EventSender};

/// What stands between the monitors of a job's drill and the player.
pub(super) trait Transport {
    /// A node's monitor will say what it says at this path, where nothing stands yet; `root` is the
    /// node's mount. What comes is handed to `sender`.
    fn open(&mut self, node: &NodeName, path: &Path, root: &Path, sender: EventSender);

    /// Brings what stands at a node's path in line with the script.
    ///
    /// # Errors
    /// Whatever the kernel refuses.
    fn stand(&mut self, runtime: &Runtime, node: &NodeName, socket: Socket) -> io::Result<()>;

    /// What a line says that a monitor has written; nothing for a protocol that is not of lines.
    fn line(&mut self, _node: &NodeName, _line: &str) -> Option<Delivery> {
        None
    }

    /// Ends everything that stands.
    ///
    /// # Errors
    /// Whatever the kernel refuses.
    fn close(&mut self, runtime: &Runtime) -> io::Result<()>;
}

/// The transport of a protocol.
pub(super) fn start(protocol: Protocol, runtime: &Runtime) -> Box<dyn Transport> {
    match protocol {
        Protocol::PlatformConnector => Box::new(Connector::start(runtime)),
    }
}
