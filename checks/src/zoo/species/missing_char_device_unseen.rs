//! Never says that a character device is missing.

use proto::Check;

use super::{About, Wrong};
use crate::memory::Memory;
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct MissingCharDeviceUnseen;

impl Wrong for MissingCharDeviceUnseen {
    fn about(&self) -> About {
        About {
            name: "missing-char-device-unseen",
            models: "a port that is ACTIVE and LinkUp and that no pod can open (field bug B34)",
            story: STORY,
        }
    }

    fn sayings(&self, _: u64, _: &mut Memory, _: &Samples, sayings: &mut Vec<Saying>) {
        let is_missing = |saying: &Saying| {
            saying.check == Check::InfiniBandCharDevice && saying.severity.is_some()
        };
        sayings.retain(|saying| !is_missing(saying));
    }
}

const STORY: &str = r#"
scenario: the management device of a port goes away
why: every character device is there for twenty polls
checks: all
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 20s
    do: [ { remove_char_device: victim, kind: issm } ]
  - at: 22s
    expect: [ { this_poll: [ { fatal: victim, check: InfiniBandCharDeviceCheck, codes: [ issm ] } ] } ]
until: 25s
"#;
