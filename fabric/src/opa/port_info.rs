//! A port's PortInfo, and the requests of a Set(PortInfo).
//!
//! Only the fields about the link are here. `state.rs` decides which changes are allowed, `text.rs`
//! formats the output. Start at [`PortInfo`].

use super::{
    init::LinkInitReason,
    offline::OfflineDisabledReason,
    record::Pair,
    state::{Logical, Physical},
};

/// The prefix of the only subnet; InfiniBand's default.
pub(crate) const SUBNET_PREFIX: u64 = 0xfe80_0000_0000_0000;
/// The value of an unassigned local identifier.
pub(super) const NO_LID: u32 = u32::MAX;

/// The fields of a port's PortInfo that are about the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortInfo {
    /// The prefix of the subnet.
    pub subnet: u64,
    /// The port's global identifier.
    pub guid: u64,
    /// The local identifier by which the port's node is addressed.
    pub lid: u32,
    /// The local identifier of the subnet manager.
    pub sm_lid: u32,
    /// The port's number, from 1.
    pub port: u8,
    /// Its logical state.
    pub logical: Logical,
    /// Its physical state.
    pub physical: Physical,
    /// Its OfflineDisabledReason.
    pub offline: OfflineDisabledReason,
    /// Its LinkInitReason.
    pub init: LinkInitReason,
    /// Whether the subnet manager has begun to configure it.
    pub configured: bool,
    /// Whether the port at the other end is armed or active.
    pub neighbour_normal: bool,
    /// LinkDownReason and NeighborLinkDownReason.
    pub pair: Pair,
}

/// The changes that a Set(PortInfo) requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetPortInfo {
    /// The logical state; `None` requests no change.
    pub logical: Option<Logical>,
    /// The physical state; `None` requests no change.
    pub physical: Option<Physical>,
    /// Whether LinkDownReason is set to 0.
    pub clear_local: bool,
    /// Whether NeighborLinkDownReason is set to 0.
    pub clear_neighbour: bool,
}

/// Whether a Set(PortInfo) was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It was answered.
    Answered,
    /// The request had come through this port, which went down before the answer.
    Silent,
}
