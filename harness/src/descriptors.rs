//! Descriptor files: the shipped ones and a user's.
//!
//! The content of a descriptor is defined by [`Descriptor`]; [`cannot_play`] checks whether its
//! monitor can play a story. Start at [`read`].

use std::time::Duration;

use observe::{Descriptor, Vocabulary, shipped_descriptors};
use platforms::yaml::{self, YamlError};
use scenarios::{StepAction, Story};

/// Reads a descriptor. `file` is the name that errors carry.
///
/// # Errors
/// If the text is not a descriptor of version 1, with the place of the mistake.
pub fn read(file: &str, text: &str) -> Result<Descriptor, YamlError> {
    let descriptor: Descriptor = yaml::read(file, text)?;
    let Some(problem) = descriptor.problem() else {
        return Ok(descriptor);
    };
    let mut lines = text.lines();
    let line = lines.position(|line| line.starts_with(problem.key));
    let place = yaml::Place {
        line: line.map_or(0, |at| u32::try_from(at + 1).unwrap_or(u32::MAX)),
        column: 1,
    };
    Err(YamlError::at(file, text, place, problem.what).hint(problem.hint))
}

/// The shipped descriptor of this name; `None` if there is none.
///
/// # Panics
/// If a shipped descriptor cannot be read, which a test excludes.
#[must_use]
pub fn shipped(name: &str) -> Option<Descriptor> {
    shipped_descriptors()
        .map(|(file, text)| read(file, text).expect("a shipped descriptor can be read"))
        .find(|descriptor| descriptor.name == name)
}

/// Why this monitor cannot play this story; `None` if it can.
#[must_use]
pub fn cannot_play(descriptor: &Descriptor, story: &Story) -> Option<String> {
    let name = &descriptor.name;
    if descriptor.flags == Vocabulary::Own && !story.flags.is_empty() {
        let flags = story.flags.join(" ");
        return Some(format!("`{name}` does not know the flags `{flags}`"));
    }
    if descriptor.config.is_none() && !story.config.trim().is_empty() {
        return Some(format!("`{name}` has no configuration file"));
    }
    let touches_state_file = || {
        story
            .actions()
            .any(|action| matches!(action, StepAction::StateFile(..)))
    };
    if descriptor.state_file == Vocabulary::Own && touches_state_file() {
        return Some(format!("`{name}` keeps its state in a file of its own"));
    }
    descriptor.unattributable(
        &story.checks.names(),
        Duration::from_nanos(story.tick.as_ns()),
    )
}

#[cfg(test)]
mod tests {
    use observe::Filling;
    use scenarios::ChecksRun;

    use super::*;

    #[test]
    fn every_shipped_descriptor_is_read_and_found_by_its_name() {
        for (file, text) in shipped_descriptors() {
            let descriptor = read(file, text).unwrap();
            assert_eq!(shipped(&descriptor.name), Some(descriptor));
        }
    }

    #[test]
    fn a_poll_has_as_many_listings_as_its_checks_make() {
        let checks = ChecksRun::State.names().len();
        let listings = |name: &str| shipped(name).unwrap().listings(checks);
        assert_eq!(listings("reference"), 1);
        assert_eq!(listings("nvsentinel"), 2);
    }

    #[test]
    fn everything_in_braces_is_filled_in() {
        let filling = Filling {
            this: "/bin/n",
            root: "/r",
            state_file: "/r/state.json",
            socket: "/s",
            config: "/c",
            node: "n-1",
            metrics_port: 1,
            checks: &ChecksRun::State.names(),
        };
        for (file, text) in shipped_descriptors() {
            let descriptor = read(file, text).unwrap();
            for text in descriptor.command.iter().chain(&descriptor.config) {
                let filled = filling.fill(text);
                assert!(!filled.contains('{'), "{filled}");
            }
        }
    }

    #[test]
    fn a_descriptor_that_cannot_be_is_refused_with_its_place() {
        let refused = |text: &str| read("d.yaml", text).unwrap_err().to_string();
        assert!(refused("descriptor_version: 2\nname: a\ncommand: [b]\n").contains("d.yaml:1"));
        assert!(refused("descriptor_version: 1\nname: a\ncommand: []\n").contains("d.yaml:3"));
        assert!(
            refused("descriptor_version: 1\nname: a\ncommand: [b]\nclok: own\n").contains("clock")
        );
        let loops = |more: &str| {
            let states = "{ checks: [InfiniBandStateCheck, EthernetStateCheck] }";
            refused(&format!(
                "descriptor_version: 1\nname: a\ncommand: [b]\nloops: [{states}{more}"
            ))
        };
        let alike = loops(", { checks: [InfiniBandCharDeviceCheck], interval: 5 }]\n");
        assert!(alike.contains("invalid span of time `5`"), "{alike}");
        let alike = loops(", { checks: [InfiniBandStateCheck] }]\n");
        assert!(alike.contains("d.yaml:4"), "{alike}");
        assert!(alike.contains("two loops run the same check"), "{alike}");
        let both = loops("]\nconcurrent: true\n");
        assert!(both.contains("`loops` cannot be combined"), "{both}");
    }
}
