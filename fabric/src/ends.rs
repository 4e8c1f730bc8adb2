//! Both ends of a link: why it went down, as either end knows it.
//!
//! A port that takes its link down remembers why (LinkDownReason) and may tell its neighbour, which
//! remembers what it heard (NeighborLinkDownReason). The subnet manager clears both when it arms the
//! port, and keeps a log of what it read before. The facts are those of "Link Down Reason",
//! Cornelis, and of the Omni-Path header `include/rdma/opa_port_info.h`; where the document and the
//! driver `hfi1` part, a [`Profile`] says which is played.
//!
//! It leaves out what a kernel shows of a port (`platforms` has the drivers) and what a workload
//! feels. Start at [`LinkDownReason`], then [`Record`] for one end and [`fall`] for both.

mod init;
mod offline;
mod port_error;
mod reason;
mod record;
mod state;

pub use init::LinkInitReason;
pub use offline::OfflineDisabledReason;
pub use port_error::{ErrorInfo, PortErrorAction};
pub use reason::{Group, LinkDownReason};
pub use record::{Initiative, Pair, Profile, Record, fall};
pub use state::{Change, Logical, Physical, change, logical_change, physical_change};
