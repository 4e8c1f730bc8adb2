//! The folder of a stage, on the host: what a killed run left of its own is removed by the next one.
//!
//! A run locks its folder as long as it lives, and the kernel unlocks it at its end, whatever ended it. So an unlocked
//! folder of this kind is nobody's. Start at [`StageFolder::make`].

use std::{
    env,
    fs::{self, File, Permissions},
    io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::process::geteuid;
use tempfile::TempDir;

use super::stage::ASKED;

/// What the names of these folders begin with.
const PREFIX: &str = "nicdrill-";

/// How many characters follow it.
const RANDOM: usize = 6;

/// The longest path of a folder for temporary files, in bytes: with what a stage has below it, the path of a socket is not
/// longer than 107 bytes (`unix(7)`).
const PATH_MAX: usize = 70;

/// Where a stage is if the path of the user's folder for temporary files is too long.
const SHORT: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// A locked folder, removed when it is dropped.
#[derive(Debug)]
pub(super) struct StageFolder {
    folder: TempDir,
    _lock: File,
}

impl StageFolder {
    /// Makes a folder that only this user can enter, and removes those of runs that were killed.
    pub(super) fn make() -> io::Result<Self> {
        let usual = env::temp_dir();
        let places = [usual].into_iter().chain(SHORT.map(PathBuf::from));
        let mut refused = io::Error::from(io::ErrorKind::NotFound);
        for place in places.filter(|place| place.as_os_str().len() <= PATH_MAX) {
            sweep(&place);
            match Self::below(&place) {
                Ok(folder) => return Ok(folder),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn below(place: &Path) -> io::Result<Self> {
        loop {
            let folder = tempfile::Builder::new()
                .prefix(PREFIX)
                .rand_bytes(RANDOM)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(place)?;
            let lock = File::open(folder.path());
            // Another run can have swept it before it was locked.
            let Ok(lock) = lock else { continue };
            let is_ours = lock.try_lock().is_ok() && is_same(&lock, folder.path());
            if is_ours {
                return Ok(Self {
                    folder,
                    _lock: lock,
                });
            }
        }
    }
}

/// Whether this is still the folder at that path.
fn is_same(folder: &File, path: &Path) -> bool {
    let (one, other) = (folder.metadata(), fs::symlink_metadata(path));
    one.is_ok_and(|one| {
        other.is_ok_and(|other| (one.dev(), one.ino()) == (other.dev(), other.ino()))
    })
}

/// Removes the folders of runs that were killed. What cannot be removed stays.
fn sweep(place: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let of_a_stage = |name: &str| {
        let random = name.strip_prefix(PREFIX);
        random.is_some_and(|random| {
            random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    };
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(of_a_stage)) {
        let path = entry.path();
        let is_own = fs::symlink_metadata(&path)
            .is_ok_and(|its| its.is_dir() && its.uid() == geteuid().as_raw());
        if !is_own {
            continue;
        }
        if let Ok(folder) = File::open(&path)
            && folder.try_lock().is_ok()
        {
            // Nothing else is ever in it; a folder that is not empty stays.
            let _ = fs::remove_file(path.join(ASKED));
            let _ = fs::remove_dir(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_killed_run_is_removed_and_that_of_a_living_one_stays() {
        let place = tempfile::tempdir().unwrap();
        let lives = StageFolder::below(place.path()).unwrap();
        let killed = place.path().join("nicdrill-abc123");
        fs::create_dir(&killed).unwrap();
        fs::write(killed.join(ASKED), "15").unwrap();
        let others = ["nicdrill-of-0", "nicdrill-abc12", "nicdrill-abc.12", "mine"];
        for name in others {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        let kept = place.path().join("nicdrill-kept00");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("notes"), "mine").unwrap();
        sweep(place.path());
        assert!(!killed.exists());
        assert!(lives.path().exists());
        assert!(kept.join("notes").exists());
        assert!(others.iter().all(|name| place.path().join(name).exists()));
    }

    #[test]
    fn only_its_user_can_enter_it_and_it_goes_at_the_end() {
        let place = tempfile::tempdir().unwrap();
        let folder = StageFolder::below(place.path()).unwrap();
        let mode = fs::metadata(folder.path()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(folder);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
