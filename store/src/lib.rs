//! The store: the events of a run in SQLite or PostgreSQL, in the tables that NVSentinel's analyzers read.
//!
//! Without it events stay where the connector keeps them, in memory. With it every event that a connector
//! accepted becomes a row ([`Row`]) once its drill has ended, in the order in which it was accepted. A
//! thread of its own writes them in batches, so that a slow or absent store holds up no drill; what could
//! not be written when the run has ended lies in the run folder (`unstored.jsonl`). Left out: what an
//! analyzer makes of the rows. Start at [`StoreUrl::reach`] and [`Store`].

mod document;
mod keeper;
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
pub use row::Row;
pub use run::Run;
pub use url::{StoreUrl, StoreUrlError};
pub use writer::{Ending, Limits, Reached, Store};
