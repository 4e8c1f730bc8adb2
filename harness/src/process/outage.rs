//! A time in which nothing listens on a node's socket. Start at [`Outage`].

use std::time::Duration;

use director::Socket;
use observe::RealTime;

/// A time in which nothing listened on a node's socket. It lasts until somebody connects to it again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outage {
    /// What the socket was like at its end.
    socket: Socket,
    /// Whether the socket listens again.
    pub(super) is_over: bool,
    /// Whether the monitor was given the time in which its client tries again.
    pub(super) waited: bool,
}

impl Outage {
    /// The longest time that a client waits before it tries again; none if the descriptor states none.
    pub(super) fn backoff(self, real_time: &RealTime) -> Option<Duration> {
        let longest = match self.socket {
            Socket::Absent => real_time.backoff_without_socket(),
            _ => real_time.backoff,
        };
        Some(longest?.0)
    }

    /// Whether the socket's file is missing now.
    pub(super) fn is_missing(self) -> bool {
        self.socket == Socket::Absent && !self.is_over
    }

    /// The outage of a node whose socket is like this from now on, after another one or none.
    pub(super) fn after(before: Option<Self>, socket: Socket) -> Option<Self> {
        if socket == Socket::Listening {
            return before.map(|outage| Self {
                is_over: true,
                ..outage
            });
        }
        Some(Self {
            socket,
            is_over: false,
            waited: false,
        })
    }
}
