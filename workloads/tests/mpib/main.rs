//! The facts about MPIB, told through the public door only.

mod bench;

mod connections;
mod environment;
mod hints;
mod island;
mod outage;
mod split;
