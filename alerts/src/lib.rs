//! Prometheus' alert rules as a monitor: what its rule evaluator is given, and what its answer means.
//!
//! The rules are evaluated by Prometheus' own engine, `promtool test rules`, over simulated time. This crate reads a
//! rule file ([`RuleFile`]), turns scraped pages into input series ([`History`]), writes the file for promtool
//! ([`TestFile`]), and reads its answer: which alerts fired at which instant ([`Firing`]). Starting
//! promtool is left out, and so is PromQL itself, of which only the words are known. Start at [`TestFile`].

mod answer;
mod duration;
mod export;
mod firing;
mod grid;
mod history;
mod rule_file;
mod statements;
mod syntax;
mod test_file;
mod words;

pub use export::export;
pub use firing::{Firing, Labels};
pub use grid::Instants;
pub use history::{History, Target};
pub use rule_file::{Group, Rule, RuleFile};
pub use statements::{Statement, Unnamed, statements};
pub use syntax::Syntax;
pub use test_file::{TestCase, TestFile};
