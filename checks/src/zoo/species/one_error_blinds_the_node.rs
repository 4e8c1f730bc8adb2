//! Says nothing in a poll in which some port cannot be read.

use super::{About, Wrong};
use crate::memory::Memory;
use crate::sample::{PortSample, Samples};
use crate::saying::Saying;

pub(super) struct OneErrorBlindsTheNode;

impl Wrong for OneErrorBlindsTheNode {
    fn about(&self) -> About {
        About {
            name: "one-error-blinds-the-node",
            models: "a poll given up at its first error, so that one bad file hides every other port",
            story: STORY,
        }
    }

    fn sayings(&self, _: u64, memory: &mut Memory, samples: &Samples, sayings: &mut Vec<Saying>) {
        let mut ports = memory.slots.iter().flat_map(|(key, slot)| {
            slot.ports
                .keys()
                .map(|number| samples.of(key).port(*number))
        });
        if ports.any(|sample| matches!(sample, PortSample::Unreadable(_))) {
            sayings.clear();
        }
    }
}

const STORY: &str = r#"
scenario: a port goes dark while another cannot be read
why: every file can be read for twenty polls
let: { victim: { nth: 1 }, other: { nth: last, not: victim } }
timeline:
  - at: 20s
    do: [ { read: other/state, fail: EIO, for: 3s }, { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 30s
"#;
