//! How far the run in a folder came. Start at [`RunFolder::not_reached`].

use std::{collections::BTreeSet, path::Path};

use super::{RunFolder, drill_and_cause};
use crate::read_files::regular::{RUN_FILE_BYTES_MAX, text_up_to};

/// The lists of drills that were reached, each drill in one or two of them.
const LISTS: [&str; 4] = ["passed.txt", "failed.txt", "known.txt", "skipped.txt"];

impl RunFolder {
    /// How many drills of the run in this folder are in none of its lists, and how many it was to play: it was interrupted or
    /// killed, its budget ended, or the lists could not be written. `None` if all are, or if there is no run.
    #[must_use]
    pub fn not_reached(path: &Path) -> Option<(usize, usize)> {
        let text = |name: &str| text_up_to(&path.join(name), RUN_FILE_BYTES_MAX).ok();
        let plan: serde_json::Value = serde_json::from_str(&text("run.json")?).ok()?;
        let all = plan.get("drills")?.as_array()?.len();
        let lists: Vec<String> = LISTS.into_iter().filter_map(text).collect();
        let lines = lists.iter().flat_map(|list| list.lines());
        let reached: BTreeSet<&str> = lines
            .map(|line| drill_and_cause(line).0)
            .filter(|drill| !drill.is_empty())
            .collect();
        let left = all.saturating_sub(reached.len());
        (left > 0).then_some((left, all))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn drills_that_are_in_no_list_were_not_reached() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(RunFolder::not_reached(folder.path()), None);
        file("run.json", "{\"drills\":[1,2,3,4]}");
        assert_eq!(RunFolder::not_reached(folder.path()), Some((4, 4)));
        file("passed.txt", "port/a@p\n");
        file("failed.txt", "my port/b@p port/b#x\nmy port/b@p port/b#y\n");
        assert_eq!(RunFolder::not_reached(folder.path()), Some((2, 4)));
        file("known.txt", "my port/b@p port/b#z\nmy port/c@p port/c#x\n");
        file("skipped.txt", "port/d@p\n");
        assert_eq!(RunFolder::not_reached(folder.path()), None);
    }
}
