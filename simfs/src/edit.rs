//! How a tree changes: a set of edits becomes visible at once.

use crate::{Errno, TreePath};

/// What a file gives to a reader.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// These bytes, new line included where the kernel prints one.
    Bytes(Vec<u8>),
    /// The file can be opened, and every read of it ends with this error, as `carrier` of an
    /// interface that is down does (`net/core/net-sysfs.c`, `carrier_show`).
    Fails(Errno),
}

impl Value {
    /// The text with a new line behind it, as sysfs attributes are printed.
    #[must_use]
    pub fn line(text: impl std::fmt::Display) -> Self {
        Self::Bytes(format!("{text}\n").into_bytes())
    }
}

/// One change to a tree. Folders on the way to a new node are made as needed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// Make a folder; nothing happens if it is there.
    Folder(TreePath),
    /// Make a file, or give the one that is there another value (its node stays the same).
    File {
        /// Where.
        path: TreePath,
        /// What it gives.
        value: Value,
    },
    /// Make a symbolic link, or let the one that is there lead elsewhere.
    Link {
        /// Where.
        path: TreePath,
        /// What it says, as written: relative to the link's own folder, or absolute below the root.
        target: String,
    },
    /// Make an empty stream (a file that only grows, such as a kernel log), if it is not there.
    Stream(TreePath),
    /// Add bytes at the end of a stream.
    Append {
        /// The stream.
        path: TreePath,
        /// What is added.
        bytes: Vec<u8>,
    },
    /// Remove a node and everything below it; nothing happens if it is not there. What is made at
    /// the same path later is another node with another number.
    Remove(TreePath),
}

impl Edit {
    /// The path that the edit is about.
    #[must_use]
    pub fn path(&self) -> &TreePath {
        match self {
            Self::Folder(path) | Self::Stream(path) | Self::Remove(path) => path,
            Self::File { path, .. } | Self::Link { path, .. } | Self::Append { path, .. } => path,
        }
    }
}
