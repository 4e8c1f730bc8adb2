//! A file system in memory: a tree of files, folders and links that changes in epochs, rules
//! between the tree and its reader, a trace of operations, and one writable folder.
//!
//! simfs knows files, not NICs, and it knows no clock, kernel or process: the caller passes the
//! time as a number, and `simfs-fuse` serves a tree to processes.
//!
//! Start at [`Edit`] (changes of a tree), [`Fs`] (the file system) and [`SimTime`] (time).

mod edit;
mod errno;
mod path;
mod time;

mod node;
mod pages;
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
mod unmet;

pub use call::{Act, Answer, Call, Entry, Refused, Reply};
pub use change::Disk;
pub use edit::{Edit, FileValue};
pub use errno::Errno;
pub use fs::{Attr, Fs};
pub use moment::{MomentId, OpMoment, Spot, Turn, Within};
pub use node::{NodeId, NodeKind};
pub use op::{Op, OpSet};
pub use path::TreePath;
pub use pattern::Pattern;
pub use rule::{Rule, RuleId, Verdict, When};
pub use stale::Stale;
pub use time::SimTime;
pub use trace::{OpCounts, TraceEntry, TraceOutcome};
pub use tree::Tree;
pub use unmet::Unmet;
