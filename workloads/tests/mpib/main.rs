//! The facts about MPIB, told through the public door only.

mod bench;

mod cases;
mod connections;
mod document;
mod environment;
mod hints;
mod island;
mod job;
mod outage;
mod split;
