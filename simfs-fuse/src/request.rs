//! A request of the kernel on its way through the rules, with the reply it waits for.

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
    /// Known from the moment the call has begun; a first read has begun when the file was opened.
    pub(crate) act: Option<Act>,
    pub(crate) stage: Stage,
    /// Moments came since the call began, when the tree had this structure: what the call found
    /// then may have gone.
    pub(crate) moved: Option<u64>,
    pub(crate) ask: Ask,
}

/// How far a request has come.
pub(crate) enum Stage {
    /// It is to be held at the gate.
    Gate,
    /// It is to begin.
    Begin,
    /// Moments that come before it are to be told.
    Before(VecDeque<MomentId>),
    /// It is to be performed.
    Perform,
    /// It is to be performed without rules and trace: a rule held it, and it was let go.
    Resume,
    /// It is done, and moments that come after it are to be told.
    After(VecDeque<MomentId>, Result<Reply, Errno>),
}

/// Why a request is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Gate,
    Hang { rule: RuleId, killable: bool },
    Moment(MomentId),
}

/// What is to be done with a request next.
pub(crate) enum Next {
    /// It goes on.
    Again,
    /// It is held.
    Hold(Why),
    /// It is answered.
    Finish(Result<Reply, Errno>),
}

/// Work for the thread that tells the kernel what to forget.
pub(crate) enum Job {
    /// Tell the kernel, then say so.
    Notify {
        stale: Vec<Stale>,
        done: Option<mpsc::Sender<()>>,
    },
    /// Tell the kernel, then let a request go on.
    Then {
        stale: Vec<Stale>,
        pending: Box<Pending>,
        next: Next,
    },
    /// End.
    Stop,
}

/// What the kernel asked, and where the answer goes.
pub(crate) enum Ask {
    OpenFolder(ReplyOpen),
    /// Opening a file for reading begins a read.
    OpenFile(ReplyOpen),
    /// Opening a file with `O_TRUNC` empties it.
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
    /// The first names of a folder that was opened without listing it.
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

    /// Whether it opens something that a path led to, so that the kernel can be made to walk the path
    /// again.
    pub(crate) fn opens(&self) -> bool {
        matches!(self.ask, Ask::OpenFolder(_) | Ask::OpenFile(_))
    }

    /// Whether it is a further read or listing on a descriptor, whose path the process may walk again
    /// when told that what it holds has gone.
    pub(crate) fn is_repeated(&self) -> bool {
        matches!(self.ask, Ask::Read { .. } | Ask::ReadFolder { .. })
    }

    /// The folders that the kernel keeps locked until the request is answered: a notification
    /// about a name in one of them would wait for the answer (`fuse_reverse_inval_entry`).
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
