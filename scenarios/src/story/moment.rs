//! A moment within a poll, defined by the monitor's file operations or calls to the connector. Start at
//! [`StepMoment`].

use platforms::{NodeName, PciAddress, SlotRef};

/// A moment within a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepMoment {
    /// This operation happened before, in the same poll.
    pub after: Option<FileMoment>,
    /// This operation was requested and is not answered yet.
    pub before: Option<FileMoment>,
    /// A moment of a call, instead of both.
    pub call: Option<CallMoment>,
}

/// A moment of a call to the connector, counted within the poll from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMoment {
    /// The nth call has been received and not answered yet; if the monitor ends here, nothing of it
    /// is accepted.
    Received(u32),
    /// The nth call has been accepted, but the monitor has no answer yet.
    Accepted(u32),
}

/// An operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMoment {
    /// The operation.
    pub op: FileOp,
    /// The file.
    pub file: FileRef,
    /// Which of these operations of the poll, from 1.
    pub nth: u64,
}

/// File operations that a story can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileOp {
    /// Listing a folder (`readdir`).
    List,
    /// Reading a file (`open` or `read`).
    Read,
    /// Writing to the writable folder.
    Write,
    /// Creating a file there.
    Create,
    /// Flushing a file there.
    Fsync,
    /// Renaming a file there.
    Rename,
    /// Removing a file there.
    Unlink,
}

/// A file as a story names it; slots are resolved when the step runs, so paths follow the hardware through
/// renames.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileRef {
    /// A file below the mount root, wildcards allowed.
    Path(String),
    /// A file below a port's folder, such as `state`.
    Port(SlotRef, String),
    /// A file below a device's class folder, such as `device/numa_node`; empty for the folder.
    Device(NodeName, PciAddress, String),
    /// The monitor's state file (or its temporary sibling, for writes).
    StateFile,
}
