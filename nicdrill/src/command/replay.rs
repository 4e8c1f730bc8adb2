//! `nicdrill replay`: replays a recorded stream through rules, conditions and quarantine.

use reports::ExitCode;

use super::Stop;
use crate::{
    arguments::{Color, ReplayArguments},
    terminal::Terminal,
};

/// Prints what the cluster would have done, and when.
pub(crate) fn replay(arguments: &ReplayArguments) -> Result<ExitCode, Stop> {
    let mut terminal = Terminal::new(Color::Never);
    let (events, world) = (arguments.events.as_path(), arguments.world.as_deref());
    let (platforms, _) = super::platform::read(&[])?;
    harness::replay(events, &arguments.rules, world, &platforms, |line| {
        terminal.out(&format!("{line}\n"));
    })
    .map_err(Stop::input)?;
    Ok(ExitCode::Success)
}
