//! A drill's world in motion, without a monitor.

mod healing;
mod job_traffic;
mod log;
mod meant_files;
mod partners;
mod stage;
mod staged;
mod workloads;
