//! The whole NIC health monitor but its hands: what it sees, judges, remembers, owes.
//!
//! Sans-I/O: no file, clock, thread or environment is named here. Start with [`Agent`].

pub mod agent;
mod chars;
pub mod config;
mod counters;
pub mod figures;
pub mod flags;
pub mod gids;
pub mod hands;
pub mod message;
pub mod metadata;
pub mod name;
pub mod note;
pub mod policy;
pub mod reading;
pub mod route;
pub mod scope;

mod absence;
mod debt;
mod eyes;
mod judge;
mod memory;
mod optional;
mod peers;
mod publisher;
mod recognise;
mod sample;
mod saying;
mod schedule;
mod sight;
mod skip;
mod standing;
mod state_file;

pub use agent::{Agent, IoKind, Outcome, Polled, Refusal, SaveStep, Standing, Start, Todo};
pub use counters::{Threshold, Unit};
pub use figures::{Family, Figures};
pub use flags::{Flags, LogFormat, Paths, Publish, Settings, parse_duration};
pub use gids::GidPorts;
pub use hands::{Answer, Clocks, Hands, ReadError, Request};
pub use name::{Card, DeviceName, LinkLayer, PciFunction, PortNumber, Role};
pub use note::{Level, Note};
pub use policy::{Policy, Right};
pub use publisher::{Publisher, Variant, Wrap};
