//! Resolves a tie of two counts upward.

use super::{About, Wrong};
use crate::peers::mode::mode;

pub(super) struct TieGoesUp;

impl Wrong for TieGoesUp {
    fn about(&self) -> About {
        About {
            name: "tie-goes-up",
            models: "one dark card of two taken for the odd one (field bug B15)",
            story: STORY,
        }
    }

    fn mode(&self, counts: &[usize]) -> Option<usize> {
        let tie = counts.len() == 2 && counts[0] != counts[1];
        if tie {
            counts.iter().max().copied()
        } else {
            mode(counts)
        }
    }
}

const STORY: &str = r#"
scenario: one of two cards is dark after a reboot
why: both cards are up for twenty polls
platforms: { names: [ l40-onprem ] }
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { disable: victim }, { reboot: { takes: 30s } } ]
  - at: 50s
    expect: [ { this_poll: [ { reboot_baseline: null, except: victim } ] } ]
  - at: 60s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim } ]
until: 65s
"#;
