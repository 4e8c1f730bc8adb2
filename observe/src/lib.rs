//! What monitors under test emit, independent of the protocol, and their descriptors.
//!
//! A drill's [`Recording`] has everything that came from the monitors: polls, reads, calls, log
//! lines, exits, state files. A [`Descriptor`] describes a monitor as data. The true state of the
//! simulated world and the expectations are in other crates.
//!
//! An [`Observation`] is one statement of a monitor, created by the [`Adapter`] of its protocol. The calls of
//! a connector are also checked against the wire contract ([`platform_connector`]). Start at [`Recording`] and
//! [`Observation`].

mod adapter;
mod answers;
mod call;
mod descriptor;
mod exit;
mod filling;
mod isolation;
mod loops;
mod metrics_page;
mod mix;
pub mod needs;
mod observation;
mod page_text;
mod pattern;
pub mod promises;
mod protocol;
mod real_time;
mod recording;
mod schedule;
mod scrape;
mod series_rules;
mod settable;
pub mod slurm;
mod span;
mod speech;
mod state_file;
pub mod statement;
mod texts;
mod toml_tables;
mod value_range;
mod verdict_word;

pub use adapter::{Adapter, Breach, Contract, Facts, Medium, Part};
pub use answers::{Answers, Series, series};
pub use call::{Call, Delivery};
pub use descriptor::{ClockKind, Descriptor, Drains, PollUnit, Vocabulary, shipped_descriptors};
pub use exit::{Exit, RunEnd};
pub use filling::{Filling, PLACEHOLDERS};
pub use isolation::{Limits, RootAt, Size};
pub use loops::{ExpectedLoop, Loop, told_by};
pub use metrics_page::MetricsPage;
pub use mix::Mix;
pub use needs::Needs;
pub use observation::{Observation, Subject, UNNAMED};
pub use page_text::{PageForm, PageText};
pub use promises::Promises;
pub use protocol::*;
pub use real_time::RealTime;
pub use recording::{Broken, MonitorTick, Reads, Recording, Tick, told_read};
pub use schedule::{Occasion, Schedule};
pub use scrape::{Scrape, ScrapeOutcome};
pub use series_rules::{SeriesRule, SeriesRules};
pub use settable::{FlagKind, Settable};
pub use span::Span;
pub use speech::Pace;
pub use state_file::StateFile;
pub use texts::{Logs, Messages, Texts};
pub use value_range::ValueRange;
pub use verdict_word::VerdictWord;
