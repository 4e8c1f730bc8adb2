//! The nodes of a tree.

use std::{collections::BTreeMap, fmt};

use crate::FileValue;

/// The number of a node, which is its inode number. It is never reused, so a device that
/// disappeared and returned is another device to a process that has the old one open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u64);

impl NodeId {
    /// The root of every tree. FUSE requires 1 (`FUSE_ROOT_ID`, `include/uapi/linux/fuse.h`).
    pub const ROOT: Self = Self(1);

    /// The node with this inode number, which may not exist.
    #[must_use]
    pub const fn from_inode(inode: u64) -> Self {
        Self(inode)
    }

    /// The inode number.
    #[must_use]
    pub const fn inode(self) -> u64 {
        self.0
    }

    pub(crate) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    pub(crate) fn from_index(index: usize) -> Self {
        Self(u64::try_from(index).expect("a tree has fewer nodes than a u64 can count"))
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

/// The kind of a node. More may be added, such as pipes and sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NodeKind {
    /// A folder, which contains names.
    Folder,
    /// A file, whose content is a [`FileValue`].
    File,
    /// A symbolic link.
    Link,
    /// A file that only grows, such as a kernel log.
    Stream,
}

/// A node and its position.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: NodeId,
    pub(crate) name: Box<str>,
    pub(crate) body: Body,
    /// Whether it is the writable folder or below it.
    pub(crate) writable: bool,
}

/// The content of a node.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Folder(BTreeMap<Box<str>, NodeId>),
    File(FileValue),
    Link(Box<str>),
    Stream(Vec<u8>),
}

impl Node {
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self.body, Body::Folder(_))
    }
}

impl Body {
    pub(crate) fn kind(&self) -> NodeKind {
        match self {
            Self::Folder(_) => NodeKind::Folder,
            Self::File(_) => NodeKind::File,
            Self::Link(_) => NodeKind::Link,
            Self::Stream(_) => NodeKind::Stream,
        }
    }
}
