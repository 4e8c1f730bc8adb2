//! MPIB: two rails per node, islands by prefix, hints, ratio and split, outages.
//!
//! This is the transport of "Baseline: Isolated Path Separation": each node has a scaleout NIC (SOUT) and a second
//! one that replaces NVLink (SUP). Connections inside an island belong on SUP, those between islands on SOUT. The
//! document and its implementations differ, so every model here takes a [`MpibProfile`].
//!
//! Link failures are inputs ([`RailChange`]). Transmission takes no time; only waiting does. Monitors are not
//! modelled.
//!
//! Start at [`PathClass`] (islands), [`Split`] (bytes per rail), [`Net`] (connections, messages and outages),
//! [`Job`] (a collective), and [`JobWorkload`] (a job on a fabric's ports).

mod bytes;
mod profile;
mod rail;
mod result;

mod gid;
mod island;
mod split;

mod agent;
mod environment;
mod hints;
mod topology;

mod connection;
mod event;
mod log;
mod message;
mod net;
mod path;
mod queue_pair;
mod rail_change;
mod trace;

mod counter;
mod failure;
mod job;
mod plan;
mod rescue;
mod traffic;
mod workload;

pub use agent::{Agent, AgentAction, AgentMessage, FlowId, SOCKET_MAGIC, Unregistered};
pub use bytes::Bytes;
pub use connection::{ConnectError, ConnectionId, Death, Side};
pub use counter::Counter;
pub use environment::{Environment, Parameters, Refusal};
pub use event::{AsyncEvent, NetEvent, NetEventKind, QueuePairId};
pub use failure::{Failure, FailureCause, Stall};
pub use gid::Gid;
pub use hints::{BadHints, HINT_SLOTS, HINTS_MAGIC, HintMemory, HintReader, HintSlot, HintWriter};
pub use island::{IslandPrefix, PathClass};
pub use job::Job;
pub use log::{LogLine, Speaker};
pub use message::{Immediate, Receive, RequestId, Tag};
pub use net::{
    CLEAR_TO_SEND, CTS_QUEUE_DEPTH, Hazard, Isend, Net, Progress, RECEIVES_MAX, REQUESTS_MAX,
    Settings, Transport,
};
pub use path::{Path, ShareSource};
pub use plan::{HostPlan, JobPlan, RailPlan};
pub use profile::{Mode, MpibProfile};
pub use queue_pair::{ACK_TIMEOUT_EXPONENT, Retries, WC_FLUSHED, WC_RETRY_EXCEEDED, ack_timeout};
pub use rail::{PerRail, Rail, RailMask};
pub use rail_change::{RailChange, RailState};
pub use rescue::{Hopeless, Rescue};
pub use result::NcclResult;
pub use split::{Split, SupBandwidth};
pub use topology::{Host, HostId, Nic, eight_vms};
pub use trace::{NicBytes, Post, PostKind};
pub use traffic::{Edge, IN_FLIGHT_MAX, JobTraffic, Pause, mesh, ring};
pub use workload::{AgentError, JobWorkload};
