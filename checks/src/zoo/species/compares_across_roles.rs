//! Compares cards of all roles with each other.

use super::{About, Wrong};
use crate::name::Role;

pub(super) struct ComparesAcrossRoles;

impl Wrong for ComparesAcrossRoles {
    fn about(&self) -> About {
        About {
            name: "compares-across-roles",
            models: "storage cards held against the mode of the compute cards (NVSentinel's design, 4.3.2)",
            story: STORY,
        }
    }

    fn group(&self, _: Role) -> Role {
        Role::Compute
    }
}

const STORY: &str = r#"
scenario: the only storage port trains, as it seems
why: patience covers the first thirty polls; then the peers would speak
platforms: { names: [ h100-oci ] }
let: { aux: { role: storage, healthy: any, nth: 1 } }
given: [ { set: aux, state: DOWN, phys_state: Polling } ]
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 40s
    expect: [ { this_poll: nothing } ]
until: 40s
heal: never
because: the port has no cable by design
"#;
