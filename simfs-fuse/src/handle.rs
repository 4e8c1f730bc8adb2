//! Open descriptors of processes.

use std::collections::BTreeMap;

use simfs::{Act, Entry, NodeId, NodeKind};

/// The state of a descriptor.
pub(crate) enum Handle {
    File(FileHandle),
    Folder(FolderHandle),
}

pub(crate) struct FileHandle {
    pub(crate) node: NodeId,
    /// Opening it began a read with these names, which outlast the file; the moments before that read
    /// have come. `None` afterwards, and if it was opened for writing.
    pub(crate) begun: Option<Act>,
    /// The value that reads after the first byte continue with, because sysfs fills its buffer once
    /// (`kernfs_seq_show`); `None` before the first read.
    pub(crate) value: Option<Vec<u8>>,
    /// Whether bytes after that value are read from the present content: a stream that no rule has
    /// altered.
    pub(crate) grows: bool,
    /// Whether writes go to the end.
    pub(crate) append: bool,
}

pub(crate) struct FolderHandle {
    pub(crate) node: NodeId,
    /// The names; `None` if the listing was not performed yet.
    pub(crate) entries: Option<Vec<Entry>>,
    /// Whether the listing was read from its start once.
    pub(crate) started: bool,
    /// Whether reading it from its start again is another listing. Not for the anchor and the
    /// writable folder, where it shows the same names again.
    pub(crate) relists: bool,
}

/// All descriptors.
#[derive(Default)]
pub(crate) struct Handles {
    next: u64,
    open: BTreeMap<u64, Handle>,
}

impl Handles {
    pub(crate) fn add(&mut self, handle: Handle) -> u64 {
        self.next += 1;
        self.open.insert(self.next, handle);
        self.next
    }

    /// How many descriptors are open.
    pub(crate) fn count(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn file(&mut self, number: u64) -> Option<&mut FileHandle> {
        match self.open.get_mut(&number) {
            Some(Handle::File(file)) => Some(file),
            _ => None,
        }
    }

    pub(crate) fn folder(&mut self, number: u64) -> Option<&mut FolderHandle> {
        match self.open.get_mut(&number) {
            Some(Handle::Folder(folder)) => Some(folder),
            _ => None,
        }
    }

    /// A file was written or truncated: descriptors read its new content.
    pub(crate) fn forget_values(&mut self, node: NodeId) {
        for handle in self.open.values_mut() {
            if let Handle::File(file) = handle
                && file.node == node
            {
                file.value = None;
            }
        }
    }

    /// The kind of this node, if it has an open descriptor.
    pub(crate) fn kind_of(&self, node: NodeId) -> Option<NodeKind> {
        self.open.values().find_map(|handle| match handle {
            Handle::File(file) if file.node == node => Some(NodeKind::File),
            Handle::Folder(folder) if folder.node == node => Some(NodeKind::Folder),
            _ => None,
        })
    }

    pub(crate) fn remove(&mut self, number: u64) -> Option<Handle> {
        self.open.remove(&number)
    }
}
