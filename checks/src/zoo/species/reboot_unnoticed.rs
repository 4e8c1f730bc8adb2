//! Goes on after a reboot as after a restart.

use super::{About, Wrong};

pub(super) struct RebootUnnoticed;

impl Wrong for RebootUnnoticed {
    fn about(&self) -> About {
        About {
            name: "reboot-unnoticed",
            models: "the boot id read and never compared",
            story: STORY,
        }
    }

    fn is_same_boot(&self, _: Option<&str>, _: Option<&str>) -> bool {
        true
    }
}

const STORY: &str = r#"
scenario: the node is rebooted
why: there is no reboot for twenty polls
timeline:
  - at: 20s
    do: [ { reboot: { takes: 30s } } ]
  - at: 50s
    expect: [ { this_poll: reboot_baseline } ]
until: 55s
"#;
