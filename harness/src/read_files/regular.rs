//! Opens and reads regular files only: a device has no end, and a pipe may have no writer. Start at [`open`].

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use rustix::fs::OFlags;

/// The largest file of a run's folder that is read, in bytes. Chosen: a list of 100,000 findings has 20 MiB.
pub(crate) const RUN_FILE_BYTES_MAX: u64 = 64 << 20;

/// Opens a regular file to read it, and waits for nobody.
///
/// # Errors
/// If it cannot be opened, or is a folder, a device, a pipe or a socket.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let (file, found) = open_any(path)?;
    if found.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is not a regular file",
    ))
}

/// Opens a file of any kind without waiting for anybody, with what it is.
///
/// # Errors
/// If it cannot be opened.
pub(super) fn open_any(path: &Path) -> io::Result<(File, Metadata)> {
    // A pipe that nobody writes would hold the command for ever.
    let no_wait = OFlags::NONBLOCK.bits().cast_signed();
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(no_wait).open(path)?;
    let found = file.metadata()?;
    Ok((file, found))
}

/// Reads a text of at most `most` bytes from a regular file.
///
/// # Errors
/// As those of [`open`], and if it is larger or no text in UTF-8.
pub(crate) fn text_up_to(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        let what = format!("it has more than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_a_device_and_a_folder_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            let told = text_up_to(path, 10).unwrap_err().to_string();
            assert_eq!(told, "it is not a regular file");
        }
    }

    #[test]
    fn a_file_over_the_bound_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "12345").unwrap();
        assert_eq!(text_up_to(&path, 5).unwrap(), "12345");
        let told = text_up_to(&path, 4).unwrap_err().to_string();
        assert_eq!(told, "it has more than 4 bytes");
    }
}
