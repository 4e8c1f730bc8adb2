//! A folder that a monitor can write to as well: what it puts there leads to no file of the host, and holds up nobody.
//!
//! A pipe or a device in place of a file is refused, and a link that leads out of the folder. What the files mean is left
//! out. Start at [`SharedFolder::open`].

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Write as _},
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path},
};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags, mkdirat, openat2, unlinkat},
    io::Errno,
};

/// How a path that is read is followed: links within the folder lead on, as they do for a collector.
const WITHIN: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// How a path that is written is followed: no link leads on.
const OWN: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// The most entries of a folder that are looked at. Chosen: a collector's folder has some ten.
const ENTRIES_MAX: usize = 10_000;

/// How many bytes are read at once.
const PIECE: usize = 64 * 1024;

/// Such a folder.
#[derive(Debug)]
pub(super) struct SharedFolder(OwnedFd);

impl SharedFolder {
    /// Opens the folder at a path above which no monitor can write.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let folder = openat2(CWD, path, folder(), Mode::empty(), ResolveFlags::empty())?;
        Ok(Self(folder))
    }

    /// Opens a folder in it, which a monitor may have replaced.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn below(&self, name: &str) -> io::Result<Self> {
        Ok(Self(openat2(&self.0, name, folder(), Mode::empty(), OWN)?))
    }

    /// The names of its entries, in no order.
    ///
    /// # Errors
    /// If it cannot be read, or has more entries than a monitor needs.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
            if names.len() > ENTRIES_MAX {
                let what = format!("it has more than {ENTRIES_MAX} entries");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
            }
        }
        Ok(names)
    }

    /// Reads a regular file piece by piece, as far as `take` wants it, and waits for nobody.
    ///
    /// # Errors
    /// Of the file, and of `take`.
    pub(super) fn read(
        &self,
        name: impl AsRef<Path>,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = openat2(&self.0, name.as_ref(), flags, Mode::empty(), WITHIN);
        let mut file = File::from(opened.map_err(refused)?);
        if !file.metadata()?.is_file() {
            let what = "it is not a regular file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut piece = vec![0; PIECE];
        loop {
            match file.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(len) => take(&piece[..len])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes a file anew, in place of whatever is there, with the folders on the way to it.
    ///
    /// # Errors
    /// If a folder on the way is none, or the system refuses a file.
    pub(super) fn write(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut at = self.0.try_clone()?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            let Component::Normal(part) = part else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            match mkdirat(&at, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            at = openat2(&at, part, folder(), Mode::empty(), OWN)?;
        }
        match unlinkat(&at, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = openat2(&at, name, flags, Mode::from_raw_mode(0o666), OWN)?;
        File::from(made).write_all(text)
    }
}

/// How a folder is opened.
fn folder() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

/// A refusal of a path in words, where the system's are about something else.
fn refused(errno: Errno) -> io::Error {
    match errno {
        Errno::XDEV => io::Error::other("it leads out of the folder"),
        errno => errno.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use rustix::fs::{FileType, mknodat};

    use super::*;

    /// What is read of a file, of at most ten bytes.
    fn read(folder: &SharedFolder, name: &str) -> Result<String, String> {
        let mut text = Vec::new();
        let read = folder.read(name, |piece| {
            text.extend_from_slice(piece);
            match text.len() {
                0..=10 => Ok(()),
                _ => Err(io::Error::other("enough")),
            }
        });
        read.map(|()| String::from_utf8(text).unwrap())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn only_regular_files_within_the_folder_are_read() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        let path = outside.path().join("shared");
        fs::create_dir(&path).unwrap();
        let shared = SharedFolder::open(&path).unwrap();
        fs::write(path.join("a"), "12345").unwrap();
        symlink("a", path.join("link")).unwrap();
        symlink("../secret", path.join("out")).unwrap();
        symlink("/dev/zero", path.join("device")).unwrap();
        mknodat(CWD, path.join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        fs::create_dir(path.join("folder")).unwrap();
        let own = |text: &str| Ok(text.to_owned());
        let not = |text: &str| Err(text.to_owned());
        assert_eq!(read(&shared, "a"), own("12345"));
        assert_eq!(read(&shared, "link"), own("12345"));
        assert_eq!(read(&shared, "out"), not("it leads out of the folder"));
        assert_eq!(read(&shared, "device"), not("it leads out of the folder"));
        assert_eq!(read(&shared, "pipe"), not("it is not a regular file"));
        assert_eq!(read(&shared, "folder"), not("it is not a regular file"));
        let mut names = shared.names().unwrap();
        names.sort();
        assert_eq!(names, ["a", "device", "folder", "link", "out", "pipe"]);
    }

    #[test]
    fn a_file_is_read_as_far_as_it_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let endless = File::create(folder.path().join("sparse")).unwrap();
        endless.set_len(1 << 40).unwrap();
        let shared = SharedFolder::open(folder.path()).unwrap();
        assert_eq!(read(&shared, "sparse"), Err("enough".to_owned()));
    }

    #[test]
    fn what_is_written_replaces_a_link_and_a_pipe_and_follows_neither() {
        let outside = tempfile::tempdir().unwrap();
        let host = outside.path().join("of-the-host");
        fs::write(&host, "as before").unwrap();
        let path = outside.path().join("shared");
        fs::create_dir(&path).unwrap();
        symlink("../of-the-host", path.join("link")).unwrap();
        symlink("..", path.join("way")).unwrap();
        mknodat(CWD, path.join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        let shared = SharedFolder::open(&path).unwrap();
        for name in ["link", "pipe", "new", "a/b/c"] {
            shared.write(Path::new(name), b"text").unwrap();
            assert_eq!(fs::read_to_string(path.join(name)).unwrap(), "text");
        }
        assert_eq!(fs::read_to_string(&host).unwrap(), "as before");
        shared.write(Path::new("way/of-the-host"), b"").unwrap_err();
        shared.write(Path::new("../of-the-host"), b"").unwrap_err();
        assert_eq!(fs::read_to_string(&host).unwrap(), "as before");
    }

    #[test]
    fn a_folder_that_is_a_link_is_not_entered() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("there")).unwrap();
        symlink("there", folder.path().join("link")).unwrap();
        let shared = SharedFolder::open(folder.path()).unwrap();
        shared.below("there").unwrap();
        shared.below("link").unwrap_err();
        shared.below("gone").unwrap_err();
    }
}
