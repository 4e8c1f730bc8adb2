//! Descriptors that processes hold.

use std::collections::BTreeMap;

use simfs::{Act, Entry, NodeId, NodeKind};

/// What a descriptor remembers.
pub(crate) enum Handle {
    File(FileHandle),
    Folder(FolderHandle),
}

pub(crate) struct FileHandle {
    pub(crate) node: NodeId,
    /// Opening it began a read, with these names, which last longer than the file: the moments before
    /// that read have come. `None` from then on, and if it was opened for writing.
    pub(crate) begun: Option<Act>,
    /// The value that reads behind the first byte go on with, as sysfs fills its buffer once
    /// (`kernfs_seq_show`); `None` before the first read.
    pub(crate) value: Option<Vec<u8>>,
    /// Behind that value, bytes are read as they are now: a stream that no rule has altered.
    pub(crate) grows: bool,
    /// Writes go to the end.
    pub(crate) append: bool,
}

pub(crate) struct FolderHandle {
    pub(crate) node: NodeId,
    /// The names; `None` if the listing was not performed yet.
    pub(crate) entries: Option<Vec<Entry>>,
    /// The listing was read from its start once.
    pub(crate) started: bool,
    /// Reading it from its start again is another listing. Not so of the anchor and of the writable
    /// folder: there it shows the names of then.
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

    /// A file was written to or cut: whoever reads on in it must look again.
    pub(crate) fn forget_values(&mut self, node: NodeId) {
        for handle in self.open.values_mut() {
            if let Handle::File(file) = handle
                && file.node == node
            {
                file.value = None;
            }
        }
    }

    /// What sort of node this is, if somebody holds a descriptor on it.
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
