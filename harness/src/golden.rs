//! Golden traces as files: one per scenario, for one platform, in `suite/golden`.
//!
//! [`judge::trace`] formats a trace. Start at [`bless`].

use std::{fs, io, path::Path};

use crate::{
    read_files::regular::{RUN_FILE_BYTES_MAX, text_up_to},
    run_folder::write_whole,
};

/// Writes a trace as the golden one; returns whether the file changed.
///
/// # Errors
/// If the file cannot be written.
pub fn bless(file: &Path, trace: &str) -> io::Result<bool> {
    if text_up_to(file, RUN_FILE_BYTES_MAX).is_ok_and(|kept| kept == trace) {
        return Ok(false);
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    write_whole(file, trace.as_bytes())?;
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
