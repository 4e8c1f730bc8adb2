//! What a host's kernel tells of its ports: events to its users, and lines in its log.
//!
//! The lines are hfi1's (`chip.c`); a host that behaves by the document has none. It leaves out when
//! they are written (`network.rs`, `doing.rs`). Start at [`KernelEvent`].

use simfs::SimTime;

use super::layout::EndRef;

/// Something that the kernel tells the users of a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelEvent {
    /// When.
    pub at: SimTime,
    /// The port.
    pub end: EndRef,
    /// What.
    pub kind: KernelEventKind,
}

/// What a kernel tells (`include/rdma/ib_verbs.h`, `ib_event_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelEventKind {
    /// `IB_EVENT_PORT_ERR`: the link went down.
    PortErr,
    /// `IB_EVENT_PORT_ACTIVE`: the subnet manager has activated the port.
    PortActive,
    /// `IB_EVENT_DEVICE_FATAL`: the device failed.
    DeviceFatal,
    /// The device is gone.
    DeviceGone,
    /// It is there again.
    DeviceBack,
}

/// Lines of hfi1 about a link's state.
pub(super) mod state_line {
    use crate::ends::{LinkDownReason, Logical};

    /// The firmware lost the link.
    pub(crate) const LINK_DOWN: &str = "8051: Link down";
    /// An error that PortErrorAction names takes the link down.
    pub(crate) const BOUNCE: &str = "PortErrorAction bounce";
    /// A module was taken out.
    pub(crate) const MODULE_REMOVED: &str = "QSFP module removed";
    /// A module was put in.
    pub(crate) const MODULE_INSERTED: &str = "QSFP module inserted";
    /// The module would draw too much.
    pub(crate) const POWER: &str = "Port disabled due to system power restrictions";

    /// What is written when a link that was in this state went down: by the port itself, or by
    /// something that its firmware saw, with the neighbour's message if one came.
    pub(crate) fn went_down(
        before: Logical,
        own: bool,
        heard: Option<LinkDownReason>,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        if !own {
            let reason = match heard {
                None => "Unexpected link down".to_owned(),
                Some(heard) => format!(
                    "Neighbor link down message {}, {}",
                    heard.code(),
                    LinkDownReason::kernel_text(heard.code())
                ),
            };
            lines.push(LINK_DOWN.to_owned());
            lines.push(format!("Link down reason: {reason}"));
        }
        let before = before.to_string().to_uppercase();
        lines.push(format!("set_link_state: current {before}, new OFFLINE "));
        lines
    }

    /// An error in a register; what the driver says of each is not kept here, so the reason's own
    /// text stands for it, and the number for an error without one.
    pub(crate) fn error(register: &str, info: u8, first: u8) -> String {
        let reason = info.checked_add(first).and_then(LinkDownReason::by_code);
        let text = reason.map_or_else(
            || format!("reserved{info}"),
            |reason| LinkDownReason::kernel_text(reason.code()).to_owned(),
        );
        format!("DCC Error: {register} error: {text}")
    }

    /// A change that a Set(PortInfo) asked for in vain.
    pub(crate) fn refused(from: &str, to: &str) -> String {
        format!("invalid physical state transition {from} -> {to}")
    }
}

#[cfg(test)]
mod tests {
    use super::state_line::*;
    use crate::ends::{LinkDownReason, Logical};

    #[test]
    fn a_link_lost_by_its_neighbour_is_three_lines() {
        let bounce = Some(LinkDownReason::FM_BOUNCE);
        assert_eq!(
            went_down(Logical::Active, false, bounce),
            [
                "8051: Link down",
                "Link down reason: Neighbor link down message 39, FM bounce",
                "set_link_state: current ACTIVE, new OFFLINE ",
            ]
        );
        assert_eq!(
            went_down(Logical::Init, true, None),
            ["set_link_state: current INIT, new OFFLINE "]
        );
    }
}
