//! What monitors under test emit, independent of the protocol, and their descriptors.
//!
//! A drill's [`Recording`] has everything that came from the monitors: polls, reads, calls, log
//! lines, exits, state files. A [`Descriptor`] describes a monitor as data. The true state of the
//! simulated world and the expectations are in other crates.
//!
//! An [`Observation`] is one statement of a monitor, created by the adapter of its protocol; the
//! adapter also checks the wire contract ([`platform_connector`]). Start at [`Recording`] and
//! [`Observation`].

mod answers;
mod descriptor;
mod differences;
mod filling;
pub mod interval;
mod isolation;
mod lines;
mod loops;
mod metrics_page;
pub mod mix;
pub mod needs;
mod observation;
pub mod platform_connector;
pub mod promises;
mod protocol;
mod real_time;
mod recording;
mod span;
mod texts;
mod toml_tables;

pub use answers::{Answers, Series, series};
pub use descriptor::{
    ClockKind, Descriptor, Drains, PollUnit, Problem, Vocabulary, shipped_descriptors,
};
pub use differences::Differences;
pub use filling::{Filling, PLACEHOLDERS};
pub use isolation::{Limits, RootAt, Size};
pub use lines::{LineRule, LineVerdict, Lines, UNNAMED};
pub use loops::{ExpectedLoop, Loop, told_by};
pub use metrics_page::MetricsPage;
pub use mix::Mix;
pub use needs::Needs;
pub use observation::{Observation, Severity, Subject};
pub use promises::Promises;
pub use protocol::{Adapter, Breach, BreachField, Contract, Protocol};
pub use real_time::RealTime;
pub use recording::{Broken, Call, Delivery, Exit, MonitorTick, Reads, Recording, Tick};
pub use span::Span;
pub use texts::{Logs, Texts};
