//! The facts about LNet Health, told through the public door only.

mod cases;
mod laws;
mod params;
mod row;
mod stage;
mod storage;
mod story;
mod texts;
