//! What both ends of a link remember of its going down, and what the subnet manager logs of it.
//!
//! `link.rs` and `walk.rs` move the link; this file records. Ports behave as "Link Down Reason",
//! Cornelis, specifies, whatever their drivers show, except a node's own port whose driver remembers
//! like `hfi1`. A virtual function's port has no link of its own, and so no ends. Start at
//! [`BothEnds`].

use platforms::LinkReasons;
use simfs::SimTime;

use crate::lids;
use crate::opa::{
    FirmwareReport, Initiative, LinkDownErrorLog, LinkDownReason, LinkInitReason, LinkWidths,
    Logical, OfflineDisabledReason, PortErrorAction, Profile, Record, START_S, fall,
};

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The node's own port.
    Here,
    /// Its partner: a port of a switch, or of another host.
    There,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Here, Self::There];

    /// The other end.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Here => Self::There,
            Self::There => Self::Here,
        }
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Self::Here => 0,
            Self::There => 1,
        }
    }
}

/// The state of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndTruth {
    /// What the port remembers; `None` while it cannot be queried, because it is off the bus or
    /// without power.
    pub record: Option<Record>,
    /// The subnet manager's log of the port.
    pub log: LinkDownErrorLog,
}

/// Which end caused a link to go down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Blame {
    /// Neither end, or none that could report it: a cable, or an end that is gone.
    #[default]
    Nobody,
    /// Nobody, and the firmware of the node's own port reports this of it.
    Reported(FirmwareReport),
    /// This end, for this reason; the flag states whether it can send a message to the other.
    End(Side, LinkDownReason, bool),
    /// This end, which sends this message to the other and records no reason itself.
    Message(Side, LinkDownReason),
    /// Both ends at the same instant, the node's own first; the flags state whether each can send a
    /// message.
    Both([(LinkDownReason, bool); 2]),
    /// The link only retrains: neither end takes it down, and nothing is recorded ("Link Down Reason"
    /// covers links that went down).
    Training,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct EndState {
    /// What the port remembers.
    pub(crate) record: Record,
    /// The subnet manager's log of it.
    pub(crate) log: LinkDownErrorLog,
    /// Which errors take its link down.
    pub(crate) action: PortErrorAction,
    /// Its LinkInitReason, now or when it was last in Init.
    pub(crate) init: LinkInitReason,
    /// The reason for which the fabric manager keeps it in Init, if it does.
    pub(crate) quarantine: Option<LinkInitReason>,
    /// The logical state set by a Set(PortInfo) ahead of its link; `Down` if there was none.
    pub(crate) ahead: Logical,
    /// Over how many lanes it receives; `None` is all of them.
    pub(crate) received: Option<u8>,
    /// The widths in which a downgrade may end.
    pub(crate) widths: LinkWidths,
    /// The local identifier of the subnet manager that read it last.
    pub(crate) sm_lid: u16,
}

impl EndState {
    fn new(profile: Profile) -> Self {
        Self {
            record: Record::new(profile),
            log: LinkDownErrorLog::default(),
            action: PortErrorAction::EVERYTHING,
            init: LinkInitReason::NONE,
            quarantine: None,
            ahead: Logical::Down,
            received: None,
            widths: LinkWidths::EVERY,
            sm_lid: lids::SUBNET_MANAGER,
        }
    }

    /// The end is offline or disabled for one more reason.
    pub(crate) fn goes_offline(&mut self, reason: LinkDownReason) {
        if let Some(offline) = OfflineDisabledReason::of(reason) {
            self.record.goes_offline(offline);
        }
    }

    /// A reason was released: the end shows one that still holds it, if there is any.
    pub(crate) fn held_by(&mut self, reasons: impl Iterator<Item = LinkDownReason>) {
        self.record.polls();
        for reason in reasons {
            self.goes_offline(reason);
        }
    }
}

/// Both ends of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BothEnds {
    ends: [EndState; 2],
    /// Whether the subnet manager found the node there in its last sweep; `None` before the first sweep
    /// of one that knows nothing of the time before.
    pub(crate) found: Option<bool>,
}

impl BothEnds {
    /// The ends of a link that never went down; `own` is the behaviour of the node's own end. Its
    /// partner is a switch port, which behaves as specified.
    pub(crate) fn new(own: LinkReasons) -> Self {
        let own = match own {
            LinkReasons::Spec => Profile::Spec,
            LinkReasons::Hfi1 => Profile::Hfi1,
        };
        Self {
            ends: [EndState::new(own), EndState::new(Profile::Spec)],
            found: Some(false),
        }
    }

    pub(crate) fn of(&self, side: Side) -> &EndState {
        &self.ends[side.index()]
    }

    pub(crate) fn of_mut(&mut self, side: Side) -> &mut EndState {
        &mut self.ends[side.index()]
    }

    /// Whether the node's own end behaves like an hfi1.
    pub(crate) fn is_hfi1(&self) -> bool {
        self.of(Side::Here).record.profile() == Profile::Hfi1
    }

    /// Whether either end has a reason that a subnet manager would log.
    pub(crate) fn have_reason_to_send(&self) -> bool {
        self.ends.iter().any(|end| !end.record.shown().is_clear())
    }

    /// Whether the fabric manager keeps the link in Init.
    pub(crate) fn are_quarantined(&self) -> bool {
        self.ends.iter().any(|end| end.quarantine.is_some())
    }

    /// Whether a Set(PortInfo) armed both ends.
    pub(crate) fn are_armed_by_hand(&self) -> bool {
        self.ends.iter().all(|end| end.ahead >= Logical::Armed)
    }

    /// Resets the states that a Set(PortInfo) set ahead of the link.
    pub(crate) fn follow_the_link(&mut self) {
        for end in &mut self.ends {
            end.ahead = Logical::Down;
        }
    }

    /// The ports are Offline for a moment; those that follow the specification show it.
    pub(crate) fn are_quiet(&mut self) {
        for end in &mut self.ends {
            if end.record.profile() == Profile::Spec {
                end.goes_offline(LinkDownReason::TRANSIENT);
            }
        }
    }

    /// The link is up: it waits for the subnet manager.
    pub(crate) fn come_up(&mut self) {
        for end in &mut self.ends {
            end.init = end.init.after_link_up();
            end.received = None;
        }
    }

    /// What each end does to take the link down.
    fn initiatives(&self, blame: Blame) -> [Option<Initiative>; 2] {
        let own = |side: Side, (reason, says)| self.of(side).record.initiative(reason, says);
        let mut by = [None, None];
        match blame {
            Blame::Nobody | Blame::Reported(_) | Blame::Training => {}
            Blame::Both(both) => by = Side::BOTH.map(|side| own(side, both[side.index()])),
            Blame::End(side, reason, says) => by[side.index()] = own(side, (reason, says)),
            Blame::Message(side, message) => {
                by[side.index()] = Some(Initiative::from_message(message));
            }
        }
        by
    }

    /// Records that a link which was up went down. Returns what an hfi1's firmware at the node's own
    /// end reports of it; `None` if that end took it down.
    pub(crate) fn fall(&mut self, blame: Blame) -> Option<FirmwareReport> {
        let by = self.initiatives(blame);
        let [here, there] = &mut self.ends;
        fall([&mut here.record, &mut there.record], by);
        let [here, there] = by;
        let reported = there.and_then(|there| there.message);
        let report = match (blame, reported) {
            (Blame::Reported(report), _) => report,
            (_, Some(reason)) => FirmwareReport::Neighbour(reason),
            (_, None) => FirmwareReport::Unexpected,
        };
        Some(report).filter(|_| here.is_none())
    }

    /// Records that the link broke before it was up. Returns whether the node's own end only observed
    /// it.
    pub(crate) fn break_training(&mut self, blame: Blame) -> bool {
        let by = self.initiatives(blame);
        for (end, _) in self
            .ends
            .iter_mut()
            .zip(by)
            .filter(|(_, own)| own.is_none())
        {
            end.record.broke_in_training();
        }
        by[0].is_none()
    }

    /// A subnet manager that knows nothing of the time before begins: it has no logs, has found no node
    /// yet, and saw no link flap. What its configuration keeps in Init stays there.
    pub(crate) fn are_unknown_to_the_manager(&mut self) {
        self.found = None;
        for end in &mut self.ends {
            end.log = LinkDownErrorLog::default();
            if end.quarantine == Some(LinkInitReason::FLAPPING) {
                end.quarantine = None;
            }
        }
    }

    /// Both ends are armed, which clears their records.
    pub(crate) fn arm(&mut self) {
        for end in &mut self.ends {
            end.log.armed();
            end.record.clear(true, true);
        }
    }

    /// The subnet manager reads an end in a sweep.
    pub(crate) fn read(&mut self, side: Side, now: SimTime) {
        let end = self.of_mut(side);
        let pair = end.record.shown();
        end.log.read(pair, START_S + now.as_ns() / 1_000_000_000);
    }
}
