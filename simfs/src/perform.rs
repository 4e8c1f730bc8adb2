//! The steps of a call: it begins, moments and rules apply, it takes effect, and it is traced.
//!
//! A file server calls [`Fs::begin`], [`Fs::before`], [`Fs::perform`] and [`Fs::after`], and handles
//! the moments in between. The client in memory (`client.rs`) does the same.

use std::sync::Arc;

use crate::{
    Act, Answer, Call, Edit, Entry, Errno, FileValue, Fs, MomentId, NodeId, NodeKind, Reply,
    TraceEntry, TraceOutcome, Verdict,
    name::Name,
    node::{Body, Node},
};

impl Fs {
    /// Begins a call. A call that fails here is not counted, not traced and not subject to rules:
    /// unknown names, nodes of the wrong kind, changes outside the writable folder.
    ///
    /// # Errors
    /// Those of the system call: `ENOENT`, `ENOTDIR`, `EISDIR`, `EEXIST`, `EROFS`, `EINVAL`,
    /// `ENAMETOOLONG`.
    pub fn begin(&mut self, call: &Call) -> Result<Act, Errno> {
        self.check(call)?;
        let (name, to) = match call {
            Call::List(node) | Call::Read(node) | Call::Fsync(node) | Call::FsyncFolder(node) => {
                (self.names.of(&self.tree, *node), None)
            }
            Call::Write { file, .. } | Call::Truncate { file, .. } => {
                (self.names.of(&self.tree, *file), None)
            }
            Call::Create { folder, name, .. }
            | Call::Unlink { folder, name }
            | Call::MakeFolder { folder, name }
            | Call::RemoveFolder { folder, name } => {
                (self.names.below(&self.tree, *folder, name), None)
            }
            Call::Rename {
                folder,
                name,
                to_folder,
                to_name,
                ..
            } => {
                let to = self.names.below(&self.tree, *to_folder, to_name);
                (self.names.below(&self.tree, *folder, name), to)
            }
        };
        Ok(Act {
            op: call.op(),
            name: name.ok_or(Errno::ENOENT)?,
            to,
        })
    }

    /// The moments just before a call. Must be called once for each call.
    pub fn before(&mut self, act: &Act) -> Vec<MomentId> {
        if self.moments.is_empty() {
            return Vec::new();
        }
        self.moments.before(act.op, &act.places(), &self.tree)
    }

    /// The moments just after a call. Must be called once for each performed call.
    pub fn after(&mut self, act: &Act) -> Vec<MomentId> {
        if self.moments.is_empty() {
            return Vec::new();
        }
        self.moments.after(act.op, &act.places(), &self.tree)
    }

    /// Performs a call under the rules, and traces it. If its node was removed since it began, a read
    /// fails with `ENODEV`, as on the descriptor of a device that was removed.
    pub fn perform(&mut self, call: &Call, act: &Act) -> Answer {
        let verdict = if self.rules.is_empty() {
            None
        } else {
            self.rules
                .decide(act.op, &act.places(), self.now, &self.tree)
        };
        let result = match verdict {
            None => self.resume(call),
            Some((rule, Verdict::Hang { killable })) => {
                self.note(act, TraceOutcome::Hung);
                return Answer::Hangs { rule, killable };
            }
            Some((_, verdict)) => self.perform_as(call, verdict),
        };
        self.note(act, TraceOutcome::of(&result));
        Answer::Done(result)
    }

    /// Performs a call without rules and trace, for a held call that is released.
    ///
    /// # Errors
    /// Those of the system call.
    pub fn resume(&mut self, call: &Call) -> Result<Reply, Errno> {
        match call {
            Call::List(folder) => self.names_in(*folder).map(Reply::Names),
            Call::Read(file) => self
                .bytes_of(*file)
                .map(|bytes| Reply::Bytes(bytes.to_vec())),
            _ => self.change(call),
        }
    }

    fn perform_as(&mut self, call: &Call, verdict: Verdict) -> Result<Reply, Errno> {
        match (verdict, call) {
            (Verdict::Fail(errno), _) => Err(errno),
            (Verdict::Content(bytes), _) => Ok(Reply::Bytes(bytes)),
            (Verdict::Truncate(len), _) => self.resume(call).map(|reply| reply.cut(len)),
            (Verdict::Torn { first, at }, Call::Read(file)) => {
                let rest = self.bytes_of(*file)?;
                let mut mixed = first[..at.min(first.len())].to_vec();
                mixed.extend_from_slice(&rest[at.min(rest.len())..]);
                Ok(Reply::Bytes(mixed))
            }
            (
                Verdict::ShortWrite(len),
                Call::Write {
                    file,
                    offset,
                    bytes,
                },
            ) => {
                let bytes = bytes[..len.min(bytes.len())].to_vec();
                self.change(&Call::Write {
                    file: *file,
                    offset: *offset,
                    bytes,
                })
            }
            (Verdict::Vanish { paths, after_names }, _) => {
                let listed = match call {
                    Call::List(folder) => Some(self.names_in(*folder)?),
                    _ => None,
                };
                let gone: Vec<Edit> = paths.into_iter().map(Edit::Remove).collect();
                self.apply(&gone);
                match listed {
                    Some(listed) => Ok(Reply::Names(self.names_left(listed, after_names))),
                    None => self.resume(call),
                }
            }
            (verdict, _) => {
                unreachable!("a rule decides only what its verdict fits, not {verdict:?}")
            }
        }
    }

    /// The rest of a listing during which names were removed, after `given` of them were returned.
    fn names_left(&self, mut listed: Vec<Entry>, given: Option<usize>) -> Vec<Entry> {
        let given = given.unwrap_or(listed.len());
        let mut at = 0;
        listed.retain_mut(|entry| {
            at += 1;
            entry.sure = at <= given;
            entry.sure || self.has_name(entry.node)
        });
        listed
    }

    fn names_in(&self, folder: NodeId) -> Result<Vec<Entry>, Errno> {
        let folder = self.real(folder);
        if self.tree.ghost() == Some(folder) {
            return Err(Errno::ENOENT);
        }
        match self.tree.kind(folder) {
            None => Err(Errno::ENOENT),
            Some(NodeKind::Folder) => Ok(self.entries(folder)),
            Some(_) => Err(Errno::ENOTDIR),
        }
    }

    /// The present entries of a folder, by name, without rules and trace; empty if it was removed.
    #[must_use]
    pub fn entries(&self, folder: NodeId) -> Vec<Entry> {
        let entry = |(name, node): (&str, NodeId)| {
            let kind = self
                .tree
                .kind(node)
                .expect("a folder names only nodes that live");
            Entry {
                name: name.to_owned(),
                node,
                kind,
                sure: false,
            }
        };
        self.tree.children(self.real(folder)).map(entry).collect()
    }

    /// The present content of a file, without rules and trace.
    ///
    /// # Errors
    /// `ENODEV` if the node was removed, `EISDIR` and `EINVAL` if it is not a file, otherwise the
    /// file's own error.
    pub fn bytes_of(&self, file: NodeId) -> Result<&[u8], Errno> {
        match self.tree.node(file).map(|node| &node.body) {
            None => Err(Errno::ENODEV),
            Some(Body::Folder(_)) => Err(Errno::EISDIR),
            Some(Body::Link(_)) => Err(Errno::EINVAL),
            Some(Body::File(FileValue::Fails(errno))) => Err(*errno),
            Some(Body::File(FileValue::Bytes(bytes)) | Body::Stream(bytes)) => Ok(bytes),
        }
    }

    fn note(&mut self, act: &Act, outcome: TraceOutcome) {
        let (poll, at) = (self.poll, self.now);
        self.trace.note(act.op, || TraceEntry {
            poll,
            at,
            op: act.op,
            path: Arc::clone(&act.name.shown),
            to: act.to.as_ref().map(|to| Arc::clone(&to.shown)),
            outcome,
        });
    }

    fn check(&self, call: &Call) -> Result<(), Errno> {
        match call {
            Call::List(node) => match self.tree.kind(self.real(*node)).ok_or(Errno::ENOENT)? {
                NodeKind::Folder => Ok(()),
                _ => Err(Errno::ENOTDIR),
            },
            Call::Read(node) => match self.tree.kind(*node).ok_or(Errno::ENOENT)? {
                NodeKind::Folder => Err(Errno::EISDIR),
                _ => Ok(()),
            },
            Call::Fsync(node) | Call::FsyncFolder(node) => {
                self.tree.kind(*node).map(|_| ()).ok_or(Errno::ENOENT)
            }
            Call::Write { file, .. } | Call::Truncate { file, .. } => match self.live(*file)? {
                Node {
                    body: Body::Folder(_),
                    ..
                } => Err(Errno::EISDIR),
                node if node.writable => Ok(()),
                _ if self.attr(*file)?.mode & 0o222 != 0 => Ok(()),
                _ => Err(Errno::EROFS),
            },
            Call::Create {
                folder,
                name,
                exclusive,
            } => match self.named(*folder, name)? {
                Some(_) if *exclusive => Err(Errno::EEXIST),
                Some(Node {
                    body: Body::Folder(_),
                    ..
                }) => Err(Errno::EISDIR),
                _ => self.check_writable(*folder),
            },
            Call::Unlink { folder, name } => {
                let node = self.named(*folder, name)?.ok_or(Errno::ENOENT)?;
                if node.is_folder() {
                    return Err(Errno::EISDIR);
                }
                self.check_writable(*folder)
            }
            Call::MakeFolder { folder, name } => match self.named(*folder, name)? {
                Some(_) => Err(Errno::EEXIST),
                None => self.check_writable(*folder),
            },
            Call::RemoveFolder { folder, name } => {
                let node = self.named(*folder, name)?.ok_or(Errno::ENOENT)?;
                if !node.is_folder() {
                    return Err(Errno::ENOTDIR);
                }
                self.check_writable(*folder)
            }
            Call::Rename {
                folder,
                name,
                to_folder,
                to_name,
                keep,
            } => self.check_rename((*folder, name), (*to_folder, to_name), *keep),
        }
    }

    /// Checks in the order of `do_renameat2` and `vfs_rename`, `fs/namei.c`.
    fn check_rename(
        &self,
        (folder, name): (NodeId, &str),
        (to_folder, to_name): (NodeId, &str),
        keep: bool,
    ) -> Result<(), Errno> {
        let moved = self.named(folder, name)?.ok_or(Errno::ENOENT)?;
        let replaced = self.named(to_folder, to_name)?;
        if keep && replaced.is_some() {
            return Err(Errno::EEXIST);
        }
        let is_above =
            |above: Option<NodeId>, folder| above.is_some_and(|above| self.lies_in(folder, above));
        if is_above(self.tree.child(folder, name), to_folder) {
            return Err(Errno::EINVAL);
        }
        if is_above(self.tree.child(to_folder, to_name), folder) {
            return Err(Errno::ENOTEMPTY);
        }
        match (moved.is_folder(), replaced.map(Node::is_folder)) {
            (true, Some(false)) => return Err(Errno::ENOTDIR),
            (false, Some(true)) => return Err(Errno::EISDIR),
            _ => {}
        }
        self.check_writable(folder)?;
        self.check_writable(to_folder)
    }

    fn live(&self, id: NodeId) -> Result<&Node, Errno> {
        self.tree.node(id).ok_or(Errno::ENOENT)
    }

    /// The node of a name in a folder, if there is one.
    fn named(&self, folder: NodeId, name: &str) -> Result<Option<&Node>, Errno> {
        /// `NAME_MAX`, `include/uapi/linux/limits.h`.
        const NAME_MAX: usize = 255;
        if name.len() > NAME_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        match &self.live(folder)?.body {
            Body::Folder(children) => Ok(children.get(name).and_then(|id| self.tree.node(*id))),
            _ => Err(Errno::ENOTDIR),
        }
    }

    fn check_writable(&self, folder: NodeId) -> Result<(), Errno> {
        if self.live(folder)?.writable {
            Ok(())
        } else {
            Err(Errno::EROFS)
        }
    }
}

impl Act {
    fn places(&self) -> Vec<crate::pattern::Place<'_>> {
        std::iter::once(&self.name)
            .chain(self.to.as_ref())
            .map(|name| Name::place(name))
            .collect()
    }
}

impl Reply {
    fn cut(self, len: usize) -> Self {
        match self {
            Self::Names(mut names) => {
                names.truncate(len);
                Self::Names(names)
            }
            Self::Bytes(mut bytes) => {
                bytes.truncate(len);
                Self::Bytes(bytes)
            }
            other => other,
        }
    }
}

impl TraceOutcome {
    fn of(result: &Result<Reply, Errno>) -> Self {
        match result {
            Ok(Reply::Names(names)) => Self::Ok(names.len()),
            Ok(Reply::Bytes(bytes)) => Self::Ok(bytes.len()),
            Ok(Reply::Written(len)) => Self::Ok(*len),
            Ok(Reply::Node(_) | Reply::Done) => Self::Ok(0),
            Err(errno) => Self::Failed(*errno),
        }
    }
}
