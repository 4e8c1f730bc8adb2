//! Scenarios on machines on which a monitor must refuse to start.
//!
//! Almost none are applicable, because no monitor runs. Scenarios about another refusal are, unless
//! they change the metadata's values, because what the machine lacks is then lacking too.

use fabric::{Action, NodeAction};
use platforms::MetadataFile;
use scenarios::{StepAction, Story, What};

/// Why the story is not applicable there; `None` if it is.
pub(super) fn nobody_to_drill(story: &Story) -> Option<String> {
    let mut refusals = story.nodes.iter().filter_map(|(_, platform)| {
        let refusal = platform.refusal()?;
        Some((platform.name(), refusal))
    });
    let (platform, refusal) = refusals.next()?;
    if expects_a_refusal(story) && !changes_metadata(story) {
        return None;
    }
    Some(format!(
        "a monitor must refuse to start on `{platform}`: {refusal}"
    ))
}

/// Whether the monitor is expected to exit with an error before its first poll.
fn expects_a_refusal(story: &Story) -> bool {
    story.expectations.iter().any(|expectation| {
        expectation.window.from == 0 && matches!(expectation.what, What::Exit { code } if code != 0)
    })
}

/// Whether the story uses a metadata file derived from the platform's own.
fn changes_metadata(story: &Story) -> bool {
    let steps = story.given.iter().chain(&story.steps);
    steps.flat_map(|step| &step.actions).any(|action| {
        matches!(
            action,
            StepAction::World(Action::Node(
                _,
                NodeAction::Metadata {
                    file: MetadataFile::Written(_)
                }
            ))
        )
    })
}
