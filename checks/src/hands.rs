//! The reads and clocks that the agent needs, as a trait ([`Hands`]) with requests and answers.
//!
//! The agent opens no file and reads no clock: it passes batches of [`Request`]s to [`Hands`] and
//! receives [`Answer`]s. The crate `monitor` implements the trait with real files, the crate
//! `memory` with simulated ones. Writes are not part of it: the agent requests them as
//! [`crate::Todo::Save`].

use std::fmt;

/// One read of a file system. Paths are absolute, in the configured spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Request {
    /// The names in a folder, in any order, without `.` and `..`.
    List(String),
    /// The whole content of a file.
    Read(String),
    /// The target of a symbolic link; `EINVAL` if the entry is not a link.
    ReadLink(String),
}

impl Request {
    /// The requested path.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Request::List(path) | Request::Read(path) | Request::ReadLink(path) => path,
        }
    }
}

/// The result of a [`Request`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Result of [`Request::List`].
    Names(Vec<String>),
    /// Result of [`Request::Read`].
    Bytes(Vec<u8>),
    /// Result of [`Request::ReadLink`].
    Target(String),
}

/// Why a request, or a step of a save, failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadError {
    /// The kernel's error number, as in Linux's asm-generic headers.
    Errno(i32),
    /// The read took longer than `--read-timeout`.
    TimedOut,
}

impl ReadError {
    /// No such entry.
    pub const ENOENT: ReadError = ReadError::Errno(2);
    /// Input or output error.
    pub const EIO: ReadError = ReadError::Errno(5);
    /// No permission to read it.
    pub const EACCES: ReadError = ReadError::Errno(13);
    /// The device behind the entry is gone.
    pub const ENODEV: ReadError = ReadError::Errno(19);
    /// A component of the path is not a folder.
    pub const ENOTDIR: ReadError = ReadError::Errno(20);
    /// Another kind of entry: `readlink` of an entry that is not a link.
    pub const EINVAL: ReadError = ReadError::Errno(22);

    /// Whether the entry does not exist, or exists no longer.
    #[must_use]
    pub(crate) fn is_absence(self) -> bool {
        self == ReadError::ENOENT || self == ReadError::ENODEV
    }
}

/// Names and numbers of Linux, `asm-generic/errno-base.h` and `errno.h`.
const ERRNO_NAMES: [(i32, &str); 24] = [
    (1, "EPERM"),
    (2, "ENOENT"),
    (4, "EINTR"),
    (5, "EIO"),
    (6, "ENXIO"),
    (9, "EBADF"),
    (11, "EAGAIN"),
    (12, "ENOMEM"),
    (13, "EACCES"),
    (16, "EBUSY"),
    (17, "EEXIST"),
    (19, "ENODEV"),
    (20, "ENOTDIR"),
    (21, "EISDIR"),
    (22, "EINVAL"),
    (23, "ENFILE"),
    (24, "EMFILE"),
    (27, "EFBIG"),
    (28, "ENOSPC"),
    (30, "EROFS"),
    (36, "ENAMETOOLONG"),
    (40, "ELOOP"),
    (61, "ENODATA"),
    (107, "ENOTCONN"),
];

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::TimedOut => f.write_str("timed out"),
            ReadError::Errno(number) => {
                match ERRNO_NAMES.iter().find(|(known, _)| known == number) {
                    Some((_, name)) => f.write_str(name),
                    None => write!(f, "errno {number}"),
                }
            }
        }
    }
}

/// The two clocks of a poll, read once, after the class folder was listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Clocks {
    /// Nanoseconds since the epoch, for the timestamps of events. May step back.
    pub wall_ns: u64,
    /// Nanoseconds since the host started, including sleep (`CLOCK_BOOTTIME`), for durations.
    pub boot_ns: u64,
}

/// Access to a file system and to clocks.
pub trait Hands {
    /// Carries out the requests in order; returns one answer for each, in the same order.
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>>;

    /// Reads both clocks. An error fails the poll.
    ///
    /// # Errors
    ///
    /// The error of the file that replaces the clocks.
    fn clocks(&self) -> Result<Clocks, ReadError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_by_the_kernels_name() {
        assert_eq!(ReadError::EIO.to_string(), "EIO");
        assert_eq!(ReadError::Errno(999).to_string(), "errno 999");
        assert_eq!(ReadError::TimedOut.to_string(), "timed out");
    }

    #[test]
    fn only_enoent_and_enodev_mean_absence() {
        let absent: Vec<i32> = (0..140)
            .filter(|&number| ReadError::Errno(number).is_absence())
            .collect();
        assert_eq!(absent, [2, 19]);
    }
}
