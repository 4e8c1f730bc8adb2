//! The language of stories: its schema, its reading, and what a story becomes in a world.
//!
//! A scenario says what happens to a world and what a monitor must say of it. It plays nothing and
//! judges nothing: that is the harness's work.
//!
//! [`read`] turns a text into a [`Scenario`], [`Scenario::in_world`] a scenario into a [`Story`];
//! [`Clauses`] is what scenarios cover, [`vocabulary`] the language itself. The texts that ship are in the crate `suite`.

mod bound;
mod clauses;
mod cluster;
mod cluster_keys;
mod context;
mod duration;
mod error;
mod expect;
mod expectations;
mod fitness;
mod frame;
mod handle;
mod keys;
mod kind;
mod map;
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
mod values;
mod verbs;
mod vocabulary;
mod workload;
mod world;

pub use clauses::{Clause, ClauseFile, Clauses, Section};
pub use cluster::{
    Cable, ClearingProfile, ClusterPlan, ConditionIs, ConditionOf, RuleIs, RuleProfile,
    RulesetsProfile, Stands,
};
pub use duration::parse as parse_time;
pub use error::{ScenarioError, Unfit};
pub use fitness::Fit;
pub use order::read_actions;
pub use scenario::{AtRest, Scenario, read};
pub use schema::{scenario_schema, world_schema};
pub use story::*;
pub use vocabulary::{KeyWord, Word, WordKind, vocabulary};
pub use world::World;
