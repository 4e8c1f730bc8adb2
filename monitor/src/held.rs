//! Files and folders that stay open from poll to poll: what is read every poll is opened once.
//!
//! One that is held is used only while its path leads to it, as the numbers of device and inode tell:
//! a device that went, came back or changed names with another one is met as by a fresh open. When
//! the listing that begins a poll has other names than before, only what is below them stays open.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, CWD, RawDir, SeekFrom, StatxFlags, seek, statx};
use rustix::process::{Resource, getrlimit};

/// The size of a page, in bytes: the most that a sysfs attribute holds.
const PAGE_BYTES: usize = 4096;
/// A name's record in a listing is no longer than the name and this, in bytes (`struct linux_dirent64`
/// and `struct fuse_dirent`, rounded up).
const RECORD_BYTES: usize = 32;
/// Descriptors that are left for everything else when nearly all are held.
const LEFT_FREE: u64 = 256;
/// What was not used for so many polls is let go: a check with an interval of its own comes by more
/// often than that. Chosen.
const UNUSED_POLLS: u64 = 16;
/// At most this many are held, whatever the process may open: 34 devices with every counter.
const MOST: u64 = 2048;

/// What is open.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// The folder whose listing begins a poll, once it is known. It is opened each time, so that
    /// whoever serves it sees the poll begin.
    anchor: Option<String>,
    /// How many may be held.
    most: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    kept: BTreeMap<String, Kept>,
    /// The anchor's names when it was listed last.
    names: Vec<String>,
    /// Polls so far.
    poll: u64,
}

#[derive(Debug)]
struct Kept {
    file: File,
    identity: Identity,
    /// The poll in which it was used last.
    used: u64,
}

/// The numbers of a device (major, minor) and an inode.
type Identity = (u32, u32, u64);

impl Held {
    /// Holds from poll to poll as many as the process may open, less some.
    pub(crate) fn with_polls_at(anchor: &str) -> Held {
        let may_open = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = may_open.saturating_sub(LEFT_FREE).min(MOST);
        Held {
            anchor: Some(anchor.to_owned()),
            most: usize::try_from(most).unwrap_or_default(),
            open: Mutex::default(),
        }
    }

    /// Whether polls begin with this folder's listing.
    pub(crate) fn is_anchor(&self, path: &str) -> bool {
        self.anchor.as_deref() == Some(path)
    }

    /// A whole file.
    ///
    /// # Errors
    /// As the kernel gives them for opening and reading.
    pub(crate) fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.with(path, read_whole, |_| true)
    }

    /// The names in a folder, in the kernel's order, without `.` and `..`.
    ///
    /// # Errors
    /// As the kernel gives them for opening and listing.
    pub(crate) fn list(&self, path: &str) -> io::Result<Vec<String>> {
        if self.is_anchor(path) {
            let names = names_in(&File::open(path)?)?;
            self.listed(path, &names);
            return Ok(names);
        }
        // A folder that went lists nothing any more on its descriptor.
        self.with(path, names_in, |names: &Vec<String>| !names.is_empty())
    }

    /// Does `work` on what is open, if the path still leads there, else on what it leads to now. What
    /// failed, or came out such that it might be from what has gone, is believed of something held
    /// only if the path leads there afterwards, too.
    fn with<T>(
        &self,
        path: &str,
        work: impl Fn(&File) -> io::Result<T>,
        is_sure: impl Fn(&T) -> bool,
    ) -> io::Result<T> {
        let kept = self.lock().kept.remove(path);
        if let Some(kept) = kept.filter(|kept| kept.is_at(path)) {
            let again = seek(&kept.file, SeekFrom::Start(0)).map_err(io::Error::from);
            let result = again.and_then(|_| work(&kept.file));
            let is_sure = result.as_ref().is_ok_and(is_sure);
            if is_sure || kept.is_at(path) {
                self.put(path, kept);
                return result;
            }
        }
        let file = File::open(path)?;
        let result = work(&file)?;
        if self.most > 0
            && let Some(kept) = Kept::of(file)
        {
            self.put(path, kept);
        }
        Ok(result)
    }

    fn put(&self, path: &str, kept: Kept) {
        let mut open = self.lock();
        if open.kept.len() < self.most {
            let used = open.poll;
            open.kept.insert(path.to_owned(), Kept { used, ..kept });
        }
    }

    /// A poll begins. Lets go what is out of use and, if the anchor's names changed, what is not below
    /// one of them: what a device left open when it went, there and elsewhere.
    fn listed(&self, anchor: &str, names: &[String]) {
        let mut open = self.lock();
        open.poll += 1;
        let poll = open.poll;
        open.kept.retain(|_, kept| kept.used + UNUSED_POLLS >= poll);
        if open.names == names {
            return;
        }
        open.names = names.to_vec();
        let has = |path: &str| {
            let below = path
                .strip_prefix(anchor)
                .and_then(|below| below.strip_prefix('/'));
            let first = below.and_then(|below| below.split('/').next());
            first.is_some_and(|first| names.iter().any(|name| name == first))
        };
        open.kept.retain(|path, _| has(path));
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// A file or folder; nothing else can be read from its start again.
    fn of(file: File) -> Option<Kept> {
        let it = file.metadata().ok()?;
        let identity = identity(&file, "", AtFlags::EMPTY_PATH).ok()?;
        let used = 0;
        (it.is_file() || it.is_dir()).then_some(Kept {
            file,
            identity,
            used,
        })
    }

    fn is_at(&self, path: &str) -> bool {
        identity(CWD, path, AtFlags::empty()).is_ok_and(|now| now == self.identity)
    }
}

/// Nothing but the numbers is asked for: a file system that must ask elsewhere for sizes and times
/// (`fuse_update_get_attr`, `fs/fuse/dir.c`) is not made to.
fn identity(folder: impl AsFd, path: &str, flags: AtFlags) -> rustix::io::Result<Identity> {
    let flags = flags | AtFlags::STATX_DONT_SYNC;
    let it = statx(folder, path, flags, StatxFlags::INO)?;
    Ok((it.stx_dev_major, it.stx_dev_minor, it.stx_ino))
}

/// An attribute comes whole with the first read. A file of records (`seq_read_iter`,
/// `fs/seq_file.c`) leaves less room than one record needs before its end, so what leaves half a
/// page free was the end too; only then is a second read, which costs as much, left out.
fn read_whole(mut file: &File) -> io::Result<Vec<u8>> {
    let mut page = [0_u8; PAGE_BYTES];
    let mut bytes = Vec::new();
    loop {
        match file.read(&mut page) {
            Ok(count) => {
                bytes.extend_from_slice(&page[..count]);
                if count < PAGE_BYTES / 2 {
                    return Ok(bytes);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Names come until there is no room for another one, so what leaves half a page free was all; only
/// then is a second call, which costs as much, left out.
fn names_in(folder: &File) -> io::Result<Vec<String>> {
    let mut buffer = Vec::with_capacity(2 * PAGE_BYTES);
    let mut folder = RawDir::new(folder, buffer.spare_capacity_mut());
    let mut names = Vec::new();
    let mut bytes = 0;
    while let Some(entry) = folder.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        bytes += name.len() + RECORD_BYTES;
        if name != b"." && name != b".." {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        if folder.is_buffer_empty() && std::mem::take(&mut bytes) < PAGE_BYTES / 2 {
            break;
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use super::*;

    /// `anchor/a/state` says `first`, `anchor/b/state` says `second`; polls begin at `anchor`.
    fn two_devices() -> (tempfile::TempDir, String, Held) {
        let folder = tempfile::tempdir().unwrap();
        let anchor = format!("{}/anchor", folder.path().display());
        for (name, says) in [("a", "first"), ("b", "second")] {
            std::fs::create_dir_all(format!("{anchor}/{name}")).unwrap();
            std::fs::write(format!("{anchor}/{name}/state"), says).unwrap();
        }
        let held = Held::with_polls_at(&anchor);
        (folder, anchor, held)
    }

    #[track_caller]
    fn check(held: &Held, path: impl AsRef<str>, says: &str) {
        let bytes = held.read(path.as_ref()).unwrap();
        assert_eq!(String::from_utf8_lossy(&bytes), says);
    }

    fn count(held: &Held) -> usize {
        held.lock().kept.len()
    }

    #[test]
    fn a_file_is_opened_once_and_read_anew_each_time() {
        let (_folder, anchor, held) = two_devices();
        let state = format!("{anchor}/a/state");
        check(&held, &state, "first");
        let mut writer = File::options().write(true).open(&state).unwrap();
        writer.write_all(b"FIRST").unwrap();
        check(&held, &state, "FIRST");
        assert_eq!(count(&held), 1);
    }

    #[test]
    fn names_that_were_swapped_lead_to_the_other_device() {
        let (_folder, anchor, held) = two_devices();
        let (a, b) = (format!("{anchor}/a"), format!("{anchor}/b"));
        check(&held, format!("{a}/state"), "first");
        let aside = format!("{anchor}/aside");
        for (from, to) in [(&a, &aside), (&b, &a), (&aside, &b)] {
            std::fs::rename(from, to).unwrap();
        }
        check(&held, format!("{a}/state"), "second");
    }

    #[test]
    fn a_file_that_was_replaced_is_opened_again() {
        let (_folder, anchor, held) = two_devices();
        let (a, b) = (format!("{anchor}/a/state"), format!("{anchor}/b/state"));
        check(&held, &a, "first");
        std::fs::rename(&b, &a).unwrap();
        check(&held, &a, "second");
    }

    #[test]
    fn a_folder_that_came_back_is_listed_anew() {
        let (_folder, anchor, held) = two_devices();
        let a = format!("{anchor}/a");
        assert_eq!(held.list(&a).unwrap(), ["state"]);
        std::fs::remove_dir_all(&a).unwrap();
        let gone = held.list(&a).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
        std::fs::create_dir(&a).unwrap();
        assert_eq!(held.list(&a).unwrap(), Vec::<String>::new());
        std::fs::write(format!("{a}/rate"), "").unwrap();
        assert_eq!(held.list(&a).unwrap(), ["rate"]);
    }

    #[test]
    fn what_the_anchor_no_longer_names_is_let_go() {
        let (folder, anchor, held) = two_devices();
        held.list(&anchor).unwrap();
        for name in ["a", "b"] {
            held.read(&format!("{anchor}/{name}/state")).unwrap();
            held.list(&format!("{anchor}/{name}")).unwrap();
        }
        let elsewhere = format!("{}/operstate", folder.path().display());
        std::fs::write(&elsewhere, "up").unwrap();
        check(&held, &elsewhere, "up");
        held.list(&anchor).unwrap();
        assert_eq!(count(&held), 5);
        std::fs::remove_dir_all(format!("{anchor}/a")).unwrap();
        assert_eq!(held.list(&anchor).unwrap(), ["b"]);
        assert_eq!(count(&held), 2);
    }

    #[test]
    fn what_is_out_of_use_is_let_go() {
        let (_folder, anchor, held) = two_devices();
        for poll in 0..2 * UNUSED_POLLS {
            held.list(&anchor).unwrap();
            check(&held, format!("{anchor}/a/state"), "first");
            if poll == 0 {
                check(&held, format!("{anchor}/b/state"), "second");
                assert_eq!(count(&held), 2);
            }
        }
        assert_eq!(count(&held), 1);
    }

    #[test]
    fn no_more_are_held_than_may_be() {
        let (_folder, anchor, held) = two_devices();
        let held = Held { most: 1, ..held };
        for name in ["a", "b", "a", "b"] {
            held.read(&format!("{anchor}/{name}/state")).unwrap();
        }
        assert_eq!(count(&held), 1);
    }

    #[test]
    fn long_files_and_full_folders_come_whole() {
        let (folder, anchor, held) = two_devices();
        let long = "x".repeat(3 * PAGE_BYTES + 7);
        let path = format!("{anchor}/a/long");
        std::fs::write(&path, &long).unwrap();
        for _ in 0..2 {
            check(&held, &path, &long);
        }
        let full = folder.path().join("full");
        std::fs::create_dir(&full).unwrap();
        let mut names: Vec<String> = (0..1000)
            .map(|n| format!("a-rather-long-name-{n:04}"))
            .collect();
        for name in &names {
            std::fs::write(Path::new(&full).join(name), "").unwrap();
        }
        names.sort();
        for _ in 0..2 {
            let mut listed = held.list(&full.display().to_string()).unwrap();
            listed.sort();
            assert_eq!(listed, names);
        }
    }
}
