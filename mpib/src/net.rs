//! Connections and messages over two rails, in simulated time.
//!
//! A net has hosts, the state of their ports, and the connections between them. Transfers take no time;
//! only waiting for a rail does ([`Retries`] limits it). There is no failover between the rails. A port
//! error affects posted writes only, except that a device that disappears destroys its queue pairs.
//!
//! SUP has a route inside an island only: a write that crosses islands on it is never acknowledged.
//!
//! Completion queues, receives of the shared queue (which are refilled on both rails without effect),
//! and the depth of the send queues for data are not modelled.
//!
//! Start at [`Net::init`], [`Net::connect`], [`Net::irecv`] and [`Net::isend`]; `advance` and `notify`
//! advance time.

mod calls;
mod record;
mod setup;
mod view;

use std::collections::BTreeMap;

use simfs::SimTime;

use super::connection::{Connection, ConnectionId, Death, Load, Side, Write};
use super::event::{NetEvent, NetEventKind, QueuePairId};
use super::message::RequestId;
use super::queue_pair::Tried;
use super::{
    ACK_TIMEOUT_EXPONENT, Bytes, Host, HostId, LogLine, MpibProfile, NicBytes, Parameters, PerRail,
    Post, PostKind, Rail, RailChange, RailState, Retries, ack_timeout,
};

pub use calls::{Isend, Progress};

/// The largest number of buffers of one `irecv`.
pub const RECEIVES_MAX: usize = 8;

/// The largest number of open requests of an end of a connection.
pub const REQUESTS_MAX: usize = 256;

/// The depth of the send queue for clear-to-send: NCCL's own, twice the number of requests ("NCCL,
/// src/transport/net_ib", `ncclIbCreateQp`); the documents do not state MPIB's.
pub const CTS_QUEUE_DEPTH: u32 = 512;

/// The size of a clear-to-send for each buffer. Chosen; any value above 0 is equivalent.
pub const CLEAR_TO_SEND: Bytes = Bytes::new(64);

/// The settings of a net, independent of its hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The modelled behaviour.
    pub profile: MpibProfile,
    /// The number of tries of a write.
    pub retries: Retries,
    /// The timeout of one try.
    pub ack_timeout: SimTime,
    /// The depth of the send queue for clear-to-send of a connection, in writes.
    pub cts_queue_depth: u32,
    /// Whether every post is recorded ([`Net::posts`]); long stories leave it off.
    pub keeps_posts: bool,
}

impl Settings {
    /// Eight tries of 4.295 s each, with posts recorded.
    #[must_use]
    pub const fn new(profile: MpibProfile) -> Self {
        Self {
            profile,
            retries: Retries::Eight,
            ack_timeout: ack_timeout(ACK_TIMEOUT_EXPONENT),
            cts_queue_depth: CTS_QUEUE_DEPTH,
            keeps_posts: true,
        }
    }
}

/// The transport that moves the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// The plugin.
    Mpib,
    /// NCCL's own transport, after the plugin was refused: one rail (SOUT), no classification.
    Internal,
}

/// A situation that cannot resolve, visible in the model only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// Nothing was posted on `rail`, because it has no queue pairs: there is neither an error nor a
    /// part to wait for. A send completes anyway; the receiver waits forever.
    NothingPosted {
        /// The connection.
        connection: ConnectionId,
        /// The rail without queue pairs.
        rail: Rail,
    },
    /// A write was posted on SUP between islands, where it has no route: it is lost, whatever the ports do.
    NoRoute {
        /// The connection.
        connection: ConnectionId,
        /// The rail.
        rail: Rail,
    },
    /// A send spins forever on a hint whose writer died in the middle of a write.
    SpinsOnHint {
        /// The connection.
        connection: ConnectionId,
    },
}

#[derive(Clone, Debug)]
struct HostState {
    host: Host,
    parameters: Option<Parameters>,
    rails: PerRail<RailState>,
    nics: PerRail<NicBytes>,
    flows: u16,
    hint_reads: u64,
}

#[derive(Clone, Copy, Debug)]
struct Timeout {
    connection: ConnectionId,
    side: Side,
    queue_pair: u8,
}

/// Hosts and the connections between them.
#[derive(Clone, Debug)]
pub struct Net {
    settings: Settings,
    transport: Transport,
    now: SimTime,
    host_states: Vec<HostState>,
    connections: Vec<Connection>,
    requests: BTreeMap<RequestId, calls::Request>,
    requests_made: u64,
    timeouts: BTreeMap<(SimTime, u64), Timeout>,
    timeouts_made: u64,
    logs: Vec<LogLine>,
    posts: Vec<Post>,
    hazards: Vec<Hazard>,
    events: Vec<NetEvent>,
}

impl Net {
    /// A net of hosts without plugin or connection; every port is up.
    #[must_use]
    pub fn new(hosts: Vec<Host>, settings: Settings) -> Self {
        let host_state = |host| HostState {
            host,
            parameters: None,
            rails: PerRail::default(),
            nics: PerRail::default(),
            flows: 0,
            hint_reads: 0,
        };
        Self {
            settings,
            transport: Transport::Mpib,
            now: SimTime::ZERO,
            host_states: hosts.into_iter().map(host_state).collect(),
            connections: Vec::new(),
            requests: BTreeMap::new(),
            requests_made: 0,
            timeouts: BTreeMap::new(),
            timeouts_made: 0,
            logs: Vec::new(),
            posts: Vec::new(),
            hazards: Vec::new(),
            events: Vec::new(),
        }
    }

    /// The time up to which everything has happened.
    #[must_use]
    pub const fn now(&self) -> SimTime {
        self.now
    }

    /// The time of the next event.
    #[must_use]
    pub fn next_at(&self) -> Option<SimTime> {
        self.timeouts.keys().next().map(|(at, _)| *at)
    }

    /// Advances time up to and including `to`.
    pub fn advance(&mut self, to: SimTime) {
        while let Some(entry) = self.timeouts.first_entry() {
            if entry.key().0 > to {
                break;
            }
            let ((at, _), timeout) = entry.remove_entry();
            self.now = self.now.max(at);
            self.timed_out(timeout);
        }
        self.now = self.now.max(to);
    }

    /// Applies a change of a port. What is due before it happens first; what is due at the same instant
    /// happens after it.
    pub fn notify(&mut self, change: RailChange) {
        if let Some(before) = change.at.before() {
            self.advance(before);
        }
        self.now = self.now.max(change.at);
        let RailChange {
            host, rail, state, ..
        } = change;
        let before = std::mem::replace(&mut self.host_state_mut(host).rails[rail], state);
        self.record_change(host, rail, before, state);
        if state != RailState::Gone {
            return;
        }
        for connection in &mut self.connections {
            let ends = [&connection.send, &connection.receive];
            let is_hit =
                |end: &&super::connection::End| end.host == host && end.has_queue_pairs_on(rail);
            if connection.dead.is_none() && ends.iter().any(is_hit) {
                connection.dead = Some((self.now, Death::DeviceGone { host, rail }));
            }
        }
    }

    fn host_state(&self, host: HostId) -> &HostState {
        &self.host_states[usize::from(host.number())]
    }

    fn host_state_mut(&mut self, host: HostId) -> &mut HostState {
        &mut self.host_states[usize::from(host.number())]
    }

    fn connection(&self, id: ConnectionId) -> &Connection {
        let index = usize::try_from(id.0).expect("an index fits");
        &self.connections[index]
    }

    fn connection_mut(&mut self, id: ConnectionId) -> &mut Connection {
        let index = usize::try_from(id.0).expect("an index fits");
        &mut self.connections[index]
    }

    /// Whether a rail carries traffic between the ends of a connection.
    fn is_up(&self, connection: ConnectionId, rail: Rail) -> bool {
        let Connection { send, receive, .. } = self.connection(connection);
        let is_up = |host| self.host_state(host).rails[rail] == RailState::Up;
        is_up(send.host) && is_up(receive.host) && self.has_route(connection, rail)
    }

    /// Whether a rail leads from one end of a connection to the other: SOUT everywhere, SUP inside a
    /// network of addresses with the same first 24 bits ("Baseline: Isolated Path Separation", 2.1), as
    /// far as both have an IPv4 address.
    fn has_route(&self, connection: ConnectionId, rail: Rail) -> bool {
        let Connection { send, receive, .. } = self.connection(connection);
        let gids = [send.host, receive.host].map(|host| self.host(host).nics.sup.gid);
        let [one, other] = gids.map(|gid| gid.ipv4_bits() >> 8);
        rail == Rail::Sout || !gids.iter().all(|gid| gid.is_ipv4()) || one == other
    }

    fn post(&mut self, id: ConnectionId, side: Side, queue_pair: u8, write: Write) {
        let now = self.now;
        let end = self.connection(id).end(side);
        let (host, rail) = (end.host, end.queue_pairs[usize::from(queue_pair)].rail);
        let (kind, immediate, is_signaled) = match write.load {
            Load::Data { immediate, .. } => (PostKind::Data, Some(immediate), true),
            Load::Clear { signaled, .. } => (PostKind::ClearToSend, None, signaled.is_some()),
        };
        if self.settings.keeps_posts {
            self.posts.push(Post {
                at: now,
                connection: id,
                host,
                rail,
                queue_pair,
                kind,
                bytes: write.bytes,
                immediate,
                is_signaled,
            });
        }
        let lost = Hazard::NoRoute {
            connection: id,
            rail,
        };
        if !self.has_route(id, rail) && !self.hazards.contains(&lost) {
            self.hazards.push(lost);
        }
        let is_up = self.is_up(id, rail);
        let pair = &mut self.connection_mut(id).end_mut(side).queue_pairs[usize::from(queue_pair)];
        if pair.is_free(is_up) {
            self.got_through(id, side, rail, write);
            return;
        }
        let behind = pair.waiting();
        let is_first = pair.wait(write);
        let posted = NetEventKind::Post {
            queue_pair: QueuePairId {
                connection: id,
                side,
                index: queue_pair,
            },
            purpose: kind,
            bytes: write.bytes,
            mask: immediate.map(super::Immediate::mask),
            behind,
        };
        self.record(host, rail, posted);
        if is_first {
            self.expect_timeout(Timeout {
                connection: id,
                side,
                queue_pair,
            });
        }
    }

    fn expect_timeout(&mut self, timeout: Timeout) {
        let at = self.now + self.settings.ack_timeout;
        self.timeouts.insert((at, self.timeouts_made), timeout);
        self.timeouts_made += 1;
    }

    fn timed_out(&mut self, timeout: Timeout) {
        let Timeout {
            connection: id,
            side,
            queue_pair,
        } = timeout;
        let (now, retries) = (self.now, self.settings.retries);
        if self.connection(id).dead.is_some() {
            return;
        }
        let end = self.connection(id).end(side);
        let (host, rail) = (end.host, end.queue_pairs[usize::from(queue_pair)].rail);
        let is_up = self.is_up(id, rail);
        let connection = self.connection_mut(id);
        let pair = &mut connection.end_mut(side).queue_pairs[usize::from(queue_pair)];
        let (waiting, tried) = (pair.waiting(), pair.timed_out(is_up, retries));
        let tries = pair.tries();
        let queue_pair = QueuePairId {
            connection: id,
            side,
            index: queue_pair,
        };
        match tried {
            Tried::Through(writes) => {
                let acknowledged = NetEventKind::Acknowledged {
                    queue_pair,
                    writes: writes.len(),
                };
                self.record(host, rail, acknowledged);
                for write in writes {
                    self.got_through(id, side, rail, write);
                }
            }
            Tried::Lost => {
                self.record(host, rail, NetEventKind::Retry { queue_pair, tries });
                self.expect_timeout(timeout);
            }
            Tried::Dead => {
                connection.dead = Some((now, Death::RetryExceeded { host, rail }));
                let exceeded = NetEventKind::RetryExceeded {
                    queue_pair,
                    tries,
                    flushed: waiting - 1,
                };
                self.record(host, rail, exceeded);
            }
        }
    }

    fn got_through(&mut self, id: ConnectionId, side: Side, rail: Rail, write: Write) {
        let connection = self.connection(id);
        let (from, to) = match side {
            Side::Send => (connection.send.host, connection.receive.host),
            Side::Receive => (connection.receive.host, connection.send.host),
        };
        self.host_state_mut(from).nics[rail].sent += write.bytes;
        self.host_state_mut(to).nics[rail].received += write.bytes;
        match write.load {
            Load::Clear { head, signaled } => {
                let connection = self.connection_mut(id);
                connection.clear(head);
                connection.clears_freed = signaled.unwrap_or(connection.clears_freed);
            }
            Load::Data {
                head,
                index,
                request,
                immediate,
            } => {
                let connection = self.connection_mut(id);
                if let Some(received) = connection.arrived(head, index, rail, immediate) {
                    self.completed(received);
                }
                self.part_acknowledged(request);
            }
        }
    }
}
