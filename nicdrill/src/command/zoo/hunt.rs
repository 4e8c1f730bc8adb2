//! Plays the suite against the wrong monitors: which drills are played by which monitors, and which
//! catch them.
//!
//! [`super::page`] prints the results.

use std::collections::{BTreeMap, BTreeSet};

use ::zoo::Mutant;
use harness::{
    SharedTrees, WrongMonitor,
    read_files::SuiteScenario,
    run_folder::Artifact,
    suite::{self, Audience, How, ProcessArm, Selected, Starting},
};
use reports::{DrillName, DrillReport, Outcome, PlannedDrill, ProbeOutcome, RunEvent, RunReport};
use terms::Arm;

use crate::command::{select::Choice, stage::Here};

/// Sections whose clauses are the rows of a table: streams and cordons, counters, severities, platforms, topologies, cards,
/// disappearance, virtual functions, types of GIDs, keys and flags, the list of faults; the faults
/// seen in the field; what refuses to start; the metrics.
const TABLES: [&str; 15] = [
    "cluster/cordon/",
    "lcd/table/",
    "lsd/3.2/",
    "lsd/4.1.3/",
    "lsd/4.2.4/",
    "lsd/4.3.4/",
    "lsd/7.3/",
    "lsd/8.4/",
    "lsd/9.1/",
    "lsd/12.1/",
    "lsd/A/",
    "decision/1/",
    "decision/14/",
    "decision/15/metrics",
    "field/",
];

/// A drill with more polls than this is played only by monitors that no shorter one catches: an
/// hour of simulated time for each of so many monitors would take most of the run.
const LONG_POLLS: u64 = 600;

/// The inputs.
pub(super) struct Hunt<'c> {
    choice: &'c Choice,
    here: &'c Here,
    jobs: Option<usize>,
    /// Whether each monitor plays all of `near`, even if it is caught before.
    is_full: bool,
    /// One drill of each scenario, or with `is_full` all.
    near: Vec<PlannedDrill>,
    /// Those of `near` with many polls.
    long: BTreeSet<DrillName>,
    /// Played by monitors that none of `near` catches.
    far: Vec<PlannedDrill>,
    trees: SharedTrees,
}

/// The drills that the right monitor played, and whether it passed.
#[derive(Default)]
pub(super) struct Control(BTreeMap<DrillName, bool>);

impl Control {
    /// Drills that it passes.
    fn right(&self) -> impl Iterator<Item = &DrillName> {
        let passed = self.0.iter().filter(|(_, passes)| **passes);
        passed.map(|(drill, _)| drill)
    }

    /// Drills that it fails, and all.
    pub(super) fn wrong_of_all(&self) -> (usize, usize) {
        (self.0.len() - self.right().count(), self.0.len())
    }
}

/// Whether a wrong monitor is caught as a process too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AsProcess {
    /// It is.
    Caught,
    /// It was not played so.
    NotPlayed(String),
    /// It is not, by this drill that catches it in memory.
    Passes(DrillName),
}

/// A wrong monitor, and who caught it.
#[derive(Clone, Debug)]
pub(super) struct Caught {
    pub(super) mutant: Mutant,
    /// The number of drills that it played in memory.
    pub(super) played: usize,
    /// The drills that catch it, the soonest first, each with the poll in which something is wrong.
    pub(super) by: Vec<(DrillName, Option<u64>)>,
    pub(super) as_process: AsProcess,
}

impl Caught {
    /// Whether no drill catches it, or not in both arms.
    pub(super) fn lives(&self) -> bool {
        self.by.is_empty() || matches!(self.as_process, AsProcess::Passes(_))
    }
}

impl<'c> Hunt<'c> {
    /// A hunt with the chosen drills: with one for each scenario, until a monitor is caught, or with all.
    pub(super) fn new(
        choice: &'c Choice,
        here: &'c Here,
        jobs: Option<usize>,
        is_full: bool,
    ) -> Hunt<'c> {
        let drills = choice.selected.drills.iter();
        let in_memory: Vec<PlannedDrill> = drills
            .filter(|planned| planned.arms.contains(&Arm::Memory))
            .map(|planned| PlannedDrill {
                arms: vec![Arm::Memory],
                ..planned.clone()
            })
            .collect();
        let (near, far) = if is_full {
            (in_memory, Vec::new())
        } else {
            one_platform_each(in_memory)
        };
        let names = near.iter().map(|planned| &planned.drill);
        let long = names.filter(|drill| is_long(choice, drill)).cloned();
        Hunt {
            choice,
            here,
            jobs,
            is_full,
            long: long.collect(),
            near,
            far,
            trees: SharedTrees::default(),
        }
    }

    /// Nothing can be played.
    pub(super) fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// What the right monitor is known to pass at first: nothing, or in a full hunt all.
    pub(super) fn control(&self) -> Control {
        let mut control = Control::default();
        if self.is_full {
            self.ask_right(&mut control, &self.near);
        }
        control
    }

    /// Lets the right monitor play those of the drills that it has not played.
    fn ask_right(&self, control: &mut Control, drills: &[PlannedDrill]) {
        let unknown = drills
            .iter()
            .filter(|planned| !control.0.contains_key(&planned.drill));
        let unknown: Vec<PlannedDrill> = unknown.cloned().collect();
        for drill in self.play(&unknown, None, None).drills {
            let passes = drill.outcome == Outcome::Passed;
            control.0.insert(drill.drill, passes);
        }
    }

    /// Hunts one: first in the scenarios that cover what it breaks, then in the others, then in the very long drills and on
    /// the other platforms.
    pub(super) fn one(&self, control: &mut Control, mutant: Mutant, in_process: bool) -> Caught {
        let near = self.near.iter().cloned();
        let (long, short): (Vec<_>, Vec<_>) =
            near.partition(|planned| self.long.contains(&planned.drill));
        let (first, others) = if self.is_full {
            (short, Vec::new())
        } else {
            let covering = self.covering(mutant.name);
            let covers =
                |planned: &PlannedDrill| covering.contains(planned.drill.scenario.as_str());
            short.into_iter().partition(covers)
        };
        let (mut by, mut played) = (Vec::new(), 0);
        for drills in [first, others, [long, self.far.clone()].concat()] {
            played += drills.len();
            by = self.caught(control, &drills, mutant);
            if !by.is_empty() {
                break;
            }
        }
        let as_process = if in_process {
            self.process_too(&by, mutant)
        } else {
            AsProcess::NotPlayed("in memory".to_owned())
        };
        Caught {
            mutant,
            played,
            by,
            as_process,
        }
    }

    /// The scenarios that cover a clause which the wrong monitor breaks; the one that is said to catch it, where one is.
    fn covering(&self, wrong: &str) -> BTreeSet<&str> {
        let library = &self.choice.library;
        let mut names = BTreeSet::new();
        for clause in library.clauses.iter() {
            for breaker in clause.mutants.iter().filter(|it| it.wrong == wrong) {
                let covers = |scenario: &&SuiteScenario| match &breaker.by {
                    Some(by) => scenario.name == *by,
                    None => scenario.scenario.covers().contains(&clause.id),
                };
                let scenarios = library.scenarios.iter().filter(covers);
                names.extend(scenarios.map(|scenario| scenario.name.as_str()));
            }
        }
        names
    }

    /// The scenarios that the right monitor passes, that catch no wrong monitor, and that state no
    /// row of a table.
    pub(super) fn idle(&self, control: &Control, caught: &[Caught]) -> Vec<String> {
        let busy: BTreeSet<&str> = caught
            .iter()
            .flat_map(|one| &one.by)
            .map(|(drill, _)| drill.scenario.as_str())
            .collect();
        let states_a_row = |scenario: &str| {
            let scenario = self.choice.library.scenario(scenario);
            let mut covers = scenario
                .into_iter()
                .flat_map(|scenario| scenario.scenario.covers());
            covers.any(|id| TABLES.iter().any(|table| id.starts_with(table)))
        };
        let idle: BTreeSet<String> = control
            .right()
            .filter(|drill| !self.long.contains(*drill))
            .map(|drill| drill.scenario.clone())
            .filter(|scenario| !busy.contains(scenario.as_str()) && !states_a_row(scenario))
            .collect();
        idle.into_iter().collect()
    }

    /// Those of the drills that the wrong monitor fails and the right one passes, the soonest first.
    fn caught(
        &self,
        control: &mut Control,
        drills: &[PlannedDrill],
        mutant: Mutant,
    ) -> Vec<(DrillName, Option<u64>)> {
        let report = self.play(drills, Some(mutant), None);
        let failed = report
            .drills
            .iter()
            .filter(|drill| drill.outcome == Outcome::Failed);
        let mut by: Vec<(DrillName, Option<u64>)> = failed
            .map(|drill| (drill.drill.clone(), soonest(drill)))
            .collect();
        let planned = by
            .iter()
            .filter_map(|(drill, _)| self.plan(drill, Arm::Memory));
        self.ask_right(control, &planned.collect::<Vec<_>>());
        by.retain(|(drill, _)| control.0.get(drill) == Some(&true));
        by.sort_by_key(|(drill, soonest)| (soonest.is_none(), *soonest, drill.clone()));
        by
    }

    /// The drill as it can be played in that arm.
    fn plan(&self, drill: &DrillName, arm: Arm) -> Option<PlannedDrill> {
        let mut all = self.choice.selected.drills.iter();
        let planned = all.find(|one| one.drill == *drill && one.arms.contains(&arm))?;
        Some(PlannedDrill {
            arms: vec![arm],
            ..planned.clone()
        })
    }

    /// Plays as a process the first drill that catches it in memory and can be played so.
    fn process_too(&self, by: &[(DrillName, Option<u64>)], mutant: Mutant) -> AsProcess {
        let stage = match &self.here.stage {
            Ok(stage) => stage,
            Err(reason) => return AsProcess::NotPlayed(reason.to_string()),
        };
        let mut drills = by.iter();
        let planned = drills.find_map(|(drill, _)| self.plan(drill, Arm::Process));
        let Some(planned) = planned else {
            return AsProcess::NotPlayed("no drill that can be".to_owned());
        };
        let starting = Starting {
            pin: true,
            wrong: Some(mutant.name.to_owned()),
            trees: self.trees.clone(),
            ..Starting::default()
        };
        let probe = || ProbeOutcome::READY.into();
        let players = |job| starting.player(stage, job);
        let arm = ProcessArm {
            probe: &probe,
            players: &players,
        };
        let report = self.play(std::slice::from_ref(&planned), Some(mutant), Some(arm));
        match report.drills.first().map(|drill| drill.outcome) {
            Some(Outcome::Failed) => AsProcess::Caught,
            _ => AsProcess::Passes(planned.drill),
        }
    }

    fn play(
        &self,
        drills: &[PlannedDrill],
        mutant: Option<Mutant>,
        process: Option<ProcessArm<'_>>,
    ) -> RunReport {
        let selected = Selected {
            drills: drills.to_vec(),
            ..Selected::default()
        };
        let how = How {
            jobs: self.jobs,
            wrong: mutant.map(|mutant| WrongMonitor {
                name: mutant.name.to_owned(),
                variant: mutant.variant,
            }),
            process: process.map(Ok),
            trees: self.trees.clone(),
            interruption: self.here.interruption.clone(),
            ..How::default()
        };
        let (library, descriptor) = (&self.choice.library, &self.choice.descriptor);
        suite::run(library, descriptor, &selected, &how, &mut Nobody)
    }
}

/// Whether a drill has many polls. One whose story cannot be read has none.
fn is_long(choice: &Choice, drill: &DrillName) -> bool {
    let story = suite::story(&choice.library, drill).and_then(Result::ok);
    story.is_some_and(|story| story.ticks.last_until(story.until) >= LONG_POLLS)
}

/// Of each scenario one drill, on a platform that hangs on the scenario's name alone, so that another
/// scenario changes nothing; and the rest.
fn one_platform_each(drills: Vec<PlannedDrill>) -> (Vec<PlannedDrill>, Vec<PlannedDrill>) {
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for of_one in drills.chunk_by(|one, next| one.drill.scenario == next.drill.scenario) {
        let name = &of_one[0].drill.scenario;
        let sum = name.bytes().fold(7_usize, |sum, byte| {
            sum.wrapping_mul(31) + usize::from(byte)
        });
        for (place, planned) in of_one.iter().enumerate() {
            let is_near = place == sum % of_one.len();
            if is_near { &mut near } else { &mut far }.push(planned.clone());
        }
    }
    (near, far)
}

/// The first poll in which something was wrong.
fn soonest(drill: &DrillReport) -> Option<u64> {
    let findings = drill.findings.iter();
    findings.filter_map(|finding| finding.tick).min()
}

/// Ignores the events of a run: only the results of wrong monitors are printed.
struct Nobody;

impl Audience for Nobody {
    fn hear(&mut self, _: &RunEvent) {}

    fn receive(&mut self, _: &DrillName, _: &[Artifact]) {}

    fn repeat(&mut self, _: u32) {}

    fn whole(&mut self) {}
}
