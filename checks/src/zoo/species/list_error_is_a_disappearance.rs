//! Takes a `ports/` that cannot be listed for a device that is gone.

use super::{About, Wrong};
use crate::sight::{Blind, SeenPorts};

pub(super) struct ListErrorIsADisappearance;

impl Wrong for ListErrorIsADisappearance {
    fn about(&self) -> About {
        About {
            name: "list-error-is-a-disappearance",
            models: "a listing that fails reported as a hardware failure (field bug B05)",
            story: STORY,
        }
    }

    fn is_gone_with(&self, ports: &SeenPorts) -> bool {
        matches!(ports, SeenPorts::Blind(Blind::Unreadable(_)))
    }
}

const STORY: &str = r#"
scenario: the ports of a device cannot be listed for a poll
why: every folder can be listed for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { list: device of victim/ports, fail: ENOTDIR, for: 1s } ]
    expect: [ { nothing: device of victim, from: 20s, to: 25s } ]
until: 25s
"#;
