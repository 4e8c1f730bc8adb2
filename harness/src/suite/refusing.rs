//! What can be told on a machine on which a monitor must refuse to start.
//!
//! Nearly nothing: there is nobody to see a fault. Stories of another refusal are told there too,
//! unless they change the metadata's values, since what the machine lacks is lacking then as well.

use fabric::{Action, NodeAction};
use platforms::MetadataFile;
use scenarios::{StepAction, Story, What};

/// Why the story cannot be told where it is; `None` if it can.
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

/// Whether the monitor is to end with an error before its first poll.
fn expects_a_refusal(story: &Story) -> bool {
    story.expectations.iter().any(|expectation| {
        expectation.window.from == 0 && matches!(expectation.what, What::Exit { code } if code != 0)
    })
}

/// Whether the story gives a metadata file made from the platform's own.
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
