//! Does not read `nicInclusionRegexOverride`.

use super::{About, Wrong};
use crate::agent::Refusal;
use crate::config::Config;

pub(super) struct IgnoresTheOverride;

impl Wrong for IgnoresTheOverride {
    fn about(&self) -> About {
        About {
            name: "ignores-the-override",
            models: "a key of the configuration that nobody asks for (field bug B19)",
            story: STORY,
        }
    }

    fn config(&self, config: Result<Config, Refusal>) -> Result<Config, Refusal> {
        config.map(|mut config| {
            config.include = None;
            config
        })
    }
}

const STORY: &str = r#"
scenario: an operator pins one NIC and another goes dark
why: nothing is pinned for twenty polls
platforms: { names: [ dgx-a100 ] }
let: { other: { device: mlx5_2 } }
timeline:
  - at: 20s
    do: [ { monitor: restart, config: "nicInclusionRegexOverride = \"^mlx5_0$\"" } ]
  - at: 25s
    do: [ { disable: other } ]
    expect: [ { nothing: other, from: 20s, to: 30s } ]
until: 30s
"#;
