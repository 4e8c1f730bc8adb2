//! The claim of a run on its folder: a marker, locked (`flock(2)`) for as long as the run lasts.
//!
//! The marker makes a folder that of an earlier run; nothing else does. While the run lasts, it names the
//! process on a second line, so that another run can be refused by name.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

use super::{IGNORE, LISTS, RunFolderError, create_folder};
use crate::{process::run_pid, read_files::RUN_MARKER};

/// Its first line.
const TEXT: &str = "the folder of a run of nicdrill\n";

/// The most bytes of a marker that are read: its text and a process id of ten digits.
const READ_MAX: u64 = 128;

/// A folder that is this run's.
#[derive(Debug)]
pub(super) struct Claim(File);

/// Which markers make a folder that of an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// One that nicdrill wrote, whole.
    Whole,
    /// One of any content, because the user says so.
    Any,
}

/// What a folder is.
enum Found {
    /// Empty, and claimed now.
    Empty(Claim),
    /// An earlier run's, claimed so that nobody else puts it aside.
    Earlier(Claim),
    /// Put aside by another run while it was opened.
    Moved,
}

impl Claim {
    /// Claims a folder, which is created; an earlier run there is renamed to `<path>.old`, and the older one
    /// there removed. An earlier run that told nothing is not kept: its folder is used again.
    ///
    /// # Errors
    /// If either folder contains something other than an earlier run, or a run that lasts, or cannot be
    /// written.
    pub(super) fn of(path: &Path, marker: Marker) -> Result<Self, RunFolderError> {
        loop {
            if let Some(path) = no_folder(path) {
                return Err(RunFolderError::NoFolder { path });
            }
            create_folder(path)?;
            match Found::at(path, marker)? {
                Found::Empty(claim) => return Ok(claim),
                Found::Earlier(mut claim) if !has_told(path) => {
                    let written = claim.write();
                    written.map_err(RunFolderError::writing(path))?;
                    return Ok(claim);
                }
                Found::Earlier(claim) => {
                    put_aside(path, marker)?;
                    drop(claim);
                }
                Found::Moved => {}
            }
        }
    }

    /// Writes the marker from its begin, over what is there.
    fn write(&mut self) -> io::Result<()> {
        self.0.rewind()?;
        let text = format!("{TEXT}process {}\n", run_pid());
        self.0.write_all(text.as_bytes())?;
        self.0.set_len(text.len() as u64)
    }
}

/// The marker of a run that ended names no process.
impl Drop for Claim {
    fn drop(&mut self) {
        // It is never made longer: what a full disk did not take would be NULs, and the folder nobody's.
        let whole = TEXT.len() as u64;
        if self.0.metadata().is_ok_and(|marker| marker.len() > whole) {
            // If it stays, nobody reads it: a process is named only while the marker is locked.
            let _ = self.0.set_len(whole);
        }
    }
}

impl Found {
    fn at(path: &Path, wanted: Marker) -> Result<Self, RunFolderError> {
        let failed = RunFolderError::writing(path);
        let not_ours = || RunFolderError::NotOurs {
            path: path.to_owned(),
        };
        let bad_marker = || RunFolderError::BadMarker {
            path: path.to_owned(),
        };
        let marker = path.join(RUN_MARKER);
        let of_marker = RunFolderError::writing(&marker);
        let is_marked = || fs::symlink_metadata(&marker).is_ok();
        if !is_marked() && !is_empty(path).map_err(failed)? {
            // Between the two questions another run may have begun.
            return if is_marked() {
                Ok(Self::Moved)
            } else {
                Err(not_ours())
            };
        }
        // nicdrill writes a file, and neither a link nor anything else.
        if let Ok(found) = fs::symlink_metadata(&marker)
            && !found.is_file()
        {
            if wanted == Marker::Whole {
                return Err(bad_marker());
            }
            let removed = match found.is_dir() {
                true => fs::remove_dir_all(&marker),
                false => fs::remove_file(&marker),
            };
            removed.map_err(of_marker)?;
        }
        let no_link = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = match options.custom_flags(no_link).mode(0o644).open(&marker) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Moved),
            Err(cause) => return Err(of_marker(cause)),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let text = read(&mut file).map_err(of_marker)?;
                return Err(RunFolderError::InUse {
                    path: path.to_owned(),
                    process: text
                        .strip_prefix(TEXT)
                        .unwrap_or_default()
                        .trim()
                        .to_owned(),
                });
            }
            Err(TryLockError::Error(cause)) => return Err(of_marker(cause)),
        }
        let opened = file.metadata().map_err(of_marker)?;
        match fs::symlink_metadata(&marker) {
            Ok(named) if (named.dev(), named.ino()) == (opened.dev(), opened.ino()) => {}
            _ => return Ok(Self::Moved),
        }
        let text = read(&mut file).map_err(of_marker)?;
        if text.starts_with(TEXT) {
            return Ok(Self::Earlier(Claim(file)));
        }
        // What a killed run or a full disk left of a marker.
        let is_rest = TEXT.starts_with(&text) || text.chars().all(|char| char == '\0');
        let is_new = is_rest && is_only(path, RUN_MARKER).map_err(failed)?;
        if !is_new && wanted == Marker::Whole {
            return Err(bad_marker());
        }
        let mut claim = Claim(file);
        claim.write().map_err(|cause| {
            if is_new {
                // Written whole or not at all. If this fails too, the rest of it is known for what it is.
                let _ = fs::remove_file(&marker);
            }
            of_marker(cause)
        })?;
        Ok(match is_new {
            true => Self::Empty(claim),
            false => Self::Earlier(claim),
        })
    }
}

/// Whether there is more in a run's folder than it has before it tells anything: its marker and empty lists.
fn has_told(path: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(path) else {
        return true;
    };
    entries.any(|entry| {
        let Ok(entry) = entry else { return true };
        let is_nothing = match entry.file_name().to_str() {
            Some(RUN_MARKER | IGNORE) => true,
            Some(name) if LISTS.contains(&name) => entry
                .metadata()
                .is_ok_and(|file| file.is_file() && file.len() == 0),
            _ => false,
        };
        !is_nothing
    })
}

/// The part of a path that is there and is no folder, so that it cannot be that of a run; `None` if there is none.
fn no_folder(path: &Path) -> Option<PathBuf> {
    let there = path.ancestors().find(|part| fs::metadata(part).is_ok())?;
    (!there.is_dir()).then(|| there.to_owned())
}

/// Renames an earlier run, which is claimed, to `<path>.old`; an older one there is removed.
fn put_aside(path: &Path, marker: Marker) -> Result<(), RunFolderError> {
    let mut old = path.as_os_str().to_owned();
    old.push(".old");
    let old = PathBuf::from(old);
    let failed = RunFolderError::writing(&old);
    if fs::symlink_metadata(&old).is_ok() {
        if !old.is_dir() {
            return Err(RunFolderError::NoFolder { path: old });
        }
        if !is_empty(&old).map_err(failed)? {
            match Found::at(&old, marker)? {
                Found::Earlier(_claim) => fs::remove_dir_all(&old).map_err(failed)?,
                Found::Empty(_) | Found::Moved => {}
            }
        }
    }
    fs::rename(path, &old).map_err(failed)
}

/// The begin of a marker.
fn read(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(READ_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_empty(folder: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(folder)?.next().is_none())
}

/// Whether a folder contains this and nothing else.
fn is_only(folder: &Path, name: &str) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        if entry?.file_name() != name {
            return Ok(false);
        }
    }
    Ok(true)
}
