//! The client in memory: access to a file system by path, for readers in the same program.
//!
//! A path starts at the root, with or without a leading slash, and links are followed. A call that
//! returns [`Refused::Moment`] is repeated once the story has continued; it then resumes, so that
//! nothing is counted or done twice.

use std::collections::VecDeque;

use crate::{
    Act, Answer, Call, Errno, Fs, MomentId, NodeId, NodeKind, Op, Refused, Reply, TreePath,
    tree::Walk,
};

/// A call that a moment has interrupted.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    op: Op,
    path: String,
    /// Moments of this call that were not returned yet.
    come: VecDeque<MomentId>,
    /// The call's result, if it took effect before the moment.
    ended: Option<Result<Reply, Refused>>,
}

impl Fs {
    /// Lists the names in a folder, sorted.
    ///
    /// # Errors
    /// [`Refused`]: among others `ENOENT`, and `ENOTDIR` for a file.
    pub fn list(&mut self, path: &str) -> Result<Vec<String>, Refused> {
        match self.call(Op::List, path, |fs| Ok(Call::List(fs.resolve(path)?)))? {
            Reply::Names(entries) => Ok(entries.into_iter().map(|entry| entry.name).collect()),
            other => unreachable!("a listing gives names, not {other:?}"),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Refused`]: among others `ENOENT`, and `EISDIR` for a folder.
    pub fn read(&mut self, path: &str) -> Result<Vec<u8>, Refused> {
        match self.call(Op::Read, path, |fs| Ok(Call::Read(fs.resolve(path)?)))? {
            Reply::Bytes(bytes) => Ok(bytes),
            other => unreachable!("a read gives bytes, not {other:?}"),
        }
    }

    /// Reads the text of a link. It is neither counted nor traced.
    ///
    /// # Errors
    /// `ENOENT`; `EINVAL` if it is not a link; the error of a rule on links.
    pub fn read_link(&mut self, path: &str) -> Result<String, Errno> {
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) if !matches!(name, "" | "." | "..") => {
                (self.resolve(folder)?, name)
            }
            _ => (NodeId::ROOT, path),
        };
        let link = Walk::new(&self.tree, Some(&self.link_fails)).from(folder, name, false)?;
        self.target(link).map(str::to_owned)
    }

    /// The kind of the node at a path, following links. It is neither counted nor traced.
    ///
    /// # Errors
    /// `ENOENT`, `ENOTDIR`, `ELOOP`; the error of a rule on links.
    pub fn stat(&mut self, path: &str) -> Result<NodeKind, Errno> {
        let node = self.resolve(path)?;
        self.tree.kind(node).ok_or(Errno::ENOENT)
    }

    /// Creates a file, or empties an existing one.
    ///
    /// # Errors
    /// [`Refused`]: among others `EROFS` outside the writable folder.
    pub fn create(&mut self, path: &str) -> Result<(), Refused> {
        self.create_file(path, false)
    }

    /// Creates a file that must not exist.
    ///
    /// # Errors
    /// [`Refused`]: among others `EEXIST`.
    pub fn create_new(&mut self, path: &str) -> Result<(), Refused> {
        self.create_file(path, true)
    }

    /// Appends to a file; returns the number of bytes written.
    ///
    /// # Errors
    /// [`Refused`]: among others `ENOENT`, `EROFS`, `ENOSPC`.
    pub fn write(&mut self, path: &str, bytes: &[u8]) -> Result<usize, Refused> {
        let make = |fs: &mut Self| {
            Ok(Call::Write {
                file: fs.resolve(path)?,
                offset: None,
                bytes: bytes.to_vec(),
            })
        };
        match self.call(Op::Write, path, make)? {
            Reply::Written(len) => Ok(len),
            other => unreachable!("a write says how much was written, not {other:?}"),
        }
    }

    /// Truncates a file, or extends it with zeros.
    ///
    /// # Errors
    /// As [`Fs::write`].
    pub fn truncate(&mut self, path: &str, len: u64) -> Result<(), Refused> {
        self.call(Op::Truncate, path, |fs| {
            Ok(Call::Truncate {
                file: fs.resolve(path)?,
                len,
            })
        })
        .map(drop)
    }

    /// Flushes a file to disk.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn fsync(&mut self, path: &str) -> Result<(), Refused> {
        self.call(Op::Fsync, path, |fs| Ok(Call::Fsync(fs.resolve(path)?)))
            .map(drop)
    }

    /// Flushes a folder's names to disk.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn fsync_folder(&mut self, path: &str) -> Result<(), Refused> {
        self.call(Op::FsyncFolder, path, |fs| {
            Ok(Call::FsyncFolder(fs.resolve(path)?))
        })
        .map(drop)
    }

    /// Renames a file, and replaces a file at the new path. Renaming to the same path is not an
    /// operation, as in the kernel (`vfs_rename`, `fs/namei.c`).
    ///
    /// # Errors
    /// [`Refused`]: among others `ENOENT`, `EROFS`, `EISDIR`, `ENOTEMPTY`.
    pub fn rename(&mut self, path: &str, to: &str) -> Result<(), Refused> {
        let (from, onto) = (self.place_of(path)?, self.place_of(to)?);
        if from == onto && self.tree.child(from.0, &from.1).is_some() {
            return Ok(());
        }
        self.call(Op::Rename, path, |fs| {
            let (folder, name) = fs.place_of(path)?;
            let (to_folder, to_name) = fs.place_of(to)?;
            Ok(Call::Rename {
                folder,
                name,
                to_folder,
                to_name,
                keep: false,
            })
        })
        .map(drop)
    }

    /// Removes a file.
    ///
    /// # Errors
    /// [`Refused`]: among others `ENOENT`, `EROFS`, `EISDIR`.
    pub fn unlink(&mut self, path: &str) -> Result<(), Refused> {
        self.call(Op::Unlink, path, |fs| {
            let (folder, name) = fs.place_of(path)?;
            Ok(Call::Unlink { folder, name })
        })
        .map(drop)
    }

    /// Creates a folder.
    ///
    /// # Errors
    /// [`Refused`]: among others `EEXIST`, `EROFS`.
    pub fn make_folder(&mut self, path: &str) -> Result<(), Refused> {
        self.call(Op::MakeFolder, path, |fs| {
            let (folder, name) = fs.place_of(path)?;
            Ok(Call::MakeFolder { folder, name })
        })
        .map(drop)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// [`Refused`]: among others `ENOENT`, `ENOTEMPTY`, `EROFS`.
    pub fn remove_folder(&mut self, path: &str) -> Result<(), Refused> {
        self.call(Op::RemoveFolder, path, |fs| {
            let (folder, name) = fs.place_of(path)?;
            Ok(Call::RemoveFolder { folder, name })
        })
        .map(drop)
    }

    /// The content of a file without rules, moments and trace: the result of a held read that is
    /// released.
    ///
    /// # Errors
    /// As a read without rules.
    pub fn peek(&mut self, path: &str) -> Result<&[u8], Errno> {
        let file = self.resolve(path)?;
        self.bytes_of(file)
    }

    /// Discards an interrupted call, whose caller was killed.
    pub fn abandon(&mut self) {
        self.progress = None;
    }

    fn create_file(&mut self, path: &str, exclusive: bool) -> Result<(), Refused> {
        self.call(Op::Create, path, |fs| {
            let (folder, name) = fs.place_of(path)?;
            Ok(Call::Create {
                folder,
                name,
                exclusive,
            })
        })
        .map(drop)
    }

    /// The folder of a path, following links, and the last name.
    fn place_of(&mut self, path: &str) -> Result<(NodeId, String), Errno> {
        let path = TreePath::new(path);
        let folder = path.parent().ok_or(Errno::EBUSY)?;
        let folder = self.resolve(&folder)?;
        match self.tree.kind(folder) {
            Some(NodeKind::Folder) => Ok((folder, path.name().to_owned())),
            _ => Err(Errno::ENOTDIR),
        }
    }

    fn call(
        &mut self,
        op: Op,
        path: &str,
        make: impl FnOnce(&mut Self) -> Result<Call, Errno>,
    ) -> Result<Reply, Refused> {
        let progress = self
            .progress
            .take()
            .filter(|progress| progress.op == op && progress.path == path);
        let mut begun = false;
        if let Some(mut progress) = progress {
            begun = true;
            if let Some(moment) = progress.come.pop_front() {
                self.progress = Some(progress);
                return Err(Refused::Moment(moment));
            }
            if let Some(ended) = progress.ended {
                return ended;
            }
        }
        let call = make(self)?;
        let act = self.begin(&call)?;
        if !begun && !self.moments.is_empty() {
            let come = self.before(&act);
            self.notify(come, op, path, None)?;
        }
        let ended = match self.perform(&call, &act) {
            Answer::Done(result) => result.map_err(Refused::Errno),
            Answer::Hangs { rule, killable } => return Err(Refused::Hangs { rule, killable }),
        };
        if self.moments.is_empty() {
            return ended;
        }
        self.finish(&act, path, ended)
    }

    fn finish(
        &mut self,
        act: &Act,
        path: &str,
        ended: Result<Reply, Refused>,
    ) -> Result<Reply, Refused> {
        let come = self.after(act);
        if come.is_empty() {
            return ended;
        }
        let op = act.op();
        self.notify(come, op, path, Some(ended))?;
        unreachable!("a moment that has come interrupts its call")
    }

    /// Interrupts a call at the first moment that has come, if there is one.
    fn notify(
        &mut self,
        come: Vec<MomentId>,
        op: Op,
        path: &str,
        ended: Option<Result<Reply, Refused>>,
    ) -> Result<(), Refused> {
        let mut come = VecDeque::from(come);
        let Some(moment) = come.pop_front() else {
            return Ok(());
        };
        self.progress = Some(Progress {
            op,
            path: path.to_owned(),
            come,
            ended,
        });
        Err(Refused::Moment(moment))
    }
}
