//! What both ends of a world's link remember, and what the subnet manager keeps of it.
//!
//! How the link moves is `link.rs`'s and the fabric's; this follows. Ports behave by "Link Down
//! Reason", Cornelis, whatever their drivers show, but for a node's own that remembers as `hfi1` does.
//! A virtual function's port has no link of its own, and so no ends. Start at [`BothEnds`].

use platforms::LinkReasons;
use simfs::SimTime;

use crate::opa::{
    FirmwareReport, Initiative, LinkDownErrorLog, LinkDownReason, LinkInitReason, Logical,
    OfflineDisabledReason, PortErrorAction, Profile, Record, START_S, fall,
};

/// One of a link's two ends.
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

/// What there is to know of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndTruth {
    /// What the port remembers; `None` while nobody can ask it: it is off the bus or without power.
    pub record: Option<Record>,
    /// What the subnet manager keeps of the port.
    pub log: LinkDownErrorLog,
}

/// Whose doing it is that a link goes down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Blame {
    /// Nobody's who could tell: a cable's, or that of an end that is gone.
    #[default]
    Nobody,
    /// An end's, for this reason, and whether it can say so.
    End(Side, LinkDownReason, bool),
    /// An end's, which says this to the other and remembers nothing of it.
    Message(Side, LinkDownReason),
    /// Both ends' at the same instant: the node's own first, each with whether it can say so.
    Both([(LinkDownReason, bool); 2]),
    /// The link trains anew; nobody takes it down and nobody records it ("Link Down Reason" is of
    /// links that went down).
    Training,
}

/// One end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndState {
    /// What the port remembers.
    pub(crate) record: Record,
    /// What the subnet manager keeps of it.
    pub(crate) log: LinkDownErrorLog,
    /// Which errors take its link down.
    pub(crate) action: PortErrorAction,
    /// Why it is in Init, or was last.
    pub(crate) init: LinkInitReason,
    /// Why the fabric manager leaves it in Init.
    pub(crate) quarantine: Option<LinkInitReason>,
    /// The logical state to which a Set(PortInfo) took it ahead of its link; `Down` if none did.
    pub(crate) ahead: Logical,
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
        }
    }

    /// It is offline or disabled for this reason, among others.
    pub(crate) fn goes_offline(&mut self, reason: LinkDownReason) {
        if let Some(offline) = OfflineDisabledReason::of(reason) {
            self.record.goes_offline(offline);
        }
    }

    /// It is let up: it says what still holds it, if anything does.
    pub(crate) fn held_by(&mut self, reasons: impl Iterator<Item = LinkDownReason>) {
        self.record.polls();
        for reason in reasons {
            self.goes_offline(reason);
        }
    }
}

/// Both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BothEnds {
    ends: [EndState; 2],
    /// Whether the subnet manager found the node there when it last came round.
    pub(crate) found: bool,
}

impl BothEnds {
    /// Those of a link that never went down; `own` says by whose word the node's own end behaves.
    /// Its partner is a switch, and those behave by the specification.
    pub(crate) fn new(own: LinkReasons) -> Self {
        let own = match own {
            LinkReasons::Spec => Profile::Spec,
            LinkReasons::Hfi1 => Profile::Hfi1,
        };
        Self {
            ends: [EndState::new(own), EndState::new(Profile::Spec)],
            found: false,
        }
    }

    pub(crate) fn of(&self, side: Side) -> &EndState {
        &self.ends[side.index()]
    }

    pub(crate) fn of_mut(&mut self, side: Side) -> &mut EndState {
        &mut self.ends[side.index()]
    }

    /// Whether the node's own end behaves as an hfi1 does.
    pub(crate) fn is_hfi1(&self) -> bool {
        self.of(Side::Here).record.profile() == Profile::Hfi1
    }

    /// Whether either end has anything that a subnet manager would log.
    pub(crate) fn have_reason_to_send(&self) -> bool {
        self.ends.iter().any(|end| !end.record.shown().is_clear())
    }

    /// Whether the fabric manager leaves the link in Init.
    pub(crate) fn are_quarantined(&self) -> bool {
        self.ends.iter().any(|end| end.quarantine.is_some())
    }

    /// Whether a Set(PortInfo) armed both.
    pub(crate) fn are_armed_by_hand(&self) -> bool {
        self.ends.iter().all(|end| end.ahead >= Logical::Armed)
    }

    /// No Set(PortInfo) is ahead of the link any more.
    pub(crate) fn follow_the_link(&mut self) {
        for end in &mut self.ends {
            end.ahead = Logical::Down;
        }
    }

    /// The ports are Offline for a moment, and those by the document say so.
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
        }
    }

    /// What either end does of its own.
    fn initiatives(&self, blame: Blame) -> [Option<Initiative>; 2] {
        let own = |side: Side, (reason, says)| self.of(side).record.initiative(reason, says);
        let mut by = [None, None];
        match blame {
            Blame::Nobody | Blame::Training => {}
            Blame::Both(both) => by = Side::BOTH.map(|side| own(side, both[side.index()])),
            Blame::End(side, reason, says) => by[side.index()] = own(side, (reason, says)),
            Blame::Message(side, message) => {
                by[side.index()] = Some(Initiative::from_message(message));
            }
        }
        by
    }

    /// The link, which was up, went down. What an hfi1's firmware at the node's own end says of it;
    /// nothing if that end took it down.
    pub(crate) fn fall(&mut self, blame: Blame) -> Option<FirmwareReport> {
        let by = self.initiatives(blame);
        let [here, there] = &mut self.ends;
        fall([&mut here.record, &mut there.record], by);
        let [here, there] = by;
        let reported = there.and_then(|there| there.message);
        let report = reported.map_or(FirmwareReport::Unexpected, FirmwareReport::Neighbour);
        Some(report).filter(|_| here.is_none())
    }

    /// The link broke before it was up. Whether the node's own end only saw it break.
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

    /// Both ends are armed, and so are cleared.
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
