//! MPIB: two rails per node, islands by prefix, hints, ratio and split, outages.
//!
//! The transport of "Baseline: Isolated Path Separation": each node has a scaleout NIC (SOUT) and a
//! second one that stands in for NVLink (SUP). Connections inside an island belong on SUP, those
//! between islands on SOUT. What the document wants and what was built differ, so every model here
//! takes a [`Profile`].
//!
//! Left out: how a port comes to be down (that is told), the time that bytes need
//! on a wire (what takes time here is waiting), and what a monitor says about any of it.
//!
//! Start at [`PathClass`] (who shares an island), [`Split`] (which rail gets how many bytes)
//! and on from there.

mod bytes;
mod profile;
mod rail;

mod gid;
mod island;
mod split;

mod agent;
mod hints;

mod environment;
mod result;

pub use agent::{Agent, DEREGISTER, FlowId, REGISTER, RESPONSE, SOCKET_MAGIC, Unregistered};
pub use bytes::Bytes;
pub use environment::{Environment, Parameters, Refusal};
pub use gid::Gid;
pub use hints::{BadHints, HINT_SLOTS, HINTS_MAGIC, HintMemory, HintReader, HintSlot, HintWriter};
pub use island::{IslandPrefix, PathClass};
pub use profile::{Mode, Profile};
pub use rail::{PerRail, Rail, RailMask};
pub use result::NcclResult;
pub use split::{Split, SupBandwidth};
