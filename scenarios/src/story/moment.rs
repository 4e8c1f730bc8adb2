//! A moment within a poll, by what the monitor asks of its files or of the connector. Start at [`Moment`].

use platforms::{NodeName, PciAddress, SlotRef};

/// A moment within a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// This must have been asked before in the same poll.
    pub after: Option<FileMoment>,
    /// And this is being asked now, not answered yet.
    pub before: Option<FileMoment>,
    /// Instead of both: a moment of a call.
    pub call: Option<CallMoment>,
}

/// A moment of a call to the connector, counted within the poll from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMoment {
    /// The nth call has been received and not answered yet; if the monitor ends here, nothing of it
    /// is accepted.
    Received(u32),
    /// The nth call has been accepted, and the monitor knows it not yet.
    Accepted(u32),
}

/// A logical operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMoment {
    /// The operation.
    pub op: FileOp,
    /// The file.
    pub file: FileRef,
    /// The how-manieth such operation, from 1.
    pub nth: u64,
}

/// Logical operations that a story can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileOp {
    /// A folder's listing (`readdir`).
    List,
    /// A file's reading (`open` or `read`).
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

/// A file as a story names it; slots are looked up when the deed is done, so names follow hardware.
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
