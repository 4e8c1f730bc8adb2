//! Invalidations: what a kernel that caches names and links must forget after a change.

use crate::NodeId;

/// One invalid cache entry. File content is never cached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stale {
    /// This name in this folder no longer leads to its node, nor to anything below it.
    Entry {
        /// The folder.
        parent: NodeId,
        /// The name.
        name: Box<str>,
    },
    /// The text of this link, or whether it can be read, has changed; or the number of this folder's links.
    Inode(NodeId),
}
