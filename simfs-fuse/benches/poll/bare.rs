//! A server that answers constants, at once and from a table: what is left of a request's cost is the reader, the kernel
//! and the library. It has the tree of the benchmark and the flags of the real one.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, Request, Session,
};
use simfs::{Edit, FileValue};

const TTL: Duration = Duration::from_secs(3600);
const ROOT: u64 = 1;
const HANDLE: FileHandle = FileHandle(0);

enum Node {
    Folder(BTreeMap<String, u64>),
    Link(String),
    File(Vec<u8>),
}

/// The table, and how many requests were answered.
pub(crate) struct Bare {
    nodes: BTreeMap<u64, Node>,
    answered: Arc<AtomicU64>,
}

impl Bare {
    /// Mounts the tree.
    pub(crate) fn mount(
        tree: &[Edit],
        mountpoint: &Path,
        answered: Arc<AtomicU64>,
    ) -> io::Result<BackgroundSession> {
        let mut bare = Self {
            nodes: BTreeMap::from([(ROOT, Node::Folder(BTreeMap::new()))]),
            answered,
        };
        for edit in tree {
            let node = match edit {
                Edit::File {
                    value: FileValue::Bytes(bytes),
                    ..
                } => Node::File(bytes.to_vec()),
                Edit::Link { target, .. } => Node::Link(target.clone()),
                other => unreachable!("the tree has no {other:?}"),
            };
            bare.add(edit.path().as_str(), node);
        }
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("bare".to_owned()),
            MountOption::NoSuid,
            MountOption::NoDev,
            MountOption::NoExec,
        ];
        Session::new(bare, mountpoint, &config)?.spawn()
    }

    fn add(&mut self, path: &str, node: Node) {
        let mut at = ROOT;
        let mut node = Some(node);
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let next = self.nodes.len() as u64 + 1;
            let Some(Node::Folder(names_here)) = self.nodes.get_mut(&at) else {
                unreachable!("`{path}` leads through a file");
            };
            at = *names_here.entry(name.to_owned()).or_insert(next);
            let is_last = names.peek().is_none();
            self.nodes.entry(at).or_insert_with(|| match is_last {
                true => node.take().expect("a path ends once"),
                false => Node::Folder(BTreeMap::new()),
            });
        }
    }

    fn node(&self, ino: INodeNo) -> &Node {
        self.answered.fetch_add(1, Ordering::Relaxed);
        &self.nodes[&ino.0]
    }

    fn attr(&self, ino: u64) -> FileAttr {
        let (kind, perm, size) = match &self.nodes[&ino] {
            Node::Folder(_) => (FileType::Directory, 0o755, 0),
            Node::Link(target) => (FileType::Symlink, 0o777, target.len() as u64),
            Node::File(_) => (FileType::RegularFile, 0o444, 4096),
        };
        FileAttr {
            ino: INodeNo(ino),
            size,
            blocks: 0,
            atime: SystemTime::UNIX_EPOCH,
            mtime: SystemTime::UNIX_EPOCH,
            ctime: SystemTime::UNIX_EPOCH,
            crtime: SystemTime::UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

impl Filesystem for Bare {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = InitFlags::FUSE_CACHE_SYMLINKS | InitFlags::FUSE_PARALLEL_DIROPS;
        config
            .add_capabilities(wanted)
            .map_err(|missing| io::Error::other(format!("the kernel's FUSE has no {missing:?}")))
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let Node::Folder(names) = self.node(parent) else {
            return reply.error(Errno::ENOTDIR);
        };
        match name.to_str().and_then(|name| names.get(name)) {
            Some(ino) => reply.entry(&TTL, &self.attr(*ino), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.node(ino);
        reply.attr(&TTL, &self.attr(ino.0));
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        match self.node(ino) {
            Node::Link(target) => reply.data(target.as_bytes()),
            _ => reply.error(Errno::EINVAL),
        }
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.node(ino);
        reply.opened(HANDLE, FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        _: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.node(ino) {
            Node::File(bytes) if offset == 0 => reply.data(bytes),
            _ => reply.data(&[]),
        }
    }

    fn flush(&self, _: &Request, ino: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.node(ino);
        reply.error(Errno::ENOSYS);
    }

    fn release(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.node(ino);
        reply.ok();
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.node(ino);
        reply.opened(HANDLE, FopenFlags::empty());
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let Node::Folder(names) = self.node(ino) else {
            return reply.error(Errno::ENOTDIR);
        };
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        for (place, (name, ino)) in names.iter().enumerate().skip(skipped) {
            let kind = self.attr(*ino).kind;
            if reply.add(INodeNo(*ino), place as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.node(ino);
        reply.ok();
    }
}
