//! Golden traces as files: one for one platform of each scenario, beside the suite.
//!
//! What a trace says is [`judge::trace`]'s. Start at [`golden_file`].

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use scenarios::Story;

/// The file of a scenario's golden trace in a folder: `<folder>/<family>/<name>.txt`.
#[must_use]
pub fn golden_file(folder: &Path, story: &Story) -> PathBuf {
    folder.join(format!("{}.txt", story.name))
}

/// Keeps a trace as the golden one; whether the file changed.
///
/// # Errors
/// Whatever keeps the file from being written.
pub fn bless(file: &Path, trace: &str) -> io::Result<bool> {
    if fs::read_to_string(file).is_ok_and(|kept| kept == trace) {
        return Ok(false);
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, trace)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blessed_trace_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("port/cut.txt");
        assert!(bless(&file, "a\n").unwrap());
        assert!(!bless(&file, "a\n").unwrap());
        assert_eq!(fs::read_to_string(file).unwrap(), "a\n");
    }
}
