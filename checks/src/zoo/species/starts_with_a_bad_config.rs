//! Starts with defaults when the configuration is none.

use super::{About, Wrong};
use crate::agent::Refusal;
use crate::config::Config;

pub(super) struct StartsWithABadConfig;

impl Wrong for StartsWithABadConfig {
    fn about(&self) -> About {
        About {
            name: "starts-with-a-bad-config",
            models: "an invalid value that drops the whole file, sysfs paths included (field bug B21)",
            story: STORY,
        }
    }

    fn config(&self, config: Result<Config, Refusal>) -> Result<Config, Refusal> {
        config.or_else(|_| Config::read("", Ok(b""), &mut Vec::new()))
    }
}

const STORY: &str = r#"
scenario: the monitor is restarted with a pattern that is none
why: the configuration is good for twenty polls
timeline:
  - at: 20s
    do: [ { monitor: restart, config: "nicExclusionRegex = \"[\"" } ]
    expect: [ { exit: 1, within: 2 polls } ]
until: 23s
heal: never
because: the monitor refuses to start
"#;
