//! The probe of a monitor before its drills, on platforms of these drills. Start at [`Starting::probe`].

use std::{collections::BTreeSet, thread};

use observe::Descriptor;
use platforms::Platform;
use reports::{ExitCode, ProbeOutcome, Wall};

use super::{PlayError, pairs::Selected, processes::Starting};
use crate::{
    process::{ProbeFailure, ProbeFinding, ProbedOn, Stage},
    read_files::Library,
    run_folder::Artifact,
};

/// On as many platforms a monitor is probed that says nothing, at most. Chosen: a few spellings of device names.
const PLATFORMS_MAX: usize = 3;

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

impl From<ProbeFinding> for Probed {
    fn from(ProbeFinding { pace, advice }: ProbeFinding) -> Self {
        let pace = u64::try_from(pace.as_millis()).unwrap_or(u64::MAX);
        Self {
            wall: Wall::default().with("poll_ms", pace),
            ..ProbeOutcome::Ready { advice }.into()
        }
    }
}

impl From<ProbeFailure> for Probed {
    fn from(failure: ProbeFailure) -> Self {
        let outcome = ProbeOutcome::Failed {
            reason: failure.to_string(),
            exit_code: failure.exit_code(),
        };
        Self {
            files: failure.files,
            ..outcome.into()
        }
    }
}

impl Starting {
    /// Probes the monitor on the platform of the first drill on which it has a port to watch; if no
    /// drill has such a platform, on another one. A monitor that polls and says nothing there is probed on others of the
    /// drills, whose devices have other names: it may know only those.
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
        let mut platforms =
            unlike(asked.filter_map(|planned| library.platforms.get(&planned.drill.world)));
        if platforms.is_empty() {
            platforms = unlike(library.platforms.iter().map(|(_, platform)| platform));
            platforms.truncate(1);
        }
        let mut failed: Option<ProbeFailure> = None;
        for (platform, on) in platforms {
            match (self.probe_on(stage, platform, descriptor), &mut failed) {
                (Err(error), _) => {
                    let (reason, exit_code) = (error.to_string(), ExitCode::StageNotSet);
                    return ProbeOutcome::Failed { reason, exit_code }.into();
                }
                (Ok(Ok(mut finding)), failed) => {
                    if let Some(failure) = failed {
                        finding.advice = Some(told_elsewhere(failure, &on, finding.advice));
                    }
                    return finding.into();
                }
                (Ok(Err(failure)), None) => {
                    let is_over = !failure.is_of_the_platform();
                    failed = Some(*failure);
                    if is_over {
                        break;
                    }
                }
                (Ok(Err(failure)), Some(first)) if failure.is_of_the_platform() => {
                    first.also_on.push(on);
                }
                // What was found first is told.
                (Ok(Err(_)), Some(_)) => break,
            }
        }
        failed.map_or_else(|| ProbeOutcome::READY.into(), Probed::from)
    }

    /// Probes the monitor on a platform.
    ///
    /// # Errors
    /// If that could not be tried.
    fn probe_on(
        &self,
        stage: &Stage,
        platform: &Platform,
        descriptor: &Descriptor,
    ) -> Result<Result<ProbeFinding, Box<ProbeFailure>>, PlayError> {
        // The probe pins its thread, so it does not run on the thread that reports the run.
        thread::scope(|scope| {
            let trying = scope.spawn(|| {
                let mut arm = self.arm(stage, 0)?;
                Ok(arm.probe(platform, descriptor))
            });
            let panicked = |_| PlayError::Panicked {
                drill: None,
                panic: "the probe panicked".to_owned(),
            };
            trying.join().map_err(panicked).flatten()
        })
    }
}

/// What is noted of a monitor that said nothing on one platform, and something on another.
fn told_elsewhere(failure: &ProbeFailure, on: &ProbedOn, advice: Option<String>) -> String {
    let silent = [&failure.on].into_iter().chain(&failure.also_on);
    let silent: Vec<String> = silent.map(ToString::to_string).collect();
    let note = format!(
        "when every cable was pulled, it said something on {on}, and nothing on {}: does it know these names?",
        silent.join(" and ")
    );
    match advice {
        None => note,
        Some(advice) => format!("{note}; {advice}"),
    }
}

/// The first of these platforms on which there is something to monitor, and further ones whose devices there have other names.
fn unlike<'p>(platforms: impl Iterator<Item = &'p Platform>) -> Vec<(&'p Platform, ProbedOn)> {
    let (mut seen, mut unlike) = (BTreeSet::new(), Vec::new());
    for platform in platforms {
        // Drills of one platform follow one another.
        if unlike.len() == PLATFORMS_MAX || !seen.insert(platform.name()) {
            continue;
        }
        let on = ProbedOn::of(platform);
        let is_new = |(_, other): &(&Platform, ProbedOn)| other.devices.is_disjoint(&on.devices);
        if !on.devices.is_empty() && unlike.iter().all(is_new) {
            unlike.push((platform, on));
        }
    }
    unlike
}
