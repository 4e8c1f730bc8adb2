//! One fault, all views: what host, switch, kernel log, fabric manager, LNet, MPIB, monitor and cluster each saw of a
//! drill that was played, in order.
//!
//! The world's views are read from the world at each poll and from its logs, the monitor's and the cluster's from the
//! recording; nothing is said of a fault in general. Start at [`explain_page`].

mod monitor_views;
mod world_views;

use std::fmt::Write as _;

use director::FreezeError;
use observe::Recording;
use scenarios::Story;

/// What a view says that saw nothing.
const NOTHING: &str = "nothing";

/// A view: who looks, and what was seen, one line each; `None` if the story has nobody who looks.
struct View {
    name: &'static str,
    lines: Option<Vec<String>>,
}

/// The page of a story and a recording of it.
///
/// # Errors
/// [`FreezeError`] if the world cannot be played.
pub(crate) fn explain_page(story: &Story, recording: &Recording) -> Result<String, FreezeError> {
    let mut page = format!("{} on {}: {}\n", story.name, story.world, story.title);
    for step in &story.given {
        let _ = writeln!(page, "{:>9}  {}", "given", step.text);
    }
    for step in story.steps.iter().filter(|step| !step.actions.is_empty()) {
        let _ = writeln!(page, "{:>9}  {}", step.at.to_string(), step.text);
    }
    let mut views = world_views::views(story)?;
    views.extend(monitor_views::views(story, recording));
    for view in views {
        let _ = writeln!(page, "\n== {}", view.name);
        let lines = match view.lines {
            None => vec!["not in this story".to_owned()],
            Some(lines) if lines.is_empty() => vec![NOTHING.to_owned()],
            Some(lines) => lines,
        };
        for line in lines {
            let _ = writeln!(page, "{}", line.trim_end());
        }
    }
    Ok(page)
}

/// A line with the time of what it tells.
fn at(time: impl std::fmt::Display, text: impl std::fmt::Display) -> String {
    format!("{:>9}  {text}", time.to_string())
}
