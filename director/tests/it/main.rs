//! A drill's world in motion, without a monitor.

mod healing;
mod stage;
mod workloads;
