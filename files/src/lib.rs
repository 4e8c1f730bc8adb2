//! Reads the files of users, YAML and TOML, for every crate: values with their places, mistakes as values, and all mistakes
//! of a file at once, in the order of its text.
//!
//! It opens no file: the caller passes the text. Each crate defines the keys of its own files. Start at
//! [`yaml::read_every`].

pub mod toml;
pub mod yaml;

mod error;
mod mistakes;
mod near;
mod node;
mod place;
mod problem;

pub use error::{About, FileError};
pub use mistakes::Mistakes;
pub use near::{did_you_mean, nearest};
pub use node::{Key, Node, YamlValue};
pub use place::Place;
pub use problem::{Problem, mistakes, read};
