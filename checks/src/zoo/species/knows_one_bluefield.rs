//! Knows a BlueField by the type of the second generation only.

use super::{About, Wrong};
use crate::metadata::Metadata;
use crate::name::DeviceName;
use crate::scope::{Placement, Reason};

pub(super) struct KnowsOneBluefield;

impl Wrong for KnowsOneBluefield {
    fn about(&self) -> About {
        About {
            name: "knows-one-bluefield",
            models: "a table of device types that a new generation has outgrown: wrong role on one platform",
            story: STORY,
        }
    }

    fn placement(&self, placement: Placement, _: &Metadata, _: &DeviceName, _: i64) -> Placement {
        match placement {
            Placement::ByLayer {
                ethernet: Some(Reason::BlueField(kind)),
            } if kind.starts_with("MT41692") => Placement::ByLayer { ethernet: None },
            other => other,
        }
    }
}

const STORY: &str = r#"
scenario: a BlueField-3 comes up late on a Grace node
why: it is dark and has no peers for twenty polls
platforms: { names: [ gb200-nvl4 ] }
let: { dpu: { role: management, count: all } }
given: [ { set: dpu, state: DOWN, phys_state: Polling } ]
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 20s
    do: [ { mend: dpu } ]
    expect: [ { nothing: dpu, from: 0s, to: 30s } ]
until: 30s
"#;
