//! Tests of the public interface.

mod rig;
mod workload;
mod worlds;

mod cases;
mod connections;
mod counters;
mod document;
mod environment;
mod hints;
mod island;
mod islands;
mod job;
mod laws;
mod outage;
mod rescue;
mod rescue_laws;
mod split;
mod story_laws;
