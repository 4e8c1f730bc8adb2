//! Believes that every save succeeded.

use super::{About, Wrong};
use crate::hands::ReadError;

pub(super) struct TrustsTheDisk;

impl Wrong for TrustsTheDisk {
    fn about(&self) -> About {
        About {
            name: "trusts-the-disk",
            models: "a full disk that was full for a minute: what was said then is not on it an hour later",
            story: STORY,
        }
    }

    fn save_result(&self, _: Result<(), ReadError>) -> Result<(), ReadError> {
        Ok(())
    }
}

const STORY: &str = r#"
scenario: the disk is full for a moment
why: every save succeeds for nineteen polls
let: { victim: { nth: 1 } }
timeline:
  - at: 15s
    do: [ { state_file: disk_full }, { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 17s
    do: [ { state_file: writable } ]
  - at: 20s
    do: [ { monitor: restart, signal: KILL } ]
    expect: [ { this_poll: nothing } ]
until: 25s
"#;
