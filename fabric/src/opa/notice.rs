//! The fabric manager's messages to the system's log when a host comes or goes.
//!
//! The common prefix of its messages (time, manager, node) is not modelled. Start at
//! [`Notice::detail`].

use platforms::SlotRef;
use simfs::SimTime;

use super::{reason::LinkDownReason, record::Pair};

/// The kind of a message (`cs_csm_log.c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// A node appeared.
    Appearance,
    /// A node disappeared.
    Disappearance,
}

impl Condition {
    /// Its text in the message.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Appearance => "#3 Appearance in fabric",
            Self::Disappearance => "#4 Disappearance from fabric",
        }
    }
}

/// A message of the fabric manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// When.
    pub at: SimTime,
    /// The number of the manager that wrote it, from 1.
    pub manager: u16,
    /// The port by which the node came or went; the node is a host.
    pub slot: SlotRef,
    /// Its kind.
    pub condition: Condition,
    /// The reasons that the port showed; clear if it could not be queried.
    pub local: Pair,
    /// The reasons of the port at the other end, if it could be queried.
    pub linked: Option<Pair>,
}

impl Notice {
    /// The details of the message (`sm_topology.c`): that the node is a host; the port's own reason,
    /// otherwise its neighbour reason; then the reason of the port at the other end, unless that adds
    /// nothing (no reason, the same reason, or "neighbour unknown").
    ///
    /// A port without any reason is left out.
    #[must_use]
    pub fn detail(&self) -> String {
        let local = self.local.printed();
        let mut text = "NodeType: hfi ".to_owned();
        if local.is_some() {
            text += &rendered(self.local);
        }
        if let Some(linked) = self.linked {
            let other = linked.printed();
            let says_more = other.is_some() && other != LinkDownReason::NEIGHBOR_UNKNOWN;
            if says_more && other != local {
                text += "LINKED:";
                text += &rendered(linked);
            }
        }
        text
    }
}

/// A reason with its name and number.
fn rendered(pair: Pair) -> String {
    let name = if pair.local.is_some() {
        "LinkDownReason"
    } else {
        "NeighborLinkDownReason"
    };
    let reason = pair.printed();
    format!("{name}: {reason} [{}] ", reason.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(local: (u8, u8), linked: Option<(u8, u8)>, expected: &str) {
        let reason = |code| LinkDownReason::by_code(code).expect("defined");
        let pair = |(local, neighbour)| Pair {
            local: reason(local),
            neighbour: reason(neighbour),
        };
        let notice = Notice {
            at: SimTime::ZERO,
            manager: 1,
            slot: SlotRef {
                node: "n".into(),
                pci: "0000:18:00.0".parse().expect("an address"),
                port: platforms::PortNumber(1),
            },
            condition: Condition::Disappearance,
            local: pair(local),
            linked: linked.map(pair),
        };
        assert_eq!(notice.detail(), expected);
    }

    #[test]
    fn the_other_end_is_told_of_only_when_it_knows_more() {
        let own = "NodeType: hfi LinkDownReason: Reboot [35] ";
        check((35, 0), None, own);
        check((35, 0), Some((0, 35)), own);
        check((35, 0), Some((36, 0)), own);
        check(
            (36, 0),
            Some((60, 0)),
            "NodeType: hfi LinkDownReason: Neigh Unknown [36] LINKED:LinkDownReason: Switch Mgmt [60] ",
        );
        check(
            (0, 0),
            Some((0, 39)),
            "NodeType: hfi LINKED:NeighborLinkDownReason: FM Bounce [39] ",
        );
        check(
            (0, 56),
            Some((0, 0)),
            "NodeType: hfi NeighborLinkDownReason: Power Policy [56] ",
        );
    }
}
