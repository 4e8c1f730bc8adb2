//! What the agent asks of the world, and how the world answers.
//!
//! The agent never opens a file and never reads a clock: it hands out batches of [`Request`]s and is
//! handed [`Answer`]s. Real hands live in the room `monitor`; a simulator lends its own. Left out:
//! writing, which the agent asks for through [`crate::Todo::Save`].

use std::fmt;

/// One look at a file system. Paths are absolute, spelt as configured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Request {
    /// The names in a folder, in any order, without `.` and `..`.
    List(String),
    /// The whole of a file.
    Read(String),
    /// The target of a symbolic link; `EINVAL` when the entry is no link.
    ReadLink(String),
}

impl Request {
    /// The path that is asked for.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Request::List(path) | Request::Read(path) | Request::ReadLink(path) => path,
        }
    }
}

/// What a [`Request`] brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// To [`Request::List`].
    Names(Vec<String>),
    /// To [`Request::Read`].
    Bytes(Vec<u8>),
    /// To [`Request::ReadLink`].
    Target(String),
}

/// Why a request, or a step of a save, brought nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadError {
    /// The kernel's error number, as Linux counts them on the machines we run on (asm-generic).
    Errno(i32),
    /// The hands gave up waiting.
    TimedOut,
}

impl ReadError {
    /// No such entry.
    pub const ENOENT: ReadError = ReadError::Errno(2);
    /// Input or output error.
    pub const EIO: ReadError = ReadError::Errno(5);
    /// Not permitted to read it.
    pub const EACCES: ReadError = ReadError::Errno(13);
    /// The device behind the entry has gone.
    pub const ENODEV: ReadError = ReadError::Errno(19);
    /// A component of the path is no folder.
    pub const ENOTDIR: ReadError = ReadError::Errno(20);
    /// Not that kind of entry; a link read of something that is no link.
    pub const EINVAL: ReadError = ReadError::Errno(22);

    /// Is the entry not there (any more)?
    #[must_use]
    pub fn is_absence(self) -> bool {
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

/// The two clocks of a poll, read once, after the listing of the anchor was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Clocks {
    /// Nanoseconds since the epoch; stamps events. May step back.
    pub wall_ns: u64,
    /// Nanoseconds since the host started, sleep included (`CLOCK_BOOTTIME`); judges durations.
    pub boot_ns: u64,
}

/// Whoever can look at a file system and at a clock.
pub trait Hands {
    /// Carries out the requests in order; one answer for each, in the same order.
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>>;

    /// Both clocks, now. An error (of the file that stands for them) fails the poll.
    ///
    /// # Errors
    /// Whatever kept the clocks from being read.
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
