//! What the judge accepts and refuses, on recordings of the memory arm and on changes to them.

mod consequences;
mod events;
mod links;
mod wire;
