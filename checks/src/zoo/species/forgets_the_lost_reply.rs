//! Takes a call that was not answered for one that never arrived.

use super::{About, Wrong};

pub(super) struct ForgetsTheLostReply;

impl Wrong for ForgetsTheLostReply {
    fn about(&self) -> About {
        About {
            name: "forgets-the-lost-reply",
            models: "a fault that the connector has and the monitor does not know of: nothing ever clears it",
            story: STORY,
        }
    }

    fn keeps_doubt(&self) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: a call is not answered, and the port is up again
why: every call is answered for twenty polls
flags: [ --publish-timeout=1s, --publish-attempts=1 ]
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: hang, calls: 1 }, { set: victim, state: DOWN, phys_state: Disabled } ]
    expect: [ { this_poll: [ { said: { fatal: victim } } ] } ]
  - at: 21s
    do: [ { set: victim, state: ACTIVE, phys_state: LinkUp } ]
    expect: [ { this_poll: [ { healthy: victim } ] } ]
until: 25s
"#;
