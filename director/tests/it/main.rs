//! A drill's world in motion, without a monitor.

mod stage;
mod workloads;
