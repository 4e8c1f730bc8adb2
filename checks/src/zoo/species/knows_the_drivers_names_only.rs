//! Monitors devices that bear the driver's own names, and no others.

use super::{About, Wrong};

pub(super) struct KnowsTheDriversNamesOnly;

impl Wrong for KnowsTheDriversNamesOnly {
    fn about(&self) -> About {
        About {
            name: "knows-the-drivers-names-only",
            models: "names dealt by udev: on a machine that renames its NICs nobody is monitored",
            story: STORY,
        }
    }

    fn is_ours(&self, _: bool) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: a NIC is added under a name of udev's
why: every name is the driver's for twenty polls
platforms: { names: [ dgx-h100 ] }
let: { model: { role: compute, nth: 1 } }
timeline:
  - at: 20s
    do: [ { hot_add: device of model, pci: "0000:f1:00.0", name: ibp241s0, cabled: true } ]
    expect:
      - { healthy: { name: ibp241s0, port: 1 }, within: 2 polls }
      - { healthy: { name: ibp241s0 }, within: 2 polls }
      - { healthy: { name: "0000:f1:00" }, within: 2 polls }
until: 25s
"#;
