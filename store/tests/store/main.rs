//! The store's public interface: storing the events of drills, also while the database is unavailable.
//! The command's tests start a server for PostgreSQL.

mod away;
mod rows;
#[cfg(feature = "postgres")]
mod silent;
mod support;
