//! The logic of the reference monitor without I/O: what it reads, judges, remembers and has to
//! report.
//!
//! No file, clock, thread or environment variable is used here. Start with [`Agent`].

pub mod flags;
pub mod metrics;
pub mod reading;
pub mod scope;

mod absence;
mod agent;
mod chars;
mod config;
mod counters;
mod discovery;
mod gids;
mod hands;
mod judge;
mod log_record;
mod memory;
mod message;
mod metadata;
mod name;
mod optional;
mod peers;
mod pending_clear;
mod policy;
mod prepared_event;
mod publisher;
mod recognise;
mod refusal;
mod route;
mod sample;
mod schedule;
mod skip;
mod snapshot;
mod standing;
mod state_file;
mod todo;

pub use agent::{Agent, Polled, Unmonitored};
pub use counters::{Threshold, Unit};
pub use flags::{Flags, LogFormat, Paths, Publish, Settings, parse_duration};
pub use gids::GidPorts;
pub use hands::{Answer, Clocks, Hands, ReadError, Request};
pub use log_record::{Level, LogRecord};
pub use metrics::{Family, Metrics};
pub use name::{AssignedRole, Card, DeviceName, PciFunction, PortNumber};
pub use policy::{Policy, Right};
pub use publisher::{Publisher, Variant, Wrap};
pub use refusal::Refusal;
pub use standing::Standing;
pub use todo::{IoKind, Outcome, SaveStep, Start, Todo};
