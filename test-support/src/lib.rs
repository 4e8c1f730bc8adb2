//! What test programs of several crates share; no program that is built for users names it.
//!
//! A storm is a random scenario ([`weather`]) judged by the [`laws`]; [`list`] runs the tests of a
//! program that has its own `main`.

pub mod laws;
pub mod list;
pub mod weather;
