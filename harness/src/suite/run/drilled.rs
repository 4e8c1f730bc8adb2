//! One drill of a run: played in its arms, compared with the golden trace and with earlier repeats, and reported.

use std::{collections::BTreeMap, time::Instant};

use judge::{JudgedIn, golden_difference, lanes, trace};
use memory::Played;
use observe::{Recording, Vocabulary};
use reports::{
    ArmReport, ArmStatus, DrillName, DrillReport, Finding, FindingKind, Judged, Lanes, Outcome,
    PlannedDrill, StoryLine, Wall,
};
use scenarios::Story;
use terms::Arm;

use super::{
    super::{
        NoProcessArm, artifacts,
        jobs::Panicked,
        pairs,
        pasted::{run_again, show_again},
    },
    Show,
};
use crate::{
    MemoryPlayer, Player, Turn, bless, play_for,
    read_files::regular::{RUN_FILE_BYTES_MAX, text_up_to},
    repeat::Fingerprint,
    run_folder::Artifact,
};

/// The result of one drill.
pub(super) struct Drilled {
    pub(super) report: DrillReport,
    pub(super) recordings: Vec<(Arm, Recording)>,
    /// Its lanes in each arm, if they are asked for.
    pub(super) lanes: Vec<Lanes>,
    pub(super) fingerprints: Vec<Fingerprint>,
    /// Whether the machine stalled in every play of it, so that it is to be played again when nothing else is.
    pub(super) is_given_up: bool,
    /// Whether it was not played to its end, because the run is to end early.
    pub(super) is_interrupted: bool,
}

impl Show<'_> {
    pub(super) fn job_players(&self, job: usize, turn: &Turn) -> JobPlayers {
        let mut job_players = JobPlayers {
            memory: MemoryPlayer {
                wrong: self.how.wrong.as_ref().map(|wrong| wrong.variant),
                trees: self.how.trees.clone(),
            },
            process: match &self.how.process {
                Some(Ok(arm)) => (arm.players)(job),
                Some(Err(reason)) => Err(reason.clone()),
                None => Err(NoProcessArm::NotAskedFor),
            },
        };
        if let Ok(player) = &mut job_players.process {
            player.takes(turn);
        }
        job_players
    }

    /// Plays one drill in its arms.
    pub(super) fn drill(&self, job_players: &mut JobPlayers, planned: &PlannedDrill) -> Drilled {
        let began = Instant::now();
        let story = match pairs::story(self.library, &planned.drill) {
            Some(Ok(story)) => story,
            Some(Err(unfit)) => return self.stage_failure(planned, &unfit.to_string()),
            None => return self.stage_failure(planned, "the scenario or platform is gone"),
        };
        let mut skipped = Vec::new();
        let mut players: Vec<&mut dyn Player> = Vec::new();
        if planned.arms.contains(&Arm::Memory) {
            players.push(&mut job_players.memory);
        }
        if planned.arms.contains(&Arm::Process) {
            match &mut job_players.process {
                Ok(player) => players.push(player.as_mut()),
                Err(reason) => skipped.push(reason.to_string()),
            }
        }
        let needs = self.how.needs.as_ref().map(|of| &of.needs);
        let mut result = play_for(&story, self.descriptor, needs, &mut players);
        result
            .arms
            .extend(skipped.into_iter().map(|reason| ArmReport {
                arm: Arm::Process,
                status: ArmStatus::Skipped { reason },
                polls: 0,
                events: 0,
            }));
        let compared = if self.how.repeat.is_some() {
            result.played.as_slice()
        } else {
            &[]
        };
        let fingerprints = compared
            .iter()
            .map(|played| Fingerprint::of(played.arm, self.descriptor.clock, &played.recording))
            .collect();
        result
            .findings
            .extend(self.golden(planned, &story, &result.played));
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut report = self.report(planned, result.arms, result.findings);
        report.judged = result.judged;
        report.verdicts = result.verdicts;
        report.wall = Wall::default().with("ms", ms);
        if result.replays > 0 {
            report.wall = report.wall.with("replays", result.replays);
        }
        let lanes = self.lanes(&story, &report, &result.played);
        let how = self.how;
        let is_recorded = how.records || how.keep || how.repeat.is_some();
        // A drill that waits for its turn to be reported holds what it has; hundreds wait for a long one.
        let recordings = match report.outcome {
            Outcome::Passed if !is_recorded => Vec::new(),
            _ => {
                let played = result.played.into_iter();
                played
                    .map(|played| (played.arm, played.recording))
                    .collect()
            }
        };
        // What is known does not count from here on, whoever is told.
        how.excuses.mark(&mut report);
        Drilled {
            report,
            recordings,
            lanes,
            fingerprints,
            is_given_up: result.is_given_up,
            is_interrupted: result.is_interrupted,
        }
    }

    /// The lanes of a drill that has findings, or of any that is kept.
    fn lanes(&self, story: &Story, report: &DrillReport, played: &[Played]) -> Vec<Lanes> {
        if !self.how.draws || report.findings.is_empty() && !self.how.keep {
            return Vec::new();
        }
        let drawn = played.iter().map(|played| {
            let of = JudgedIn {
                arm: played.arm,
                findings: &report.findings,
                judged: &report.judged,
            };
            let (truth, recording) = (&played.truth, &played.recording);
            lanes(story, truth, recording, self.descriptor, of)
        });
        drawn.collect()
    }

    pub(super) fn artifacts(
        &self,
        drill: &DrillName,
        recordings: &[(Arm, Recording)],
    ) -> Vec<Artifact> {
        let scenario = self.library.scenario(&drill.scenario);
        artifacts::artifacts(
            scenario.map_or("", |scenario| scenario.text.as_str()),
            recordings,
        )
    }

    /// Compares the memory arm's trace with the golden one, or rewrites that.
    fn golden(&self, planned: &PlannedDrill, story: &Story, played: &[Played]) -> Option<Finding> {
        let own_words = self.descriptor.texts == Vocabulary::Reference.into();
        if !own_words || self.how.wrong.is_some() || self.how.needs.is_some() {
            return None;
        }
        let first = played.first()?;
        if first.arm != Arm::Memory {
            return None;
        }
        let file = self.library.golden(&planned.drill)?;
        let kept = text_up_to(&file, RUN_FILE_BYTES_MAX).ok();
        let is_kept_here = match &kept {
            Some(text) => {
                let head = format!("in {}", story.world);
                text.lines()
                    .nth(1)
                    .is_some_and(|line| line.ends_with(&head))
            }
            None => {
                let mut all = self.selected.drills.iter().map(|planned| &planned.drill);
                all.find(|drill| drill.scenario == planned.drill.scenario) == Some(&planned.drill)
            }
        };
        if !is_kept_here {
            return None;
        }
        let now = trace(story, &first.recording);
        let finding = |came: String| {
            Some(Finding::plain(
                FindingKind::GoldenDiffers,
                Some(Arm::Memory),
                came,
            ))
        };
        if self.how.bless {
            return match bless(&file, &now) {
                Ok(_) => None,
                Err(error) => finding(format!("`{}` cannot be written: {error}", file.display())),
            };
        }
        let difference = golden_difference(&kept?, &now)?;
        let mut finding = finding(difference.now)?;
        finding.line = Some(StoryLine {
            place: format!("{}:{}", file.display(), difference.line),
            text: difference.kept.clone(),
        });
        finding.expected.push(difference.kept);
        Some(finding)
    }

    fn report(
        &self,
        planned: &PlannedDrill,
        arms: Vec<ArmReport>,
        findings: Vec<Finding>,
    ) -> DrillReport {
        let show = self.show(planned, &arms);
        DrillReport {
            drill: planned.drill.clone(),
            outcome: DrillReport::outcome_of(&arms, &findings),
            arms,
            findings,
            verdicts: Vec::new(),
            judged: Judged::default(),
            file: match self.library.scenario(&planned.drill.scenario) {
                Some(scenario) => scenario.file.clone(),
                None => planned.drill.scenario.clone(),
            },
            repeat: self.again(planned),
            show,
            wall: Wall::default(),
        }
    }

    /// The command that repeats the drill.
    fn again(&self, planned: &PlannedDrill) -> String {
        let arm = match planned.arms.as_slice() {
            [arm] => Some(*arm),
            _ => None,
        };
        run_again(&self.how.again, &planned.drill, arm)
    }

    /// The command that shows the drill in full, in the first arm in which it failed.
    fn show(&self, planned: &PlannedDrill, arms: &[ArmReport]) -> String {
        let failed = arms.iter().find(|arm| arm.status == ArmStatus::Failed);
        let process = failed.or(arms.first()).map(|arm| arm.arm);
        let process = process.filter(|arm| *arm == Arm::Process);
        show_again(&self.how.again, &planned.drill, process)
    }

    fn stage_failure(&self, planned: &PlannedDrill, cause: &str) -> Drilled {
        self.not_played(planned, Finding::plain(FindingKind::Stage, None, cause))
    }

    pub(super) fn fallen(&self, planned: &PlannedDrill, panic: Panicked) -> Drilled {
        self.not_played(planned, Finding::plain(FindingKind::Fault, None, panic.0))
    }

    fn not_played(&self, planned: &PlannedDrill, finding: Finding) -> Drilled {
        let arms = planned.arms.iter().map(|arm| ArmReport {
            arm: *arm,
            status: ArmStatus::Failed,
            polls: 0,
            events: 0,
        });
        let report = self.report(planned, arms.collect(), vec![finding]);
        Drilled {
            report,
            recordings: Vec::new(),
            lanes: Vec::new(),
            fingerprints: Vec::new(),
            is_given_up: false,
            is_interrupted: false,
        }
    }
}

/// The players of a worker.
pub(super) struct JobPlayers {
    memory: MemoryPlayer,
    /// The player of the process arm, or why there is none.
    process: Result<Box<dyn Player>, NoProcessArm>,
}

impl JobPlayers {
    /// Tells what becomes of a drill of the process arm.
    pub(super) fn tells(&mut self, what: &str) {
        if let Ok(player) = &mut self.process {
            player.tells(what);
        }
    }
}

/// Stores the fingerprints of the first repeat, and compares those of later ones with them. What differs is repeated as
/// often as this run was: `repeats` times.
pub(super) fn compare(
    drilled: &mut Drilled,
    number: u32,
    repeats: u32,
    first: &mut BTreeMap<DrillName, Vec<Fingerprint>>,
) {
    let drill = &drilled.report.drill;
    let Some(before) = first.get(drill) else {
        first.insert(drill.clone(), drilled.fingerprints.clone());
        return;
    };
    let found = drilled.report.findings.len();
    for (arm, (one, other)) in before.iter().zip(&drilled.fingerprints).enumerate() {
        if let Some(what) = one.difference(other) {
            let came = format!(
                "repeat {number} is not the first one again: {what}\n\
                 (events, reads, calls, exits and state files are compared, logs are not)"
            );
            let arm = drilled.report.arms.get(arm).map(|arm| arm.arm);
            let finding = Finding::plain(FindingKind::RepeatsDiffer, arm, came);
            drilled.report.findings.push(finding);
            drilled.report.outcome = Outcome::Failed;
        }
    }
    if drilled.report.findings.len() > found {
        let again = &drilled.report.repeat;
        drilled.report.repeat = format!("{again} --repeat {repeats}");
    }
}
