//! Stamps a fault with the poll's own time, as the clearing before it in the same call.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::HealthEvent;

pub(super) struct ClearsAndFaultsAtOnce;

impl Wrong for ClearsAndFaultsAtOnce {
    fn about(&self) -> About {
        About {
            name: "clears-and-faults-at-once",
            models: "one stamp for a whole call: the connector's sort is not stable, and a clear may follow the fault that it precedes",
            story: STORY,
        }
    }

    fn event(&self, memory: &Memory, _: u64, saying: &Saying, event: &mut HealthEvent) {
        let is_clear = matches!(saying.effect, Effect::Paid(_));
        let is_renamed = memory
            .debts
            .iter()
            .any(|debt| debt.message.contains(" is now "));
        if let Some(stamp) = &mut event.generated_timestamp
            && (is_clear || is_renamed)
        {
            // Whatever was counted up within the call is below a microsecond.
            stamp.nanos -= stamp.nanos % 1_000;
        }
    }
}

const STORY: &str = r#"
scenario: two devices with dark ports swap their names
why: nothing is cleared and reported in one call for twenty polls
platforms: { names: [ dgx-h100 ] }
let: { one: { device: mlx5_3 }, two: { device: mlx5_4 } }
timeline:
  - at: 10s
    do: [ { disable: [ one, two ] } ]
    expect: [ { this_poll: [ { fatal: [ one, two ] } ] } ]
  - at: 20s
    do: [ { rename: device of one, to: mlx5_42 }, { rename: device of two, to: mlx5_3 }, { rename: device of one, to: mlx5_4 } ]
    expect:
      - this_poll:
          - { cleared: { name: mlx5_3, port: 1 } }
          - { cleared: { name: mlx5_4, port: 1 } }
          - { fatal: [ one, two ] }
until: 25s
"#;
