//! Helpers for the tests of several crates; no shipped program uses them.
//!
//! A storm is a random scenario ([`weather`]) checked by the [`laws`]; [`list`] runs the tests of a
//! program that has its own `main`; [`mutation`] makes inputs that parsers must survive.

pub mod laws;
pub mod list;
pub mod mutation;
pub mod weather;
