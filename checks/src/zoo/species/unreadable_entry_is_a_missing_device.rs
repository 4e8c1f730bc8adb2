//! Takes a character device's entry that cannot be read for one that is missing.

use super::{About, Wrong};

pub(super) struct UnreadableEntryIsAMissingDevice;

impl Wrong for UnreadableEntryIsAMissingDevice {
    fn about(&self) -> About {
        About {
            name: "unreadable-entry-is-a-missing-device",
            models: "an error of one folder, and every port of the machine is condemned in its third poll",
            story: STORY,
        }
    }

    fn is_blind_to_char(&self, _: bool) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: the entries of the management devices cannot be read
why: every entry can be read for nineteen polls
checks: char_devices
platforms: { with: { layer: infiniband } }
timeline:
  - at: 19s
    do: [ { read: "sys/**/infiniband_mad/issm*/ibdev", fail: EIO, for: 8s } ]
    expect: [ { say: nothing, from: 19s, to: 30s } ]
until: 30s
"#;
