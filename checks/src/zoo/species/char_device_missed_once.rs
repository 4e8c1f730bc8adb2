//! Reports a character device that is missing for one poll.

use super::{About, Wrong};

pub(super) struct CharDeviceMissedOnce;

impl Wrong for CharDeviceMissedOnce {
    fn about(&self) -> About {
        About {
            name: "char-device-missed-once",
            models: "no debounce: udev makes devices anew, and each time the machine is condemned",
            story: STORY,
        }
    }

    fn char_misses(&self, _: u32) -> u32 {
        1
    }
}

const STORY: &str = r#"
scenario: a character device is away for two polls
why: every character device is there for twenty polls
checks: char_devices
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 20s
    do: [ { remove_char_device: victim, kind: umad } ]
    expect: [ { say: nothing, from: 19s, to: 30s } ]
  - { at: 22s, do: [ { restore_char_device: victim, kind: umad } ] }
until: 30s
"#;
