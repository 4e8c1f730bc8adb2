//! What the run in a folder drilled, as its plan tells it. Start at [`RunFolder::plan_before`].

use std::path::Path;

use serde::Deserialize;

use super::{RunFolder, RunFolderError};
use crate::read_files::regular::{RUN_FILE_BYTES_MAX, text_up_to};

/// The monitor of a run that is over, and how the same is asked for again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PlanBefore {
    /// The name of the monitor's descriptor.
    pub monitor: String,
    /// The arguments that select the same scenario files, monitor, platform files and needs; empty for the built-in suite and
    /// nicdrill's own monitor.
    #[serde(default)]
    pub again: Vec<String>,
}

impl RunFolder {
    /// The plan of the run in this folder.
    ///
    /// # Errors
    /// [`RunFolderError::NoPlan`] if there is none, or if it is damaged: then nobody knows which monitor was drilled.
    pub fn plan_before(path: &Path) -> Result<PlanBefore, RunFolderError> {
        let path = path.join("run.json");
        let read = text_up_to(&path, RUN_FILE_BYTES_MAX).map_err(|error| error.to_string());
        let plan = read.and_then(|text| {
            serde_json::from_str(&text).map_err(|error| format!("it is damaged: {error}"))
        });
        plan.map_err(|cause| RunFolderError::NoPlan { path, cause })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Of what is read, a part is not taken for the whole: without the monitor's words another one would be drilled.
    #[test]
    fn a_plan_that_is_absent_cut_short_or_damaged_is_no_plan() {
        let folder = tempfile::tempdir().unwrap();
        let told = || {
            let error = RunFolder::plan_before(folder.path()).unwrap_err();
            assert!(matches!(error, RunFolderError::NoPlan { .. }), "{error}");
            error.to_string()
        };
        assert!(told().contains("run.json` does not tell which monitor"));
        let whole = r#"{"monitor":"mine","again":["--monitor","mine.yaml"],"drills":[]}"#;
        let damaged = [
            "",
            &whole[..whole.len() / 2],
            r#"{"again":["--monitor","mine.yaml"]}"#,
            r#"{"monitor":"mine","again":"--monitor mine.yaml"}"#,
            r#"{"monitor":"mine","again":["--monitor",7]}"#,
        ];
        for text in damaged {
            fs::write(folder.path().join("run.json"), text).unwrap();
            assert!(told().contains("it is damaged: "), "{text}");
        }
        fs::write(folder.path().join("run.json"), whole).unwrap();
        let plan = RunFolder::plan_before(folder.path()).unwrap();
        assert_eq!(plan.again, ["--monitor", "mine.yaml"]);
    }
}
