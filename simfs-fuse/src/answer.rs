//! Answers to the kernel: converts the result of a logical operation to a FUSE reply.

use std::time::{Duration, SystemTime};

use fuser::{
    FileAttr, FileHandle as Fh, FileType, FopenFlags, Generation, INodeNo, ReplyDirectory,
    ReplyEntry,
};
use rustix::fs::OFlags;
use simfs::{Attr, Call, Entry, Errno, NodeId, NodeKind, Reply};

use crate::{
    handle::{FileHandle, FolderHandle, Handle},
    request::{Ask, Pending},
    shared::Shared,
};

/// How long the kernel caches a name: longer than any drill, because it is notified of changes.
const TTL: Duration = Duration::from_secs(3600);

/// The first cookies of a listing are those of `.` and `..`.
const DOTS: u64 = 2;

impl Shared {
    /// Sends the reply to the kernel.
    pub(crate) fn reply(&self, pending: Pending, result: Result<Reply, Errno>) {
        let node = match &pending.call {
            Call::List(node) | Call::Read(node) => Some(*node),
            _ => None,
        };
        match pending.ask {
            Ask::OpenFolder(reply) => match result {
                Ok(Reply::Names(entries)) => {
                    let node = self.listed(node);
                    let folder = FolderHandle {
                        node,
                        entries: Some(entries),
                        started: false,
                        relists: !self.fs().is_anchor(node),
                    };
                    let handle = self.handles().add(Handle::Folder(folder));
                    reply.opened(Fh(handle), FopenFlags::empty());
                }
                result => reply.error(refusal(result)),
            },
            Ask::OpenFile(reply) => match (result, node) {
                (Ok(_), Some(node)) => {
                    self.fs().opened(node);
                    let file = FileHandle {
                        node,
                        begun: pending.act,
                        value: None,
                        grows: false,
                        append: false,
                    };
                    reply.opened(
                        Fh(self.handles().add(Handle::File(file))),
                        FopenFlags::FOPEN_DIRECT_IO,
                    );
                }
                (result, _) => reply.error(refusal(result)),
            },
            Ask::OpenEmpty { reply, flags } => match result {
                Ok(Reply::Node(node)) => {
                    reply.opened(self.open_written(node, flags), FopenFlags::FOPEN_DIRECT_IO)
                }
                result => reply.error(refusal(result)),
            },
            Ask::Read {
                reply,
                handle,
                offset,
                size,
            } => match (result, node) {
                (Ok(Reply::Bytes(bytes)), Some(node)) => {
                    let given = piece(&bytes, offset, size).to_vec();
                    let fs = self.fs();
                    let grows = fs.tree().kind(node) == Some(NodeKind::Stream)
                        && fs.bytes_of(node) == Ok(&bytes);
                    drop(fs);
                    if let Some(file) = self.handles().file(handle) {
                        file.grows = grows;
                        file.value = Some(bytes);
                    }
                    reply.data(&given);
                }
                (result, _) => {
                    if let Some(file) = self.handles().file(handle) {
                        file.value = None;
                    }
                    reply.error(refusal(result));
                }
            },
            Ask::Create { reply, flags, mode } => match self.made(result, mode) {
                Ok(attr) => {
                    let handle = self.open_written(attr.node, flags);
                    // One timeout applies to name and attributes: the name is looked up again, which is
                    // cheap.
                    reply.created(
                        &attr_ttl(&attr),
                        &self.file_attr(&attr),
                        Generation(0),
                        handle,
                        FopenFlags::FOPEN_DIRECT_IO,
                    );
                }
                Err(errno) => reply.error(errno),
            },
            Ask::MakeFolder { reply, mode } => match self.made(result, mode) {
                Ok(attr) => self.answer_entry(reply, attr),
                Err(errno) => reply.error(errno),
            },
            Ask::Write { reply, node } => match result {
                Ok(Reply::Written(len)) => {
                    self.handles().forget_values(node);
                    reply.written(
                        u32::try_from(len).expect("a write is never longer than its request"),
                    );
                }
                result => reply.error(refusal(result)),
            },
            Ask::SetAttr { reply, node } => {
                self.handles().forget_values(node);
                let attr = result.and_then(|_| self.fs().attr(node));
                match attr {
                    Ok(attr) => reply.attr(&attr_ttl(&attr), &self.file_attr(&attr)),
                    Err(errno) => reply.error(to_fuser(errno)),
                }
            }
            Ask::ReadFolder { reply, handle } => match result {
                Ok(Reply::Names(entries)) => {
                    if let Some(folder) = self.handles().folder(handle) {
                        folder.entries = Some(entries);
                        folder.started = false;
                    }
                    self.answer_names(reply, handle, 0);
                }
                // A removed folder is empty; an existing one is missing only because of a rule.
                Err(Errno::ENOENT) if !node.is_some_and(|node| self.is_there(node)) => reply.ok(),
                result => reply.error(refusal(result)),
            },
            Ask::Empty(reply) => match result {
                Ok(_) => reply.ok(),
                Err(errno) => reply.error(to_fuser(errno)),
            },
        }
    }

    /// Replies with the names of a listing after a cookie.
    pub(crate) fn answer_names(&self, mut reply: ReplyDirectory, handle: u64, offset: u64) {
        for (cookie, node, kind, name) in self.names_from(handle, offset) {
            if reply.add(INodeNo(node.inode()), cookie, file_type(kind), &name) {
                break;
            }
        }
        reply.ok();
    }

    /// The names of a listing after a cookie: without those removed meanwhile, also with the whole
    /// folder, unless they are sure to stay in it. Reading it from its start again shows the present
    /// names.
    fn names_from(&self, handle: u64, offset: u64) -> Vec<(u64, NodeId, NodeKind, String)> {
        let fs = self.fs();
        let mut handles = self.handles();
        let Some(folder) = handles.folder(handle) else {
            return Vec::new();
        };
        let node = folder.node;
        let Some(entries) = &mut folder.entries else {
            return Vec::new();
        };
        let parent = fs.tree().parent_of(node);
        if offset == 0 && std::mem::replace(&mut folder.started, true) {
            *entries = fs.entries(node);
        }
        let dots = parent.map(|parent| {
            [
                (1, node, NodeKind::Folder, "."),
                (DOTS, parent, NodeKind::Folder, ".."),
            ]
        });
        let there = |entry: &&Entry| entry.sure || fs.lookup(node, &entry.name) == Ok(entry.node);
        let names = (DOTS + 1..)
            .zip(entries.iter())
            .filter(|(_, entry)| there(entry));
        dots.into_iter()
            .flatten()
            .chain(names.map(|(cookie, entry)| (cookie, entry.node, entry.kind, &*entry.name)))
            .filter(|(cookie, ..)| *cookie > offset)
            .map(|(cookie, node, kind, name)| (cookie, node, kind, name.to_owned()))
            .collect()
    }

    pub(crate) fn answer_entry(&self, reply: ReplyEntry, attr: Attr) {
        reply.entry_with_ttls(
            &attr_ttl(&attr),
            &TTL,
            &self.file_attr(&attr),
            Generation(0),
        );
    }

    pub(crate) fn file_attr(&self, attr: &Attr) -> FileAttr {
        let (uid, gid) = self.owner;
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(attr.mtime_ns);
        FileAttr {
            ino: INodeNo(attr.node.inode()),
            size: attr.len,
            blocks: 0,
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: file_type(attr.kind),
            perm: attr.mode,
            nlink: attr.links,
            uid,
            gid,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    pub(crate) fn open_written(&self, node: NodeId, flags: i32) -> Fh {
        self.fs().opened(node);
        let append = flags.cast_unsigned() & OFlags::APPEND.bits() != 0;
        let file = FileHandle {
            node,
            begun: None,
            value: None,
            grows: false,
            append,
        };
        Fh(self.handles().add(Handle::File(file)))
    }

    fn is_there(&self, node: NodeId) -> bool {
        self.fs().tree().kind(node).is_some()
    }

    /// The listed folder: the anchor itself if its ghost was requested.
    fn listed(&self, node: Option<NodeId>) -> NodeId {
        let node = node.expect("a folder is opened by listing a node");
        let fs = self.fs();
        if fs.is_anchor(node) {
            fs.anchor().unwrap_or(node)
        } else {
            node
        }
    }

    /// The attributes of a file or folder that was just created, with the requested permissions.
    fn made(&self, result: Result<Reply, Errno>, mode: u32) -> Result<Attr, fuser::Errno> {
        let Ok(Reply::Node(node)) = result else {
            return Err(refusal(result));
        };
        let mut fs = self.fs();
        fs.set_mode(node, mode_bits(mode))
            .and_then(|()| fs.attr(node))
            .map_err(to_fuser)
    }
}

/// How long the kernel caches attributes; not at all in the writable folder.
pub(crate) fn attr_ttl(attr: &Attr) -> Duration {
    if attr.writable { Duration::ZERO } else { TTL }
}

fn file_type(kind: NodeKind) -> FileType {
    match kind {
        NodeKind::Folder => FileType::Directory,
        NodeKind::Link => FileType::Symlink,
        _ => FileType::RegularFile,
    }
}

/// At most `size` bytes from an offset on.
pub(crate) fn piece(bytes: &[u8], offset: u64, size: u32) -> &[u8] {
    let from = usize::try_from(offset)
        .unwrap_or(usize::MAX)
        .min(bytes.len());
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    &bytes[from..bytes.len().min(from.saturating_add(size))]
}

pub(crate) fn mode_bits(mode: u32) -> u16 {
    u16::try_from(mode & 0o7777).expect("twelve bits fit in sixteen")
}

/// The error of a call, or EIO if its value has the wrong type.
fn refusal(result: Result<Reply, Errno>) -> fuser::Errno {
    result.err().map_or(fuser::Errno::EIO, to_fuser)
}

pub(crate) fn to_fuser(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno.0)
}
