//! The folder of a job on the stage: a file system in memory of its own, as large as a monitor may fill it.
//!
//! What a monitor has left in it does not come to the next drill. Start at [`JobFolder::bound`].

use std::{
    ffi::CString,
    fs, io,
    path::{Path, PathBuf},
};

use observe::Size;
use rustix::{
    fs::statvfs,
    mount::{MountFlags, UnmountFlags, mount, unmount},
};

/// The most files and folders of such a file system. Chosen: a thousand times those of a node.
const INODES: u64 = 16_384;

/// How many files, and how many bytes, a drill leaves in it at most. Chosen: more than the configurations and own files of
/// the monitors of a drill.
const USUAL_INODES: u64 = 256;
const USUAL_BYTES: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct JobFolder {
    path: PathBuf,
    /// Whether it may be a mount, which nobody else sees.
    is_private: bool,
    /// The size of the mount, once there is one.
    size: Option<Size>,
}

impl JobFolder {
    /// Makes the folder on a stage.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub(super) fn make(path: PathBuf, is_private: bool) -> io::Result<Self> {
        fs::create_dir_all(&path)?;
        Ok(Self {
            path,
            is_private,
            size: None,
        })
    }

    /// Gives it this size before a drill, and empties it if something was left there.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub(super) fn bound(&mut self, size: Size) -> io::Result<()> {
        if !self.is_private || (self.size == Some(size) && self.is_almost_empty()?) {
            return Ok(());
        }
        if self.size.take().is_some() {
            unmount(&self.path, UnmountFlags::DETACH)?;
        }
        let plain = MountFlags::NOSUID | MountFlags::NODEV;
        mount(
            "nicdrill",
            &self.path,
            "tmpfs",
            plain,
            &*options("0755", size)?,
        )?;
        self.size = Some(size);
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn is_almost_empty(&self) -> io::Result<bool> {
        let used = statvfs(&self.path)?;
        let bytes = (used.f_blocks - used.f_bfree).saturating_mul(used.f_frsize);
        Ok(bytes <= USUAL_BYTES && used.f_files - used.f_ffree <= USUAL_INODES)
    }
}

/// The options of a file system in memory that a monitor can write to (`tmpfs(5)`).
///
/// # Errors
/// None: they have no zero byte.
pub(super) fn options(mode: &str, size: Size) -> io::Result<CString> {
    let text = format!("mode={mode},size={}k,nr_inodes={INODES}", size.0);
    Ok(CString::new(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_have_the_size_in_kib() {
        let options = options("0755", Size(256 * 1024)).unwrap();
        let expected = "mode=0755,size=262144k,nr_inodes=16384";
        assert_eq!(options.to_str(), Ok(expected));
    }

    /// Nothing is mounted where others would see it.
    #[test]
    fn without_a_private_stage_it_is_a_plain_folder() {
        let stage = tempfile::tempdir().unwrap();
        let mut folder = JobFolder::make(stage.path().join("0"), false).unwrap();
        fs::write(folder.path().join("left"), "x").unwrap();
        folder.bound(Size(1024)).unwrap();
        assert!(folder.path().join("left").exists());
    }
}
