//! Reads the number of `state` and not its name.

use super::{About, Wrong};
use crate::reading::PortState;

pub(super) struct BelievesTornText;

impl Wrong for BelievesTornText {
    fn about(&self) -> About {
        About {
            name: "believes-torn-text",
            models: "a text torn between two writes, taken for a value",
            story: STORY,
        }
    }

    fn port_state(&self, bytes: &[u8]) -> Option<PortState> {
        let whole = PortState::parse(bytes);
        whole.or_else(|| bytes.starts_with(b"1: ").then_some(PortState::Down))
    }
}

const STORY: &str = r#"
scenario: a state is torn for two polls
why: every text is whole for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { read: victim/state, content: "1: ACTIVE\n", for: 2s } ]
    expect: [ { nothing: victim, from: 20s, to: 25s } ]
until: 25s
"#;
