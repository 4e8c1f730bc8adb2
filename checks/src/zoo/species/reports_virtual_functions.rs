//! Does not look whether a function is virtual.

use super::{About, Wrong};
use crate::hands::{Answer, ReadError};

pub(super) struct ReportsVirtualFunctions;

impl Wrong for ReportsVirtualFunctions {
    fn about(&self) -> About {
        About {
            name: "reports-virtual-functions",
            models: "unassigned virtual functions, dark by design, taken for dead ports (8.6: sixteen false alarms)",
            story: STORY,
        }
    }

    fn physfn(&self, _: Result<Answer, ReadError>) -> Result<Answer, ReadError> {
        Err(ReadError::ENOENT)
    }
}

const STORY: &str = r#"
scenario: virtual functions are created and destroyed
why: there are none for twenty polls
platforms: { names: [ h100-oci, a100-oci ] }
let: { pf: { role: compute, nth: 1 } }
timeline:
  - at: 20s
    do: [ { create_vfs: device of pf, count: 4 } ]
    expect: [ { nothing: pf, from: 20s, to: 40s } ]
  - at: 30s
    do: [ { destroy_vfs: device of pf } ]
until: 40s
"#;
