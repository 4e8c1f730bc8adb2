//! A file system in memory: a tree of files, folders and links that changes in epochs, rules that
//! sit between tree and reader, a trace of what was asked, and one writable folder.
//!
//! simfs knows files, not NICs. It knows no clock, no kernel and no process: time is a number that
//! the caller passes in, and serving a tree to real processes is the work of `simfs-fuse`.
//!
//! Start at [`Edit`] (how a tree changes), [`Fs`] (what a reader meets) and [`SimTime`] (how time
//! is told).

mod edit;
mod errno;
mod path;
mod time;

mod node;
mod stale;
mod tree;

mod moment;
mod name;
mod op;
mod pattern;
mod routes;
mod rule;
mod trace;

mod call;
mod change;
mod client;
mod fs;
mod perform;

pub use call::{Act, Answer, Call, Entry, Refused, Reply};
pub use change::Disk;
pub use edit::{Edit, Value};
pub use errno::Errno;
pub use fs::{Attr, Fs};
pub use moment::{Moment, MomentId, Spot, Turn, Within};
pub use node::{NodeId, NodeKind};
pub use op::{Op, OpSet};
pub use path::TreePath;
pub use pattern::Pattern;
pub use rule::{Rule, RuleId, Verdict, When};
pub use stale::Stale;
pub use time::SimTime;
pub use trace::{OpCounts, TraceEntry, TraceOutcome};
pub use tree::Tree;
