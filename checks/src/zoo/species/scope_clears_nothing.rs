//! Lets a device go without clearing what it said of it.

use super::{About, Wrong};
use crate::memory::Memory;
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct ScopeClearsNothing;

impl Wrong for ScopeClearsNothing {
    fn about(&self) -> About {
        About {
            name: "scope-clears-nothing",
            models: "a scope that is reset and leaves its old conditions to nobody (field bug B18, the other half)",
            story: STORY,
        }
    }

    fn sayings(&self, _: u64, memory: &mut Memory, _: &Samples, _: &mut Vec<Saying>) {
        memory
            .debts
            .retain(|debt| !debt.message.contains("no longer monitored"));
    }
}

const STORY: &str = r#"
scenario: an operator excludes a NIC whose fault stands
why: nothing is excluded for twenty polls
platforms: { with: { compute_cards: ">= 4", devices: [ mlx5_3 ] } }
let: { victim: { device: mlx5_3, card_ports: 1 } }
timeline:
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { monitor: restart, config: "nicExclusionRegex = \"^mlx5_3$\"" } ]
    expect: [ { cleared: victim, within: 2 polls } ]
until: 25s
"#;
