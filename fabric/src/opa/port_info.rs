//! A port's PortInfo, and what a Set(PortInfo) asks of it.
//!
//! Only what is about the link is here. What may be asked is `state.rs`'s, what it looks like in print
//! `text.rs`'s. Start at [`PortInfo`].

use super::{
    init::LinkInitReason,
    offline::OfflineDisabledReason,
    record::Pair,
    state::{Logical, Physical},
};

/// The prefix of the only subnet; InfiniBand's default.
pub(crate) const SUBNET_PREFIX: u64 = 0xfe80_0000_0000_0000;
/// What a local identifier reads that nobody has given.
pub(crate) const NO_LID: u32 = u32::MAX;

/// A port's PortInfo, as far as it is about the link.
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
    /// Why it is offline or disabled.
    pub offline: OfflineDisabledReason,
    /// Why it stays in Init.
    pub init: LinkInitReason,
    /// Whether the subnet manager has begun to configure it.
    pub configured: bool,
    /// Whether the port at the other end is armed or active.
    pub neighbour_normal: bool,
    /// Both reasons.
    pub pair: Pair,
}

/// What a Set(PortInfo) asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetPortInfo {
    /// The logical state; none asks for no change.
    pub logical: Option<Logical>,
    /// The physical state; none asks for no change.
    pub physical: Option<Physical>,
    /// Whether LinkDownReason is set to 0.
    pub clear_local: bool,
    /// Whether NeighborLinkDownReason is.
    pub clear_neighbour: bool,
}

/// Whether a Set(PortInfo) was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It was.
    Answered,
    /// The port went down under the request, which had come through it.
    Silent,
}
