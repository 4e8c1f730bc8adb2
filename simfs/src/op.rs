//! The logical operations: what rules are about and a trace tells.
//!
//! A logical operation is what a program does to a file, not how a kernel cuts it up: one listing
//! of a folder, one read of a whole file, one write. Looking up names and asking for attributes is
//! none, and reading a link is none that is counted, since a kernel asks for a link once and then
//! remembers it. So the same program gives the same operations in memory and through a mount.

use std::fmt;

/// A logical operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// The listing of a folder.
    List,
    /// The reading of a file from its start; each return to the start is one more.
    Read,
    /// The reading of a link, on its own or on the way along a path. Never counted and never in a
    /// trace; only rules that fail always, or between two times, apply to it.
    ReadLink,
    /// The making of a file, or the emptying of the one that is there.
    Create,
    /// One write.
    Write,
    /// A file cut or grown to a length.
    Truncate,
    /// A file put safely on the disk.
    Fsync,
    /// A name changed, in place of another if there is one.
    Rename,
    /// A file removed.
    Unlink,
    /// A folder's names put safely on the disk.
    FsyncFolder,
    /// A folder made.
    MakeFolder,
    /// An empty folder removed.
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
