//! The process arm of a run: the player of each job.

use std::time::Duration;

use super::NoProcessArm;
use crate::{
    Player, SharedTrees,
    process::{ProcessArm, ProcessOptions, Stage},
};

/// How a run starts monitors.
#[derive(Clone, Debug, Default)]
pub struct Starting {
    /// How long a drill may take at most; without it, as long as its ticks allow.
    pub drill_limit: Option<Duration>,
    /// Whether each job stays on its own CPU.
    pub pin: bool,
    /// Words before the monitor's command.
    pub wrap: Vec<String>,
    /// The wrong monitor to start, by its name.
    pub wrong: Option<String>,
    /// The trees that drills start with, shared.
    pub trees: SharedTrees,
    /// Tells whoever waits for a drill that it is played again, and why; nobody if `None`.
    pub tell: Option<fn(&str)>,
}

impl Starting {
    /// Creates the player of a worker, counted from 0.
    ///
    /// # Errors
    /// If the kernel refuses something.
    pub fn player(&self, stage: &Stage, job: usize) -> Result<Box<dyn Player>, NoProcessArm> {
        Ok(Box::new(self.arm(stage, job)?))
    }

    /// The process arm of a worker, counted from 0.
    ///
    /// # Errors
    /// If the kernel refuses something.
    pub(super) fn arm(&self, stage: &Stage, job: usize) -> Result<ProcessArm, NoProcessArm> {
        let options = ProcessOptions {
            drill_limit: self.drill_limit,
            pin: self.pin,
            wrap: self.wrap.clone(),
            wrong: self.wrong.clone(),
            trees: self.trees.clone(),
            tell: self.tell,
            ..ProcessOptions::default()
        };
        Ok(ProcessArm::new(stage, job, options)?)
    }
}
