//! What one end of a link remembers of its going down, and how both ends come to remember it.
//!
//! A record is clear until the link goes down; the first reason stays until the subnet manager clears
//! it by arming the port. Time, and whether a port can be queried, are in the rest of the crate.
//! Start at [`fall`].

use super::{offline::OfflineDisabledReason, reason::LinkDownReason};

/// Which source defines a port's behaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// "Link Down Reason", Cornelis. Switch ports always follow it.
    #[default]
    Spec,
    /// The driver `hfi1`: it shows no reason of its own for what it initiated, sends no reason when
    /// it is disabled, and records a link that broke in training only internally.
    Hfi1,
}

/// Both reasons of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// LinkDownReason: why this port took the link down.
    pub local: LinkDownReason,
    /// NeighborLinkDownReason: the reason that the neighbour sent.
    pub neighbour: LinkDownReason,
}

impl Pair {
    /// No reason.
    pub const CLEAR: Self = Self {
        local: LinkDownReason::NONE,
        neighbour: LinkDownReason::NONE,
    };
    /// The link went down, and neither end gave a reason.
    pub(crate) const UNEXPLAINED: Self = Self {
        local: LinkDownReason::NEIGHBOR_UNKNOWN,
        neighbour: LinkDownReason::NONE,
    };

    /// The numbers (LinkDownReason, NeighborLinkDownReason).
    #[must_use]
    pub fn codes(self) -> (u8, u8) {
        (self.local.code(), self.neighbour.code())
    }

    /// Whether neither reason is set.
    #[must_use]
    pub fn is_clear(self) -> bool {
        self == Self::CLEAR
    }

    /// The one reason that a tool prints for a port that is down: the port's own if it has one,
    /// otherwise its neighbour's (`IbPrint/stl_sma.c`).
    #[must_use]
    pub fn printed(self) -> LinkDownReason {
        if self.local.is_some() {
            self.local
        } else {
            self.neighbour
        }
    }
}

/// What an end does to take its link down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Initiative {
    /// The reason that it records as its own.
    pub local: LinkDownReason,
    /// The reason in the message that reaches the neighbour; `None` if no message does.
    pub message: Option<LinkDownReason>,
}

impl Initiative {
    /// The end goes down for this reason, and sends it if it can; reasons that a neighbour never
    /// shows are not sent.
    #[must_use]
    pub fn of(reason: LinkDownReason, can_say_so: bool) -> Self {
        Self {
            local: reason,
            message: Some(reason).filter(|reason| can_say_so && reason.may_be_neighbours()),
        }
    }

    /// The end goes down without recording a reason of its own, and sends this one.
    #[must_use]
    pub(crate) fn from_message(message: LinkDownReason) -> Self {
        Self {
            local: LinkDownReason::NONE,
            message: Some(message),
        }
    }
}

/// What one end of a link remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    profile: Profile,
    shown: Pair,
    latest: Pair,
    offline: OfflineDisabledReason,
}

impl Record {
    /// What a port does when it takes its link down for this reason. An hfi1 that goes offline or is
    /// disabled records no reason, and sends a message without one (`chip.c`, `set_link_down_reason`
    /// is not called). For a reason that is never sent it does nothing: it sees its link go down, and
    /// its [`OfflineDisabledReason`] shows why.
    #[must_use]
    pub(crate) fn initiative(
        &self,
        reason: LinkDownReason,
        can_say_so: bool,
    ) -> Option<Initiative> {
        match self.profile {
            Profile::Hfi1 if !reason.may_be_neighbours() => None,
            Profile::Hfi1 if reason.holds() => Some(Initiative::from_message(LinkDownReason::NONE)),
            Profile::Spec | Profile::Hfi1 => Some(Initiative::of(reason, can_say_so)),
        }
    }

    /// The record of a link that never was down.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            ..Self::default()
        }
    }

    /// Which source defines the port's behaviour.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The pair in PortInfo.
    #[must_use]
    pub fn shown(&self) -> Pair {
        self.shown
    }

    /// The pair that the port recorded last; for a port that follows the specification it is the one
    /// shown.
    #[must_use]
    pub fn latest(&self) -> Pair {
        self.latest
    }

    /// Its OfflineDisabledReason.
    #[must_use]
    pub fn offline(&self) -> OfflineDisabledReason {
        self.offline
    }

    /// The link, which was up, went down: by this end, or by something that this end only observed.
    /// Only the first cause since the last clearing is kept, and both reasons count as one: if either
    /// is set, nothing is added ("between two arms the pair changes at most once").
    fn went_down(&mut self, own: Option<Initiative>, heard: Option<LinkDownReason>) {
        let heard = heard.filter(|code| code.may_be_neighbours());
        let found = match own {
            Some(own) => Pair {
                local: own.local,
                // An hfi1 that takes the link down ignores the neighbour's message.
                neighbour: heard
                    .filter(|_| self.profile == Profile::Spec)
                    .unwrap_or_default(),
            },
            None => heard.map_or(Pair::UNEXPLAINED, |neighbour| Pair {
                local: LinkDownReason::NONE,
                neighbour,
            }),
        };
        self.find(found);
        let shows = self.profile == Profile::Spec || own.is_none();
        if shows && self.shown.is_clear() {
            self.shown = self.latest;
        }
    }

    fn find(&mut self, found: Pair) {
        if self.latest.is_clear() {
            self.latest = found;
        }
    }

    /// The link broke before it was up. PortInfo does not show it; an hfi1 records it internally.
    pub(crate) fn broke_in_training(&mut self) {
        if self.profile == Profile::Hfi1 {
            self.find(Pair {
                local: LinkDownReason::TRANSIENT,
                neighbour: LinkDownReason::NONE,
            });
        }
    }

    /// A Set(PortInfo) wrote 0 to either reason or to both; each is cleared on its own.
    pub fn clear(&mut self, local: bool, neighbour: bool) {
        for pair in [&mut self.shown, &mut self.latest] {
            if local {
                pair.local = LinkDownReason::NONE;
            }
            if neighbour {
                pair.neighbour = LinkDownReason::NONE;
            }
        }
    }

    /// The port lost power, or its device was reset: its record is cleared.
    pub fn forget(&mut self) {
        *self = Self::new(self.profile);
    }

    /// The port is offline or disabled for one more reason; the smaller number is kept.
    pub(crate) fn goes_offline(&mut self, reason: OfflineDisabledReason) {
        self.offline = self.offline.joined_by(reason);
    }

    /// A module was inserted: any previous reason becomes transient.
    pub(crate) fn module_came(&mut self) {
        self.offline = OfflineDisabledReason::of(LinkDownReason::TRANSIENT).unwrap_or(self.offline);
    }

    /// The port searches for a partner: it is neither offline nor disabled.
    pub fn polls(&mut self) {
        self.offline = OfflineDisabledReason::NONE;
    }
}

/// A link that was up goes down. Each end either takes it down or only observes it; the message of an
/// end reaches the other.
///
/// Without an initiative of either end, as for a cut cable, both ends record it as unexplained.
pub fn fall(ends: [&mut Record; 2], by: [Option<Initiative>; 2]) {
    let reported = by.map(|own| own.and_then(|own| own.message));
    for (end, (own, heard)) in ends
        .into_iter()
        .zip([(by[0], reported[1]), (by[1], reported[0])])
    {
        end.went_down(own, heard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(code: u8) -> LinkDownReason {
        LinkDownReason::by_code(code).expect("defined")
    }

    fn by(code: u8, says: bool) -> Option<Initiative> {
        Some(Initiative::of(reason(code), says))
    }

    /// Takes a new link down in these ways, one after another, and compares what both ends show.
    fn check(
        profile: Profile,
        falls: &[[Option<Initiative>; 2]],
        expected: [(u8, u8); 2],
    ) -> [Record; 2] {
        let mut a = Record::new(profile);
        let mut b = Record::new(profile);
        for by in falls {
            fall([&mut a, &mut b], *by);
        }
        assert_eq!([a.shown().codes(), b.shown().codes()], expected);
        [a, b]
    }

    #[test]
    fn the_combinations_of_the_document_come_out() {
        use Profile::Spec;
        check(Spec, &[[by(39, true), None]], [(39, 0), (0, 39)]);
        check(Spec, &[[by(39, true), by(32, true)]], [(39, 32), (32, 39)]);
        check(Spec, &[[by(35, false), None]], [(35, 0), (36, 0)]);
        check(Spec, &[[None, None]], [(36, 0), (36, 0)]);
    }

    #[test]
    fn of_two_who_go_at_once_one_may_not_be_heard() {
        let falls = [[by(39, false), by(32, true)]];
        check(Profile::Spec, &falls, [(39, 32), (32, 0)]);
    }

    #[test]
    fn the_first_reason_stands_until_it_is_cleared() {
        let falls = [[None, None], [by(39, true), None]];
        let [mut a, mut b] = check(Profile::Spec, &falls, [(36, 0), (36, 0)]);
        a.clear(true, true);
        b.clear(true, true);
        fall([&mut a, &mut b], falls[1]);
        assert_eq!([a.shown().codes(), b.shown().codes()], [(39, 0), (0, 39)]);
    }

    #[test]
    fn an_hfi1_shows_nothing_of_what_it_did_itself() {
        let [a, _] = check(Profile::Hfi1, &[[by(39, true), None]], [(0, 0), (0, 39)]);
        assert_eq!(a.latest().codes(), (39, 0));
    }

    #[test]
    fn a_message_without_a_reason_explains_nothing() {
        let silent = Some(Initiative::from_message(LinkDownReason::NONE));
        check(Profile::Hfi1, &[[silent, None]], [(0, 0), (36, 0)]);
    }

    #[test]
    fn a_link_that_broke_in_training_is_remembered_by_an_hfi1_for_itself() {
        let mut end = Record::new(Profile::Hfi1);
        end.broke_in_training();
        assert_eq!(
            (end.shown().codes(), end.latest().codes()),
            ((0, 0), (63, 0))
        );
        let mut end = Record::new(Profile::Spec);
        end.broke_in_training();
        assert_eq!(end, Record::new(Profile::Spec));
    }

    #[test]
    fn each_byte_is_cleared_on_its_own() {
        let [mut a, _] = check(
            Profile::Spec,
            &[[by(39, true), by(32, true)]],
            [(39, 32), (32, 39)],
        );
        a.clear(true, false);
        assert_eq!(a.shown().codes(), (0, 32));
    }
}
