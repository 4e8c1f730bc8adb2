//! Stamps a port's fault with the poll in which it began.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::HealthEvent;

pub(super) struct StaleTimestamp;

impl Wrong for StaleTimestamp {
    fn about(&self) -> About {
        About {
            name: "stale-timestamp",
            models: "an event kept as it was first made through every retry, and older than what was said since",
            story: STORY,
        }
    }

    fn event(&self, memory: &Memory, boot_ns: u64, saying: &Saying, event: &mut HealthEvent) {
        let Effect::PortSaid(key, number, _) = &saying.effect else {
            return;
        };
        let port = memory
            .slots
            .get(key)
            .and_then(|slot| slot.ports.get(number));
        let since_ns = port.and_then(|port| port.unhealthy_since_ns);
        let age_s = since_ns.map_or(0, |since_ns| {
            boot_ns.saturating_sub(since_ns) / 1_000_000_000
        });
        if let Some(stamp) = &mut event.generated_timestamp {
            stamp.seconds -= i64::try_from(age_s).unwrap_or(0);
        }
    }
}

const STORY: &str = r#"
scenario: a fault is accepted at its fourth poll
why: every event is accepted at once for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: absent, for: 3s }, { disable: victim } ]
  - at: 23s
    expect: [ { this_poll: [ { fatal: victim, stamped: ">= 23s" } ] } ]
until: 25s
"#;
