//! `nicdrill explain`: one fault as everybody sees it, from a drill that is played for it.

use std::path::PathBuf;

use harness::{MemoryPlayer, play_for, read_files::Library, suite};
use reports::ExitCode;
use scenarios::Scenario;
use terms::Arm;

use super::{
    Stop,
    select::{REFERENCE, choose_one},
};
use crate::{
    arguments::{Color, ExplainArguments, OneDrill},
    pages::explain_page,
    terminal::{Terminal, log},
};

/// The prefix of the ids by which a scenario says, in `covers`, which fault it plays.
const PREFIX: &str = "fault/";

/// Plays the story of a fault and prints what each view sees of it; without a fault, lists them.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<ExitCode, Stop> {
    let paths = |of: &[String]| of.iter().map(PathBuf::from).collect::<Vec<_>>();
    let library = Library::read(&paths(&arguments.scenarios), &paths(&arguments.platforms));
    let library = library.map_err(Stop::input)?;
    let stories = stories(&library);
    let Some(asked) = &arguments.fault else {
        let names = stories.iter().map(|(_, scenario)| scenario.name().len());
        let width = names.max().unwrap_or(0);
        let lines = stories.iter().map(|(fault, scenario)| {
            let (name, title) = (scenario.name(), scenario.title());
            format!("{:<4} {name:<width$}  {title}\n", fault.to_uppercase())
        });
        Terminal::new(Color::Never).out(&lines.collect::<String>());
        return Ok(ExitCode::Success);
    };
    let fault = asked.to_lowercase();
    let mut of_fault = stories.iter().filter(|(name, _)| *name == fault);
    let drill = match of_fault.next() {
        Some((_, scenario)) => scenario.name().to_owned(),
        None if is_drill(&library, asked) => asked.clone(),
        None => {
            let known = stories.first().zip(stories.last());
            let known = known.map_or_else(String::new, |((first, _), (last, _))| {
                format!(
                    "the faults are {} to {}: `nicdrill explain` lists them; ",
                    first.to_uppercase(),
                    last.to_uppercase()
                )
            });
            let hint =
                format!("{known}the name of a scenario, such as `port/cable-pulled`, works too");
            return Err(Stop::usage(format!("no story plays the fault `{asked}`")).hint(hint));
        }
    };
    for (_, scenario) in of_fault {
        log(&format!("played by {} too", scenario.name()));
    }
    let which = OneDrill {
        drill,
        scenarios: arguments.scenarios.clone(),
        platforms: arguments.platforms.clone(),
    };
    // What a monitor sees is told by nicdrill's own, whatever monitor a profile names.
    let choice = choose_one(&which, None, Some(REFERENCE.to_owned()), None)?;
    let Some(planned) = choice.first() else {
        return Ok(ExitCode::NothingJudged);
    };
    if !planned.arms.contains(&Arm::Memory) {
        let what = format!("`{}` is played by a process alone", planned.drill);
        return Err(Stop::usage(what).hint("`nicdrill show` plays it"));
    }
    let story = suite::story(&choice.library, &planned.drill)
        .expect("a drill that was selected is in the library")
        .map_err(Stop::input)?;
    let mut player = MemoryPlayer::default();
    let result = play_for(&story, &choice.descriptor, None, &mut [&mut player]);
    let played = result.played.first();
    let recording = &played.expect("one arm was asked for").recording;
    let page = explain_page(&story, recording).map_err(Stop::input)?;
    Terminal::new(Color::Never).out(&page);
    Ok(ExitCode::Success)
}

/// Whether this is the name of a scenario or drill rather than of a fault.
fn is_drill(library: &Library, asked: &str) -> bool {
    let mut names = library.scenarios.iter().map(|own| own.scenario.name());
    asked.contains(['/', '@']) || names.any(|name| name == asked)
}

/// The faults, each with a scenario that plays it, in the order of their numbers.
fn stories(library: &Library) -> Vec<(String, &Scenario)> {
    let all = library.scenarios.iter().map(|own| &own.scenario);
    let mut stories: Vec<(String, &Scenario)> = all
        .flat_map(|scenario| {
            let faults = scenario.covers().iter();
            let faults = faults.filter_map(|id| id.strip_prefix(PREFIX));
            faults.map(move |fault| (fault.to_owned(), scenario))
        })
        .collect();
    let number = |fault: &str| fault.trim_start_matches('f').parse::<u32>().ok();
    stories.sort_by_key(|(fault, scenario)| {
        (
            number(fault).unwrap_or(u32::MAX),
            fault.clone(),
            scenario.name().to_owned(),
        )
    });
    stories
}
