//! A drill's world in motion, without a monitor.

mod healing;
mod job_traffic;
mod meant_files;
mod partners;
mod stage;
mod workloads;
