//! The whole NIC health monitor but its hands: what it sees, judges, remembers, owes.
//!
//! Sans-I/O: no file, clock, thread or environment is named here. Start with [`Agent`].

pub mod agent;
pub mod flags;
pub mod hands;
pub mod name;
pub mod note;

pub use agent::{Agent, IoKind, Outcome, Polled, Refusal, SaveStep, Start, Todo};
pub use flags::{Flags, LogFormat, Paths, Publish, Settings};
pub use hands::{Answer, Clocks, Hands, ReadError, Request};
pub use name::{Card, Check, DeviceName, LinkLayer, PciFunction, PortNumber, Role};
pub use note::{Level, Note};
