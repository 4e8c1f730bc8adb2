//! A file system in memory: a tree of files, folders and links that changes in epochs, rules that
//! sit between tree and reader, a trace of what was asked, and one writable folder.
//!
//! simfs knows files, not NICs. It knows no clock, no kernel and no process: time is a number that
//! the caller passes in, and serving a tree to real processes is the work of `simfs-fuse`.
//!
//! Start at [`Edit`] (how a tree changes) and [`SimTime`] (how time is told).

mod edit;
mod errno;
mod path;
mod time;

pub use edit::{Edit, Value};
pub use errno::Errno;
pub use path::TreePath;
pub use time::SimTime;
