//! What can be asked of a network: what a port shows, to whom it shows it, and what was told.
//!
//! A host's own tools read its ports whenever the host is there; the subnet administration answers
//! for what the subnet manager reaches. It leaves out what the answers look like in print
//! (`text.rs`). Start at [`Network::query`].

use platforms::NodeName;

use crate::KernelLine;

use super::{
    deed::DeedError,
    init::LinkInitReason,
    kernel::KernelEvent,
    layout::{EndRef, NodeKind},
    line::{Power, Step},
    log::LinkDownErrorLog,
    network::Network,
    notice::Notice,
    offline::OfflineDisabledReason,
    record::{Pair, Record},
    state::{Logical, Physical},
};

/// The prefix of the only subnet; InfiniBand's default.
pub(crate) const SUBNET_PREFIX: u64 = 0xfe80_0000_0000_0000;
/// The first of the ports' global identifiers; chosen, under the maker's number 00:11:75.
const FIRST_GUID: u64 = 0x0011_7501_0100_0000;
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

impl Network {
    /// What the subnet administration says of a port, with the log that the subnet manager keeps;
    /// `None` if the manager does not run or cannot reach the port: a host whose link is down.
    ///
    /// # Errors
    ///
    /// There is no such port.
    pub fn query(&self, end: &EndRef) -> Result<Option<(PortInfo, LinkDownErrorLog)>, DeedError> {
        self.port(end)?;
        let asked = self.manager.runs() && self.is_reachable(end);
        Ok(asked
            .then(|| self.port_info(end))
            .flatten()
            .map(|info| (info, self.log_of(end))))
    }

    /// What the tools of the port's own node read; `None` while it is off.
    ///
    /// # Errors
    ///
    /// There is no such port.
    pub fn local(&self, end: &EndRef) -> Result<Option<PortInfo>, DeedError> {
        self.port(end)?;
        Ok(self.is_on(end).then(|| self.port_info(end)).flatten())
    }

    /// What a port remembers, whether or not anyone can ask it; `None` of a port without power or
    /// that is not there.
    #[must_use]
    pub fn record(&self, end: &EndRef) -> Option<Record> {
        let off = self.node(&end.node).ok()?.power == Power::Off;
        let port = self.port(end).ok()?;
        (!off).then_some(port.record)
    }

    /// The log that the subnet manager keeps of a port.
    #[must_use]
    pub fn log_of(&self, end: &EndRef) -> LinkDownErrorLog {
        self.manager.logs.get(end).copied().unwrap_or_default()
    }

    /// Both states of a port; `None` of one that is not there.
    #[must_use]
    pub fn states(&self, end: &EndRef) -> Option<(Logical, Physical)> {
        let port = self.port(end).ok()?;
        Some((port.logical, port.physical))
    }

    /// The states of a port since the start, each from when it was taken.
    #[must_use]
    pub fn walk(&self, end: &EndRef) -> &[Step] {
        self.port(end).map_or(&[], |port| &port.walk)
    }

    /// How often a port's link went down, by its driver's count of 32 bits.
    #[must_use]
    pub fn link_downed(&self, end: &EndRef) -> u32 {
        self.port(end).map_or(0, |port| port.link_downed)
    }

    /// The same as `link_downed` in sysfs has it, a field of 8 bits that stops at its end.
    #[must_use]
    pub fn link_downed_shown(&self, end: &EndRef) -> u8 {
        u8::try_from(self.link_downed(end)).unwrap_or(u8::MAX)
    }

    /// What the hosts' kernels told, oldest first.
    #[must_use]
    pub fn events(&self) -> &[KernelEvent] {
        &self.events
    }

    /// What the fabric manager wrote to the system's log, oldest first.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.manager.notices
    }

    /// A host's kernel log, oldest line first; empty for a node that is not there.
    #[must_use]
    pub fn kernel_log(&self, node: &NodeName) -> &[KernelLine] {
        self.node(node).map_or(&[], |node| &node.log)
    }

    /// The ends of all ports, in order.
    pub fn ends(&self) -> impl Iterator<Item = &EndRef> {
        self.ports.keys()
    }

    /// The port at the other end of a port's cable.
    #[must_use]
    pub fn neighbour(&self, end: &EndRef) -> Option<EndRef> {
        let line = &self.lines[self.port(end).ok()?.line?];
        line.ends.iter().find(|other| *other != end).cloned()
    }

    /// Whether the port at the other end is armed or active.
    pub(super) fn neighbour_is_normal(&self, end: &EndRef) -> bool {
        let neighbour = self.neighbour(end);
        neighbour.is_some_and(|other| {
            self.port(&other)
                .is_ok_and(|port| port.logical >= Logical::Armed)
        })
    }

    fn port_info(&self, end: &EndRef) -> Option<PortInfo> {
        let port = self.port(end).ok()?;
        let kind = self.node(&end.node).ok()?.kind;
        // A switch has one local identifier for all its ports; a host has one for each.
        let addressed = |other: &&EndRef| match self.node(&other.node).map(|node| node.kind) {
            Ok(NodeKind::Host) => true,
            _ => other.port.0 == 1,
        };
        let of = |other: &EndRef| kind == NodeKind::Switch && other.node == end.node;
        let mut addressed = self.ports.keys().filter(addressed).zip(1..);
        let lid = addressed.find(|(other, _)| *other == end || of(other));
        let guid = self.ports.keys().zip(FIRST_GUID..);
        Some(PortInfo {
            subnet: SUBNET_PREFIX,
            guid: guid
                .into_iter()
                .find(|(other, _)| *other == end)
                .map_or(0, |(_, guid)| guid),
            lid: lid.map_or(NO_LID, |(_, lid)| lid),
            sm_lid: 1,
            port: end.port.0,
            logical: port.logical,
            physical: port.physical,
            offline: port.record.offline(),
            init: port.init,
            configured: port.configured,
            neighbour_normal: self.neighbour_is_normal(end),
            pair: port.record.shown(),
        })
    }
}
