//! Simulates links over time: ports, cables, switches, counters, kernel log.
//!
//! A [`Fabric`] is one or more nodes whose links come up, go down and count as time passes. An
//! [`Action`] changes it; each node's kernel view is a [`platforms::Machine`]. The same actions at the
//! same times give the same machines, byte for byte.
//!
//! Both ends of a link remember why it went down: [`Fabric::end`] returns that, and [`opa`] has the
//! codes, records and texts.
//!
//! This crate does not render files (`platforms` renders machines), schedule a story's actions
//! (`scenarios`, `director`) or model workloads. Start at [`Fabric::new`], [`Fabric::act`] and
//! [`Fabric::advance`].

mod act;
mod action;
mod agenda;
mod both_ends;
mod bus;
mod cabling;
mod cause;
mod counters;
mod device;
mod downgrade;
mod error;
mod fabric;
mod flap;
mod function_ref;
mod hardware;
mod heal;
mod history;
mod kmsg;
mod lids;
mod link;
mod naming;
mod node;
pub mod opa;
mod overrun_check;
mod overruns;
mod port_action;
mod port_view;
mod presence;
mod query;
mod reasons;
mod reboot;
mod reboot_plan;
mod set_port_info;
mod single_node;
mod subnet;
mod sweep;
mod timing;
mod virtual_function;
mod walk;

pub use action::{Action, DeviceAction, NodeAction, PortsAction};
pub use both_ends::{EndTruth, Side};
pub use cabling::{PartnerKind, PartnerPort};
pub use cause::{Cause, CauseText, Shown};
pub use counters::CARRIER_COUNTERS;
pub use error::ActionError;
pub use fabric::{Fabric, PortTruth};
pub use function_ref::FunctionRef;
pub use history::{Carriage, CarriageChange, Edge, KernelLine, LinkStep, PortEvent, PortEventKind};
pub use kmsg::Kmsg;
pub use link::StickAt;
pub use port_action::{CharDeviceKind, CounterChange, PortAction};
pub use reboot_plan::RebootPlan;
pub use single_node::{NODE, SingleNode};
pub use subnet::ManagerTerm;
pub use timing::Timing;
