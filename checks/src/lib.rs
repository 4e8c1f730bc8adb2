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
pub mod reading;
pub mod route;
pub mod scope;
#[cfg(feature = "zoo")]
pub mod zoo;

mod absence;
mod debt;
mod eyes;
mod judge;
mod members;
mod memory;
mod optional;
mod peers;
mod recognise;
mod sample;
mod saying;
mod schedule;
mod sight;
mod standing;
mod state_file;
#[cfg(not(feature = "zoo"))]
mod zoo;

pub use agent::{Agent, IoKind, Outcome, Polled, Refusal, SaveStep, Standing, Start, Todo};
pub use figures::{Family, Figures};
pub use flags::{Flags, LogFormat, Paths, Publish, Settings, parse_duration};
pub use gids::GidPorts;
pub use hands::{Answer, Clocks, Hands, ReadError, Request};
pub use name::{Card, DeviceName, LinkLayer, PciFunction, PortNumber, Role};
pub use note::{Level, Note};
#[cfg(feature = "zoo")]
pub use zoo::Species;
