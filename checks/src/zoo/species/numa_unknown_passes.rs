//! Lets a NIC on an unknown NUMA node through the gate.

use super::{About, Wrong};
use crate::metadata::Metadata;
use crate::name::DeviceName;
use crate::scope::{self, Placement};

pub(super) struct NumaUnknownPasses;

impl Wrong for NumaUnknownPasses {
    fn about(&self) -> About {
        About {
            name: "numa-unknown-passes",
            models: "-1 taken for node 0",
            story: STORY,
        }
    }

    fn placement(
        &self,
        placement: Placement,
        metadata: &Metadata,
        name: &DeviceName,
        numa_node: i64,
    ) -> Placement {
        match metadata.gpu_numa_nodes().first() {
            Some(first) if numa_node < 0 => scope::place(metadata, name, *first, None),
            _ => placement,
        }
    }
}

const STORY: &str = r#"
scenario: a NIC on an unknown NUMA node comes up late
why: it is dark for twenty polls, and within its patience
platforms: { with: { compute_cards: ">= 4", devices: [ mlx5_3 ] } }
let: { lost: { device: mlx5_3 } }
given:
  - { read: device of lost/device/numa_node, content: "-1\n" }
  - { set: lost, state: DOWN, phys_state: Polling }
timeline:
  - at: 0s
    expect: [ { this_poll: [ { baseline: null, except: lost } ] } ]
  - at: 20s
    do: [ { mend: lost } ]
    expect: [ { nothing: lost, from: 0s, to: 30s } ]
until: 30s
heal: never
because: the NIC stays out of scope as long as its NUMA node is unknown
"#;
