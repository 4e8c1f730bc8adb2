//! What can be done to a port and its link: one variant for each verb, and what it does.
//!
//! Longer work stands where its subject does: reasons in `reasons.rs`, counters in `counters.rs`, the
//! states of a link in `act.rs`. Start at [`PortAction`].

use platforms::{CounterValue, LinkLayer, PhysState, PortState, Rate, SlotRef};
use simfs::SimTime;

use crate::{
    Action, ActionError, Fabric, Side, StickAt,
    opa::{ErrorInfo, LinkDownReason, LinkInitReason, PortErrorAction},
};

/// What is done to a port and its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortAction {
    /// Pull the cable of a port.
    Cut,
    /// End whatever was done to a port's link; it trains and comes up as its driver does. A port
    /// that never had a cable gets one.
    Mend,
    /// Disable a port administratively: `DOWN`, `Disabled`.
    Disable,
    /// Show these two values whatever the link does, until mended.
    Set {
        /// Logical state; unchanged if `None`.
        state: Option<PortState>,
        /// Physical state; unchanged if `None`.
        phys_state: Option<PhysState>,
    },
    /// Retrain, slowly: `ACTIVE` again only after this long. One that is dark does so when it has a
    /// signal again.
    TrainSlowly {
        /// From leaving `ACTIVE` to `ACTIVE` again.
        takes: SimTime,
    },
    /// Stay at one point of the way up until mended.
    Stick {
        /// Where.
        at: StickAt,
    },
    /// Show another speed (a degraded link stays `ACTIVE`).
    Speed {
        /// The rate shown.
        rate: Rate,
    },
    /// `ip link set <netdev> down` (or up): IPoIB keeps its port, RoCE loses it.
    Interface {
        /// Up or down.
        up: bool,
    },
    /// Show another operstate, until mended.
    Operstate {
        /// Such as `lowerlayerdown`.
        text: String,
    },
    /// An end takes its link down, for one of these reasons, among others: the fabric manager
    /// bounces it (39), its speed or width is outside the policy (40, 41), it reboots (35); and for
    /// good, until [`PortAction::Release`] or [`PortAction::Mend`]: the switch's own management or the subnet
    /// management agent disables it (60, 61), the chassis does (52), power, speed or width can never
    /// be met (56, 57, 58), there is no partner to be had (49, 51, 54).
    TakeDown {
        /// Which end of its link.
        side: Side,
        /// Why.
        reason: LinkDownReason,
        /// Whether the message reaches the other end.
        says: bool,
    },
    /// Both ends take the link down at the same instant, each for a reason that does not hold (as 35
    /// or 39, not as 60), and each with whether its message reaches the other.
    BothTakeDown {
        /// Why the node's own end does.
        here: (LinkDownReason, bool),
        /// Why its partner does.
        there: (LinkDownReason, bool),
    },
    /// A message of the other end's arrives: the link is about to go, for this reason, or for none. The
    /// other end remembers nothing of it.
    Hear {
        /// Which end of its link hears it.
        side: Side,
        /// What it says.
        message: LinkDownReason,
    },
    /// A reason no longer keeps an end down.
    Release {
        /// Which end of its link.
        side: Side,
        /// Which reason.
        reason: LinkDownReason,
    },
    /// An end finds an error in what it receives (reasons 1 to 32); the link bounces if the end's
    /// PortErrorAction names it.
    PacketError {
        /// Which end of its link.
        side: Side,
        /// The error.
        reason: LinkDownReason,
    },
    /// The error registers of the node's own port hold this; the link bounces as by any other error.
    ErrorRegisters {
        /// What they hold.
        info: ErrorInfo,
    },
    /// An end's receive buffer overruns: `excessive_buffer_overrun_errors` grows if it is the
    /// node's own port, and the link bounces as by any other error.
    BufferOverrun {
        /// Which end of its link.
        side: Side,
    },
    /// An end is told which errors take its link down; at the start all do.
    ErrorAction {
        /// Which end of its link.
        side: Side,
        /// Which errors.
        action: PortErrorAction,
    },
    /// The fabric manager leaves an end in Init from now on, for this reason, or no longer.
    Quarantine {
        /// Which end of its link.
        side: Side,
        /// Why; none ends it.
        reason: Option<LinkInitReason>,
    },
    /// The module is taken out of an end, or put in again.
    Module {
        /// Which end of its link.
        side: Side,
        /// Whether it is in from now on.
        there: bool,
    },
    /// The host at the other end reboots, in good order.
    NeighbourReboot {
        /// From going to its port's signalling again.
        takes: SimTime,
    },
    /// A port of a device that stays is no longer listed in `ports/`.
    RemovePort,
    /// That port is listed again.
    RestorePort,
    /// The port comes up under the other link layer.
    ChangeLayer {
        /// The new layer.
        layer: LinkLayer,
    },
    /// Change a counter.
    Counter {
        /// Name of a file in `counters/`, `hw_counters/`, the net device's `statistics/` or `carrier_changes`.
        name: String,
        /// How.
        change: CounterChange,
    },
    /// Data moves over a port in both directions, as long as its link is up.
    Traffic {
        /// Bytes a second each way; 0 ends it.
        bytes_per_second: u64,
        /// Bytes in a packet, at least 1.
        packet_bytes: u32,
    },
    /// One of the port's character devices goes or comes back; the device and its ports stay.
    CharDevice {
        /// Which.
        kind: CharDeviceKind,
        /// Whether it is there from now on.
        there: bool,
    },
}

/// How a counter is changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterChange {
    /// Grow by this much, at most to the field's maximum.
    Add(u64),
    /// Grow by this much each second from now on; 0 stops it.
    RatePerSecond(u64),
    /// Show exactly this.
    Set(CounterValue),
    /// Start again at zero, as after an operator's reset.
    Reset,
    /// Stand at the field's maximum.
    Saturate,
}

/// A character device of a port, or of the device whose port it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CharDeviceKind {
    /// The port's `issm`.
    Issm,
    /// The port's `umad`.
    Umad,
    /// The device's `uverbs`.
    Uverbs,
}

impl PortAction {
    /// Done to this port.
    #[must_use]
    pub fn on(self, slot: SlotRef) -> Action {
        Action::Port(slot, self)
    }
}

impl Fabric {
    pub(crate) fn act_on_port(
        &mut self,
        slot: &SlotRef,
        action: &PortAction,
    ) -> Result<(), ActionError> {
        match action {
            PortAction::Cut => self.cut(slot),
            PortAction::Mend => self.mend(slot),
            PortAction::Disable => self.disable(slot),
            PortAction::Set { state, phys_state } => self.mask(slot, |mask| {
                mask.state = state.or(mask.state);
                mask.phys_state = phys_state.or(mask.phys_state);
            }),
            PortAction::TrainSlowly { takes } => self.train_slowly(slot, *takes),
            PortAction::Stick { at } => self.stick(slot, *at),
            PortAction::Speed { rate } => self.mask(slot, |mask| mask.rate = Some(*rate)),
            PortAction::Interface { up } => self.interface(slot, *up),
            PortAction::Operstate { text } => {
                self.find_interface(slot)?;
                self.mask(slot, |mask| mask.operstate = Some(text.clone()))
            }
            PortAction::TakeDown { side, reason, says } => {
                self.take_down(slot, *side, *reason, *says)
            }
            PortAction::BothTakeDown { here, there } => self.both_take_down(slot, [*here, *there]),
            PortAction::Hear { side, message } => self.hear(slot, *side, *message),
            PortAction::Release { side, reason } => self.release(slot, *side, *reason),
            PortAction::PacketError { side, reason } => self.packet_error(slot, *side, *reason),
            PortAction::ErrorRegisters { info } => self.error_registers(slot, *info),
            PortAction::BufferOverrun { side } => self.overrun(slot, *side),
            PortAction::ErrorAction { side, action } => self.error_action(slot, *side, *action),
            PortAction::Quarantine { side, reason } => self.quarantine(slot, *side, *reason),
            PortAction::Module { side, there } => self.module(slot, *side, *there),
            PortAction::NeighbourReboot { takes } => self.neighbour_reboots(slot, *takes),
            PortAction::RemovePort => self.remove_port(slot),
            PortAction::RestorePort => self.restore_port(slot),
            PortAction::ChangeLayer { layer } => self.change_layer(slot, *layer),
            PortAction::Counter { name, change } => self.counter(slot, name, change),
            PortAction::Traffic {
                bytes_per_second,
                packet_bytes,
            } => self.traffic(slot, *bytes_per_second, *packet_bytes),
            PortAction::CharDevice { kind, there } => self.char_device(slot, *kind, *there),
        }
    }
}
