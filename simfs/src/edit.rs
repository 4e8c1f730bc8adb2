//! Edits of a tree; a set of edits becomes visible at once.

use crate::{Errno, TreePath};

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileValue {
    /// These bytes, including the newline if the kernel prints one.
    Bytes(Vec<u8>),
    /// The file can be opened, but every read fails with this error, like `carrier` of an interface
    /// that is down (`net/core/net-sysfs.c`, `carrier_show`).
    Fails(Errno),
}

impl FileValue {
    /// The text with a newline appended, as sysfs attributes are printed.
    #[must_use]
    pub fn line(text: impl std::fmt::Display) -> Self {
        Self::Bytes(format!("{text}\n").into_bytes())
    }
}

/// One change of a tree. Missing parent folders are created.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// Creates a folder; does nothing if it exists.
    Folder(TreePath),
    /// Creates a file, or replaces the content of an existing one (its node stays the same).
    File {
        /// The path.
        path: TreePath,
        /// The content.
        value: FileValue,
    },
    /// Creates a symbolic link, or changes the target of an existing one.
    Link {
        /// The path.
        path: TreePath,
        /// The target as written: relative to the link's folder, or absolute below the root.
        target: String,
    },
    /// Creates an empty stream (a file that only grows, such as a kernel log), if it does not
    /// exist.
    Stream(TreePath),
    /// Appends bytes to a stream.
    Append {
        /// The stream.
        path: TreePath,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Removes a node and everything below it; does nothing if it does not exist. A node created at
    /// the same path later has another number.
    Remove(TreePath),
}

impl Edit {
    /// The path of the edit.
    #[must_use]
    pub fn path(&self) -> &TreePath {
        match self {
            Self::Folder(path) | Self::Stream(path) | Self::Remove(path) => path,
            Self::File { path, .. } | Self::Link { path, .. } | Self::Append { path, .. } => path,
        }
    }
}
