//! What a monitor said, whatever protocol it speaks, and what is known of a monitor before it runs.
//!
//! A drill's [`Recording`] is all that came from the monitors under test: polls, reads, calls, log
//! lines, exits, state files. A [`Descriptor`] describes a monitor as data. Left out: what was so
//! in the simulated world, and what ought to have been said.
//!
//! What a monitor says is an [`Observation`], made by the adapter of the protocol that the monitor
//! speaks, with the contract of that protocol's wire beside it ([`platform_connector`]). Start at
//! [`Recording`] and [`Observation`].

mod answers;
mod descriptor;
mod filling;
mod observation;
pub mod platform_connector;
mod protocol;
mod recording;

pub use answers::{Answers, Series, series};
pub use descriptor::{
    ClockKind, Descriptor, Differences, Drains, PollUnit, Problem, SHIPPED, Vocabulary,
};
pub use filling::Filling;
pub use observation::{Observation, Severity, Subject};
pub use protocol::{Adapter, Breach, Contract, Protocol};
pub use recording::{Broken, Call, Delivery, Exit, MonitorTick, Reads, Recording, Tick};
