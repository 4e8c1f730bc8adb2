//! Texts from files and from standard input, within a size limit, and the `.yaml` files of a folder. Start at
//! [`text_of`].

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use super::{error::ReadError, regular};
use files::yaml::MAX_BYTES;

/// The largest accepted size of a file, in bytes.
const MAX_FILE_BYTES: u64 = MAX_BYTES as u64;

/// The file by which a folder is that of a run.
pub(crate) const RUN_MARKER: &str = ".nicdrill-run";

/// The depth to which folders are listed. Chosen: a suite is `folder/family/name.yaml`; the limit
/// ends a loop of links.
const DEPTH_MAX: usize = 8;

/// Reads a text file, within the size limit. Only a regular file is read: a device has no end, and a pipe may
/// have no writer.
///
/// # Errors
/// If it cannot be read, is no regular file, is too large, or is not text.
pub fn text_of(path: &Path) -> Result<String, ReadError> {
    let name = path.display().to_string();
    let io = |cause| ReadError::io(path, cause);
    let (file, found) = regular::open_any(path).map_err(io)?;
    if !found.is_file() {
        return Err(ReadError::NotAFile { path: name });
    }
    let mut bytes = Vec::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    let read = read.map_err(io)? as u64;
    if read > MAX_FILE_BYTES {
        let bytes = found.len().max(read);
        return Err(ReadError::TooLarge { path: name, bytes });
    }
    text(name, bytes)
}

/// Reads a text file like [`text_of`]; `None` if there is none.
///
/// # Errors
/// As those of [`text_of`].
pub fn text_if_any(path: &Path) -> Result<Option<String>, ReadError> {
    match path.try_exists() {
        Ok(false) => Ok(None),
        _ => text_of(path).map(Some),
    }
}

/// The name of the standard input in errors.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// Reads a text from standard input, within the size limit.
///
/// # Errors
/// If it cannot be read, is too large, or is not text.
pub fn text_in() -> Result<String, ReadError> {
    let path = STANDARD_INPUT.to_owned();
    let mut bytes = Vec::new();
    let read = io::stdin().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    match read {
        Err(cause) => Err(ReadError::io(Path::new(&path), cause)),
        Ok(count) if count as u64 > MAX_FILE_BYTES => Err(ReadError::TooLarge {
            path,
            bytes: count as u64,
        }),
        Ok(_) => text(path, bytes),
    }
}

fn text(path: String, bytes: Vec<u8>) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        ReadError::NotText { path, line }
    })
}

/// The `.yaml` and `.yml` files at or below a path, in order; see [`files_below`].
pub(crate) fn yaml_files(path: &Path, wanted: &'static str) -> Result<Vec<PathBuf>, ReadError> {
    let files = files_below(path, &["yaml", "yml"])?;
    if files.is_empty() {
        return Err(ReadError::Empty {
            path: path.display().to_string(),
            wanted,
        });
    }
    Ok(files)
}

/// The files that were met.
#[derive(Debug, Default)]
pub(crate) struct Met(BTreeSet<PathBuf>);

impl Met {
    /// Whether a file was met before, by whatever path.
    pub(crate) fn has(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| self.0.contains(&path))
    }

    /// Notes that a file is met; returns whether it was not before.
    pub(crate) fn add(&mut self, path: &Path) -> bool {
        match fs::canonicalize(path) {
            Ok(path) => self.0.insert(path),
            // What is not there is refused by whoever reads it.
            Err(_) => true,
        }
    }
}

/// The files with these endings at or below a path, in order; a path that is no folder is one whatever its ending. Hidden
/// files and folders, such as `.git`, and the folders of runs are left out.
pub(crate) fn files_below(path: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, ReadError> {
    if !fs::metadata(path)
        .map_err(|cause| ReadError::io(path, cause))?
        .is_dir()
    {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|cause| ReadError::io(&folder, cause))? {
            let entry = entry.map_err(|cause| ReadError::io(&folder, cause))?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            let end = path.extension().and_then(OsStr::to_str);
            let ends_well = end.is_some_and(|end| endings.contains(&end));
            if path.is_dir() && depth < DEPTH_MAX {
                if !path.join(RUN_MARKER).exists() {
                    folders.push((path, depth + 1));
                }
            } else if ends_well && path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn a_file_over_the_limit_is_refused_by_its_size() {
        let (_folder, path) = file("big.yaml", &vec![b'#'; MAX_BYTES + 1]);
        let error = text_of(&path).unwrap_err();
        assert!(
            matches!(
                error,
                ReadError::TooLarge {
                    bytes: 1_048_577,
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_regular_file_is_refused_with_a_word_and_never_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.yaml");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        for path in [Path::new("/dev/zero"), folder.path(), &pipe] {
            let error = text_of(path).unwrap_err();
            let named = matches!(error, ReadError::NotAFile { .. });
            assert!(named, "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_line() {
        let (_folder, path) = file("bytes.yaml", b"why: x\nand: \xff\n");
        let error = text_of(&path).unwrap_err();
        assert!(
            matches!(error, ReadError::NotText { line: 2, .. }),
            "{error}"
        );
    }

    #[test]
    fn folders_are_walked_in_order_of_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["read/b.yaml", "port/c.yaml", "port/a.yml", "port/notes.txt"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let files = yaml_files(folder.path(), "scenario").unwrap();
        let names: Vec<String> = files
            .iter()
            .map(|file| {
                file.strip_prefix(folder.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect();
        assert_eq!(names, ["port/a.yml", "port/c.yaml", "read/b.yaml"]);
    }
}
