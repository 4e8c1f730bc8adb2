//! `nicdrill link show`, `nicdrill lnet show` and `nicdrill mpib show`: a story's world at an instant, in the output
//! formats of the fabric's tools and of `lnetctl`.

use std::fmt;

use reports::ExitCode;
use scenarios::Story;

use super::{Stop, select::story_of_one};
use crate::{
    arguments::{Color, LinkArguments, LnetArguments, MpibArguments, OneDrill},
    pages::{
        LinkView, LnetAsked, MpibAsked, link_page, lnet_page, mpib_page, over_page, trace_page,
    },
    terminal::{Terminal, log},
};

/// Plays a story's world up to an instant and prints its links.
pub(crate) fn link_show(arguments: &LinkArguments) -> Result<ExitCode, Stop> {
    let (at, port) = (arguments.at.as_deref(), arguments.port.as_deref());
    let view = match arguments.switch.as_deref() {
        Some(switch) => LinkView::Switch(switch),
        None if arguments.summary => LinkView::Summary,
        None if arguments.fm_log => LinkView::FmLog(port),
        None if arguments.dmesg => LinkView::Dmesg(port),
        None => LinkView::Ends(port),
    };
    let json = arguments.json;
    show(&arguments.which, |story| link_page(story, at, view, json))
}

/// Plays a story's world up to an instant and prints its LNet.
pub(crate) fn lnet_show(arguments: &LnetArguments) -> Result<ExitCode, Stop> {
    let asked = LnetAsked {
        at: arguments.at.as_deref(),
        workload: arguments.workload.as_deref(),
        node: arguments.node.as_deref(),
        view: arguments.view.as_deref(),
        json: arguments.json,
    };
    if arguments.why.is_some() || arguments.trace {
        return show(&arguments.which, |story| {
            trace_page(story, asked, arguments.why)
        });
    }
    if let Some(span) = &arguments.over {
        return show(&arguments.which, |story| over_page(story, asked, span));
    }
    show(&arguments.which, |story| lnet_page(story, asked))
}

/// Plays a story's world up to an instant and prints its jobs over MPIB.
pub(crate) fn mpib_show(arguments: &MpibArguments) -> Result<ExitCode, Stop> {
    let asked = MpibAsked {
        at: arguments.at.as_deref(),
        workload: arguments.workload.as_deref(),
        timeline: arguments.timeline,
        json: arguments.json,
    };
    show(&arguments.which, |story| mpib_page(story, asked))
}

/// Prints the page of the selected story, and which steps were left out.
fn show<E: fmt::Display>(
    which: &OneDrill,
    page: impl FnOnce(&Story) -> Result<(String, Vec<String>), E>,
) -> Result<ExitCode, Stop> {
    let Some(story) = story_of_one(which)? else {
        return Ok(ExitCode::NothingJudged);
    };
    let (page, left_out) = page(&story).map_err(Stop::input)?;
    for line in left_out {
        log(&format!("left out, because no monitor polls here: {line}"));
    }
    Terminal::new(Color::Never).out(&page);
    Ok(ExitCode::Success)
}
