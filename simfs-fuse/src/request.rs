//! A request of the kernel in progress, with its pending reply.

use std::{collections::VecDeque, sync::mpsc};

use fuser::{
    ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite,
};
use simfs::{Act, Call, Errno, MomentId, NodeId, Reply, RuleId, Stale};

/// A request that is not answered yet.
pub(crate) struct Pending {
    /// The thread that made the system call.
    pub(crate) pid: u32,
    pub(crate) call: Call,
    /// Set once the call has begun; a first read begins when the file is opened.
    pub(crate) act: Option<Act>,
    pub(crate) stage: Stage,
    /// The tree's structure number when moments came after the call had begun: what the call found
    /// then may have been removed.
    pub(crate) moved: Option<u64>,
    pub(crate) ask: Ask,
}

/// The progress of a request.
pub(crate) enum Stage {
    /// It is to be held at the gate.
    Gate,
    Begin,
    /// Moments before it are to be reported.
    Before(VecDeque<MomentId>),
    /// It is to be performed.
    Perform,
    /// It is to be performed without rules and trace, because a rule held it and it was released.
    Resume,
    /// It is done, and moments after it are to be reported.
    After(VecDeque<MomentId>, Result<Reply, Errno>),
}

/// Why a request is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Gate,
    Hang { rule: RuleId, killable: bool },
    Moment(MomentId),
}

/// The next step of a request.
pub(crate) enum Next {
    /// It continues.
    Again,
    /// It is held.
    Hold(Why),
    /// It is answered.
    Finish(Result<Reply, Errno>),
}

/// A job of the thread that sends invalidations.
pub(crate) enum Job {
    /// Sends invalidations, then signals completion.
    Notify {
        stale: Vec<Stale>,
        done: Option<mpsc::Sender<()>>,
    },
    /// Sends invalidations, then continues a request.
    Then {
        stale: Vec<Stale>,
        pending: Box<Pending>,
        next: Next,
    },
    /// Ends the thread.
    Stop,
}

/// The kernel's request, with the object that sends the reply.
pub(crate) enum Ask {
    OpenFolder(ReplyOpen),
    /// Opens a file for reading, which begins a read.
    OpenFile(ReplyOpen),
    /// Opens a file with `O_TRUNC`, which empties it.
    OpenEmpty {
        reply: ReplyOpen,
        flags: i32,
    },
    Read {
        reply: ReplyData,
        handle: u64,
        offset: u64,
        size: u32,
    },
    Create {
        reply: ReplyCreate,
        flags: i32,
        mode: u32,
    },
    Write {
        reply: ReplyWrite,
        node: NodeId,
    },
    MakeFolder {
        reply: ReplyEntry,
        mode: u32,
    },
    SetAttr {
        reply: ReplyAttr,
        node: NodeId,
    },
    /// Reads the first names of a folder that was opened without listing it.
    ReadFolder {
        reply: ReplyDirectory,
        handle: u64,
    },
    Empty(ReplyEmpty),
}

impl Pending {
    pub(crate) fn new(pid: u32, call: Call, ask: Ask) -> Self {
        Self {
            pid,
            call,
            act: None,
            stage: Stage::Begin,
            moved: None,
            ask,
        }
    }

    /// Whether it opens a node reached by path, so that the kernel can be made to resolve the path
    /// again.
    pub(crate) fn opens(&self) -> bool {
        matches!(self.ask, Ask::OpenFolder(_) | Ask::OpenFile(_))
    }

    /// Whether it is a further read or listing on a descriptor, after whose failure the process may
    /// resolve the path again.
    pub(crate) fn is_repeated(&self) -> bool {
        matches!(self.ask, Ask::Read { .. } | Ask::ReadFolder { .. })
    }

    /// The folders that the kernel keeps locked until the request is answered: an invalidation of a
    /// name in one of them would wait for the answer (`fuse_reverse_inval_entry`).
    pub(crate) fn locked_folders(&self) -> Vec<NodeId> {
        match &self.call {
            Call::Create { folder, .. }
            | Call::Unlink { folder, .. }
            | Call::MakeFolder { folder, .. }
            | Call::RemoveFolder { folder, .. } => vec![*folder],
            Call::Rename {
                folder, to_folder, ..
            } => vec![*folder, *to_folder],
            Call::List(folder) if matches!(self.ask, Ask::ReadFolder { .. }) => vec![*folder],
            _ => Vec::new(),
        }
    }
}
