//! The stories: the language they are written in, its validation, and the suite as data.
//!
//! A scenario says what happens to a world and what a monitor must say of it. It plays nothing and
//! judges nothing: that is the harness's work. Start at [`Story`].

mod story;

pub use story::*;
