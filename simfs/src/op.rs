//! Logical operations, the unit of rules and traces.
//!
//! A logical operation is what a program does with a file, independent of how a kernel splits it:
//! one listing of a folder, one read of a whole file, one write. Looking up names and attributes is
//! not an operation, and reading a link is not counted, because a kernel reads a link once and then
//! caches it. So the same program causes the same operations in memory and through a mount.

use std::fmt;

/// A logical operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Listing a folder.
    List,
    /// Reading a file from its start; each return to the start is another read.
    Read,
    /// Reading a link, by itself or along a path. It is neither counted nor traced; only rules that
    /// always fail, or fail between two times, apply to it.
    ReadLink,
    /// Creating a file, or emptying an existing one.
    Create,
    /// A write.
    Write,
    /// Truncating or extending a file.
    Truncate,
    /// Flushing a file to disk.
    Fsync,
    /// Renaming a node, which may replace another.
    Rename,
    /// Removing a file.
    Unlink,
    /// Flushing a folder's names to disk.
    FsyncFolder,
    /// Creating a folder.
    MakeFolder,
    /// Removing an empty folder.
    RemoveFolder,
}

impl Op {
    /// Every operation, in order.
    pub const ALL: [Self; 12] = [
        Self::List,
        Self::Read,
        Self::ReadLink,
        Self::Create,
        Self::Write,
        Self::Truncate,
        Self::Fsync,
        Self::Rename,
        Self::Unlink,
        Self::FsyncFolder,
        Self::MakeFolder,
        Self::RemoveFolder,
    ];

    /// Its name in a trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Read => "read",
            Self::ReadLink => "readlink",
            Self::Create => "create",
            Self::Write => "write",
            Self::Truncate => "truncate",
            Self::Fsync => "fsync",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::FsyncFolder => "fsync-folder",
            Self::MakeFolder => "mkdir",
            Self::RemoveFolder => "rmdir",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpSet(u16);

impl OpSet {
    /// No operation.
    pub const NONE: Self = Self(0);
    /// Every operation.
    pub const ALL: Self = Self::of(&Op::ALL);
    /// The operations that change the writable folder, `fsync` included.
    pub const CHANGES: Self = Self::of(&[
        Op::Create,
        Op::Write,
        Op::Truncate,
        Op::Fsync,
        Op::Rename,
        Op::Unlink,
        Op::FsyncFolder,
        Op::MakeFolder,
        Op::RemoveFolder,
    ]);

    /// These operations.
    #[must_use]
    pub const fn of(ops: &[Op]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < ops.len() {
            bits |= 1 << ops[at] as u16;
            at += 1;
        }
        Self(bits)
    }

    /// Whether the operation is in the set.
    #[must_use]
    pub const fn has(self, op: Op) -> bool {
        self.0 & (1 << op as u16) != 0
    }
}

impl From<Op> for OpSet {
    fn from(op: Op) -> Self {
        Self::of(&[op])
    }
}
