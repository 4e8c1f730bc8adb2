//! The facts about MPIB, told through the public door only.

mod island;
mod split;
