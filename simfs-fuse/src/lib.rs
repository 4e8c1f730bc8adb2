//! Serves a simfs tree to processes through FUSE, so that system calls of a process have the same
//! effects as function calls of a reader in memory.
//!
//! The kernel caches names and links but no content: every file is opened with direct I/O, so that
//! each read reaches the server and sees the latest change. One thread answers requests and never
//! waits; a request that must wait (a poll at its gate, a read that hangs) is a stored reply that
//! another thread sends. Tree, rules and trace are implemented in simfs.
//!
//! Start at [`Server::mount`] and [`Observer`].

mod answer;
mod apart;
mod handle;
mod hold;
mod notify;
mod observer;
mod options;
mod request;
mod server;
mod session;
mod shared;
mod watch;

pub use apart::leave_devices;
pub use observer::{HoldId, MomentAnswer, Observer};
pub use options::Options;
pub use server::{MountError, Server};
