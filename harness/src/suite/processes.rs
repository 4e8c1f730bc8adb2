//! The process arm as a run needs it: who plays in each job, and whether the monitor can be drilled.

use platforms::{Platform, PortFacts};
use reports::{ExitCode, ProbeOutcome};

use super::pairs::Selected;
use observe::Descriptor;

use crate::{
    Player, SharedTrees,
    process::{ProbeFailure, ProcessArm, ProcessOptions, Stage},
    read_files::Library,
};

/// How monitors are started in a run.
#[derive(Clone, Debug, Default)]
pub struct Starting {
    /// Each job stays on its own CPU.
    pub pin: bool,
    /// Words before the monitor's command.
    pub wrap: Vec<String>,
    /// The monitor is one that is wrong on purpose.
    pub species: Option<String>,
    /// The trees that drills begin with.
    pub trees: SharedTrees,
}

impl Starting {
    /// The player of a worker, counted from 0.
    ///
    /// # Errors
    /// Why the kernel does not let it play.
    pub fn player(&self, stage: &Stage, job: usize) -> Result<Box<dyn Player>, String> {
        Ok(Box::new(self.arm(stage, job)?))
    }

    /// Tries the monitor once, on the platform of the first drill that gives it something to watch;
    /// where no drill does, on another that does.
    #[must_use]
    pub fn probe(
        &self,
        stage: &Stage,
        library: &Library,
        descriptor: &Descriptor,
        selected: &Selected,
    ) -> ProbeOutcome {
        if selected.drills.is_empty() {
            return ProbeOutcome::Ready;
        }
        let asked = selected.drills.iter();
        let asked = asked.filter_map(|planned| library.platforms.get(&planned.drill.world));
        let others = library.platforms.iter().map(|(_, platform)| platform);
        let watched = |platform: &&Platform| platform.ports().iter().any(PortFacts::is_monitored);
        let Some(platform) = asked.chain(others).find(watched) else {
            return ProbeOutcome::Ready;
        };
        // The probe must not bind the thread that tells the run: it has a thread of its own.
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
            Ok(Ok(())) => ProbeOutcome::Ready,
            Ok(Err(failure)) if failure.is_of_the_stage() => {
                failed(ExitCode::StageNotSet, failure.to_string())
            }
            Ok(Err(failure @ ProbeFailure::NeverCalled { .. })) => {
                failed(ExitCode::StageNotSet, failure.to_string())
            }
            Ok(Err(failure)) => failed(ExitCode::CrashedOrHung, failure.to_string()),
            Err(cause) => failed(ExitCode::StageNotSet, cause),
        }
    }

    fn arm(&self, stage: &Stage, job: usize) -> Result<ProcessArm, String> {
        let options = ProcessOptions {
            pin: self.pin,
            wrap: self.wrap.clone(),
            species: self.species.clone(),
            trees: self.trees.clone(),
            ..ProcessOptions::default()
        };
        ProcessArm::new(stage, job, options).map_err(|error| error.to_string())
    }
}
