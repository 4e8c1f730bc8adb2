//! `nicdrill link show`: both ends of a story's links, as fabric tools print them.

use harness::link_page;
use reports::ExitCode;

use super::{Stop, select::story_of_one};
use crate::{
    arguments::{Color, LinkArguments},
    terminal::{Terminal, talk},
};

/// Plays a story's world up to an instant and prints its links.
pub(crate) fn link_show(arguments: &LinkArguments) -> Result<ExitCode, Stop> {
    let Some(story) = story_of_one(&arguments.which)? else {
        return Ok(ExitCode::NothingSelected);
    };
    let (at, port) = (arguments.at.as_deref(), arguments.port.as_deref());
    let (page, left_out) = link_page(&story, at, port).map_err(Stop::input)?;
    for line in left_out {
        talk(&format!("left out, since nobody polls here: {line}"));
    }
    Terminal::new(Color::Never).out(&page);
    Ok(ExitCode::Success)
}
