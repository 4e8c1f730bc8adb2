//! The logic of the reference monitor without I/O: what it reads, judges, remembers and has to
//! report.
//!
//! No file, clock, thread or environment variable is used here. Start with [`Agent`].

pub mod agent;
mod chars;
pub mod config;
mod counters;
pub mod flags;
pub mod gids;
pub mod hands;
pub mod log_record;
pub mod message;
pub mod metadata;
pub mod metrics;
pub mod name;
pub mod policy;
pub mod reading;
pub mod route;
pub mod scope;

mod absence;
mod discovery;
mod judge;
mod memory;
mod optional;
mod peers;
mod pending_clear;
mod prepared_event;
mod publisher;
mod recognise;
mod sample;
mod schedule;
mod skip;
mod snapshot;
mod standing;
mod state_file;

pub use agent::{
    Agent, IoKind, Outcome, Polled, Refusal, SaveStep, Standing, Start, Todo, Unmonitored,
};
pub use counters::{Threshold, Unit};
pub use flags::{Flags, LogFormat, Paths, Publish, Settings, parse_duration};
pub use gids::GidPorts;
pub use hands::{Answer, Clocks, Hands, ReadError, Request};
pub use log_record::{Level, LogRecord};
pub use metrics::{Family, Metrics};
pub use name::{AssignedRole, Card, DeviceName, PciFunction, PortNumber};
pub use policy::{Policy, Right};
pub use publisher::{Publisher, Variant, Wrap};
