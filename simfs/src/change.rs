//! Changes of the writable folder, with the semantics of a local file system.

use std::collections::BTreeMap;

use crate::{Call, Edit, Errno, FileValue, Fs, NodeId, NodeKind, Reply, TreePath, node::Body};

/// The largest size of a file in the writable folder, in bytes: 2 MiB. Chosen: ten times the largest state
/// file; a write beyond it fails with `ENOSPC`.
const FILE_LEN_MAX: u64 = 2 << 20;

/// The largest size of all files in it together, and the most files and folders. Chosen: far more than any monitor has
/// there, and little beside the memory that a drill takes.
const ALL_LEN_MAX: u64 = 16 << 20;
const ENTRIES_MAX: usize = 1024;

/// The content of the writable folder, which survives the kill of a process like a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// Content by path below the writable folder; `None` for a folder.
    entries: BTreeMap<TreePath, Option<Vec<u8>>>,
}

impl Disk {
    /// The content of a file, by its path below the writable folder.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.entries.get(&TreePath::new(path))?.as_deref()
    }

    /// Adds a file.
    pub fn put(&mut self, path: &str, bytes: Vec<u8>) {
        self.entries.insert(TreePath::new(path), Some(bytes));
    }

    /// The files and their content, by path below the writable folder.
    pub fn files(&self) -> impl Iterator<Item = (&TreePath, &[u8])> {
        self.entries
            .iter()
            .filter_map(|(path, bytes)| Some((path, bytes.as_deref()?)))
    }
}

impl Fs {
    /// A copy of the content of the writable folder; empty if there is none.
    #[must_use]
    pub fn disk(&self) -> Disk {
        let mut disk = Disk::default();
        if let Some(root) = self.tree.writable_root() {
            self.copy_below(root, &TreePath::default(), &mut disk);
        }
        disk
    }

    /// Replaces the content of the writable folder. All its nodes are new ones.
    pub fn set_disk(&mut self, disk: &Disk) {
        let Some(root) = self
            .tree
            .writable_root()
            .and_then(|root| self.tree.path_of(root))
        else {
            return;
        };
        let mut edits: Vec<Edit> = self
            .tree
            .get(&root)
            .map(|id| {
                self.tree
                    .children(id)
                    .map(|(name, _)| Edit::Remove(root.join(name)))
                    .collect()
            })
            .unwrap_or_default();
        edits.extend(disk.entries.iter().map(|(path, bytes)| match bytes {
            Some(bytes) => Edit::File {
                path: root.join(path),
                value: FileValue::Bytes(bytes.clone()),
            },
            None => Edit::Folder(root.join(path)),
        }));
        self.apply(&edits);
    }

    fn copy_below(&self, folder: NodeId, path: &TreePath, disk: &mut Disk) {
        for (name, child) in self.tree.children(folder) {
            let path = path.join(name);
            match self.tree.kind(child) {
                Some(NodeKind::Folder) => {
                    disk.entries.insert(path.clone(), None);
                    self.copy_below(child, &path, disk);
                }
                _ => {
                    if let Ok(bytes) = self.bytes_of(child) {
                        disk.entries.insert(path, Some(bytes.to_vec()));
                    }
                }
            }
        }
    }

    /// Performs a change whose call was valid when it began; the tree may have changed since.
    pub(crate) fn change(&mut self, call: &Call) -> Result<Reply, Errno> {
        match call {
            Call::List(_) | Call::Read(_) => unreachable!("listing and reading change nothing"),
            Call::Create { folder, name, .. } => self.create_in(*folder, name),
            Call::Write {
                file,
                offset,
                bytes,
            } => self.write_to(*file, *offset, bytes),
            Call::Truncate { file, len } => {
                if *len > FILE_LEN_MAX {
                    return Err(Errno::ENOSPC);
                }
                self.grows_to(*file, *len)?;
                let len = usize::try_from(*len).map_err(|_| Errno::ENOSPC)?;
                self.bytes_mut(*file)?.resize(len, 0);
                Ok(Reply::Done)
            }
            Call::Fsync(node) | Call::FsyncFolder(node) => self
                .tree
                .kind(*node)
                .map(|_| Reply::Done)
                .ok_or(Errno::ENODEV),
            Call::Rename {
                folder,
                name,
                to_folder,
                to_name,
                ..
            } => self.rename_in(*folder, name, *to_folder, to_name),
            Call::Unlink { folder, name } => {
                let id = self.tree.child(*folder, name).ok_or(Errno::ENOENT)?;
                self.tree.detach(id);
                self.end(id);
                Ok(Reply::Done)
            }
            Call::MakeFolder { folder, name } => {
                if self.tree.child(*folder, name).is_some() {
                    return Err(Errno::EEXIST);
                }
                self.folder_there(*folder)?;
                self.has_room(0, 1)?;
                Ok(Reply::Node(self.tree.add(
                    *folder,
                    name,
                    Body::Folder(BTreeMap::new()),
                )))
            }
            Call::RemoveFolder { folder, name } => {
                let id = self.tree.child(*folder, name).ok_or(Errno::ENOENT)?;
                if self.tree.children(id).next().is_some() {
                    return Err(Errno::ENOTEMPTY);
                }
                self.tree.detach(id);
                self.end(id);
                Ok(Reply::Done)
            }
        }
    }

    fn create_in(&mut self, folder: NodeId, name: &str) -> Result<Reply, Errno> {
        self.folder_there(folder)?;
        match self.tree.child(folder, name) {
            Some(id) => {
                self.bytes_mut(id)?.clear();
                Ok(Reply::Node(id))
            }
            None => {
                self.has_room(0, 1)?;
                let empty = Body::File(FileValue::Bytes(Vec::new()));
                Ok(Reply::Node(self.tree.add(folder, name, empty)))
            }
        }
    }

    /// Whether a file has room to be of this length.
    fn grows_to(&mut self, file: NodeId, len: u64) -> Result<(), Errno> {
        let old = self.bytes_mut(file)?.len() as u64;
        if len <= old {
            return Ok(());
        }
        self.has_room(len - old, 0)
    }

    /// Whether the writable folder has room for so many more bytes and entries.
    fn has_room(&self, bytes: u64, entries: usize) -> Result<(), Errno> {
        let (mut bytes, mut entries) = (bytes, entries);
        let mut folders: Vec<NodeId> = self.tree.writable_root().into_iter().collect();
        while let Some(folder) = folders.pop() {
            for (_, child) in self.tree.children(folder) {
                entries += 1;
                match self.bytes_of(child) {
                    Ok(content) => bytes += content.len() as u64,
                    Err(_) => folders.push(child),
                }
            }
        }
        match bytes <= ALL_LEN_MAX && entries <= ENTRIES_MAX {
            true => Ok(()),
            false => Err(Errno::ENOSPC),
        }
    }

    fn write_to(
        &mut self,
        file: NodeId,
        offset: Option<u64>,
        bytes: &[u8],
    ) -> Result<Reply, Errno> {
        let at = match offset {
            Some(at) => at,
            None => self.bytes_mut(file)?.len() as u64,
        };
        let end = at
            .checked_add(bytes.len() as u64)
            .filter(|end| *end <= FILE_LEN_MAX)
            .ok_or(Errno::ENOSPC)?;
        self.grows_to(file, end)?;
        let old = self.bytes_mut(file)?;
        let at = usize::try_from(at).map_err(|_| Errno::ENOSPC)?;
        if old.len() < at {
            old.resize(at, 0);
        }
        let over = bytes.len().min(old.len() - at);
        old[at..at + over].copy_from_slice(&bytes[..over]);
        old.extend_from_slice(&bytes[over..]);
        Ok(Reply::Written(bytes.len()))
    }

    fn rename_in(
        &mut self,
        folder: NodeId,
        name: &str,
        to_folder: NodeId,
        to_name: &str,
    ) -> Result<Reply, Errno> {
        let id = self.tree.child(folder, name).ok_or(Errno::ENOENT)?;
        self.folder_there(to_folder)?;
        if let Some(old) = self.tree.child(to_folder, to_name) {
            if self.tree.children(old).next().is_some() {
                return Err(Errno::ENOTEMPTY);
            }
            self.tree.detach(old);
            self.end(old);
        }
        self.tree.detach(id);
        self.tree.attach(id, to_folder, to_name);
        Ok(Reply::Done)
    }

    fn folder_there(&self, folder: NodeId) -> Result<(), Errno> {
        match self.tree.kind(folder) {
            Some(NodeKind::Folder) => Ok(()),
            Some(_) => Err(Errno::ENOTDIR),
            None => Err(Errno::ENOENT),
        }
    }

    /// Whether `node` is `folder` or below it.
    pub(crate) fn lies_in(&self, node: NodeId, folder: NodeId) -> bool {
        let mut at = node;
        while at != folder {
            if at == NodeId::ROOT {
                return false;
            }
            let Some(parent) = self.tree.parent_of(at) else {
                return false;
            };
            at = parent;
        }
        true
    }

    fn bytes_mut(&mut self, file: NodeId) -> Result<&mut Vec<u8>, Errno> {
        let node = self.tree.node_mut(file).ok_or(Errno::ENODEV)?;
        match &mut node.body {
            Body::File(_) if !node.writable => Err(Errno::EROFS),
            Body::File(FileValue::Bytes(bytes)) => Ok(bytes),
            Body::File(FileValue::Fails(errno)) => Err(*errno),
            Body::Folder(_) => Err(Errno::EISDIR),
            Body::Link(_) | Body::Stream(_) => Err(Errno::EINVAL),
        }
    }
}
