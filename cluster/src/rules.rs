//! Correlation rules: patterns in a stream of events.
//!
//! Rules are data ([`read`], [`Rule`]) that one engine evaluates ([`Analyzer`]); the shipped ones are
//! files too ([`shipped()`]). `docs/rules.md` explains how to write rules.

mod agenda;
mod analyzer;
mod bodies;
mod cabling;
mod counting;
mod entering;
mod faults;
mod firing;
mod group;
mod holding;
mod place;
mod reader;
mod rule;
mod shipped;
mod span;
mod spreading;
mod text;
mod waiting;
mod world;

pub use analyzer::{Analyzer, Unevaluable};
pub use cabling::{CabledPort, Cabling};
pub use firing::{ANALYZER, Firing, FiringKind};
pub use group::Group;
pub use place::RuleError;
pub use reader::{COUNT_MAX, FILE_MAX_BYTES, read, read_every};
pub use rule::{Body, Count, Edge, GroupBy, Hold, Match, On, Repeat, Rule, Silence, Spread};
pub use shipped::{SHIPPED, Shipped, shipped};
pub use span::read_span;
pub use world::{read_cabling, read_every_cable};
