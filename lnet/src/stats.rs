//! The counters of a node: messages by kind, failures by status, and `lnetctl stats show`.

use super::status::MsgStatus;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    /// Data for the peer.
    Put,
    /// A request for data.
    Get,
    /// The answer to a GET.
    Reply,
    /// The answer to a PUT that asked for one.
    Ack,
    /// A driver's greeting. It has a counter, but this model sends none.
    Hello,
}

impl MessageKind {
    /// All kinds, in the order of `lnetctl net show -v 2`.
    pub const ALL: [Self; 5] = [Self::Put, Self::Get, Self::Reply, Self::Ack, Self::Hello];

    /// The spelling in the statistics, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Reply => "reply",
            Self::Ack => "ack",
            Self::Hello => "hello",
        }
    }
}

/// Messages by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounts([u64; 5]);

impl KindCounts {
    /// The count of a kind.
    #[must_use]
    pub fn of(&self, kind: MessageKind) -> u64 {
        self.0[kind as usize]
    }

    /// The sum over all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(crate) fn count(&mut self, kind: MessageKind) {
        self.0[kind as usize] += 1;
    }
}

/// The counters of one interface, local or a peer's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NiStats {
    /// Messages whose sending the driver has completed, by kind.
    pub sent: KindCounts,
    /// Received messages, by kind.
    pub received: KindCounts,
    /// Dropped messages, by kind.
    pub dropped: KindCounts,
    failures: [u64; MsgStatus::ALL.len()],
}

impl NiStats {
    /// Number of attempts that ended with this status.
    #[must_use]
    pub fn failures(&self, status: MsgStatus) -> u64 {
        self.failures[status.number()]
    }

    pub(crate) fn count_failure(&mut self, status: MsgStatus) {
        self.failures[status.number()] += 1;
    }

    /// Every counter with its name: messages sent, received and dropped, in all and by kind, and the attempts that
    /// ended with each failure. `lnetctl net show -v 3` and `peer show -v 3` print the same numbers in groups; the names
    /// join the group and the row.
    #[must_use]
    pub fn rows(&self) -> Vec<(String, u64)> {
        let groups = [
            ("send", "sent", self.sent),
            ("recv", "received", self.received),
            ("drop", "dropped", self.dropped),
        ];
        let totals = groups
            .iter()
            .map(|(name, _, counts)| (format!("{name}_count"), counts.total()));
        let kinds = groups.iter().flat_map(|(_, group, counts)| {
            MessageKind::ALL.map(|kind| (format!("{group}_{}", kind.name()), counts.of(kind)))
        });
        let statuses = MsgStatus::ALL.into_iter();
        let failures = statuses
            .filter(|status| *status != MsgStatus::Ok)
            .map(|status| (status.name().to_owned(), self.failures(status)));
        totals.chain(kinds).chain(failures).collect()
    }
}

/// The counters of `lnetctl stats show`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Messages that exist now.
    pub msgs_alloc: u64,
    /// The most that existed at once.
    pub msgs_max: u64,
    /// Number of responses being awaited.
    pub rst_alloc: u64,
    /// Number of messages of this node that ended with an error.
    pub errors: u64,
    /// Number of messages sent, without resends.
    pub send_count: u64,
    /// Number of resends.
    pub resend_count: u64,
    /// Number of responses that did not come in time.
    pub response_timeout_count: u64,
    by_status: [u64; MsgStatus::ALL.len()],
    /// Number of resent messages that finally failed for another reason than the deadline.
    pub failed_resends: u64,
    /// Number of resent messages that were delivered.
    pub successful_resends: u64,
    /// Number of messages received.
    pub recv_count: u64,
    /// Number of messages forwarded.
    pub route_count: u64,
    /// Number of messages dropped.
    pub drop_count: u64,
    /// Bytes sent.
    pub send_length: u64,
    /// Bytes received.
    pub recv_length: u64,
    /// Bytes forwarded.
    pub route_length: u64,
    /// Bytes dropped.
    pub drop_length: u64,
}

impl Statistics {
    /// Number of attempts that ended with this status.
    #[must_use]
    pub fn of(&self, status: MsgStatus) -> u64 {
        self.by_status[status.number()]
    }

    pub(crate) fn count(&mut self, status: MsgStatus) {
        self.by_status[status.number()] += 1;
    }

    pub(crate) fn began(&mut self) {
        self.msgs_alloc += 1;
        self.msgs_max = self.msgs_max.max(self.msgs_alloc);
    }

    /// Every counter with its name, in the order of `lnetctl stats show`.
    #[must_use]
    pub fn rows(&self) -> [(&'static str, u64); 26] {
        [
            ("msgs_alloc", self.msgs_alloc),
            ("msgs_max", self.msgs_max),
            ("rst_alloc", self.rst_alloc),
            ("errors", self.errors),
            ("send_count", self.send_count),
            ("resend_count", self.resend_count),
            ("response_timeout_count", self.response_timeout_count),
            ("local_interrupt_count", self.of(MsgStatus::LocalInterrupt)),
            ("local_dropped_count", self.of(MsgStatus::LocalDropped)),
            ("local_aborted_count", self.of(MsgStatus::LocalAborted)),
            ("local_no_route_count", self.of(MsgStatus::LocalNoRoute)),
            ("local_timeout_count", self.of(MsgStatus::LocalTimeout)),
            ("local_error_count", self.of(MsgStatus::LocalError)),
            ("remote_dropped_count", self.of(MsgStatus::RemoteDropped)),
            ("remote_error_count", self.of(MsgStatus::RemoteError)),
            ("remote_timeout_count", self.of(MsgStatus::RemoteTimeout)),
            ("network_timeout_count", self.of(MsgStatus::NetworkTimeout)),
            ("failed_resends", self.failed_resends),
            ("successful_resends", self.successful_resends),
            ("recv_count", self.recv_count),
            ("route_count", self.route_count),
            ("drop_count", self.drop_count),
            ("send_length", self.send_length),
            ("recv_length", self.recv_length),
            ("route_length", self.route_length),
            ("drop_length", self.drop_length),
        ]
    }
}
