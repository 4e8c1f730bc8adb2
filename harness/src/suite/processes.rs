//! The process arm of a run: the player of each job, and the probe of the monitor.

use std::time::Duration;

use platforms::{Platform, PortFacts};
use reports::{ExitCode, ProbeOutcome, Wall};

use super::pairs::Selected;
use observe::Descriptor;

use crate::{
    Player, SharedTrees,
    process::{ProbeFinding, ProcessArm, ProcessOptions, Stage},
    read_files::Library,
    run_folder::Artifact,
};

/// A monitor that was probed.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The result.
    pub outcome: ProbeOutcome,
    /// `poll_ms`: how long one of its polls took in real time, in milliseconds.
    pub wall: Wall,
    /// What the run folder keeps of a probe that failed.
    pub files: Vec<Artifact>,
}

impl From<ProbeOutcome> for Probed {
    fn from(outcome: ProbeOutcome) -> Self {
        Self {
            outcome,
            wall: Wall::default(),
            files: Vec::new(),
        }
    }
}

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
}

impl Starting {
    /// Creates the player of a worker, counted from 0.
    ///
    /// # Errors
    /// The cause, if the kernel refuses something.
    pub fn player(&self, stage: &Stage, job: usize) -> Result<Box<dyn Player>, String> {
        Ok(Box::new(self.arm(stage, job)?))
    }

    /// Probes the monitor on the platform of the first drill on which it has a port to watch; if no
    /// drill has such a platform, on another one.
    #[must_use]
    pub fn probe(
        &self,
        stage: &Stage,
        library: &Library,
        descriptor: &Descriptor,
        selected: &Selected,
    ) -> Probed {
        if selected.drills.is_empty() {
            return ProbeOutcome::READY.into();
        }
        let asked = selected.drills.iter();
        let asked = asked.filter_map(|planned| library.platforms.get(&planned.drill.world));
        let others = library.platforms.iter().map(|(_, platform)| platform);
        let watched = |platform: &&Platform| platform.ports().iter().any(PortFacts::is_monitored);
        let Some(platform) = asked.chain(others).find(watched) else {
            return ProbeOutcome::READY.into();
        };
        // The probe pins its thread, so it does not run on the thread that reports the run.
        let tried = std::thread::scope(|scope| {
            let trying = scope.spawn(|| {
                let mut arm = self.arm(stage, 0)?;
                Ok(arm.probe(platform, descriptor))
            });
            trying
                .join()
                .unwrap_or_else(|_| Err("the probe panicked".to_owned()))
        });
        let failed = |exit_code, reason: String| ProbeOutcome::Failed { reason, exit_code };
        match tried {
            Ok(Ok(ProbeFinding { pace, advice })) => Probed {
                outcome: ProbeOutcome::Ready { advice },
                wall: Wall::default().with(
                    "poll_ms",
                    u64::try_from(pace.as_millis()).unwrap_or(u64::MAX),
                ),
                files: Vec::new(),
            },
            Ok(Err(failure)) => Probed {
                outcome: failed(failure.exit_code(), failure.to_string()),
                wall: Wall::default(),
                files: failure.files,
            },
            Err(cause) => failed(ExitCode::StageNotSet, cause).into(),
        }
    }

    fn arm(&self, stage: &Stage, job: usize) -> Result<ProcessArm, String> {
        let options = ProcessOptions {
            drill_limit: self.drill_limit,
            pin: self.pin,
            wrap: self.wrap.clone(),
            wrong: self.wrong.clone(),
            trees: self.trees.clone(),
            ..ProcessOptions::default()
        };
        ProcessArm::new(stage, job, options).map_err(|error| error.to_string())
    }
}
