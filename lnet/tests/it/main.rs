//! Tests of the public interface.

mod answers;
mod bounds;
mod cases;
mod design;
mod laws;
mod manners;
mod outcomes;
mod params;
mod paths;
mod reasons;
mod reasons_of_stories;
mod reasons_page;
mod row;
mod rules;
mod stage;
mod storage;
mod story;
mod texts;
mod traces;
mod views;
mod workload;
