//! The store: writes the events of a run to SQLite or, with the feature `postgres`, PostgreSQL, in the tables that
//! NVSentinel's analyzers read.
//!
//! Every event that a connector accepted becomes a row ([`Row`]) once its drill has ended, in the order of
//! acceptance. A separate thread writes them in batches, so that a slow or unavailable database delays no
//! drill; events that could not be written are in the run folder (`unstored.jsonl`) at the end. Start at
//! [`StoreUrl::reach`] and [`Store`].

mod document;
mod keeper;
mod opening;
// The gate builds with the driver, and tests the other module's text too.
#[cfg(all(test, feature = "postgres"))]
#[expect(dead_code, reason = "only its error is tested")]
mod no_postgres;
mod passfile;
mod password;
#[cfg_attr(not(feature = "postgres"), path = "no_postgres.rs")]
mod postgres;
mod queue;
mod row;
mod run;
mod sqlite;
mod table;
mod unstored;
mod url;
mod writer;

pub use keeper::StoreError;
pub use opening::Opening;
pub use password::{PasswordError, Passwords};
pub use row::Row;
pub use run::Run;
pub use url::{StoreUrl, StoreUrlError};
pub use writer::{Ending, Limits, Reached, Store};
