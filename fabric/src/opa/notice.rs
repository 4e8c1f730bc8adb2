//! What the fabric manager writes to the system's log when a host comes or goes.
//!
//! It leaves out the frame that every message of it has (time, manager, node). Start at
//! [`Notice::detail`].

use platforms::SlotRef;
use simfs::SimTime;

use super::{reason::LinkDownReason, record::Pair};

/// What the fabric manager noticed (`cs_csm_log.c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// A node came.
    Appearance,
    /// A node went.
    Disappearance,
}

impl Condition {
    /// As the message has it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Appearance => "#3 Appearance in fabric",
            Self::Disappearance => "#4 Disappearance from fabric",
        }
    }
}

/// A message of the fabric manager's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// When.
    pub at: SimTime,
    /// The port by which the node came or went; the node is a host.
    pub slot: SlotRef,
    /// What happened.
    pub condition: Condition,
    /// What that port showed; nothing if it could not be asked.
    pub local: Pair,
    /// What the port at the other end showed, if it could be asked.
    pub linked: Option<Pair>,
}

impl Notice {
    /// The details of the message (`sm_topology.c`): that the node is a host; the port's own reason,
    /// else what it heard; then what the port at the other end has of the same going down, unless that
    /// says nothing new: no reason, the same one, or that the neighbour is unknown.
    ///
    /// A port without any reason is not mentioned.
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
