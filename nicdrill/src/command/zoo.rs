//! `nicdrill zoo`: the suite against every deliberately wrong monitor; each must be caught.
//!
//! Each scenario is played on one platform (on all with `--full`) in memory, first by the right
//! monitor: a drill that it fails catches nobody. For each wrong one, the first drill that catches it is
//! played once more as a process, and must catch it there too.

use std::{collections::BTreeSet, fmt::Write as _, process};

use harness::{
    run_folder::Artifact,
    suite::{self, Audience, How, ProcessArm, Selected, Starting},
    zoo::animals,
};
use reports::{
    ArmName, DrillName, DrillReport, ExitCode, Outcome, PlannedDrill, ProbeOutcome, RunEvent,
    RunReport,
};

use super::{
    Stop,
    select::{Choice, choose},
    stage::{self, Here, Standing},
};
use crate::{
    arguments::{Arm, Color, ZooArguments},
    terminal::{Terminal, talk},
};

/// Hunts every wrong monitor, or lists them.
pub(crate) fn zoo(arguments: &ZooArguments) -> Result<process::ExitCode, Stop> {
    if arguments.list {
        let mut page = String::new();
        for animal in animals() {
            writeln!(page, "{:<24} {}", animal.name, animal.models).expect(WRITES);
            writeln!(
                page,
                "{:<24} right for its first 20 polls: {}",
                "", animal.why_right
            )
            .expect(WRITES);
        }
        Terminal::new(Color::Never).out(&page);
        return Ok(ExitCode::Success.into());
    }
    let known: Vec<&str> = animals().iter().map(|animal| animal.name).collect();
    if let Some(unknown) = arguments
        .species
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        return Err(Stop::usage(format!(
            "there is no wrong monitor `{unknown}`\nhint: known are {}",
            known.join(", ")
        )));
    }
    let mut choice = choose(&arguments.select, 0)?;
    if !choice.descriptor.memory {
        return Err(Stop::usage(format!(
            "`{}` has no wrong siblings\nhint: the zoo is the reference monitor's",
            choice.descriptor.name
        )));
    }
    if !arguments.select.full {
        one_platform_each(&mut choice.selected);
    }
    let in_process = arguments.select.arm != Some(Arm::Memory);
    match stage::set(in_process) {
        Standing::Outside(code) => Ok(code.into()),
        Standing::Here(here) => Ok(hunt(arguments, &choice, &here, in_process).into()),
    }
}

/// Leaves of each scenario the drill that the process arm's cover chose, or the first.
fn one_platform_each(selected: &mut Selected) {
    let mut chosen: BTreeSet<String> = BTreeSet::new();
    let covered: Vec<DrillName> = selected
        .drills
        .iter()
        .filter(|planned| planned.arms.contains(&ArmName::Process))
        .filter(|planned| chosen.insert(planned.drill.scenario.clone()))
        .map(|planned| planned.drill.clone())
        .collect();
    selected.drills.retain(|planned| {
        covered.contains(&planned.drill) || chosen.insert(planned.drill.scenario.clone())
    });
}

fn hunt(arguments: &ZooArguments, choice: &Choice, here: &Here, in_process: bool) -> ExitCode {
    let mut terminal = Terminal::new(Color::Never);
    let in_memory = Selected {
        drills: choice
            .selected
            .drills
            .iter()
            .filter(|planned| planned.arms.contains(&ArmName::Memory))
            .map(|planned| PlannedDrill {
                arms: vec![ArmName::Memory],
                ..planned.clone()
            })
            .collect(),
        not_applicable: Vec::new(),
    };
    if in_memory.drills.is_empty() {
        talk("nothing was selected that can be played in memory");
        return ExitCode::NothingSelected;
    }
    let control = play(arguments, choice, here, &in_memory, None, false);
    let right: BTreeSet<&DrillName> = control
        .drills
        .iter()
        .filter(|drill| drill.outcome == Outcome::Passed)
        .map(|drill| &drill.drill)
        .collect();
    if right.len() < in_memory.drills.len() {
        talk(&format!(
            "the right monitor fails {} of {} drills; they catch nobody",
            in_memory.drills.len() - right.len(),
            in_memory.drills.len()
        ));
    }
    let mut page = format!("{:<24} {:<10} caught by\n", "wrong monitor", "soonest");
    let mut live = 0;
    for animal in animals() {
        let asked = arguments.species.is_empty()
            || arguments.species.iter().any(|name| name == animal.name);
        if !asked {
            continue;
        }
        let report = play(
            arguments,
            choice,
            here,
            &in_memory,
            Some(animal.name),
            false,
        );
        let mut caught: Vec<&DrillReport> = report
            .drills
            .iter()
            .filter(|drill| drill.outcome == Outcome::Failed && right.contains(&drill.drill))
            .collect();
        caught.sort_by_key(|drill| (soonest(drill), drill.drill.clone()));
        let Some(first) = caught.first() else {
            live += 1;
            writeln!(page, "{:<24} {:<10} NOBODY: it lives", animal.name, "-").expect(WRITES);
            continue;
        };
        let as_process = if in_process {
            process_too(arguments, choice, here, &caught, animal.name)
        } else {
            Ok(String::new())
        };
        let told = as_process.unwrap_or_else(|why| {
            live += 1;
            format!("; NOT AS A PROCESS: {why}")
        });
        writeln!(
            page,
            "{:<24} {:<10} {}{}{told}",
            animal.name,
            soonest(first).map_or_else(|| "-".to_owned(), |poll| format!("poll {poll}")),
            first.drill,
            match caught.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more of {}", right.len()),
            },
        )
        .expect(WRITES);
    }
    terminal.out(&page);
    if live > 0 {
        talk(&format!(
            "{live} wrong monitors live\nexit code 100: {}",
            ExitCode::JudgedWrongly.meaning()
        ));
        return ExitCode::JudgedWrongly;
    }
    ExitCode::Success
}

/// Plays as a process the first drill that catches it in memory and can be played so; says what
/// came, or why it was not caught.
fn process_too(
    arguments: &ZooArguments,
    choice: &Choice,
    here: &Here,
    caught: &[&DrillReport],
    species: &str,
) -> Result<String, String> {
    if let Err(reason) = &here.stage {
        return Ok(format!("; process arm skipped: {reason}"));
    }
    let plan = |drill: &DrillName| {
        choice
            .selected
            .drills
            .iter()
            .find(|planned| planned.drill == *drill && planned.arms.contains(&ArmName::Process))
    };
    let Some(planned) = caught.iter().find_map(|drill| plan(&drill.drill)) else {
        return Ok("; in memory only".to_owned());
    };
    let one = Selected {
        drills: vec![PlannedDrill {
            arms: vec![ArmName::Process],
            ..planned.clone()
        }],
        not_applicable: Vec::new(),
    };
    let report = play(arguments, choice, here, &one, Some(species), true);
    match report.drills.first().map(|drill| drill.outcome) {
        Some(Outcome::Failed) => Ok("; as a process too".to_owned()),
        _ => Err(format!("{} passes", planned.drill)),
    }
}

fn play(
    arguments: &ZooArguments,
    choice: &Choice,
    here: &Here,
    selected: &Selected,
    species: Option<&str>,
    as_process: bool,
) -> RunReport {
    let starting = Starting {
        pin: true,
        species: species.map(str::to_owned),
        ..Starting::default()
    };
    let stage = here.stage.as_ref();
    let probe = || ProbeOutcome::Ready;
    let players = |job| match stage {
        Ok(stage) => starting.player(stage, job),
        Err(reason) => Err(reason.clone()),
    };
    let how = How {
        jobs: arguments.jobs,
        species: starting.species.clone(),
        process: as_process.then_some(Ok(ProcessArm {
            probe: &probe,
            players: &players,
        })),
        interrupted: here.interrupted(),
        ..How::default()
    };
    suite::run(
        &choice.library,
        &choice.descriptor,
        selected,
        &how,
        &mut Nobody,
    )
}

/// The first poll in which something was wrong.
fn soonest(drill: &DrillReport) -> Option<u64> {
    drill
        .failures
        .iter()
        .filter_map(|failure| failure.tick)
        .min()
}

/// Nobody listens while wrong monitors are hunted: only what comes of it is told.
struct Nobody;

impl Audience for Nobody {
    fn hear(&mut self, _: &RunEvent) {}

    fn receive(&mut self, _: &DrillName, _: &[Artifact]) {}

    fn repeat(&mut self, _: u32) {}

    fn whole(&mut self) {}
}

const WRITES: &str = "writing to a string cannot fail";
