//! `nicdrill lnet show`: LNet as a story's nodes see it, as `lnetctl` prints it.

use harness::{LnetAsked, lnet_page};
use reports::ExitCode;

use super::{Stop, select::story_of_one};
use crate::{
    arguments::{Color, LnetArguments},
    terminal::{Terminal, talk},
};

/// Plays a story's world up to an instant and prints its LNet.
pub(crate) fn lnet_show(arguments: &LnetArguments) -> Result<ExitCode, Stop> {
    let Some(story) = story_of_one(&arguments.which)? else {
        return Ok(ExitCode::NothingSelected);
    };
    let asked = LnetAsked {
        at: arguments.at.as_deref(),
        workload: arguments.workload.as_deref(),
        node: arguments.node.as_deref(),
        view: arguments.view.as_deref(),
    };
    let (page, left_out) = lnet_page(&story, asked).map_err(Stop::input)?;
    for line in left_out {
        talk(&format!("left out, since nobody polls here: {line}"));
    }
    Terminal::new(Color::Never).out(&page);
    Ok(ExitCode::Success)
}
