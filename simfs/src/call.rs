//! Calls: logical operations with what they are done to, and the answers to them.

use std::sync::Arc;

use crate::{Errno, MomentId, NodeId, NodeKind, Op, RuleId, name::Name};

/// A logical operation on nodes, as a server of processes puts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// List a folder.
    List(NodeId),
    /// Read a file from its start.
    Read(NodeId),
    /// Make a file, or empty the one that is there.
    Create {
        /// The folder.
        folder: NodeId,
        /// The name.
        name: String,
        /// It is an error if the name is there (`O_EXCL`).
        exclusive: bool,
    },
    /// Write to a file.
    Write {
        /// The file.
        file: NodeId,
        /// From which byte on; `None` for its end (`O_APPEND`).
        offset: Option<u64>,
        /// What.
        bytes: Vec<u8>,
    },
    /// Cut a file, or grow it with zeros.
    Truncate {
        /// The file.
        file: NodeId,
        /// Its new length in bytes.
        len: u64,
    },
    /// Put a file on the disk.
    Fsync(NodeId),
    /// Give a node another name and folder.
    Rename {
        /// The folder it is in.
        folder: NodeId,
        /// Its name.
        name: String,
        /// The folder it goes to.
        to_folder: NodeId,
        /// Its new name.
        to_name: String,
        /// It is an error if the new name is there (`RENAME_NOREPLACE`).
        keep: bool,
    },
    /// Remove a file.
    Unlink {
        /// The folder.
        folder: NodeId,
        /// The name.
        name: String,
    },
    /// Put a folder's names on the disk.
    FsyncFolder(NodeId),
    /// Make a folder.
    MakeFolder {
        /// The folder that holds it.
        folder: NodeId,
        /// The name.
        name: String,
    },
    /// Remove an empty folder.
    RemoveFolder {
        /// The folder that holds it.
        folder: NodeId,
        /// The name.
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

/// A call that has begun: it keeps its names even when its node goes.
#[derive(Clone, Debug)]
pub struct Act {
    pub(crate) op: Op,
    pub(crate) name: Arc<Name>,
    pub(crate) to: Option<Arc<Name>>,
}

impl Act {
    /// The name it has in a trace.
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

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It ended.
    Done(Result<Reply, Errno>),
    /// A rule holds it. It ends when the caller says so.
    Hangs {
        /// The rule.
        rule: RuleId,
        /// Whether SIGKILL ends the wait.
        killable: bool,
    },
}

/// What a call gives when it ends well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The names of a listing, by name.
    Names(Vec<Entry>),
    /// The bytes of a read.
    Bytes(Vec<u8>),
    /// The node that was made.
    Node(NodeId),
    /// How many bytes were written.
    Written(usize),
    /// Nothing but success.
    Done,
}

/// A name in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// The node that bore it at the listing.
    pub node: NodeId,
    /// What sort of node.
    pub kind: NodeKind,
    /// The name stays in this listing though its node goes before the reader comes to it.
    pub sure: bool,
}

/// Why a client in memory does not get what it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// An error, as a system call gives it.
    Errno(Errno),
    /// The call would not come back: a rule holds it.
    Hangs {
        /// The rule.
        rule: RuleId,
        /// Whether SIGKILL would end the wait.
        killable: bool,
    },
    /// A moment has come. The caller does what the story says and then makes the same call again;
    /// its effect, if it had one, is not repeated.
    Moment(MomentId),
}

impl From<Errno> for Refused {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}
