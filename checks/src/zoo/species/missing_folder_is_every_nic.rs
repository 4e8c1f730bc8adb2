//! Takes a missing class folder for the end of every NIC.

use super::{About, Wrong};

pub(super) struct MissingFolderIsEveryNic;

impl Wrong for MissingFolderIsEveryNic {
    fn about(&self) -> About {
        About {
            name: "missing-folder-is-every-nic",
            models: "a driver that is being loaded: eighteen fatal events in one poll",
            story: STORY,
        }
    }

    fn waits_for_the_folder(&self) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: the class folder is missing for a while
why: the folder is there for twenty polls
timeline:
  - at: 20s
    do: [ { list: class/infiniband, fail: ENOENT, for: 5s } ]
    expect: [ { nothing: null, from: 20s, to: 30s } ]
until: 30s
"#;
