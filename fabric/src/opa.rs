//! Both ends of a link: why it went down, as either end knows it.
//!
//! A port that takes its link down remembers why (LinkDownReason) and may tell its neighbour, which
//! remembers what it heard (NeighborLinkDownReason). The subnet manager clears both when it arms the
//! port, and keeps a log of what it read before. The facts are those of "Link Down Reason",
//! Cornelis, and of the Omni-Path header `include/rdma/opa_port_info.h`; where the document and the
//! driver `hfi1` part, a [`Profile`] says which is played.
//!
//! It leaves out what a kernel shows of a port (`platforms` has the drivers) and what a workload
//! feels. Start at [`LinkDownReason`], then [`Record`] for one end and
//! [`fall`] for both; [`Network`] has links with their ends, a subnet manager, and time.

mod asking;
mod deed;
mod doing;
mod falling;
mod init;
mod kernel;
mod layout;
mod line;
mod log;
mod manager;
mod network;
mod notice;
mod offline;
mod port_error;
mod reason;
mod record;
mod setting;
mod state;
mod text;

pub use asking::PortInfo;
pub(crate) use asking::{NO_LID, SUBNET_PREFIX};
pub use deed::{Deed, DeedError, Reply, SetPortInfo};
pub use init::LinkInitReason;
pub use kernel::{FirmwareReport, KernelEvent, KernelEventKind};
pub use layout::{EndRef, Layout, NodeKind, Socket};
pub use line::Step;
pub use log::{LinkDownErrorLog, LogEntry};
pub use manager::START_S;
pub use network::Network;
pub use notice::{Condition, Notice};
pub use offline::OfflineDisabledReason;
pub use port_error::{ErrorInfo, PortErrorAction};
pub use reason::{Group, LinkDownReason};
pub use record::{Initiative, Pair, Profile, Record, fall};
pub use state::{Change, Logical, Physical, change, logical_change, physical_change};
pub use text::{log_text, port_info_text, port_record_text, state_text};
