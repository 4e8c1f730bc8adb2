//! Reads a live node into a platform, and records its incidents as scenarios.
//!
//! The pure part of a capture is in [`platforms::capture`]; this crate opens a node's files, and
//! follows a node over time. Recorded scenarios are played elsewhere. Start at [`of_node`] and
//! [`Incident`].

mod incident;
mod node;

pub use incident::{
    DeviceSeen, Expected, FileSeen, Handle, Incident, IncidentError, PortSeen, Seen, quoted, see,
    span,
};
pub use node::{
    Asked, Captured, Failed, FindRoles, Guest, LiveRoot, Unread, is_this_node, matrix_of_this_node,
    of_dump, of_node, read,
};
