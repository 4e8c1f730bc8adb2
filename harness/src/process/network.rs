//! The network of a monitor: a private namespace if the kernel allows it, so that the fixed ports
//! of two monitors do not collide; otherwise a free port.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
};

use nix::sched::{CloneFlags, unshare};
use rustix::net::{AddressFamily, SendFlags, SocketType, send, socket};

/// The port that a monitor uses in a private namespace (NVSentinel, `--metrics-port`).
const METRICS_PORT: u16 = 2112;

/// The network namespace in which a job's monitors are started: that of the thread.
#[derive(Debug)]
pub(super) struct Network {
    private: bool,
}

impl Network {
    /// Enters a private network namespace, which processes started by this thread inherit, if the
    /// kernel allows it.
    pub(super) fn enter() -> Self {
        Self {
            private: fresh().is_ok(),
        }
    }

    /// Whether the namespace is private.
    pub(super) fn is_private(&self) -> bool {
        self.private
    }

    /// Enters another network namespace; processes in the present one keep it.
    pub(super) fn leave(&mut self) {
        self.private = self.private && fresh().is_ok();
    }

    /// A port on which the next monitor can listen.
    pub(super) fn port(&self) -> io::Result<u16> {
        if self.private {
            return Ok(METRICS_PORT);
        }
        let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        Ok(probe.local_addr()?.port())
    }
}

fn fresh() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    loopback_up()
}

/// Sets the loopback interface up; in a new namespace it is down (`rtnetlink(7)`).
fn loopback_up() -> io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const NLM_F_REQUEST: u16 = 1;
    const LOOPBACK_INDEX: i32 = 1;
    const IFF_UP: u32 = 1;
    const LEN: u32 = 32;
    let mut message = Vec::new();
    // struct nlmsghdr
    message.extend(LEN.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    // struct ifinfomsg
    message.extend([0; 4]);
    message.extend(LOOPBACK_INDEX.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    // The protocol 0 is NETLINK_ROUTE (`netlink(7)`).
    let route = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    send(&route, &message, SendFlags::empty())?;
    Ok(())
}
