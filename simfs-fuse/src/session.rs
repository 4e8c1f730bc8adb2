//! The kernel's requests: which logical operation each is, and how each is answered.

use std::{
    collections::btree_map::Entry as Slot,
    ffi::OsStr,
    io,
    sync::Arc,
    time::{Duration, SystemTime},
};

use fuser::{
    FileAttr, FileHandle as Fh, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    TimeOrNow, WriteFlags,
};
use nix::{
    fcntl::OFlag,
    unistd::{getegid, geteuid},
};
use simfs::{Attr, Call, Entry, Errno, Fs, NodeId, NodeKind, Reply};

use crate::{
    handle::{FileHandle, FolderHandle, Handle},
    request::{Ask, Pending, Stage},
    shared::Shared,
};

/// How long the kernel believes a name: longer than any drill, since it is told when to forget.
const TTL: Duration = Duration::from_secs(3600);

/// The first cookies of a listing are those of `.` and `..`.
const DOTS: u64 = 2;

/// The server's side of the mount.
pub(crate) struct Session(pub(crate) Arc<Shared>);

impl Session {
    /// Opens a file for more than reading.
    fn open_for_writing(
        &self,
        request: &Request,
        node: NodeId,
        flags: OpenFlags,
        reply: ReplyOpen,
    ) {
        let fs = self.0.fs();
        let call = match fs.attr(node) {
            Err(_) => return reply.error(fuser::Errno::ESTALE),
            Ok(attr) if !attr.writable => return reply.error(fuser::Errno::EROFS),
            Ok(_) if flags.0 & OFlag::O_TRUNC.bits() == 0 => None,
            Ok(_) => {
                let name = fs.tree().path_of(node).map(|path| path.name().to_owned());
                let folder = fs.tree().parent_of(node);
                folder.zip(name).map(|(folder, name)| Call::Create {
                    folder,
                    name,
                    exclusive: false,
                })
            }
        };
        drop(fs);
        match call {
            Some(call) => {
                let ask = Ask::OpenEmpty {
                    reply,
                    flags: flags.0,
                };
                self.0.take_in(Pending::new(request.pid(), call, ask));
            }
            None => {
                let handle = self.0.open_written(node, flags.0);
                reply.opened(handle, FopenFlags::FOPEN_DIRECT_IO);
            }
        }
    }

    fn changes(&self, request: &Request, call: Call, reply: ReplyEmpty) {
        self.0
            .take_in(Pending::new(request.pid(), call, Ask::Empty(reply)));
    }
}

impl Filesystem for Session {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = InitFlags::FUSE_CACHE_SYMLINKS
            | InitFlags::FUSE_PARALLEL_DIROPS
            | InitFlags::FUSE_ATOMIC_O_TRUNC;
        config.add_capabilities(wanted).map_err(|missing| {
            io::Error::new(
                io::ErrorKind::Unsupported,
                format!("the kernel's FUSE has no {missing:?}"),
            )
        })
    }

    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let Some(name) = name.to_str() else {
            return reply.error(fuser::Errno::ENOENT);
        };
        let fs = self.0.fs();
        let found = fs
            .lookup(NodeId::from_inode(parent.0), name)
            .and_then(|node| fs.attr(node));
        drop(fs);
        match found {
            Ok(attr) => answer_entry(reply, attr),
            Err(errno) => {
                // A path that is walked again ends here.
                self.0.walkers().remove(&request.pid());
                reply.error(to_fuser(errno));
            }
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<Fh>, reply: ReplyAttr) {
        let node = NodeId::from_inode(ino.0);
        let attr = self.0.fs().attr(node);
        // A descriptor of something that has gone still says what it was, as kernfs does.
        let attr = attr.or_else(|errno| {
            let kind = self.0.handles().kind_of(node).ok_or(errno)?;
            let (len, mode) = if kind == NodeKind::Folder {
                (0, 0o755)
            } else {
                (4096, 0o444)
            };
            Ok::<_, Errno>(Attr {
                node,
                kind,
                len,
                mode,
                writable: false,
            })
        });
        match attr {
            Ok(attr) => reply.attr(&attr_ttl(&attr), &file_attr(&attr)),
            Err(errno) => reply.error(to_fuser(errno)),
        }
    }

    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<Fh>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let node = NodeId::from_inode(ino.0);
        if let Some(len) = size {
            let call = Call::Truncate { file: node, len };
            return self.0.take_in(Pending::new(
                request.pid(),
                call,
                Ask::SetAttr { reply, node },
            ));
        }
        let mut fs = self.0.fs();
        let set = match mode {
            Some(mode) => fs.set_mode(node, mode_bits(mode)),
            None => fs.attr(node).and_then(|attr| {
                if attr.writable {
                    Ok(())
                } else {
                    Err(Errno::EROFS)
                }
            }),
        };
        let attr = set.and_then(|()| fs.attr(node));
        drop(fs);
        match attr {
            Ok(attr) => reply.attr(&attr_ttl(&attr), &file_attr(&attr)),
            Err(errno) => reply.error(to_fuser(errno)),
        }
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let node = NodeId::from_inode(ino.0);
        let target = {
            let fs = self.0.fs();
            fs.target(node).map(|target| below_mount(&fs, node, target))
        };
        match target {
            Ok(target) => reply.data(target.as_bytes()),
            Err(errno) => reply.error(to_fuser(errno)),
        }
    }

    fn open(&self, request: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let node = NodeId::from_inode(ino.0);
        let reads =
            flags.acc_mode() == OpenAccMode::O_RDONLY && flags.0 & OFlag::O_TRUNC.bits() == 0;
        if reads {
            self.0.take_in(Pending::new(
                request.pid(),
                Call::Read(node),
                Ask::OpenFile(reply),
            ));
        } else {
            self.open_for_writing(request, node, flags, reply);
        }
    }

    fn read(
        &self,
        request: &Request,
        ino: INodeNo,
        fh: Fh,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let node = NodeId::from_inode(ino.0);
        let mut handles = self.0.handles();
        let Some(file) = handles.file(fh.0) else {
            return reply.error(fuser::Errno::EBADF);
        };
        if offset > 0
            && let Some(value) = &file.value
        {
            if !file.grows || offset < value.len() as u64 {
                return reply.data(piece(value, offset, size));
            }
            drop(handles);
            let bytes = self
                .0
                .fs()
                .bytes_of(node)
                .map(|bytes| piece(bytes, offset, size).to_vec());
            return match bytes {
                Ok(bytes) => reply.data(&bytes),
                Err(errno) => reply.error(to_fuser(errno)),
            };
        }
        let ask = Ask::Read {
            reply,
            handle: fh.0,
            offset,
            size,
        };
        let mut pending = Pending::new(request.pid(), Call::Read(node), ask);
        pending.act.clone_from(&file.act);
        if std::mem::take(&mut file.begun) {
            pending.stage = Stage::Perform;
        }
        drop(handles);
        self.0.take_in(pending);
    }

    fn write(
        &self,
        request: &Request,
        ino: INodeNo,
        fh: Fh,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let append = self.0.handles().file(fh.0).is_some_and(|file| file.append);
        let node = NodeId::from_inode(ino.0);
        let call = Call::Write {
            file: node,
            offset: (!append).then_some(offset),
            bytes: data.to_vec(),
        };
        self.0.take_in(Pending::new(
            request.pid(),
            call,
            Ask::Write { reply, node },
        ));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: Fh, _: LockOwner, reply: ReplyEmpty) {
        // The kernel remembers this and does not ask again.
        reply.error(fuser::Errno::ENOSYS);
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: Fh,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let handle = self.0.handles().remove(fh.0);
        if let Some(Handle::File(file)) = handle {
            self.0.fs().closed(file.node);
        }
        reply.ok();
    }

    fn fsync(&self, request: &Request, ino: INodeNo, _: Fh, _: bool, reply: ReplyEmpty) {
        self.changes(request, Call::Fsync(NodeId::from_inode(ino.0)), reply);
    }

    fn opendir(&self, request: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let node = NodeId::from_inode(ino.0);
        // A folder of the writable folder is opened to put its names on the disk, too. So it is
        // listed only when its names are asked for.
        if self.0.fs().attr(node).is_ok_and(|attr| attr.writable) {
            let folder = FolderHandle {
                node,
                entries: None,
                started: false,
            };
            return reply.opened(
                Fh(self.0.handles().add(Handle::Folder(folder))),
                FopenFlags::empty(),
            );
        }
        let mut pending = Pending::new(request.pid(), Call::List(node), Ask::OpenFolder(reply));
        if self.0.options.gate && self.0.fs().is_anchor(node) {
            pending.stage = Stage::Gate;
        }
        self.0.take_in(pending);
    }

    fn readdir(&self, request: &Request, ino: INodeNo, fh: Fh, offset: u64, reply: ReplyDirectory) {
        let listed = self
            .0
            .handles()
            .folder(fh.0)
            .map(|folder| folder.entries.is_some());
        match listed {
            None => reply.error(fuser::Errno::EBADF),
            Some(true) => self.0.answer_names(reply, fh.0, offset),
            Some(false) => {
                let ask = Ask::ReadFolder {
                    reply,
                    handle: fh.0,
                };
                self.0.take_in(Pending::new(
                    request.pid(),
                    Call::List(NodeId::from_inode(ino.0)),
                    ask,
                ));
            }
        }
    }

    fn releasedir(&self, _: &Request, _: INodeNo, fh: Fh, _: OpenFlags, reply: ReplyEmpty) {
        self.0.handles().remove(fh.0);
        reply.ok();
    }

    fn fsyncdir(&self, request: &Request, ino: INodeNo, _: Fh, _: bool, reply: ReplyEmpty) {
        self.changes(request, Call::FsyncFolder(NodeId::from_inode(ino.0)), reply);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let Some(name) = name.to_str() else {
            return reply.error(fuser::Errno::EINVAL);
        };
        let call = Call::Create {
            folder: NodeId::from_inode(parent.0),
            name: name.to_owned(),
            exclusive: flags & OFlag::O_EXCL.bits() != 0,
        };
        let ask = Ask::Create {
            reply,
            flags,
            mode: mode & !umask,
        };
        self.0.take_in(Pending::new(request.pid(), call, ask));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let Some(name) = name.to_str() else {
            return reply.error(fuser::Errno::EINVAL);
        };
        let call = Call::MakeFolder {
            folder: NodeId::from_inode(parent.0),
            name: name.to_owned(),
        };
        let ask = Ask::MakeFolder {
            reply,
            mode: mode & !umask,
        };
        self.0.take_in(Pending::new(request.pid(), call, ask));
    }

    fn mknod(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(fuser::Errno::EPERM);
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let Some(name) = name.to_str() else {
            return reply.error(fuser::Errno::ENOENT);
        };
        let call = Call::Unlink {
            folder: NodeId::from_inode(parent.0),
            name: name.to_owned(),
        };
        self.changes(request, call, reply);
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let Some(name) = name.to_str() else {
            return reply.error(fuser::Errno::ENOENT);
        };
        let call = Call::RemoveFolder {
            folder: NodeId::from_inode(parent.0),
            name: name.to_owned(),
        };
        self.changes(request, call, reply);
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (Some(name), Some(to_name)) = (name.to_str(), newname.to_str()) else {
            return reply.error(fuser::Errno::EINVAL);
        };
        let keep = flags == RenameFlags::RENAME_NOREPLACE;
        if !keep && !flags.is_empty() {
            return reply.error(fuser::Errno::EINVAL);
        }
        let call = Call::Rename {
            folder: NodeId::from_inode(parent.0),
            name: name.to_owned(),
            to_folder: NodeId::from_inode(newparent.0),
            to_name: to_name.to_owned(),
            keep,
        };
        self.changes(request, call, reply);
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        // A disk of 1 GiB with half of it free, so that a program that looks before it writes
        // finds room. Chosen; ENOSPC is told by the write itself.
        reply.statfs(262_144, 131_072, 131_072, 65_536, 32_768, 4096, 255, 4096);
    }
}

impl Shared {
    /// Gives the kernel its answer.
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
                    };
                    let handle = self.handles().add(Handle::Folder(folder));
                    reply.opened(Fh(handle), FopenFlags::empty());
                }
                result => reply.error(refusal(result)),
            },
            Ask::OpenFile(reply) => match (result, node) {
                (Ok(_), Some(node)) => {
                    self.fs().opened(node);
                    let act = pending.act;
                    let file = FileHandle {
                        node,
                        act,
                        begun: true,
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
                    let bytes = self.maybe_stale(
                        node,
                        pending.act.as_ref().map_or("", |act| act.path()),
                        bytes,
                    );
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
                    // One time for name and attributes: the name is asked for again, which costs little.
                    reply.created(
                        &attr_ttl(&attr),
                        &file_attr(&attr),
                        Generation(0),
                        handle,
                        FopenFlags::FOPEN_DIRECT_IO,
                    );
                }
                Err(errno) => reply.error(errno),
            },
            Ask::MakeFolder { reply, mode } => match self.made(result, mode) {
                Ok(attr) => answer_entry(reply, attr),
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
                    Ok(attr) => reply.attr(&attr_ttl(&attr), &file_attr(&attr)),
                    Err(errno) => reply.error(to_fuser(errno)),
                }
            }
            Ask::ReadFolder { reply, handle } => match result {
                Ok(Reply::Names(entries)) => {
                    if let Some(folder) = self.handles().folder(handle) {
                        folder.entries = Some(entries);
                    }
                    self.answer_names(reply, handle, 0);
                }
                Err(Errno::ENOENT) => reply.ok(),
                result => reply.error(refusal(result)),
            },
            Ask::Empty(reply) => match result {
                Ok(_) => reply.ok(),
                Err(errno) => reply.error(to_fuser(errno)),
            },
        }
    }

    /// Gives the names of a listing behind a cookie.
    fn answer_names(&self, mut reply: ReplyDirectory, handle: u64, offset: u64) {
        for (cookie, node, kind, name) in self.names_from(handle, offset) {
            if reply.add(INodeNo(node.inode()), cookie, file_type(kind), &name) {
                break;
            }
        }
        reply.ok();
    }

    /// What is left of a listing behind a cookie: without names that went meanwhile, be it with the
    /// whole folder, unless they stay in it for sure. Reading it from its start again shows the
    /// names of now.
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

    fn open_written(&self, node: NodeId, flags: i32) -> Fh {
        self.fs().opened(node);
        let append = flags & OFlag::O_APPEND.bits() != 0;
        let file = FileHandle {
            node,
            act: None,
            begun: false,
            value: None,
            grows: false,
            append,
        };
        Fh(self.handles().add(Handle::File(file)))
    }

    /// The folder whose listing was given: the anchor itself, where its ghost was asked.
    fn listed(&self, node: Option<NodeId>) -> NodeId {
        let node = node.expect("a folder is opened by listing a node");
        let fs = self.fs();
        if fs.is_anchor(node) {
            fs.anchor().unwrap_or(node)
        } else {
            node
        }
    }

    /// What a file or folder that was just made is like, with the permissions its maker wants.
    fn made(&self, result: Result<Reply, Errno>, mode: u32) -> Result<Attr, fuser::Errno> {
        let Ok(Reply::Node(node)) = result else {
            return Err(refusal(result));
        };
        let mut fs = self.fs();
        fs.set_mode(node, mode_bits(mode))
            .and_then(|()| fs.attr(node))
            .map_err(to_fuser)
    }

    fn maybe_stale(&self, node: NodeId, path: &str, bytes: Vec<u8>) -> Vec<u8> {
        if !self
            .options
            .stale_bytes_for_test
            .as_ref()
            .is_some_and(|pattern| pattern.matches(path))
        {
            return bytes;
        }
        let mut first = self
            .first_bytes
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match first.entry(node) {
            Slot::Occupied(old) => old.get().clone(),
            Slot::Vacant(slot) => slot.insert(bytes).clone(),
        }
    }
}

fn answer_entry(reply: ReplyEntry, attr: Attr) {
    reply.entry_with_ttls(&attr_ttl(&attr), &TTL, &file_attr(&attr), Generation(0));
}

/// How long the kernel believes attributes: in the writable folder not at all.
fn attr_ttl(attr: &Attr) -> Duration {
    if attr.writable { Duration::ZERO } else { TTL }
}

fn file_attr(attr: &Attr) -> FileAttr {
    let time = SystemTime::UNIX_EPOCH;
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
        nlink: if attr.kind == NodeKind::Folder { 2 } else { 1 },
        uid: geteuid().as_raw(),
        gid: getegid().as_raw(),
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

fn file_type(kind: NodeKind) -> FileType {
    match kind {
        NodeKind::Folder => FileType::Directory,
        NodeKind::Link => FileType::Symlink,
        _ => FileType::RegularFile,
    }
}

/// A link's target such that it stays below the mount: an absolute one leads from the tree's root.
fn below_mount(fs: &Fs, link: NodeId, target: &str) -> String {
    if !target.starts_with('/') {
        return target.to_owned();
    }
    let folder = fs
        .tree()
        .path_of(link)
        .and_then(|path| path.parent())
        .unwrap_or_default();
    let up = folder.split('/').filter(|part| !part.is_empty()).count();
    format!("./{}{}", "../".repeat(up), target.trim_start_matches('/'))
}

/// The bytes from an offset on, as many as asked for.
fn piece(bytes: &[u8], offset: u64, size: u32) -> &[u8] {
    let from = usize::try_from(offset)
        .unwrap_or(usize::MAX)
        .min(bytes.len());
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    &bytes[from..bytes.len().min(from.saturating_add(size))]
}

fn mode_bits(mode: u32) -> u16 {
    u16::try_from(mode & 0o7777).expect("twelve bits fit in sixteen")
}

/// The error of a call, or EIO where one gave what was not asked for.
fn refusal(result: Result<Reply, Errno>) -> fuser::Errno {
    result.err().map_or(fuser::Errno::EIO, to_fuser)
}

fn to_fuser(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno.0)
}
