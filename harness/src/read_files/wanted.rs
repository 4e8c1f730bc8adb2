//! Whether a file that is given as one of a kind says by its keys that it is of another. Start at [`is_wanted`].

use super::error::ReadError;
use crate::check::kind::FileKind;

/// Refuses a text that says by its keys that it is none of these kinds; `wanted` is their name. One that says nothing is left
/// to its reader.
///
/// # Errors
/// [`ReadError::OtherKind`].
pub fn is_wanted(
    path: &str,
    text: &str,
    wanted: &'static str,
    kinds: &[FileKind],
) -> Result<(), ReadError> {
    let Some(kind) = FileKind::of(path, text).filter(|kind| !kinds.contains(kind)) else {
        return Ok(());
    };
    let hint = match kind {
        FileKind::Platform | FileKind::Driver => {
            "platforms are given by `--platform`, with the drivers that they name in one folder; `nicdrill check` reads both"
        }
        FileKind::Descriptor if kinds.contains(&FileKind::AlertRules) => {
            "give it by `--descriptor`, and the file of its rules without a flag"
        }
        FileKind::Descriptor => "a monitor is given by `--monitor`",
        FileKind::Scenario | FileKind::World => "scenarios and worlds are named without a flag",
        FileKind::Needs => "needs are given by `--needs`",
        FileKind::Known => "known deviations are given by `--known`",
        FileKind::AlertRules => {
            "alert rules are named by a descriptor; `nicdrill rules` takes them alone"
        }
        _ if kinds.contains(&FileKind::Platform) => {
            "`nicdrill platform new NAME` writes a platform's file to start from"
        }
        _ => "`nicdrill check` reads files of every kind",
    };
    Err(ReadError::OtherKind {
        path: path.to_owned(),
        is: kind.to_string(),
        wanted,
        hint,
    })
}
