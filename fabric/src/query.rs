//! Queries about both ends of a port's link.
//!
//! A node's own port is read as its local tools do; its partner as the subnet administration does,
//! which reaches the node's own port only through its link. `opa` formats the output. Start at
//! [`Fabric::end`] and [`Fabric::port_info`].

use platforms::SlotRef;

use crate::{
    EndTruth, Fabric, ManagerTerm, Side,
    device::Attachment,
    link::{Hold, Link, Stage},
    opa::{LinkDownErrorLog, LinkInitReason, Notice, PortInfo, SUBNET_PREFIX},
};

impl Fabric {
    /// What an end of a port's link remembers of its going down; `None` for an unknown port, and for a
    /// virtual function's port, which uses its physical function's link.
    #[must_use]
    pub fn end(&self, slot: &SlotRef, side: Side) -> Option<EndTruth> {
        let node = self.node(&slot.node).ok()?;
        let link = &node.jack(slot).ok()?.link;
        let can_be_asked = match side {
            Side::Here => {
                let device = node.device(slot.pci).ok()?;
                let failed = matches!(device.attachment, Attachment::Suspended(_));
                node.is_on_bus(slot.pci) && !failed
            }
            Side::There => !link.there.has(Hold::Unpowered),
        };
        let end = link.ends.as_ref()?.of(side);
        Some(EndTruth {
            record: can_be_asked.then_some(end.record),
            log: end.log,
        })
    }

    /// The PortInfo of an end of a port's link; `None` if it cannot be queried (see [`Fabric::end`]).
    ///
    /// The partner is the port of [`Fabric::partner_port`]. It has no GUID; an Ethernet one has no local
    /// identifier either.
    #[must_use]
    pub fn port_info(&self, slot: &SlotRef, side: Side) -> Option<PortInfo> {
        let record = self.end(slot, side)?.record?;
        let node = self.node(&slot.node).ok()?;
        let link = &node.jack(slot).ok()?.link;
        let port = node.port(slot.pci, slot.port)?;
        let gid = port.gids.get(&0).map_or([0; 16], |gid| gid.bytes);
        let [.., a, b, c, d, e, f, g, h] = gid;
        let (guid, lid, sm_lid, number) = match side {
            Side::Here => (
                u64::from_be_bytes([a, b, c, d, e, f, g, h]),
                port.lid,
                port.sm_lid,
                slot.port.0,
            ),
            Side::There => {
                let partner = self.partner_port(slot)?;
                let read_by = link.ends.as_ref()?.of(side).sm_lid;
                let managed = |lid| if link.is_managed() { lid } else { 0 };
                (0, managed(partner.lid), managed(read_by), partner.number)
            }
        };
        let init = link.ends.as_ref().map(|ends| ends.of(side).init);
        let is_armed = |side| link.logical(side) >= Stage::Armed.logical();
        Some(PortInfo {
            subnet: SUBNET_PREFIX,
            guid,
            lid: u32::from(lid),
            sm_lid: u32::from(sm_lid),
            port: number,
            logical: link.logical(side),
            physical: link.physical(side),
            offline: record.offline(),
            init: init
                .filter(|_| link.stage.is_up())
                .unwrap_or(LinkInitReason::NONE),
            configured: is_armed(side),
            // An end's own state says so too, unless the driver at one of them is frozen.
            neighbour_normal: is_armed(match link.frozen {
                Some(_) => side,
                None => side.other(),
            }),
            pair: record.shown(),
        })
    }

    /// The subnet administration's PortInfo of an end, with the subnet manager's log of it; `None` if
    /// the manager does not run or cannot reach the port, which is so for a host's port whose link is
    /// down.
    #[must_use]
    pub fn query(&self, slot: &SlotRef, side: Side) -> Option<(PortInfo, LinkDownErrorLog)> {
        let link = &self.node(&slot.node).ok()?.jack(slot).ok()?.link;
        let reached = self.manager.runs() && link.is_reached(side);
        let info = self.port_info(slot, side).filter(|_| reached)?;
        Some((info, self.end(slot, side)?.log))
    }

    /// Whether a subnet manager runs.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        self.manager.runs()
    }

    /// Who managed the subnet when, oldest first; the first term begins at the world's start.
    #[must_use]
    pub fn manager_terms(&self) -> &[ManagerTerm] {
        &self.terms
    }

    /// What the fabric manager wrote to the system's log, oldest first.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }
}

impl Link {
    /// Whether the subnet manager reaches an end: the node's own port only through its link, a switch
    /// port always.
    pub(crate) fn is_reached(&self, side: Side) -> bool {
        match side {
            Side::Here => self.stage.is_up(),
            Side::There => {
                let off = [Hold::Unpowered, Hold::Rebooting];
                !off.iter().any(|hold| self.there.has(*hold))
            }
        }
    }
}
