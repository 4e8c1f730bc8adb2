//! The agent in small worlds: every decision by name, and the laws.

mod decisions;
mod world;
