//! Converts the kernel's requests to logical operations. `answer.rs` sends the replies.

use std::{ffi::OsStr, io, panic, sync::Arc, time::SystemTime};

use fuser::{
    FileHandle as Fh, Filesystem, FopenFlags, INodeNo, InitFlags, KernelConfig, LockOwner,
    OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::OFlags;
use simfs::{Attr, Call, Errno, Fs, NodeId, NodeKind};

use crate::{
    answer::{attr_ttl, mode_bits, piece, to_fuser},
    handle::{FolderHandle, Handle},
    request::{Ask, Pending, Stage},
    shared::Shared,
};

/// The server's side of the mount.
pub(crate) struct Session(pub(crate) Arc<Shared>);

impl Session {
    /// Opens a file for writing.
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
            // An attribute that can be written: a write is answered by `Fs::perform`. Emptying it does nothing
            // (`kernfs_iop_setattr`).
            Ok(attr) if !attr.writable && attr.mode & 0o222 != 0 => None,
            // `kernfs_fop_open` refuses others; for root the whole file system is read-only.
            Ok(attr) if !attr.writable && request.uid() != 0 => {
                return reply.error(fuser::Errno::EACCES);
            }
            Ok(attr) if !attr.writable => return reply.error(fuser::Errno::EROFS),
            Ok(_) if flags.0.cast_unsigned() & OFlags::TRUNC.bits() == 0 => None,
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
            Ok(attr) => self.0.answer_entry(reply, attr),
            Err(errno) => {
                // Resolving a path again ends here.
                self.0.walkers().remove(&request.pid());
                reply.error(to_fuser(errno));
            }
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<Fh>, reply: ReplyAttr) {
        let node = NodeId::from_inode(ino.0);
        let attr = self.0.fs().attr(node);
        // A descriptor of a removed node still has its attributes, as in kernfs.
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
                links: 0,
                mtime_ns: 0,
                writable: false,
            })
        });
        match attr {
            Ok(attr) => reply.attr(&attr_ttl(&attr), &self.0.file_attr(&attr)),
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
            Ok(attr) => reply.attr(&attr_ttl(&attr), &self.0.file_attr(&attr)),
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
        let reads = flags.acc_mode() == OpenAccMode::O_RDONLY
            && flags.0.cast_unsigned() & OFlags::TRUNC.bits() == 0;
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
        // The first read has the names of the open call, and continues if the file was removed.
        let begun = file.begun.take();
        drop(handles);
        let ask = Ask::Read {
            reply,
            handle: fh.0,
            offset,
            size,
        };
        let mut pending = Pending::new(request.pid(), Call::Read(node), ask);
        if let Some(act) = begun {
            pending.act = Some(act);
            pending.stage = Stage::Perform;
        }
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
        // A folder of the writable folder is also opened to flush its names, so it is listed only
        // when its names are read.
        let (is_writable, is_gated) = {
            let fs = self.0.fs();
            let is_gated = self.0.options.gate && fs.is_anchor(node);
            (fs.attr(node).is_ok_and(|attr| attr.writable), is_gated)
        };
        if is_writable {
            let folder = FolderHandle {
                node,
                entries: None,
                started: false,
                relists: false,
            };
            return reply.opened(
                Fh(self.0.handles().add(Handle::Folder(folder))),
                FopenFlags::empty(),
            );
        }
        let mut pending = Pending::new(request.pid(), Call::List(node), Ask::OpenFolder(reply));
        if is_gated {
            pending.stage = Stage::Gate;
        }
        self.0.take_in(pending);
    }

    fn readdir(&self, request: &Request, ino: INodeNo, fh: Fh, offset: u64, reply: ReplyDirectory) {
        let node = NodeId::from_inode(ino.0);
        let mut handles = self.0.handles();
        let Some(folder) = handles.folder(fh.0) else {
            drop(handles);
            return reply.error(fuser::Errno::EBADF);
        };
        // A listing of the anchor begins when it is opened, because it is held there.
        let lists = folder.entries.is_none() || (folder.relists && offset == 0 && folder.started);
        drop(handles);
        if !lists {
            return self.0.answer_names(reply, fh.0, offset);
        }
        let ask = Ask::ReadFolder {
            reply,
            handle: fh.0,
        };
        self.0
            .take_in(Pending::new(request.pid(), Call::List(node), ask));
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
            exclusive: flags.cast_unsigned() & OFlags::EXCL.bits() != 0,
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
        // A disk of 1 GiB, half of it free, for programs that check before they write. Chosen; the
        // write itself reports ENOSPC.
        reply.statfs(262_144, 131_072, 131_072, 65_536, 32_768, 4096, 255, 4096);
        if self.0.is_closing() {
            // fuser's loop returns only once the kernel has ended the connection, and the kernel ends it
            // once the loop's descriptor of the device is closed. `Server::end` asks this when the loop
            // is to end. Unwinding is its only other way out; no panic hook sees it.
            panic::resume_unwind(Box::new("the session is over"));
        }
    }
}

/// A link's target, limited to the mount: an absolute one is resolved from the tree's root.
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
