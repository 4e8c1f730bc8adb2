//! LNet Health: network interfaces, peers, health values, resends and recovery.
//!
//! This crate simulates a Lustre node's network layer when a port, a wire or a peer fails: which
//! interface a message uses, the cost of a failure, resends, recovery of interfaces, and the effect
//! on storage traffic. Three [`LnetProfile`]s cover the "LNet Health HLD" and two releases of Lustre.
//!
//! Link failures are inputs, as [`Notice`]s; bytes on the wire and memory are not modelled. Start at
//! [`Lnet`], or at [`StorageWorkload`] for one on a fabric's ports.

mod admin;
mod answer;
mod arrival;
mod choice;
mod error;
mod flight;
mod health;
mod judge;
mod message;
mod monitor;
mod network;
mod ni;
mod nid;
mod no_path;
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
mod trace;
mod trace_text;
mod trace_timer;
mod view;
mod wire;
mod workload;
mod workload_event;

pub use answer::{Answer, AnswerLine, AnswerPart};
pub use error::LnetError;
pub use health::Health;
pub use message::{MessageId, Request, Verb};
pub use network::Lnet;
pub use ni::{LocalNi, NiSpec, Recovery};
pub use nid::{Lnd, NetName, Nid, NidError, NidPattern};
pub use no_path::NoPath;
pub use node::{Node, NodeSpec};
pub use params::{Param, ParamError, Params};
pub use peer::{Peer, PeerNi};
pub use plan::{NiPlan, NodePlan, StoragePlan};
pub use profile::{Behaviour, LnetProfile, ProfileError};
pub use route::{Route, RouteSpec};
pub use rule::{FaultEffect, FaultRule, Pace, Rule, RuleError};
pub use stats::{KindCounts, MessageKind, NiStats, Statistics};
pub use status::{MsgStatus, Resend, StatusError};
pub use storage::{Patience, Storage, StorageReport, WRITE_BYTES};
pub use trace::{
    Candidate, Choice, Criterion, EndsBy, Loss, NoResend, PassedOver, TraceEntry, Traced,
};
pub use trace_text::{Traces, UnknownMessage};
pub use view::{View, ViewError};
pub use wire::{Notice, PortEvent, Timing, Trouble, Wire};
pub use workload::{NiView, StorageWorkload};
pub use workload_event::{Cause, Ending, Errand, Side, UlpEvent, UlpResult, What, WorkloadEvent};
