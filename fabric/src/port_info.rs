//! What fabric tools read of both ends of a port's link.
//!
//! A node's own port is read as its own tools do; its partner as the subnet administration does. What
//! either looks like in print is `ends`'s. Start at [`Fabric::port_info`].

use platforms::SlotRef;

use crate::{
    Fabric, Side,
    opa::{LinkInitReason, Logical, NO_LID, Physical, PortInfo, SUBNET_PREFIX},
    link::{End, Stage},
};

impl Fabric {
    /// The PortInfo of an end of a port's link; `None` if nobody can ask it (see [`Fabric::end`]).
    ///
    /// The partner's identifiers are nobody's: no world says which switch a port is cabled to. Its port
    /// numbers are chosen as if the node's ports hung on one switch in their order, from 1 to 255.
    #[must_use]
    pub fn port_info(&self, slot: &SlotRef, side: Side) -> Option<PortInfo> {
        let record = self.end(slot, side)?.record?;
        let node = self.node(&slot.node).ok()?;
        let link = &node.jack(slot).ok()?.link;
        let port = node.port(slot.pci, slot.port)?;
        let gid = port.gids.get(&0).map_or([0; 16], |gid| gid.bytes);
        let [.., a, b, c, d, e, f, g, h] = gid;
        let (guid, lid, number, end) = match side {
            Side::Here => (
                u64::from_be_bytes([a, b, c, d, e, f, g, h]),
                u32::from(port.lid),
                slot.port.0,
                &link.here,
            ),
            Side::There => {
                let place = node.slots().iter().position(|other| other == slot)?;
                let number = u8::try_from(place + 1).unwrap_or(u8::MAX);
                (0, NO_LID, number, &link.there)
            }
        };
        let is_up = link.stage.is_up();
        let is_armed = link.stage >= Stage::Armed;
        Some(PortInfo {
            subnet: SUBNET_PREFIX,
            guid,
            lid,
            sm_lid: u32::from(port.sm_lid),
            port: number,
            logical: logical(link.stage),
            physical: physical(link.stage, end),
            offline: record.offline(),
            init: if is_up {
                LinkInitReason::LINK_UP
            } else {
                LinkInitReason::NONE
            },
            configured: is_armed,
            neighbour_normal: is_armed,
            pair: record.shown(),
        })
    }
}

fn logical(stage: Stage) -> Logical {
    match stage {
        Stage::Down | Stage::Training => Logical::Down,
        Stage::Init => Logical::Init,
        Stage::Armed => Logical::Armed,
        Stage::Active | Stage::Recovering => Logical::Active,
    }
}

fn physical(stage: Stage, end: &End) -> Physical {
    match stage {
        Stage::Down if end.is_disabled() => Physical::Disabled,
        Stage::Down if !end.signals() => Physical::Offline,
        Stage::Down => Physical::Polling,
        Stage::Training => Physical::Training,
        Stage::Init | Stage::Armed | Stage::Active | Stage::Recovering => Physical::LinkUp,
    }
}
