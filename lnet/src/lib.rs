//! LNet Health: network interfaces, peers, health values, resends and recovery.
//!
//! It says what a Lustre node's network layer does when a port, a wire or a peer fails: which
//! interface a message leaves by, what a failure costs, when it is tried again, when an interface is
//! trusted again, and what the storage traffic on top notices. Three [`Profile`]s hold what the
//! "LNet Health HLD" says and what two releases of Lustre built of it.
//!
//! It leaves out how a link fails (it is told, by [`Notice`]s), the bytes on the wire, and memory.
//! Start at [`Lnet`], or at [`StorageWorkload`] for one on a fabric's ports.

mod admin;
mod arrival;
mod error;
mod flight;
mod health;
mod judge;
mod message;
mod monitor;
mod network;
mod ni;
mod nid;
mod node;
mod params;
mod peer;
mod plan;
mod profile;
mod recovery;
mod route;
mod rule;
mod select;
mod stats;
mod status;
mod storage;
mod text;
mod view;
mod wire;
mod workload;
mod workload_event;

pub use error::LnetError;
pub use health::Health;
pub use message::{MessageId, Request, Verb};
pub use network::Lnet;
pub use ni::{LocalNi, NiSpec, Recovery};
pub use nid::{Lnd, NetName, Nid, NidError, NidPattern};
pub use node::{Node, NodeSpec};
pub use params::{Param, ParamError, Params};
pub use peer::{Peer, PeerNi};
pub use plan::{NiPlan, NodePlan, StoragePlan};
pub use profile::{Behaviour, Profile, ProfileError};
pub use route::{Route, RouteSpec};
pub use rule::{FaultEffect, FaultRule, Pace, Rule, RuleError};
pub use stats::{KindCounts, MessageKind, NiStats, Statistics};
pub use status::{MsgStatus, Resend, StatusError};
pub use storage::{Patience, Storage, StorageReport, WRITE_BYTES};
pub use view::{View, ViewError};
pub use wire::{Notice, PortEvent, Timing, Trouble, Wire};
pub use workload::{NiView, StorageWorkload};
pub use workload_event::{Cause, Ending, Errand, Side, UlpEvent, UlpResult, What, WorkloadEvent};
