//! Reports an InfiniBand device that vanished under the Ethernet check too.

use super::{About, Wrong};
use crate::debt::Subject;
use crate::memory::{Effect, Memory};
use crate::message;
use crate::name::LinkLayer;
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct GoneOnBothLayers;

impl Wrong for GoneOnBothLayers {
    fn about(&self) -> About {
        About {
            name: "gone-on-both-layers",
            models: "each state check owning every device: a second fatal that nothing ever clears (field bug B09)",
            story: STORY,
        }
    }

    fn sayings(&self, _: u64, _: &mut Memory, _: &Samples, sayings: &mut Vec<Saying>) {
        let both: Vec<Saying> = sayings.iter().filter_map(on_ethernet).collect();
        sayings.extend(both);
    }
}

fn on_ethernet(saying: &Saying) -> Option<Saying> {
    let (Effect::Gone(key, LinkLayer::InfiniBand), Subject::Device(name)) =
        (&saying.effect, &saying.subject)
    else {
        return None;
    };
    Some(Saying {
        check: LinkLayer::Ethernet.state_check(),
        message: message::device_gone(LinkLayer::Ethernet, name),
        effect: Effect::Gone(key.clone(), LinkLayer::Ethernet),
        ..saying.clone()
    })
}

const STORY: &str = r#"
scenario: an InfiniBand device vanishes
why: nothing vanishes for twenty polls
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 20s
    do: [ { remove: device of victim } ]
    expect: [ { this_poll: [ { fatal: device of victim } ] } ]
until: 25s
heal: never
because: what is told is the fault
"#;
