//! A link: a cable with two ends, and its stage.
//!
//! The local end is the port in the node's sysfs; its partner is a port of a switch or of another
//! node. `port_view.rs` computes the port view, `walk.rs` schedules the next stage. Start at
//! [`Link::held_back`].

use std::collections::BTreeSet;

use platforms::{Driver, LinkLayer};
use simfs::SimTime;

use crate::{
    agenda::Key,
    both_ends::{Blame, BothEnds, Side},
    history::LinkStep,
    opa::{LinkDownReason, Logical, Physical},
    subnet::SubnetManager,
    timing::{Pace, Timing},
};

/// A stage at which a port stays although its link could go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StickAt {
    /// Physically down and looking for a partner: `DOWN`, `Polling`.
    Polling,
    /// Physically training: `DOWN`, `PortConfigurationTraining`.
    Training,
    /// Physically up, waiting for the subnet manager: `INIT`, `LinkUp`.
    Init,
    /// Configured, not yet active: `ARMED`, `LinkUp`.
    Armed,
    /// In link error recovery: `ACTIVE`, `LinkErrorRecovery`.
    Recovery,
}

/// The stage of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// It went down a moment ago; neither end signals yet.
    Quiet,
    /// No signal from the partner; an end that may signal polls.
    Down,
    /// The ends agree on width and speed.
    Training,
    /// Physically up, not configured.
    Init,
    /// Configured, not yet carrying data.
    Armed,
    /// Carrying data.
    Active,
    /// Retraining a lane without having gone down.
    Recovering,
}

impl Stage {
    /// Whether the physical link is up.
    pub(crate) fn is_up(self) -> bool {
        self >= Self::Init
    }

    /// The logical state of a port at this stage.
    pub(crate) fn logical(self) -> Logical {
        match self {
            Self::Quiet | Self::Down | Self::Training => Logical::Down,
            Self::Init => Logical::Init,
            Self::Armed => Logical::Armed,
            Self::Active | Self::Recovering => Logical::Active,
        }
    }
}

/// What keeps an end from signalling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hold {
    /// Its net device was set down, and the port with it.
    Interface,
    /// No driver runs the port, or the function is off the bus.
    Unpowered,
    /// It belongs to a virtual function that is not assigned.
    Unassigned,
    /// It is in the dark part of a flap's cycle.
    Flap,
    /// It belongs to a virtual function whose physical function's link is down.
    Uplink,
    /// Its host reboots.
    Rebooting,
    /// It is in a test.
    Testing,
    /// Its device is too hot.
    Overheated,
    /// It went to Offline or Disabled for this reason.
    Reason(LinkDownReason),
}

/// One end of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    holds: BTreeSet<Hold>,
}

impl End {
    /// Adds or removes a hold.
    pub(crate) fn set(&mut self, hold: Hold, holds: bool) {
        if holds {
            self.holds.insert(hold);
        } else {
            self.holds.remove(&hold);
        }
    }

    /// Whether it has this hold.
    pub(crate) fn has(&self, hold: Hold) -> bool {
        self.holds.contains(&hold)
    }

    /// Removes every hold that a person or a program can set.
    pub(crate) fn let_go(&mut self) {
        self.holds.retain(|hold| {
            !matches!(
                hold,
                Hold::Interface
                    | Hold::Rebooting
                    | Hold::Testing
                    | Hold::Overheated
                    | Hold::Reason(_)
            )
        });
    }

    /// Whether its user disabled it.
    pub(crate) fn is_disabled(&self) -> bool {
        self.has(Hold::Reason(LinkDownReason::SMA_DISABLED))
    }

    /// The reasons for which it is offline or disabled.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = LinkDownReason> {
        self.holds.iter().filter_map(|hold| match hold {
            Hold::Reason(reason) => Some(*reason),
            _ => None,
        })
    }

    /// Whether it has no hold.
    pub(crate) fn signals(&self) -> bool {
        self.holds.is_empty()
    }
}

/// The cable between the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cable {
    /// There never was one.
    Absent,
    /// Intact and plugged at both ends.
    Whole,
    /// Pulled or broken.
    Cut,
}

#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// The layer of both ends.
    pub(crate) layer: LinkLayer,
    /// The node's own port.
    pub(crate) here: End,
    /// Its partner.
    pub(crate) there: End,
    /// The cable between them.
    pub(crate) cable: Cable,
    pub(crate) stage: Stage,
    /// The stage at which it stays, if it is stuck.
    pub(crate) stuck: Option<StickAt>,
    /// The pace of its present or next walk, if that is not the natural one.
    pub(crate) pace: Option<Pace>,
    /// Its scheduled next stage.
    pub(crate) next: Option<(Key, Stage)>,
    /// What both ends remember; `None` for a virtual function's link.
    pub(crate) ends: Option<BothEnds>,
    /// The cause that is recorded if it goes down now.
    pub(crate) blame: Blame,
    /// The states that the node's own port shows whatever its link does, because its driver is frozen.
    pub(crate) frozen: Option<(Logical, Physical)>,
    /// The scheduled next read by the subnet manager.
    pub(crate) read: Option<Key>,
    /// The scheduled return of the partner, if that is a rebooting host.
    pub(crate) neighbour_back: Option<Key>,
}

impl Link {
    /// A link that is down; a virtual function's link has no ends of its own.
    pub(crate) fn new(driver: &Driver, layer: LinkLayer, cabled: bool, is_virtual: bool) -> Self {
        let cable = if cabled { Cable::Whole } else { Cable::Absent };
        let (here, there) = (End::default(), End::default());
        Self {
            layer,
            here,
            there,
            cable,
            stage: Stage::Down,
            stuck: None,
            pace: None,
            next: None,
            ends: (!is_virtual).then(|| BothEnds::new(driver.link_reasons)),
            blame: Blame::default(),
            frozen: None,
            read: None,
            neighbour_back: None,
        }
    }

    pub(crate) fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::Here => &mut self.here,
            Side::There => &mut self.there,
        }
    }

    /// The states that an end shows because its driver is frozen.
    fn frozen(&self, side: Side) -> Option<(Logical, Physical)> {
        self.frozen.filter(|_| side == Side::Here)
    }

    /// The driver of the node's own port runs again, or is gone.
    pub(crate) fn thaw(&mut self) {
        self.frozen = None;
        self.here.set(Hold::Overheated, false);
    }

    /// The logical state of an end: its link's, unless a Set(PortInfo) set a higher one, or its driver is
    /// frozen.
    pub(crate) fn logical(&self, side: Side) -> Logical {
        if let Some((logical, _)) = self.frozen(side) {
            return logical;
        }
        let ahead = self.ends.as_ref().map(|ends| ends.of(side).ahead);
        self.stage.logical().max(ahead.unwrap_or(Logical::Down))
    }

    /// The physical state of an end.
    pub(crate) fn physical(&self, side: Side) -> Physical {
        if let Some((_, physical)) = self.frozen(side) {
            return physical;
        }
        let end = match side {
            Side::Here => &self.here,
            Side::There => &self.there,
        };
        let switched_off = Hold::Reason(LinkDownReason::SWITCH_MGMT);
        match self.stage {
            Stage::Init | Stage::Armed | Stage::Active | Stage::Recovering => Physical::LinkUp,
            Stage::Training => Physical::Training,
            _ if end.has(Hold::Testing) => Physical::Test,
            _ if end.is_disabled() || end.has(switched_off) => Physical::Disabled,
            Stage::Down if end.signals() => Physical::Polling,
            Stage::Quiet | Stage::Down => Physical::Offline,
        }
    }

    /// The states of both ends.
    pub(crate) fn shown(&self, at: SimTime) -> LinkStep {
        LinkStep {
            at,
            logical: Side::BOTH.map(|side| self.logical(side)),
            physical: Side::BOTH.map(|side| self.physical(side)),
        }
    }

    /// The pace of a walk that no action slows.
    pub(crate) fn natural_pace(&self, timing: &Timing) -> Pace {
        Pace::natural(timing, self.is_managed())
    }

    /// Whether a subnet manager takes part in bringing it up.
    pub(crate) fn is_managed(&self) -> bool {
        self.layer == LinkLayer::InfiniBand
    }

    /// Whether the next thing that happens to it is a sweep of the subnet manager, which arms it.
    pub(crate) fn waits_for_a_sweep(&self) -> bool {
        self.is_managed() && self.stage == Stage::Init && self.pace.is_none()
    }

    /// Whether the driver counts this stage as link up: the physical link with a subnet manager,
    /// the whole link without one.
    pub(crate) fn is_linked(&self, stage: Stage) -> bool {
        if self.is_managed() {
            stage.is_up()
        } else {
            stage >= Stage::Active
        }
    }

    /// Whether both ends signal over an intact cable.
    pub(crate) fn has_signal(&self) -> bool {
        self.cable == Cable::Whole && self.here.signals() && self.there.signals()
    }

    /// The present stage after a change that may lower it: without a signal the link is down, and a
    /// stuck one falls back to the stage at which it is stuck.
    pub(crate) fn held_back(&self) -> Stage {
        if !self.has_signal() {
            return self.stage.min(Stage::Down);
        }
        match self.stuck {
            Some(StickAt::Recovery) if self.stage == Stage::Active => Stage::Recovering,
            Some(stuck) => self.stage.min(limit(stuck)),
            None => self.stage,
        }
    }

    /// The next stage and its time, if the present one began or was released at `now`; `None` if
    /// the link stays.
    pub(crate) fn following(
        &self,
        now: SimTime,
        timing: &Timing,
        manager: SubnetManager,
    ) -> Option<(SimTime, Stage)> {
        if self.stage == Stage::Quiet {
            return Some((now + timing.quiet, Stage::Down));
        }
        if !self.has_signal() || self.stuck.is_some_and(|stuck| self.stage >= limit(stuck)) {
            return None;
        }
        let pace = self.pace.unwrap_or_else(|| self.natural_pace(timing));
        let managed = self.is_managed();
        let quarantined = self.ends.as_ref().is_some_and(BothEnds::are_quarantined);
        match self.stage {
            Stage::Down => Some((now + pace.polling, Stage::Training)),
            Stage::Training => Some((now + pace.training, Stage::Init)),
            Stage::Init if !managed => Some((now, Stage::Armed)),
            Stage::Init if quarantined => None,
            Stage::Init | Stage::Armed if managed && !manager.runs() => None,
            Stage::Init if self.pace.is_some() => Some((now + pace.waiting, Stage::Armed)),
            Stage::Init => Some((manager.arms(now, timing), Stage::Armed)),
            Stage::Armed => Some((now + pace.arming, Stage::Active)),
            Stage::Recovering => Some((now, Stage::Active)),
            Stage::Quiet | Stage::Active => None,
        }
    }
}

/// The furthest stage of a stuck link.
fn limit(stuck: StickAt) -> Stage {
    match stuck {
        StickAt::Polling => Stage::Down,
        StickAt::Training => Stage::Training,
        StickAt::Init => Stage::Init,
        StickAt::Armed => Stage::Armed,
        StickAt::Recovery => Stage::Recovering,
    }
}
