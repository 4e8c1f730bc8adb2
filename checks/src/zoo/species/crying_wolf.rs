//! Reports a fault of a healthy port.

use super::{About, GRACE_POLLS, Wrong};
use crate::debt::Subject;
use crate::memory::{Effect, Memory};
use crate::message;
use crate::reading::Severity;
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct CryingWolf;

impl Wrong for CryingWolf {
    fn about(&self) -> About {
        About {
            name: "crying-wolf",
            models: "a singleton port that is down by design, reported fatal (OCI H100, NVSentinel 1361)",
            story: STORY,
        }
    }

    fn sayings(&self, polls: u64, memory: &mut Memory, _: &Samples, sayings: &mut Vec<Saying>) {
        if polls == GRACE_POLLS + 1 {
            sayings.extend(wolf(memory));
        }
    }
}

fn wolf(memory: &Memory) -> Option<Saying> {
    let (key, slot) = memory.slots.first_key_value()?;
    let (number, port) = slot.ports.first_key_value()?;
    let reading = port.reading.as_ref()?;
    Some(Saying {
        check: port.layer.state_check(),
        severity: Some(Severity::Fatal),
        message: message::port_unhealthy(port.layer, &slot.name, *number, reading, None),
        subject: Subject::Port(slot.name.clone(), *number),
        effect: Effect::PortSaid(key.clone(), *number, Severity::Fatal),
    })
}

const STORY: &str = r#"
scenario: nothing happens
why: it cries in its twenty-first poll
timeline:
  - at: 20s
    expect: [ { this_poll: nothing } ]
until: 25s
"#;
