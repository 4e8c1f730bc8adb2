//! A live node read into a platform, and its incident recorded into a scenario.
//!
//! The pure part of a capture is [`platforms::capture`]; here is what opens a node's files, and
//! what follows a node over time. Left out: playing what was recorded. Start at [`of_node`] and
//! [`Incident`].

mod incident;
mod node;

pub use incident::{
    DeviceSeen, Expected, FileSeen, Handle, Incident, IncidentError, PortSeen, Seen, quoted, see,
    span,
};
pub use node::{
    Asked, Captured, Failed, FindRoles, Guest, LiveRoot, READ_LIMIT, Unread, is_this_node,
    matrix_of_this_node, of_dump, of_node, read,
};
