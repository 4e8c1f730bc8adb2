//! `nicdrill world`: lists and shows worlds of several nodes.

use std::path::PathBuf;

use files::did_you_mean;
use harness::read_files::Library;
use reports::ExitCode;
use scenarios::World;

use super::Stop;
use crate::{
    arguments::{Color, OneWorld, WorldFolders},
    pages::world_pages,
    settings::Settings,
    terminal::Terminal,
};

/// Lists every world, one per line.
pub(crate) fn world_list(folders: &WorldFolders) -> Result<ExitCode, Stop> {
    out(&world_pages::list(&read(folders)?.worlds))
}

/// Prints the nodes, switches and cables of a world, and the scenarios that are played in it.
pub(crate) fn world_show(one: &OneWorld) -> Result<ExitCode, Stop> {
    let library = read(&one.folders)?;
    let asked = one.world.as_str();
    let found = library.worlds.iter().find(|world| world.name() == asked);
    let world = found.ok_or_else(|| no_such(asked, &library))?;
    let scenarios = library.scenarios.iter();
    let of_it = scenarios.filter(|known| known.scenario.world() == Some(asked));
    let of_it: Vec<&str> = of_it.map(|known| known.name.as_str()).collect();
    out(&world_pages::show(world, &of_it))
}

fn no_such(asked: &str, library: &Library) -> Stop {
    let stop = Stop::usage(format!("there is no world `{asked}`"));
    if library.platforms.get(asked).is_some() {
        return stop.hint(format!(
            "it is a platform, a world of one node: `nicdrill platform show {asked}`"
        ));
    }
    let near = did_you_mean(asked, library.worlds.iter().map(World::name));
    stop.hint(near + "`nicdrill world list` lists them")
}

/// The built-in worlds, those of the project's settings, and those that are named.
fn read(folders: &WorldFolders) -> Result<Library, Stop> {
    let settings = Settings::read()?;
    let with = |of: Vec<PathBuf>, named: &[String]| -> Vec<PathBuf> {
        of.into_iter()
            .chain(named.iter().map(PathBuf::from))
            .collect()
    };
    let scenarios = with(settings.scenarios, &folders.scenarios);
    let platforms = with(settings.platforms, &folders.platforms);
    Library::read(&scenarios, &platforms).map_err(Stop::input)
}

fn out(text: &str) -> Result<ExitCode, Stop> {
    Terminal::new(Color::Never).out(text);
    Ok(ExitCode::Success)
}
