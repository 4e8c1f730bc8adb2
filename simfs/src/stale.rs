//! What a kernel that caches names and links must forget after a change.

use crate::NodeId;

/// One thing that a kernel may still believe. Bytes are not in it: they are never cached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stale {
    /// This name in this folder led to a node that it leads to no more, nor to anything below it.
    Entry {
        /// The folder.
        parent: NodeId,
        /// The name.
        name: Box<str>,
    },
    /// This link says something else, or can be read no more, or can be read again.
    Inode(NodeId),
}
