//! What both ends of a world's link remember, and what the subnet manager keeps of it.
//!
//! How the link moves is `link.rs`'s and the fabric's; this follows. Ports behave by "Link Down
//! Reason", Cornelis, whatever their drivers show, but for a node's own that remembers as `hfi1` does.
//! A virtual function's port has no link of its own, and so no ends. Start at [`BothEnds`].

use platforms::LinkReasons;
use simfs::SimTime;

use crate::{
    opa::{
        LinkDownErrorLog, LinkDownReason, OfflineDisabledReason, PortErrorAction, Profile, Record,
        START_S, fall,
    },
    link::End,
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

    fn index(self) -> usize {
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
    /// Both ends' at the same instant: the node's own first, each with whether it can say so.
    Both([(LinkDownReason, bool); 2]),
    /// The link trains anew; nobody takes it down and nobody records it ("Link Down Reason" is of
    /// links that went down).
    Training,
}

/// Both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BothEnds {
    records: [Record; 2],
    logs: [LinkDownErrorLog; 2],
    actions: [PortErrorAction; 2],
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
            records: [Record::new(own), Record::new(Profile::Spec)],
            logs: [LinkDownErrorLog::default(); 2],
            actions: [PortErrorAction::EVERYTHING; 2],
        }
    }

    pub(crate) fn record(&mut self, side: Side) -> &mut Record {
        &mut self.records[side.index()]
    }

    pub(crate) fn action(&mut self, side: Side) -> &mut PortErrorAction {
        &mut self.actions[side.index()]
    }

    /// What there is to know of an end that can or cannot be asked.
    pub(crate) fn truth(&self, side: Side, can_be_asked: bool) -> EndTruth {
        EndTruth {
            record: can_be_asked.then_some(self.records[side.index()]),
            log: self.logs[side.index()],
        }
    }

    /// Whether either end has anything that a subnet manager would log.
    pub(crate) fn have_something_to_tell(&self) -> bool {
        self.records.iter().any(|record| !record.shown().is_clear())
    }

    /// The link, which was up, went down.
    pub(crate) fn fall(&mut self, blame: Blame) {
        let by = match blame {
            Blame::Training => return,
            Blame::Nobody => [None, None],
            Blame::Both([here, there]) => {
                let [own, partners] = &self.records;
                [
                    own.initiative(here.0, here.1),
                    partners.initiative(there.0, there.1),
                ]
            }
            Blame::End(side, reason, says) => {
                let own = self.records[side.index()].initiative(reason, says);
                match side {
                    Side::Here => [own, None],
                    Side::There => [None, own],
                }
            }
        };
        let [here, there] = &mut self.records;
        fall([here, there], by);
    }

    /// Both ends are armed: the subnet manager, if it runs, reads them for the last time, and both
    /// are cleared.
    pub(crate) fn arm(&mut self, now: SimTime, managed: bool) {
        for side in Side::BOTH {
            if managed {
                self.read(side, now);
            }
            self.logs[side.index()].armed();
            self.record(side).clear(true, true);
        }
    }

    /// The subnet manager reads an end in a sweep.
    pub(crate) fn read(&mut self, side: Side, now: SimTime) {
        let pair = self.records[side.index()].shown();
        self.logs[side.index()].read(pair, START_S + now.as_ns() / 1_000_000_000);
    }

    /// An end is offline or disabled for this reason, among others.
    pub(crate) fn goes_offline(&mut self, side: Side, reason: LinkDownReason) {
        if let Some(offline) = OfflineDisabledReason::of(reason) {
            self.record(side).goes_offline(offline);
        }
    }

    /// An end is let up: it says what still holds it, if anything does.
    pub(crate) fn held_by(&mut self, side: Side, end: &End) {
        self.record(side).polls();
        for reason in end.reasons() {
            self.goes_offline(side, reason);
        }
    }
}
