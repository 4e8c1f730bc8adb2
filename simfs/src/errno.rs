//! Error numbers of file operations.

use std::fmt;

/// A Linux error number (`include/uapi/asm-generic/errno*.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Errno(pub i32);

macro_rules! errnos {
    ($($name:ident = $number:literal),* $(,)?) => {
        impl Errno {
            $(
                #[doc = concat!("`", stringify!($name), "`, ", stringify!($number), ".")]
                pub const $name: Self = Self($number);
            )*

            /// Every error number with a name here, by number.
            pub const NAMED: &[(Self, &str)] = &[$((Self($number), stringify!($name))),*];
        }
    };
}

errnos! {
    EPERM = 1, ENOENT = 2, EINTR = 4, EIO = 5, ENXIO = 6, EBADF = 9, EAGAIN = 11, ENOMEM = 12,
    EACCES = 13, EBUSY = 16, EEXIST = 17, ENODEV = 19, ENOTDIR = 20, EISDIR = 21, EINVAL = 22,
    ENOSPC = 28, EROFS = 30, ERANGE = 34, ENAMETOOLONG = 36, ENOSYS = 38, ENOTEMPTY = 39,
    ELOOP = 40, ENODATA = 61, EOPNOTSUPP = 95, ETIMEDOUT = 110, ESTALE = 116,
}

impl Errno {
    /// The error number with this name, such as `EIO`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMED
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(errno, _)| *errno)
    }
}

impl fmt::Display for Errno {
    /// The name if it has one, otherwise `errno 123`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMED.iter().find(|(known, _)| known == self) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "errno {}", self.0),
        }
    }
}

impl std::error::Error for Errno {}
