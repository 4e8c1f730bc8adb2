//! The facts about MPIB, told through the public door only.

mod environment;
mod hints;
mod island;
mod split;
