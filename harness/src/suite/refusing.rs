//! Scenarios on machines on which a monitor must refuse to start.
//!
//! Almost none are applicable, because no monitor runs. Scenarios about another refusal are, unless
//! they change the metadata's values, because what the machine lacks is then lacking too. For a monitor that does not
//! need the metadata it is the other way round: only scenarios in which nothing but the machine is the reason are not.

use director::{Log, Occurrence};
use platforms::{MetadataFile, Platform};
use scenarios::{Story, What};

/// Why the story is not applicable there; `None` if it is.
pub(super) fn nobody_to_drill(story: &Story) -> Option<String> {
    if let Some(platform) = starts_by_promise(story)
        && expects_a_refusal(story)
        && !changes_anything(story)
    {
        let platform = platform.name();
        return Some(format!(
            "the monitor promises nothing about `metadata`, so that it starts on `{platform}`"
        ));
    }
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

/// A machine of the story on which only a monitor starts that does not need the metadata.
pub(super) fn starts_by_promise(story: &Story) -> Option<&Platform> {
    let mut platforms = story.nodes.iter().map(|(_, platform)| platform);
    platforms
        .find(|platform| platform.documented_refusal().is_some() && platform.refusal().is_none())
}

/// Whether the monitor is expected to exit with an error before its first poll.
fn expects_a_refusal(story: &Story) -> bool {
    story.expectations.iter().any(|expectation| {
        expectation.window.from == 0 && matches!(expectation.what, What::Exit { code } if code != 0)
    })
}

/// Whether the monitor gets anything else than the machine at rest before its first poll.
fn changes_anything(story: &Story) -> bool {
    !(story.given.is_empty() && story.flags.is_empty() && story.config.trim().is_empty())
}

/// Whether the story uses a metadata file derived from the platform's own.
fn changes_metadata(story: &Story) -> bool {
    let log = Log::foreseen(story);
    let mut what = log.acts.iter().flat_map(|act| &act.what);
    what.any(|what| matches!(what, Occurrence::Collected(MetadataFile::Written(_))))
}
