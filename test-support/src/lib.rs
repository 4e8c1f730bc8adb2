//! Helpers for the tests of several crates; no shipped program uses them.
//!
//! A storm is a random scenario ([`weather`]) checked by the [`laws`]; [`list`] runs the tests of a
//! program that has its own `main`.

pub mod laws;
pub mod list;
pub mod weather;
