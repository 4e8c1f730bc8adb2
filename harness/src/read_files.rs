//! Reads a user's files: scenarios, platforms and descriptors, within size limits.
//!
//! The crates that parse them are pure and take texts; this module reads the texts from disk. A file
//! above the limit is rejected before it is read. Folders are listed in order of name, so that the
//! same folder gives the same suite everywhere. Start at [`Library`].

mod error;
mod library;
mod monitor;
pub(crate) mod regular;
mod texts;
mod wanted;

pub use error::ReadError;
pub use library::{Library, SuiteScenario, platforms_of, read_platforms};
pub(crate) use library::{Parts, SuiteText, scenario_texts};
pub(crate) use monitor::monitor_in;
pub use monitor::read_monitor;
pub(crate) use texts::{Met, RUN_MARKER, STANDARD_INPUT, files_below, yaml_files};
pub use texts::{text_if_any, text_in, text_of};
pub use wanted::is_wanted;
