//! The store through its own door: what becomes of the events of drills, and what when the store is away.
//! PostgreSQL is met by the command's tests, which start a server.

mod away;
mod rows;
mod support;
