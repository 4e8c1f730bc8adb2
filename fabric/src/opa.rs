//! Omni-Path codes, records and texts: why a link went down, as remembered by its ends and by the
//! subnet manager.
//!
//! A port that takes its link down remembers why (LinkDownReason) and may send its neighbour a
//! message, which the neighbour remembers (NeighborLinkDownReason). The subnet manager clears both
//! when it arms the port, and keeps a log of what it read before. Sources: "Link Down Reason",
//! Cornelis, and the Omni-Path header `include/rdma/opa_port_info.h`; where the document and the
//! driver `hfi1` differ, a [`Profile`] selects the behaviour.
//!
//! Time and links are in the rest of the crate; what a kernel shows of a port is in the drivers of
//! `platforms`. Start at [`LinkDownReason`], then [`Record`] for one end and [`fall`] for both.

mod hfi1;
mod init;
mod log;
mod notice;
mod offline;
mod port_error;
mod port_info;
mod reason;
mod record;
mod state;
mod text;
mod width;

pub use hfi1::FirmwareReport;
pub(crate) use hfi1::state_line;
pub use init::LinkInitReason;
pub use log::{LinkDownErrorLog, LogEntry, START_S};
pub use notice::{Condition, Notice};
pub use offline::OfflineDisabledReason;
pub use port_error::{ErrorInfo, PortErrorAction};
pub(crate) use port_info::SUBNET_PREFIX;
pub use port_info::{PortInfo, Reply, SetPortInfo};
pub use reason::{Group, LinkDownReason};
pub use record::{Initiative, Pair, Profile, Record, fall};
pub use state::{Change, Logical, Physical, change, logical_change, physical_change};
pub use text::{log_text, port_info_text, port_record_text, state_text};
pub use width::{Lanes, LinkWidths};
