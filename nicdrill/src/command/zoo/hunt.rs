//! Plays the suite against the wrong monitors: which drills are played by which monitors, and which
//! catch them.
//!
//! [`super::page`] prints the results.

use std::collections::BTreeSet;

use ::zoo::Mutant;
use harness::{
    WrongMonitor,
    run_folder::Artifact,
    suite::{self, Audience, How, ProcessArm, Selected, Starting},
};
use reports::{
    ArmName, DrillName, DrillReport, Outcome, PlannedDrill, ProbeOutcome, RunEvent, RunReport,
};

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
    /// Played first.
    near: Vec<PlannedDrill>,
    /// Played by monitors that none of those catches.
    far: Vec<PlannedDrill>,
}

/// The results of the right monitor.
pub(super) struct Control {
    right: BTreeSet<DrillName>,
    wrong: usize,
    /// Drills of many polls.
    long: BTreeSet<DrillName>,
}

impl Control {
    /// Drills that it passes.
    pub(super) fn right(&self) -> usize {
        self.right.len()
    }

    /// Drills that it fails.
    pub(super) fn wrong(&self) -> usize {
        self.wrong
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
    /// A hunt with the chosen drills: with one for each scenario, or with all.
    pub(super) fn new(
        choice: &'c Choice,
        here: &'c Here,
        jobs: Option<usize>,
        full: bool,
    ) -> Hunt<'c> {
        let drills = choice.selected.drills.iter();
        let in_memory: Vec<PlannedDrill> = drills
            .filter(|planned| planned.arms.contains(&ArmName::Memory))
            .map(|planned| PlannedDrill {
                arms: vec![ArmName::Memory],
                ..planned.clone()
            })
            .collect();
        let (near, far) = if full {
            (in_memory, Vec::new())
        } else {
            one_platform_each(in_memory)
        };
        Hunt {
            choice,
            here,
            jobs,
            near,
            far,
        }
    }

    /// Nothing can be played.
    pub(super) fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// The right monitor first.
    pub(super) fn control(&self) -> Control {
        let report = self.play(&self.near, None, None);
        let passed = report
            .drills
            .iter()
            .filter(|drill| drill.outcome == Outcome::Passed);
        let right: BTreeSet<DrillName> = passed.map(|drill| drill.drill.clone()).collect();
        let is_long = |drill: &&DrillReport| drill.arms.iter().any(|arm| arm.polls > LONG_POLLS);
        let long = report.drills.iter().filter(is_long);
        Control {
            wrong: self.near.len() - right.len(),
            long: long.map(|drill| drill.drill.clone()).collect(),
            right,
        }
    }

    /// Hunts one.
    pub(super) fn one(&self, control: &Control, mutant: Mutant, in_process: bool) -> Caught {
        let is_long = |planned: &PlannedDrill| control.long.contains(&planned.drill);
        let (long, short): (Vec<_>, Vec<_>) = self.near.iter().cloned().partition(is_long);
        let mut by = self.caught(&short, mutant, |drill| control.right.contains(drill));
        if by.is_empty() {
            by = self.caught(&[long, self.far.clone()].concat(), mutant, |_| true);
            let drills = by
                .iter()
                .map(|(drill, _)| self.plan(drill, ArmName::Memory));
            let drills: Vec<PlannedDrill> = drills.flatten().collect();
            let right = self.play(&drills, None, None);
            by.retain(|(drill, _)| {
                let mut drills = right.drills.iter();
                drills.any(|one| one.drill == *drill && one.outcome == Outcome::Passed)
            });
        }
        let as_process = if in_process {
            self.process_too(&by, mutant)
        } else {
            AsProcess::NotPlayed("in memory".to_owned())
        };
        Caught {
            mutant,
            by,
            as_process,
        }
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
        let right = self.near.iter().map(|planned| &planned.drill);
        let idle: BTreeSet<String> = right
            .filter(|drill| control.right.contains(*drill) && !control.long.contains(*drill))
            .map(|drill| drill.scenario.clone())
            .filter(|scenario| !busy.contains(scenario.as_str()) && !states_a_row(scenario))
            .collect();
        idle.into_iter().collect()
    }

    fn caught(
        &self,
        drills: &[PlannedDrill],
        mutant: Mutant,
        counts: impl Fn(&DrillName) -> bool,
    ) -> Vec<(DrillName, Option<u64>)> {
        let report = self.play(drills, Some(mutant), None);
        let failed = report
            .drills
            .iter()
            .filter(|drill| drill.outcome == Outcome::Failed && counts(&drill.drill));
        let mut by: Vec<(DrillName, Option<u64>)> = failed
            .map(|drill| (drill.drill.clone(), soonest(drill)))
            .collect();
        by.sort_by_key(|(drill, soonest)| (soonest.is_none(), *soonest, drill.clone()));
        by
    }

    /// The drill as it can be played in that arm.
    fn plan(&self, drill: &DrillName, arm: ArmName) -> Option<PlannedDrill> {
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
            Err(reason) => return AsProcess::NotPlayed(reason.clone()),
        };
        let mut drills = by.iter();
        let planned = drills.find_map(|(drill, _)| self.plan(drill, ArmName::Process));
        let Some(planned) = planned else {
            return AsProcess::NotPlayed("no drill that can be".to_owned());
        };
        let starting = Starting {
            pin: true,
            wrong: Some(mutant.name.to_owned()),
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
            interruption: self.here.interruption.clone(),
            ..How::default()
        };
        let (library, descriptor) = (&self.choice.library, &self.choice.descriptor);
        suite::run(library, descriptor, &selected, &how, &mut Nobody)
    }
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
