//! Carries out the steps of a save.

use std::fs::File;
use std::io::{self, Write as _};

use checks::{ReadError, SaveStep};

use crate::reader::error_of;

/// Carries out the steps in order, up to the first error.
pub(crate) fn save(steps: &[SaveStep]) -> Result<(), ReadError> {
    let mut open: Option<File> = None;
    for step in steps {
        one(step, &mut open).map_err(|error| error_of(&error))?;
    }
    Ok(())
}

fn one(step: &SaveStep, open: &mut Option<File>) -> io::Result<()> {
    match step {
        SaveStep::CreateFolder(path) => std::fs::create_dir_all(path),
        SaveStep::Create(path) => {
            *open = Some(File::create(path)?);
            Ok(())
        }
        SaveStep::Write(path, bytes) => opened(open, path)?.write_all(bytes),
        SaveStep::Fsync(path) => {
            opened(open, path)?.sync_all()?;
            *open = None;
            Ok(())
        }
        SaveStep::Rename(from, to) => std::fs::rename(from, to),
        SaveStep::FsyncFolder(path) => File::open(path)?.sync_all(),
    }
}

/// The file that an earlier step created.
fn opened<'a>(open: &'a mut Option<File>, path: &str) -> io::Result<&'a mut File> {
    if open.is_none() {
        *open = Some(File::options().write(true).open(path)?);
    }
    open.as_mut()
        .ok_or_else(|| io::Error::other("no file is open"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_replaces_the_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let deep = format!("{}/a/b", folder.path().display());
        let (temporary, file) = (format!("{deep}/s.tmp"), format!("{deep}/s"));
        let steps = |text: &str| {
            vec![
                SaveStep::CreateFolder(deep.clone()),
                SaveStep::Create(temporary.clone()),
                SaveStep::Write(temporary.clone(), text.as_bytes().into()),
                SaveStep::Fsync(temporary.clone()),
                SaveStep::Rename(temporary.clone(), file.clone()),
                SaveStep::FsyncFolder(deep.clone()),
            ]
        };
        save(&steps("a longer one")).unwrap();
        save(&steps("short")).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "short");
        assert_eq!(std::fs::read_dir(&deep).unwrap().count(), 1);
    }

    #[test]
    fn the_first_step_that_fails_ends_the_save() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = format!("{}/file", folder.path().display());
        std::fs::write(&blocked, "").unwrap();
        let steps = [SaveStep::CreateFolder(format!("{blocked}/below"))];
        assert_eq!(save(&steps), Err(ReadError::ENOTDIR));
    }
}
