//! Calls: logical operations with their arguments, and their results.

use std::sync::Arc;

use crate::{Errno, MomentId, NodeId, NodeKind, Op, RuleId, name::Name};

/// A logical operation on nodes, as a file server receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Lists a folder.
    List(NodeId),
    /// Reads a file from its start.
    Read(NodeId),
    /// Creates a file, or empties an existing one.
    Create {
        /// The folder.
        folder: NodeId,
        /// Within the folder; no path.
        name: String,
        /// Whether it is an error if the name exists (`O_EXCL`).
        exclusive: bool,
    },
    /// Writes to a file.
    Write {
        /// The file.
        file: NodeId,
        /// The byte offset; `None` for the end (`O_APPEND`).
        offset: Option<u64>,
        /// The data.
        bytes: Vec<u8>,
    },
    /// Truncates a file, or extends it with zeros.
    Truncate {
        /// The file.
        file: NodeId,
        /// Its new length in bytes.
        len: u64,
    },
    /// Flushes a file to disk.
    Fsync(NodeId),
    /// Renames or moves a node.
    Rename {
        /// Its present folder.
        folder: NodeId,
        /// Its present name.
        name: String,
        /// Its new folder.
        to_folder: NodeId,
        /// Its new name.
        to_name: String,
        /// Whether it is an error if the new name exists (`RENAME_NOREPLACE`).
        keep: bool,
    },
    /// Removes a file.
    Unlink {
        /// The folder.
        folder: NodeId,
        /// Within the folder; no path.
        name: String,
    },
    /// Flushes a folder's names to disk.
    FsyncFolder(NodeId),
    /// Creates a folder.
    MakeFolder {
        /// The parent folder.
        folder: NodeId,
        /// Within the folder; no path.
        name: String,
    },
    /// Removes an empty folder.
    RemoveFolder {
        /// The parent folder.
        folder: NodeId,
        /// Within the folder; no path.
        name: String,
    },
}

impl Call {
    /// The logical operation.
    #[must_use]
    pub const fn op(&self) -> Op {
        match self {
            Self::List(_) => Op::List,
            Self::Read(_) => Op::Read,
            Self::Create { .. } => Op::Create,
            Self::Write { .. } => Op::Write,
            Self::Truncate { .. } => Op::Truncate,
            Self::Fsync(_) => Op::Fsync,
            Self::Rename { .. } => Op::Rename,
            Self::Unlink { .. } => Op::Unlink,
            Self::FsyncFolder(_) => Op::FsyncFolder,
            Self::MakeFolder { .. } => Op::MakeFolder,
            Self::RemoveFolder { .. } => Op::RemoveFolder,
        }
    }
}

/// A call in progress. It keeps its names even if its node is removed.
#[derive(Clone, Debug)]
pub struct Act {
    pub(crate) op: Op,
    pub(crate) name: Arc<Name>,
    pub(crate) to: Option<Arc<Name>>,
}

impl Act {
    /// The name in the trace.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.name.shown
    }

    /// The operation.
    #[must_use]
    pub const fn op(&self) -> Op {
        self.op
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It ended.
    Done(Result<Reply, Errno>),
    /// A rule holds it until the caller ends it.
    Hangs {
        /// The rule.
        rule: RuleId,
        /// Whether SIGKILL ends the wait.
        killable: bool,
    },
}

/// The value of a successful call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The entries of a listing, by name.
    Names(Vec<Entry>),
    /// The data of a read.
    Bytes(Vec<u8>),
    /// The created node.
    Node(NodeId),
    /// The number of bytes written.
    Written(usize),
    /// No value.
    Done,
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Within the folder; no path.
    pub name: String,
    /// The node that had the name at the time of the listing.
    pub node: NodeId,
    /// The kind of the node.
    pub kind: NodeKind,
    /// Whether the name stays in this listing if its node is removed before the reader comes to it.
    pub sure: bool,
}

/// Why a client in memory gets no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// An error of the system call.
    Errno(Errno),
    /// A rule holds the call, so it would not return.
    Hangs {
        /// The rule.
        rule: RuleId,
        /// Whether SIGKILL would end the wait.
        killable: bool,
    },
    /// A moment has come. The caller performs the story's steps and then repeats the same call; the
    /// call's effect, if it had one, is not repeated.
    Moment(MomentId),
}

impl From<Errno> for Refused {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}
