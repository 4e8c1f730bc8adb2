//! The agent in small worlds: every decision by name, and the laws over arbitrary ones.

mod counter_laws;
mod decisions;
mod laws;
mod world;
