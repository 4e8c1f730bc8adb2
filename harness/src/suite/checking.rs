//! Whether the lines of scenarios assert something: each expectation is made false, and the drill must be red for it.
//!
//! A line needs one drill in which each of its alterations is noticed; the drills of a scenario are played in their
//! order until that is so. Start at [`check_lines`].

use std::{collections::BTreeSet, num::NonZeroUsize, ops::ControlFlow, thread};

use judge::{Altered, Bite, altered};
use observe::Descriptor;
use reports::{DrillName, PlannedDrill, StoryLine};
use scenarios::{Story, USUAL_FIRST_POLL};
use terms::Arm;

use super::{NoProcessArm, PlayError, jobs, pairs::Selected, run::Players, story};
use crate::{
    Interruption, MemoryPlayer, Player, SharedTrees, read_files::Library, still::play_any,
};

/// A line with an expectation, and what came of making it false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedLine {
    /// The line.
    pub line: StoryLine,
    /// Its kind in words, such as `event`.
    pub kind: &'static str,
    /// Its alterations, in order, each with the best that came of it in any drill.
    pub alterations: Vec<(&'static str, Bite)>,
}

impl CheckedLine {
    /// The alterations that no drill noticed.
    pub fn unnoticed(&self) -> impl Iterator<Item = &'static str> {
        let green = |(_, bite): &&(&'static str, Bite)| *bite == Bite::Green;
        self.alterations.iter().filter(green).map(|(name, _)| *name)
    }

    /// Whether the line asserts nothing: no alteration was noticed in any drill. What its author did not write does not
    /// count.
    #[must_use]
    pub fn asserts_nothing(&self) -> bool {
        if self.line.text == USUAL_FIRST_POLL {
            return false;
        }
        let says = |(_, bite): &(_, Bite)| *bite == Bite::Red;
        !self.alterations.iter().any(says)
    }

    /// Whether nothing more can come of another drill.
    fn is_settled(&self) -> bool {
        let settled = |(_, bite): &(_, Bite)| matches!(bite, Bite::Red | Bite::Equivalent(_));
        self.alterations.iter().all(settled)
    }

    /// Takes what came of an alteration in one drill: the better of the two stays.
    fn take(&mut self, alteration: &'static str, bite: Bite) {
        let known = self.alterations.iter_mut();
        match known.into_iter().find(|(name, _)| *name == alteration) {
            Some((_, known)) => *known = known.clone().min(bite),
            None => self.alterations.push((alteration, bite)),
        }
    }
}

/// A line that none of the selected drills has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverJudged {
    /// The line.
    pub line: StoryLine,
    /// The platforms or worlds of the selected drills.
    pub selected: Vec<String>,
    /// Those that it fits, which were not selected.
    pub fits: Vec<String>,
}

/// Why a drill shows nothing about its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotShown {
    /// It is red as it is, in this arm.
    Red(Arm),
    /// It could not be played, for this reason.
    NotPlayed(String),
}

/// The lines of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedScenario {
    /// The scenario.
    pub scenario: String,
    /// Its lines, in the order of the first drill.
    pub lines: Vec<CheckedLine>,
    /// How many of its drills were played.
    pub played: usize,
    /// Its lines that fit none of its drills.
    pub never_judged: Vec<NeverJudged>,
    /// Its drills that show nothing.
    pub not_shown: Vec<(DrillName, NotShown)>,
}

impl CheckedScenario {
    /// Whether nothing more can come of another drill.
    fn is_settled(&self, places: &BTreeSet<String>) -> bool {
        let is_known = |place: &String| self.lines.iter().any(|of| of.line.place == *place);
        places.iter().all(is_known) && self.lines.iter().all(CheckedLine::is_settled)
    }

    /// Takes what came of one drill. Of a line that stands for several expectations, one that went unnoticed is what
    /// came of all.
    fn take(&mut self, all: Vec<Altered>) {
        let mut in_drill: Vec<CheckedLine> = Vec::new();
        for Altered {
            line,
            kind,
            alteration,
            bite,
        } in all
        {
            let known = line_at(&mut in_drill, line, kind);
            let alterations = known.alterations.iter_mut();
            match alterations
                .into_iter()
                .find(|(name, _)| *name == alteration)
            {
                Some((_, came)) if *came == Bite::Green || bite == Bite::Green => {
                    *came = Bite::Green;
                }
                Some((_, came)) => *came = came.clone().min(bite),
                None => known.alterations.push((alteration, bite)),
            }
        }
        for of in in_drill {
            let known = line_at(&mut self.lines, of.line, of.kind);
            for (alteration, bite) in of.alterations {
                known.take(alteration, bite);
            }
        }
    }
}

/// What is known of a line, by its place; nothing yet, if it is a new one.
fn line_at<'l>(
    lines: &'l mut Vec<CheckedLine>,
    line: StoryLine,
    kind: &'static str,
) -> &'l mut CheckedLine {
    let known = lines.iter().position(|of| of.line.place == line.place);
    let at = known.unwrap_or_else(|| {
        lines.push(CheckedLine {
            line,
            kind,
            alterations: Vec::new(),
        });
        lines.len() - 1
    });
    &mut lines[at]
}

/// How lines are checked.
pub struct Checking<'r> {
    /// Number of scenarios at once; the number of allowed CPUs if `None`.
    pub jobs: Option<usize>,
    /// The players of the process arm.
    pub process: &'r Players<'r>,
    /// The trees that drills start with, shared.
    pub trees: SharedTrees,
    /// Becomes true when it is to end early.
    pub interruption: &'r Interruption,
}

/// Checks the lines of every selected scenario; `heard` is told each scenario when it and all before it are checked.
///
/// # Errors
/// If a scenario's drill fell, or it was interrupted.
pub fn check_lines(
    library: &Library,
    descriptor: &Descriptor,
    selected: &Selected,
    how: &Checking<'_>,
    mut heard: impl FnMut(&CheckedScenario),
) -> Result<Vec<CheckedScenario>, PlayError> {
    let scenarios = selected.by_scenario();
    let allowed = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut all = Vec::new();
    let mut failed = None;
    jobs::in_order(
        how.jobs.unwrap_or_else(allowed),
        scenarios.len(),
        |job, turn| {
            let memory = MemoryPlayer {
                wrong: None,
                trees: how.trees.clone(),
            };
            let process = (how.process)(job).map(|mut player| {
                player.takes(turn);
                player
            });
            Checker {
                library,
                descriptor,
                memory,
                process,
            }
        },
        |checker, place| checker.scenario(&scenarios[place]),
        |_, done| {
            match done {
                Ok(checked) => {
                    heard(&checked);
                    all.push(checked);
                }
                Err(panic) => {
                    failed = Some(PlayError::Panicked {
                        drill: None,
                        panic: panic.0,
                    });
                }
            }
            if how.interruption.is_asked_for() {
                failed = Some(PlayError::Interrupted);
            }
            match failed {
                None => ControlFlow::Continue(()),
                Some(_) => ControlFlow::Break(()),
            }
        },
    );
    failed.map_or(Ok(all), Err)
}

/// A worker with its players.
struct Checker<'r> {
    library: &'r Library,
    descriptor: &'r Descriptor,
    memory: MemoryPlayer,
    process: Result<Box<dyn Player>, NoProcessArm>,
}

impl Checker<'_> {
    fn scenario(&mut self, drills: &[&PlannedDrill]) -> CheckedScenario {
        let mut checked = CheckedScenario::default();
        let stories: Vec<(&PlannedDrill, Result<Story, NotShown>)> = drills
            .iter()
            .map(|planned| (*planned, self.story(planned)))
            .collect();
        let places = places(&stories);
        checked.never_judged = self.never_judged(&stories, &places);
        // In memory first: it is the faster arm.
        for arm in [Arm::Memory, Arm::Process] {
            for (planned, story) in &stories {
                if !planned.arms.contains(&arm) {
                    continue;
                }
                checked.scenario.clone_from(&planned.drill.scenario);
                if checked.played > 0 && checked.is_settled(&places) {
                    return checked;
                }
                let story = story.as_ref().map_err(NotShown::clone);
                match story.and_then(|story| self.drill(story, arm)) {
                    Ok(all) => {
                        checked.played += 1;
                        checked.take(all);
                    }
                    Err(reason) => checked.not_shown.push((planned.drill.clone(), reason)),
                }
            }
        }
        checked
    }

    /// The lines of a scenario that are in none of these stories. Nothing is said of one whose stories cannot be told.
    fn never_judged(
        &self,
        stories: &[(&PlannedDrill, Result<Story, NotShown>)],
        places: &BTreeSet<String>,
    ) -> Vec<NeverJudged> {
        let first = stories.first().map(|(planned, _)| &planned.drill.scenario);
        let Some(scenario) = first.and_then(|name| self.library.scenario(name)) else {
            return Vec::new();
        };
        if stories.iter().any(|(_, story)| story.is_err()) {
            return Vec::new();
        }
        let lines = scenario.scenario.lines();
        let mut lines: Vec<(String, &str)> = lines
            .map(|(place, text)| (place.to_string(), text))
            .filter(|(place, _)| !places.contains(place))
            .collect();
        lines.dedup();
        if lines.is_empty() {
            return Vec::new();
        }
        let names = stories.iter().map(|(planned, _)| &planned.drill.world);
        let selected: Vec<String> = names.cloned().collect();
        let others = self.library.worlds_of(&scenario.scenario).into_iter();
        let others = others.filter(|name| selected.iter().all(|other| other != name));
        let others: Vec<(&str, BTreeSet<String>)> = others
            .filter_map(|name| {
                let drill = DrillName {
                    scenario: scenario.name.clone(),
                    world: name.to_owned(),
                };
                let story = story(self.library, &drill)?.ok()?;
                let expected = story.expectations.iter();
                Some((name, expected.map(|of| of.place.to_string()).collect()))
            })
            .collect();
        let never = |(place, text): (String, &str)| {
            let fits = others.iter().filter(|(_, places)| places.contains(&place));
            NeverJudged {
                fits: fits.map(|(name, _)| (*name).to_owned()).collect(),
                selected: selected.clone(),
                line: StoryLine {
                    place,
                    text: text.to_owned(),
                },
            }
        };
        lines.into_iter().map(never).collect()
    }

    /// The story of a drill; or why it shows nothing.
    fn story(&self, planned: &PlannedDrill) -> Result<Story, NotShown> {
        match story(self.library, &planned.drill) {
            Some(Ok(story)) => Ok(story),
            Some(Err(unfit)) => Err(NotShown::NotPlayed(unfit.to_string())),
            None => {
                let gone = "the scenario or platform is gone";
                Err(NotShown::NotPlayed(gone.to_owned()))
            }
        }
    }

    /// Plays a story and alters its lines; or why it shows nothing.
    fn drill(&mut self, story: &Story, arm: Arm) -> Result<Vec<Altered>, NotShown> {
        let player: &mut dyn Player = match (arm, &mut self.process) {
            (Arm::Memory, _) => &mut self.memory,
            (Arm::Process, Ok(player)) => player.as_mut(),
            (Arm::Process, Err(reason)) => return Err(NotShown::NotPlayed(reason.to_string())),
        };
        let played = play_any(player, story, self.descriptor);
        altered(story, &played.truth, &played.recording, self.descriptor)
            .map_err(|_| NotShown::Red(arm))
    }
}

/// The places of the lines that any of the drills has: what is about one link layer is not in all.
fn places(stories: &[(&PlannedDrill, Result<Story, NotShown>)]) -> BTreeSet<String> {
    let stories = stories.iter().filter_map(|(_, story)| story.as_ref().ok());
    let expected = stories.flat_map(|story| &story.expectations);
    expected.map(|of| of.place.to_string()).collect()
}
