//! A standard input that ends at once. Start at [`empty_input`].

use std::{io, path::Path, process::Stdio};

/// The file that other systems than bare containers have.
const NULL: &str = "/dev/null";

/// `/dev/null`, or where it is missing, as in a container whose `/dev` has `fuse` alone, a pipe that nobody writes to.
///
/// # Errors
/// That of `pipe(2)`.
pub(super) fn empty_input() -> io::Result<Stdio> {
    if Path::new(NULL).exists() {
        return Ok(Stdio::null());
    }
    let (reader, _) = io::pipe()?;
    Ok(reader.into())
}
