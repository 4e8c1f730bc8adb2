//! Reports a standing fault at every poll.

use super::{About, Wrong};
use crate::reading::Severity;

pub(super) struct DoubleReporter;

impl Wrong for DoubleReporter {
    fn about(&self) -> About {
        About {
            name: "double-reporter",
            models: "an unhealthy port compared with healthy instead of with before",
            story: STORY,
        }
    }

    fn is_rise(&self, _: Option<Severity>, _: Severity) -> bool {
        true
    }
}

const STORY: &str = r#"
scenario: a port is disabled and stays so
why: nothing is reported twice before something is reported
let: { victim: { nth: 1 } }
timeline:
  - at: 19s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
