//! Files that are replaced whole: what cannot be written to its end leaves the file that was there. Start at [`write_whole`].
//!
//! The text goes to a file beside the one it is for, with its owner and permissions, which then takes its name. Where that cannot
//! be done, because the folder takes no new file or the file is a mount of its own, the file is written in place. Devices, pipes and the files behind
//! `/dev` and `/proc` are written in place too: whoever has them open reads on. A link stays one.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, fchown},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{OFlags, fcntl_setfl},
    io::Errno,
};

use crate::process::run_pid;

/// With these errors a file is written in place: its folder takes no new file, the owner of the file cannot be given to another
/// one, or the file is a mount.
const IN_PLACE: [Errno; 6] = [
    Errno::ACCESS,
    Errno::BUSY,
    Errno::INVAL,
    Errno::PERM,
    Errno::ROFS,
    Errno::XDEV,
];

/// How many links in a row are followed: as many as Linux does (`path_resolution(7)`).
const LINKS_MAX: u32 = 40;

/// Replaces a file, or makes it.
///
/// # Errors
/// Those of the system; the file that was there is then as it was, unless it had to be written in place.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let there = fs::metadata(path);
    if there.as_ref().is_ok_and(|it| it.file_type().is_fifo()) {
        return write_pipe(path, bytes);
    }
    let is_other = there.is_ok_and(|there| !there.is_file());
    if is_other || path.starts_with("/dev") || path.starts_with("/proc") {
        return fs::write(path, bytes);
    }
    let target = behind_links(path)?;
    let beside = beside(&target);
    let made = write_beside(&target, &beside, bytes).and_then(|()| fs::rename(&beside, &target));
    let Err(error) = made else { return Ok(()) };
    // The first error is the one to tell.
    let _ = fs::remove_file(&beside);
    match Errno::from_io_error(&error) {
        Some(error) if IN_PLACE.contains(&error) && target.exists() => fs::write(&target, bytes),
        _ => Err(error),
    }
}

/// Writes into a pipe that somebody reads: of one that nobody has open, the reader would be waited for without end.
fn write_pipe(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let pipe = options.custom_flags(flags).open(path);
    let mut pipe = pipe.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NXIO) => io::Error::other("nobody reads this pipe"),
        _ => error,
    })?;
    // Its reader may be slow.
    fcntl_setfl(&pipe, OFlags::empty())?;
    pipe.write_all(bytes)
}

fn write_beside(target: &Path, beside: &Path, bytes: &[u8]) -> io::Result<()> {
    // One of a run that was killed, whose process had this number.
    if let Err(error) = fs::remove_file(beside)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(beside)?;
    file.write_all(bytes)?;
    if let Ok(there) = fs::metadata(target) {
        let made = file.metadata()?;
        if (there.uid(), there.gid()) != (made.uid(), made.gid()) {
            fchown(&file, Some(there.uid()), Some(there.gid()))?;
        }
        file.set_permissions(there.permissions())?;
    }
    Ok(())
}

/// The name of the file beside another one, hidden and of this process.
fn beside(target: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{}.part", run_pid()));
    target.with_file_name(name)
}

/// What a path leads to through links, whether it exists or not.
///
/// # Errors
/// If links lead to one another.
pub(super) fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&target) {
            Ok(to) => target = target.parent().unwrap_or(Path::new("")).join(to),
            // It is no link, or not there.
            Err(_) => return Ok(target),
        }
    }
    Err(Errno::LOOP.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_pipe_that_nobody_reads_is_an_error_and_one_that_is_read_gets_all() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let error = write_whole(&pipe, b"after").unwrap_err();
        assert_eq!(error.to_string(), "nobody reads this pipe");
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let mut options = OpenOptions::new();
        let reader = options.read(true).custom_flags(flags).open(&pipe).unwrap();
        write_whole(&pipe, b"after").unwrap();
        assert_eq!(io::read_to_string(reader).unwrap(), "after");
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "before").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        write_whole(&file, b"after").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"after");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_one_and_leads_to_the_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("there")).unwrap();
        symlink("there/file", at("link")).unwrap();
        symlink("link", at("link-of-it")).unwrap();
        for text in ["first", "second"] {
            write_whole(&at("link-of-it"), text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(at("there/file")).unwrap(), text);
        }
        assert!(at("link").is_symlink() && at("link-of-it").is_symlink());
        symlink("b", at("a")).unwrap();
        symlink("a", at("b")).unwrap();
        assert!(write_whole(&at("a"), b"x").is_err());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "before").unwrap();
        // Something that cannot be removed is in the way of the new file.
        fs::create_dir(beside(&file)).unwrap();
        write_whole(&file, b"after").unwrap_err();
        assert_eq!(fs::read(&file).unwrap(), b"before");
    }

    #[test]
    fn a_device_is_written_and_stays_one() {
        let error = write_whole(Path::new("/dev/full"), b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        write_whole(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
