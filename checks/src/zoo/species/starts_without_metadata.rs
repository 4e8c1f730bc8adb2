//! Starts without GPU metadata, and takes every NIC for one to be watched.

use super::{About, Wrong};

pub(super) struct StartsWithoutMetadata;

impl Wrong for StartsWithoutMetadata {
    fn about(&self) -> About {
        About {
            name: "starts-without-metadata",
            models: "a missing file taken for an empty one: management NICs are in the scope, and nobody is told",
            story: STORY,
        }
    }

    fn needs_metadata(&self) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: the monitor is restarted while there is no metadata
why: there is metadata for twenty polls
timeline:
  - at: 20s
    do: [ { metadata: missing }, { monitor: restart } ]
    expect: [ { exit: 1, within: 2 polls } ]
until: 23s
heal: never
because: the monitor refuses to start
"#;
