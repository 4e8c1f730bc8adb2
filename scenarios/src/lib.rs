//! The scenario language: its schema, its parser, and the resolution of a scenario in a world.
//!
//! A scenario states what happens to a world and which events the monitor under test must emit. This crate plays and
//! judges nothing; `director` and `judge` do.
//!
//! [`read`] parses a text to a [`Scenario`]; [`Scenario::in_world`] resolves a scenario to a [`Story`]. [`Clauses`] are
//! the statements that scenarios cover, [`vocabulary`] lists the words of the language. The shipped scenarios are in
//! the crate `suite`.

mod bound;
mod clauses;
mod cluster;
mod cluster_keys;
mod context;
mod duration;
mod error;
mod evidence;
mod expect;
mod expectations;
mod fitness;
mod frame;
mod handed;
mod handle;
mod keys;
mod kind;
mod map;
mod mentions;
mod message;
mod order;
mod pick;
mod plot;
mod polls;
mod reader;
mod resolve;
mod resolved_world;
mod row;
mod scenario;
mod schema;
mod step;
mod story;
mod subject;
mod ticks;
mod values;
mod verbs;
mod vocabulary;
mod workload;
mod world;

pub use clauses::{Breaker, Clause, ClauseFile, Clauses, Section};
pub use cluster::{
    Cable, ClearingProfile, ClusterPlan, ConditionIs, ConditionOf, RuleIs, RuleProfile,
    RulesetsProfile, Stands,
};
pub use duration::parse as parse_time;
pub use error::{ScenarioError, Unfit};
pub use evidence::{Evidence, Fact, Topic};
pub use fitness::{Fit, PLATFORM};
pub use mentions::Mentions;
pub use order::read_actions;
pub use scenario::{AtRest, Scenario, read};
pub use schema::{scenario_schema, world_schema};
pub use story::*;
pub use ticks::Ticks;
pub use vocabulary::{KeyWord, Word, WordKind, vocabulary};
pub use world::World;
