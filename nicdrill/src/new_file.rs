//! A file that did not exist before, whole or not at all. Start at [`write_new`].

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

/// Writes a new file with these permissions, of which the process's mask leaves out some. What cannot be written to its
/// end is removed, so that it does not stand in the way of another attempt.
///
/// # Errors
/// Those of the system; [`io::ErrorKind::AlreadyExists`] if there is a file of this name.
pub(crate) fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes()).inspect_err(|_| {
        // The first error is the one to tell.
        let _ = fs::remove_file(path);
    })
}
