//! Serves a simfs tree to processes through FUSE, so that a program meets in real system calls what
//! a reader in memory meets in function calls.
//!
//! The kernel caches names and links and never bytes: every file is opened with direct I/O, so that
//! each read reaches the server and a change is seen by the very next one. One thread answers
//! requests and never waits; what is to wait (a poll at its gate, a read that hangs) is a stored
//! reply that another thread gives. What the tree holds, which rules there are and what a trace says
//! is simfs's; this crate knows none of it.
//!
//! Start at [`Server::mount`] and [`Observer`].

mod answer;
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

pub use observer::{HoldId, MomentAnswer, Observer};
pub use options::Options;
pub use server::{MountError, Server};
