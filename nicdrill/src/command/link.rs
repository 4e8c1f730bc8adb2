//! `nicdrill link show`: both ends of a story's links, as fabric tools print them.

use harness::{link_page, suite};
use reports::ExitCode;

use super::{Stop, select::choose_one};
use crate::{
    arguments::{Arm, Color, LinkArguments},
    terminal::{Terminal, talk},
};

/// Plays a story's world up to an instant and prints its links.
pub(crate) fn link_show(arguments: &LinkArguments) -> Result<ExitCode, Stop> {
    let choice = choose_one(&arguments.which, Arm::Both, None)?;
    let Some(planned) = choice.first() else {
        return Ok(ExitCode::NothingSelected);
    };
    let story = suite::story(&choice.library, &planned.drill)
        .expect("a drill that was selected is in the library")
        .map_err(Stop::input)?;
    let (at, port) = (arguments.at.as_deref(), arguments.port.as_deref());
    let (page, left_out) = link_page(&story, at, port).map_err(Stop::input)?;
    for line in left_out {
        talk(&format!("left out, since nobody polls here: {line}"));
    }
    Terminal::new(Color::Never).out(&page);
    Ok(ExitCode::Success)
}
