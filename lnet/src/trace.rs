//! The trace of a network: each choice of a path with its candidates, each timer, each loss, beside
//! the events. Recorded on request only ([`crate::Lnet::record`]).
//!
//! `trace_text` formats it.

use platforms::NodeName;
use simfs::SimTime;

use super::{
    health::Health,
    message::MessageId,
    nid::{NetName, Nid},
    no_path::NoPath,
    stats::MessageKind,
    status::MsgStatus,
    wire::Trouble,
    workload_event::{Cause, Errand, What},
};

/// An entry of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// When.
    pub at: SimTime,
    /// The node.
    pub node: NodeName,
    /// The entry.
    pub what: Traced,
}

/// The kinds of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traced {
    /// An event.
    Event(What),
    /// A path was selected, or there was none.
    Choice(Choice),
    /// An attempt is given to a driver and will end in this way.
    Prospect {
        /// The message.
        message: MessageId,
        /// What ends it.
        by: EndsBy,
        /// When.
        at: SimTime,
    },
    /// A message got its deadline, at its first attempt.
    Deadline {
        /// The message.
        message: MessageId,
        /// When its time is over. A driver that holds it then finds that at the end of the attempt.
        at: SimTime,
    },
    /// A failure would have lowered the health of an interface that has none left.
    AtZero {
        /// The interface.
        ni: Nid,
        /// The failure.
        cause: Cause,
    },
    /// A request's response is waited for.
    Tracked {
        /// The request.
        request: MessageId,
        /// When it is overdue: its send and `transaction_timeout`.
        until: SimTime,
    },
    /// The monitor thread found a response overdue.
    Overdue {
        /// The request.
        request: MessageId,
        /// When it became overdue; the monitor thread looks at intervals only.
        since: SimTime,
        /// The interface of the next hop in the last attempt.
        next_hop: Option<Nid>,
    },
    /// A failed message is not sent again.
    NoResend {
        /// The message.
        message: MessageId,
        /// Why.
        why: NoResend,
    },
    /// A route of the node went up or down.
    Route {
        /// The net that it leads to.
        net: NetName,
        /// The gateway.
        gateway: Nid,
        /// Whether it is up now.
        up: bool,
    },
    /// A message was lost at its receiver or at a router.
    Loss {
        /// The message.
        message: MessageId,
        /// Why.
        why: Loss,
    },
}

/// What ends an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndsBy {
    /// It arrives.
    Arrival,
    /// A rule of its node simulates a status.
    Rule,
    /// The driver fails.
    Driver(Trouble),
    /// The driver closes the connection, because another message on it failed in this way.
    Closed(Trouble),
}

/// Why a message is not sent again that failed ("lnet/lnet/lib-msg.c", `lnet_health_check`), or that nobody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResend {
    /// Its deadline has passed.
    Deadline,
    /// LNet never resends after such a status.
    Status(MsgStatus),
    /// The node has one interface.
    OneLocalNi,
    /// The peer has one interface.
    OnePeerNi,
    /// A recovery ping is sent once.
    RecoveryPing,
    /// `retry_count` resends are used.
    RetriesUsed(u32),
    /// It was sent, and its response is overdue ([`Traced::Overdue`] is recorded of it instead).
    Unanswered,
}

/// Why a message is lost on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// A rule drops it.
    Rule,
    /// It arrives after its deadline.
    Late,
    /// `drop_asym_route`: no route leads back by the way that it came.
    Asymmetric,
    /// It answers no request that is still open.
    NoRequest,
    /// It is for another node, and this one does not forward.
    NotForwarded,
    /// A router's next hop is dead.
    DeadHop,
}

/// A selection of a path, with the values at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The message.
    pub message: MessageId,
    /// The request that it is or answers.
    pub request: MessageId,
    /// Its kind.
    pub kind: MessageKind,
    /// Its purpose.
    pub errand: Errand,
    /// LNet's number of the portal.
    pub portal: u32,
    /// Number of bytes that it carries or asks for.
    pub length: u64,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The destination at the selection.
    pub destination: Nid,
    /// The local interface and that of the next hop, or why there is no path.
    pub path: Result<(Nid, Nid), NoPath>,
    /// The gateways of the node's routes to the destination's net, if the message goes through a router.
    pub gateways: Vec<Candidate>,
    /// The node's own interfaces.
    pub local: Vec<Candidate>,
    /// The interfaces of the next hop's node; none without a path, or if it is the node itself.
    pub remote: Vec<Candidate>,
}

/// An interface at a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its NID.
    pub nid: Nid,
    /// Its health.
    pub health: Health,
    /// A local interface: its fatal flag. A peer's: whether the peer reported it down. A gateway: whether its
    /// route is down.
    pub down: bool,
    /// Available credits.
    pub credits: i64,
    /// Its selection priority, of a gateway that of its route; a lower value is preferred.
    pub priority: u32,
    /// How often it was selected before.
    pub sequence: u64,
    /// Why it was not selected; `None` if it was.
    pub passed_over: Option<PassedOver>,
}

/// Why an interface was not selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassedOver {
    /// There is no path at all.
    NoPath,
    /// The source is given.
    SourceGiven,
    /// A peer that is not multi-rail keeps seeing one local interface.
    OneSource,
    /// The source is given, and the destination is on its net: it goes there.
    BothGiven,
    /// Answers, forwarded messages, recovery pings, and messages to a peer that is not multi-rail go
    /// to a fixed NID.
    Fixed,
    /// It is on another net.
    OtherNet,
    /// Its fatal flag is set.
    Fatal,
    /// All on the net have their fatal flag set, and the first of the configuration is used without a comparison.
    AllFatal,
    /// An earlier attempt used it (HLD).
    Used,
    /// Its route is down.
    RouteDown,
    /// It has no interface on the net of the given source.
    NotNear,
    /// The first comparison that it loses.
    Loses(Criterion),
}

/// The comparisons of selection ("lnet/lnet/lib-move.c": `lnet_get_best_ni`, `lnet_select_peer_ni` and
/// `lnet_compare_routes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Higher health.
    Health,
    /// Lower priority.
    Priority,
    /// Lower priority of the device.
    DevicePriority,
    /// Shorter NUMA distance.
    NumaDistance,
    /// More credits.
    Credits,
    /// Less often selected.
    Sequence,
    /// Earlier in the configuration.
    Order,
    /// Fewer hops.
    Hops,
    /// Fewer bytes in flight.
    QueuedBytes,
}

impl Criterion {
    /// Those of interfaces, in order.
    pub const OF_INTERFACES: [Self; 7] = [
        Self::Health,
        Self::Priority,
        Self::DevicePriority,
        Self::NumaDistance,
        Self::Credits,
        Self::Sequence,
        Self::Order,
    ];
    /// Those of routes, in order.
    pub const OF_ROUTES: [Self; 7] = [
        Self::Priority,
        Self::Hops,
        Self::Health,
        Self::QueuedBytes,
        Self::Credits,
        Self::Sequence,
        Self::Order,
    ];
}

/// The value of an interface or a route at each [`Criterion`] of its kind; the greatest is selected.
pub(crate) type Rank = [i64; 7];

/// The first comparison of this order that `rank` loses against `chosen`.
pub(crate) fn loses(order: [Criterion; 7], rank: &Rank, chosen: &Rank) -> PassedOver {
    let mut pairs = order.into_iter().zip(rank.iter().zip(chosen));
    let first = pairs.find(|(_, (own, best))| own < best);
    PassedOver::Loses(first.map_or(Criterion::Order, |(criterion, _)| criterion))
}
