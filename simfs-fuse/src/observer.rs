//! The observer of a mount, which is notified of waiting processes.

use std::fmt;

use simfs::{Errno, Fs, MomentId, RuleId};

/// The number of a held request. It is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HoldId(pub(crate) u64);

impl fmt::Display for HoldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hold {}", self.0)
    }
}

/// What happens to a request at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentAnswer {
    /// It continues, against the present tree.
    Go,
    /// It is held until [`Server::release`](crate::Server::release) or
    /// [`Server::answer`](crate::Server::answer), or until its process is killed.
    Hold,
    /// It fails with this error.
    Fail(Errno),
}

/// Receives the events of a mount. Methods are called on the server's own threads: they must not
/// wait for a process that uses the mount. All but [`Observer::moment`] may call the server.
///
/// Process ids are those of the thread that made the system call, as seen in the server's pid
/// namespace.
pub trait Observer: Send + Sync {
    /// A listing of the anchor has arrived and is held.
    fn gate(&self, hold: HoldId, pid: u32);

    /// A rule holds a request.
    fn hung(&self, hold: HoldId, pid: u32, rule: RuleId, path: &str);

    /// A moment has come. The implementation may change the tree and its rules, and must not call
    /// the server, because the tree is locked.
    fn moment(&self, fs: &mut Fs, moment: MomentId, pid: u32) -> MomentAnswer;

    /// A request is held because [`Observer::moment`] asked for it.
    fn held(&self, hold: HoldId, pid: u32, moment: MomentId) {
        let _ = (hold, pid, moment);
    }

    /// A process was killed while a rule that is not killable holds it: it is stuck in the kernel
    /// until released. Called once for each hold.
    fn stuck(&self, hold: HoldId, pid: u32);

    /// A held process was killed; its request was ended and is not held any more.
    fn killed(&self, hold: HoldId, pid: u32);
}
