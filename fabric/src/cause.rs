//! Who took a link down, as far as the reasons at both ends tell: the cable, one end, or both.
//!
//! A reader of the tools decides by the sample combinations of "Link Down Reason", Cornelis; this file
//! does the same, from what both ends show and from nothing else. So it may say less than what is so.
//! Start at [`Cause::of`], or at [`Fabric::cause`] for a link.

use std::fmt;

use platforms::SlotRef;
use simfs::SimTime;

use crate::{
    Fabric, PartnerKind, Side,
    opa::{LinkDownReason, Logical, OfflineDisabledReason, Pair},
};

/// What an end shows of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Its LinkDownReason and NeighborLinkDownReason.
    pub pair: Pair,
    /// Its OfflineDisabledReason.
    pub offline: OfflineDisabledReason,
}

/// Who took a link down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// One end, for this reason: it recorded the reason, or sent it to its neighbour.
    End(Side, LinkDownReason),
    /// Both ends, each for its reason; the node's own end first.
    Both(LinkDownReason, LinkDownReason),
    /// One end, for this reason, and the other shows a reason of its own for staying down.
    EndBesideHeld(Side, LinkDownReason, OfflineDisabledReason),
    /// One end recorded no reason for going down, and shows this one for staying down.
    Held(Side, OfflineDisabledReason),
    /// Both ends show a reason for staying down, and none for going down; the node's own end first.
    BothHeld(OfflineDisabledReason, OfflineDisabledReason),
    /// One end cannot be queried, or remembers nothing, and its neighbour heard no reason: it lost
    /// power, was reset, or crashed; or it is a driver that tells no reason.
    Silent(Side),
    /// Neither end took the link down, and neither heard a reason: something between them did.
    Cable,
    /// Neither end shows anything; a log may still have what one of them showed before.
    Unrecorded,
}

impl Cause {
    /// The cause that both ends tell, the node's own end first; `None` for an end that cannot be
    /// queried.
    #[must_use]
    pub fn of(ends: [Option<Shown>; 2]) -> Self {
        let pair = |side: Side| ends[side.index()].map_or(Pair::CLEAR, |end| end.pair);
        let unknown = |side| pair(side).local == LinkDownReason::NEIGHBOR_UNKNOWN;
        let own = |side: Side| {
            let sent = pair(side.other()).neighbour;
            let recorded = Some(pair(side).local).filter(|own| own.is_some() && !unknown(side));
            recorded.or(Some(sent).filter(|sent| sent.is_some()))
        };
        let held = |side: Side| {
            let offline = ends[side.index()].map(|end| end.offline);
            offline.filter(|offline| offline.holds())
        };
        let by = |side: Side, reason| match held(side.other()) {
            Some(offline) => Self::EndBesideHeld(side, reason, offline),
            None => Self::End(side, reason),
        };
        match Side::BOTH.map(own) {
            [Some(here), Some(there)] => return Self::Both(here, there),
            [Some(here), None] => return by(Side::Here, here),
            [None, Some(there)] => return by(Side::There, there),
            [None, None] => {}
        }
        match Side::BOTH.map(held) {
            [Some(here), Some(there)] => return Self::BothHeld(here, there),
            [Some(here), None] => return Self::Held(Side::Here, here),
            [None, Some(there)] => return Self::Held(Side::There, there),
            [None, None] => {}
        }
        match Side::BOTH.map(unknown) {
            [true, true] => Self::Cable,
            [true, false] => Self::Silent(Side::There),
            [false, true] => Self::Silent(Side::Here),
            [false, false] => Self::Unrecorded,
        }
    }
}

/// A cause as a sentence, which names the other end.
#[derive(Clone, Copy, Debug)]
pub struct CauseText {
    cause: Cause,
    partner: PartnerKind,
}

impl Cause {
    /// A sentence about the host's port (the node's own end) and its partner.
    #[must_use]
    pub fn told(self, partner: PartnerKind) -> CauseText {
        CauseText {
            cause: self,
            partner,
        }
    }
}

impl fmt::Display for CauseText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Cause::{Both, BothHeld, Cable, End, EndBesideHeld, Held, Silent, Unrecorded};
        let end = |side: Side| match (side, self.partner) {
            (Side::Here, _) => "the host's port",
            (Side::There, PartnerKind::Switch) => "the switch port",
            (Side::There, PartnerKind::Host) => "the other host's port",
        };
        match &self.cause {
            End(side, reason) => write!(f, "{} took it down: {reason}", end(*side)),
            Both(here, there) => {
                let (own, other) = (end(Side::Here), end(Side::There));
                write!(f, "both ends took it down: {own} {here}, {other} {there}")
            }
            EndBesideHeld(side, reason, offline) => {
                let (by, beside) = (end(*side), end(side.other()));
                write!(
                    f,
                    "{by} took it down: {reason}, and {beside} stays down: {offline}"
                )
            }
            Held(side, offline) => write!(f, "{} stays down: {offline}", end(*side)),
            BothHeld(here, there) => {
                let (own, other) = (end(Side::Here), end(Side::There));
                write!(f, "both ends stay down: {own} {here}, {other} {there}")
            }
            Silent(side) => {
                let all = match (side, self.partner) {
                    (Side::Here, _) => "the host",
                    (Side::There, PartnerKind::Switch) => "the switch",
                    (Side::There, PartnerKind::Host) => "the other host",
                };
                write!(f, "{} or {all}: it gave no reason", end(*side))
            }
            Cable => f.write_str("the cable: neither end took it down"),
            Unrecorded => f.write_str("neither end shows a reason"),
        }
    }
}

impl Fabric {
    /// Who took a port's link down, as both ends show it now.
    #[must_use]
    pub fn cause(&self, slot: &SlotRef) -> Cause {
        Cause::of(Side::BOTH.map(|side| {
            self.port_info(slot, side).map(|info| Shown {
                pair: info.pair,
                offline: info.offline,
            })
        }))
    }

    /// When the event happened of which both ends show the reasons: the first time that the link went
    /// down since it was last armed. `None` if it did not.
    #[must_use]
    pub fn down_since(&self, slot: &SlotRef) -> Option<SimTime> {
        let mut since = None;
        let mut before = Logical::Down;
        for step in self.walk(slot) {
            let [here, there] = step.logical;
            let now = here.min(there);
            if now >= Logical::Armed {
                since = None;
            } else if now == Logical::Down && before > Logical::Down {
                since = since.or(Some(step.at));
            }
            before = now;
        }
        since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type End = Option<(u8, u8, u8)>;

    fn check(here: End, there: End, expected: Cause) {
        let reason = |code| LinkDownReason::by_code(code).expect("defined");
        let shown = |end: End| {
            end.map(|(local, neighbour, offline)| Shown {
                pair: Pair {
                    local: reason(local),
                    neighbour: reason(neighbour),
                },
                offline: OfflineDisabledReason::by_code(offline).expect("defined"),
            })
        };
        let ends = [shown(here), shown(there)];
        assert_eq!(Cause::of(ends), expected, "{here:?} {there:?}");
        let swapped = match expected {
            Cause::End(side, reason) => Cause::End(side.other(), reason),
            Cause::Both(here, there) => Cause::Both(there, here),
            Cause::EndBesideHeld(side, reason, offline) => {
                Cause::EndBesideHeld(side.other(), reason, offline)
            }
            Cause::Held(side, offline) => Cause::Held(side.other(), offline),
            Cause::BothHeld(here, there) => Cause::BothHeld(there, here),
            Cause::Silent(side) => Cause::Silent(side.other()),
            same @ (Cause::Cable | Cause::Unrecorded) => same,
        };
        let [here, there] = ends;
        assert_eq!(Cause::of([there, here]), swapped, "with the ends swapped");
    }

    #[test]
    fn the_sample_combinations_of_the_document_name_their_device() {
        let bounce = LinkDownReason::FM_BOUNCE;
        let overrun = LinkDownReason::by_code(32).expect("defined");
        let by_here = Cause::End(Side::Here, bounce);
        check(Some((39, 0, 0)), Some((0, 39, 0)), by_here);
        check(
            Some((39, 32, 0)),
            Some((32, 39, 0)),
            Cause::Both(bounce, overrun),
        );
        check(Some((39, 0, 0)), Some((36, 0, 0)), by_here);
        check(Some((36, 0, 0)), Some((36, 0, 0)), Cause::Cable);
        check(None, Some((36, 0, 0)), Cause::Silent(Side::Here));
        check(Some((0, 0, 0)), Some((36, 0, 0)), Cause::Silent(Side::Here));
    }

    #[test]
    fn an_hfi1_that_shows_nothing_is_named_by_what_its_neighbour_heard() {
        let bounce = LinkDownReason::FM_BOUNCE;
        check(
            Some((0, 0, 0)),
            Some((0, 39, 0)),
            Cause::End(Side::Here, bounce),
        );
        check(None, Some((0, 39, 0)), Cause::End(Side::Here, bounce));
    }

    /// 3 is `Not installed`, and the last four bits of 35: what the neighbour heard is the reason.
    #[test]
    fn an_end_that_took_the_link_down_is_not_named_by_the_bits_that_it_shows() {
        let reboot = Cause::End(Side::Here, LinkDownReason::REBOOT);
        check(Some((0, 0, 3)), Some((0, 35, 0)), reboot);
        check(Some((35, 0, 3)), Some((36, 0, 0)), reboot);
    }

    #[test]
    fn an_end_that_stays_down_is_named_before_a_cable() {
        let held = |code| {
            let offline = OfflineDisabledReason::by_code(code).expect("defined");
            Cause::Held(Side::Here, offline)
        };
        check(Some((0, 0, 13)), Some((36, 0, 0)), held(13));
        check(Some((36, 0, 2)), Some((36, 0, 0)), held(2));
        check(Some((0, 0, 8)), Some((0, 0, 0)), held(8));
    }

    #[test]
    fn two_ends_that_both_stay_down_are_both_named() {
        let held = |code| OfflineDisabledReason::by_code(code).expect("defined");
        let both = Cause::BothHeld(held(2), held(13));
        check(Some((36, 0, 2)), Some((36, 0, 13)), both);
        let mgmt = LinkDownReason::by_code(60).expect("defined");
        let beside = Cause::EndBesideHeld(Side::There, mgmt, held(13));
        check(Some((0, 60, 13)), Some((60, 0, 0)), beside);
        let told = |cause: Cause| cause.told(PartnerKind::Switch).to_string();
        assert!(told(both).starts_with("both ends stay down: the host's port "));
        assert!(told(both).contains(", the switch port "));
        assert!(told(beside).contains(", and the host's port stays down: "));
    }

    #[test]
    fn the_other_end_is_named_as_what_it_is() {
        let told = |cause: Cause, partner| cause.told(partner).to_string();
        let reboot = Cause::End(Side::There, LinkDownReason::REBOOT);
        let host = PartnerKind::Host;
        assert_eq!(
            told(reboot, host),
            "the other host's port took it down: Reboot"
        );
        assert_eq!(
            told(reboot, PartnerKind::Switch),
            "the switch port took it down: Reboot"
        );
        let silent = Cause::Silent(Side::There);
        assert_eq!(
            told(silent, host),
            "the other host's port or the other host: it gave no reason"
        );
        let both = Cause::Both(LinkDownReason::REBOOT, LinkDownReason::FM_BOUNCE);
        assert_eq!(
            told(both, host),
            "both ends took it down: the host's port Reboot, the other host's port FM Bounce"
        );
    }

    #[test]
    fn a_port_that_only_waits_for_its_partner_is_no_cause() {
        check(Some((36, 0, 15)), Some((36, 0, 15)), Cause::Cable);
        check(Some((0, 0, 0)), Some((0, 0, 0)), Cause::Unrecorded);
        check(None, Some((0, 0, 0)), Cause::Unrecorded);
    }
}
